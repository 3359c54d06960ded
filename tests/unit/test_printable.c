/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "base/printable.h"

static const struct {
	const char *text, *masked;
} cases[] = {
	{"main;caf\xc3\xa9 12\n\ta", "main;caf\xc3\xa9 12\n\ta"},
	{"\xe2\x82\xac \xf0\x9f\x94\xa5", "\xe2\x82\xac \xf0\x9f\x94\xa5"},
	{"\x1b]0;title\x07", "?]0;title?"},
	{"a\rb\x7f\b", "a?b??"},
	{"\x9b[2J", "?[2J"},		    /* CSI as one byte */
	{"\xc2\x9b[2J", "??[2J"},	    /* CSI as UTF-8 */
	{"\xe0\x82\x9b[2J", "???[2J"},	    /* the same, too long */
	{"\xf0\x80\x80\x9b[2J", "????[2J"}, /* ESC, too long */
	{"\xed\xa0\x80", "???"},	    /* half of a pair */
	{"\xf4\x90\x80\x80", "????"},	    /* beyond U+10FFFF */
	{"\xc2\xa0", "\xc2\xa0"},
	{"\xe2\x1b[H", "??[H"}, /* a control byte in the middle of a sequence */
	{"\xc0\x9b\xff\xfe", "????"},
	{"a\xe2\x82", "a??"}, /* cut at the end */
};

/* Masks the text in pieces of so many bytes, as the exporter does. */
static void check(const char *text, const char *masked, size_t piece)
{
	unsigned char bytes[64];
	const size_t size = strlen(text);
	size_t at = 0;

	memcpy(bytes, text, size);
	while (at < size) {
		size_t length = size - at;

		if (length > piece)
			length = piece;
		at += printable_mask(bytes + at, length, at + length < size);
	}
	assert_memory_equal(bytes, masked, size);
}

static void test_printable__masks_what_controls_a_terminal(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		for (size_t piece = PRINTABLE_TAIL + 1; piece <= 8; piece++)
			check(cases[i].text, cases[i].masked, piece);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_printable__masks_what_controls_a_terminal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
