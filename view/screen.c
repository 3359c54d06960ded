/* SPDX-License-Identifier: Apache-2.0 */
#include "view/screen.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/columns.h"
#include "base/terminal.h"

#define WIDTH_MIN 40u
#define WIDTH_MAX 4000u
#define NAME_MIN  12u
#define CUT_MARK  "..."
#define INDENT	  2
#define HOT	  10.0 /* percent */
#define WARM	  1.0
#define LEAST	  10.0 /* the largest value is at least so many units, so that small ones show */

bool screen_wants_colour(void)
{
	const char *refusal = getenv("NO_COLOR"), *terminal = getenv("TERM");

	if (refusal && *refusal)
		return false;
	return terminal && strcmp(terminal, "dumb") != 0;
}

void screen_init(struct screen *screen, FILE *out)
{
	*screen = (struct screen){.out = out, .terminal = isatty(fileno(out))};
	screen->colour = screen->terminal && screen_wants_colour();
	screen->width = terminal_width(fileno(out), WIDTH_MIN, WIDTH_MAX);
}

void screen_style(const struct screen *screen, enum style style)
{
	static const char *const codes[] = {
		[STYLE_PLAIN] = "\033[0m", [STYLE_HEAD] = "\033[1m",  [STYLE_DIM] = "\033[2m",
		[STYLE_HOT] = "\033[31m",  [STYLE_WARM] = "\033[33m",
	};

	if (screen->colour)
		fputs(codes[style], screen->out);
}

double screen_percent(uint64_t part, uint64_t sum)
{
	if (sum == 0)
		return 0;
	return 100.0 * (double)part / (double)sum;
}

enum style screen_heat(double percent)
{
	if (percent >= HOT)
		return STYLE_HOT;
	if (percent >= WARM)
		return STYLE_WARM;
	return STYLE_PLAIN;
}

unsigned int screen_name(const struct screen *screen, const char *name, unsigned int columns)
{
	const unsigned int whole = columns_of(name);
	unsigned int mark = sizeof(CUT_MARK) - 1, used = 0;
	size_t size;

	if (whole <= columns) {
		fputs(name, screen->out);
		return whole;
	}
	if (mark > columns)
		mark = columns;
	size = columns_fit(name, columns - mark, &used);
	fprintf(screen->out, "%.*s%.*s", (int)size, name, (int)mark, CUT_MARK);
	return used + mark;
}

void screen_part(const struct screen *screen, unsigned int *column, const char *format, ...)
{
	char text[128], *part = text;
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (screen->terminal && *column > INDENT && *column + strlen(text) >= screen->width) {
		fprintf(screen->out, "\n%*s", INDENT, "");
		*column = INDENT;
		if (*part == ' ')
			part++;
	}
	fputs(part, screen->out);
	*column += (unsigned int)strlen(part);
}

unsigned int screen_room(const struct screen *screen, unsigned int used)
{
	if (screen->width <= used + NAME_MIN)
		return NAME_MIN;
	return screen->width - used;
}

struct scale scale_for(double most, const char *unit)
{
	static const struct {
		const char *of;
		double by;
		const char *unit;
		int decimals;
	} units[] = {
		/* the first unit that is not too large is taken */
		{"nanoseconds", 1e9, " s", 2},	{"nanoseconds", 1e6, " ms", 0},
		{"nanoseconds", 1e3, " us", 0}, {"nanoseconds", 1, " ns", 0},
		{"bytes", 1 << 30, " GiB", 2},	{"bytes", 1 << 20, " MiB", 2},
		{"bytes", 1 << 10, " KiB", 1},	{"bytes", 1, " B", 0},
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(units[i].of, unit) != 0)
			continue;
		if (most >= LEAST * units[i].by || units[i].by <= 1)
			return (struct scale){units[i].by, units[i].unit, units[i].decimals};
	}
	return (struct scale){1, "", 0};
}

void screen_value(const struct screen *screen, const struct scale *scale, double value,
		  unsigned int columns)
{
	char text[64];

	snprintf(text, sizeof(text), "%.*f%s", scale->decimals, value / scale->by, scale->unit);
	fprintf(screen->out, "%*s", (int)columns, text);
}
