/* SPDX-License-Identifier: Apache-2.0 */
/* Shows a history and obeys the keys. The caller has the terminal and the clock. */
#ifndef KEYHOLE_VIEW_TOP_UI_H
#define KEYHOLE_VIEW_TOP_UI_H

#include <stdbool.h>
#include <stdint.h>

#include "view/top/canvas.h"
#include "view/top/history.h"
#include "view/top/table.h"

enum key { /* a byte is its own key; keys of several bytes begin at 256 */
	KEY_NONE = 0,
	KEY_ENTER = '\r',
	KEY_ESCAPE = 27,
	KEY_BACKSPACE = 127,
	KEY_UP = 256,
	KEY_DOWN,
	KEY_LEFT,
	KEY_RIGHT,
	KEY_PAGE_UP,
	KEY_PAGE_DOWN,
	KEY_HOME,
	KEY_END,
};

#define UI_DEPTH_MAX 16
#define UI_LINES     24 /* of a terminal, until ui_resize() is called */

struct place { /* a table and the position in it */
	struct query query;
	size_t chosen, first;
};

#define UI_WINDOWS 4
extern const unsigned int ui_windows[UI_WINDOWS]; /* seconds, ascending */

struct ui {
	struct history history;
	struct top_table table;
	struct match match;
	struct place places[UI_DEPTH_MAX]; /* the last one is shown */
	unsigned int depth;		   /* of places, less one */
	unsigned int cpus, window;	   /* index in ui_windows */
	unsigned int lines;		   /* of the terminal */
	bool by_total, paused, help, quit;
	bool is_typing; /* the user types a filter */
	char typed[sizeof(((struct match *)0)->text)];
	char status[80]; /* until the next key, in place of the hints */
	uint64_t lost;
};

int ui_init(struct ui *ui, unsigned int cpus); /* 0 or -ENOMEM */
void ui_release(struct ui *ui);
/* Takes the shortest window that has so many seconds, or the longest window. */
void ui_set_window(struct ui *ui, unsigned int seconds);

/* Return 0 or -ENOMEM, and ui_add() also errors of history_add(). */
int ui_add(struct ui *ui, const void *bytes, size_t size); /* ignores the profile while paused */
int ui_key(struct ui *ui, int key);
int ui_refresh(struct ui *ui);

void ui_resize(struct ui *ui, unsigned int lines);

void ui_draw(const struct ui *ui, struct canvas *canvas);
/* Returns the lines for rows, of the terminal's lines. */
unsigned int ui_body_lines(const struct ui *ui, unsigned int lines);

/* Decodes the first key. Returns its bytes, or 0 for no bytes; KEY_NONE is an unknown sequence. */
size_t ui_decode(const char *bytes, size_t size, int *ret_key);

#endif
