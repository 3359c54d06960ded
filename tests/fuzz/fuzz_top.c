/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first byte says what the rest is: a stream from the pipe, an unpacked profile, words of the
 * recording, or keys. The drawing stays within the screen.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "view/top/canvas.h"
#include "view/top/messages.h"
#include "view/top/members.h"
#include "view/top/ui.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int take(void *ui, const unsigned char *bytes, size_t size)
{
	return ui_add(ui, bytes, size);
}

/* Checks that only our own control characters are drawn. */
static void check_screen(const struct canvas *canvas)
{
	unsigned int lines = 1;

	for (size_t i = 0; i < canvas->size; i++) {
		unsigned char byte = (unsigned char)canvas->bytes[i];

		lines += byte == '\n';
		if (byte == '\033') {
			if (++i >= canvas->size || canvas->bytes[i] != '[')
				__builtin_trap();
		} else if ((byte < 0x20 && byte != '\r' && byte != '\n') || byte == 0x7f) {
			__builtin_trap();
		}
	}
	if (lines > canvas->lines)
		__builtin_trap();
}

static void draw(const struct ui *ui, unsigned int columns, unsigned int lines)
{
	struct canvas canvas = {.columns = columns, .lines = lines, .escapes = true};

	ui_draw(ui, &canvas);
	check_screen(&canvas);
	canvas_release(&canvas);
}

static void press(struct ui *ui, const uint8_t *data, size_t size)
{
	size_t used;
	int key;

	for (size_t at = 0; at < size && at < 64; at += used) {
		used = ui_decode((const char *)data + at, size - at, &key);
		if (used == 0 || used > size - at)
			__builtin_trap();
		if (key != KEY_NONE && ui_key(ui, key))
			abort();
	}
	draw(ui, 80, 24);
}

static void feed_stream(struct ui *ui, const uint8_t *data, size_t size)
{
	struct members *members = members_new();
	size_t half = size / 2;

	if (!members)
		abort();
	if (members_feed(members, data, half, take, ui) == 0)
		members_feed(members, data + half, size - half, take, ui);
	members_free(members);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t tour[] = "\rs\r\033pt\r\r/a\r+";
	static struct messages messages;
	struct ui ui;

	if (size == 0)
		return 0;
	if (ui_init(&ui, 2))
		abort();
	switch (data[0] % 4) {
	case 0:
		feed_stream(&ui, data + 1, size - 1);
		break;
	case 1:
		ui_add(&ui, data + 1, size - 1);
		break;
	case 2:
		messages_feed(&messages, (const char *)data + 1, size - 1);
		break;
	default:
		press(&ui, data + 1, size - 1);
	}
	draw(&ui, 80, 24);
	draw(&ui, 7, 3);
	ui_resize(&ui, data[0]);
	press(&ui, tour, sizeof(tour) - 1);
	ui_release(&ui);
	return 0;
}
