/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/runtime/cpython_layout.h"

#include <errno.h>
#include <string.h>

#include "base/reader.h"

#define COOKIE		"xdebugpy"
#define COOKIE_BYTES	(sizeof(COOKIE) - 1)
#define MINOR_FIRST	9u
#define MINOR_DESCRIBED 13u /* from here on */
#define MINOR_LAST	15u
#define MINORS		(MINOR_LAST - MINOR_FIRST + 1)

/* PyCompactUnicodeObject is so much larger than PyASCIIObject. */
#define COMPACT_BYTES	  16u /* utf8_length, utf8 */
#define COMPACT_BYTES_OLD 24u /* until 3.11: and wstr_length */

/*
 * Without a global lock: PyObject has more fields (Include/object.h, Py_GIL_DISABLED). From 3.14
 * on, `interned` is a byte in place of two bits (Include/cpython/unicodeobject.h).
 */
#define HEAD_MORE_BYTES	   16u
#define STATE_MORE_BITS	   6u
#define MINOR_STATE_LARGER 14u

struct row {
	size_t field; /* offset in struct cpython_layout */
	bool is_fixed;
	uint16_t value[MINORS];
};

static const struct row rows[] = {
#define O(name, ...) {offsetof(struct cpython_layout, name), false, {__VA_ARGS__}},
#define F(name, ...) {offsetof(struct cpython_layout, name), true, {__VA_ARGS__}},
#include "worker/runtime/cpython_layout.def"
#undef F
#undef O
};
#define ROWS (sizeof(rows) / sizeof(*rows))

static uint32_t minor_of(uint32_t version)
{
	return version >> 16 & 0xff;
}

static bool is_known(uint32_t version)
{
	return version >> 24 == 3 && minor_of(version) >= MINOR_FIRST &&
	       minor_of(version) <= MINOR_LAST;
}

static void set(struct cpython_layout *layout, const struct row *row, uint16_t value)
{
	memcpy((char *)layout + row->field, &value, sizeof(value));
}

static enum cpython_lines lines_of(uint32_t minor)
{
	if (minor < 10)
		return CPYTHON_LNOTAB;
	if (minor == 10)
		return CPYTHON_LINETABLE;
	return CPYTHON_LOCATIONS;
}

static uint32_t instruction_unit_of(uint32_t minor)
{
	if (minor == 10)
		return 2;
	return 1;
}

/* Fills in what follows from the version and the other fields. */
static void complete(struct cpython_layout *layout, uint32_t version)
{
	const uint32_t minor = minor_of(version);

	layout->version = version;
	layout->lines = lines_of(minor);
	layout->instruction_unit = instruction_unit_of(minor);
	layout->text_compact = layout->text_ascii + COMPACT_BYTES;
	if (minor < 12)
		layout->text_compact = layout->text_ascii + COMPACT_BYTES_OLD;
}

/* Mends what no interpreter describes, for one that has no global lock. */
static void complete_without_lock(struct cpython_layout *layout)
{
	layout->is_without_lock = true;
	layout->code_flags += HEAD_MORE_BYTES;
	layout->code_keyword_only += HEAD_MORE_BYTES;
	if (minor_of(layout->version) >= MINOR_STATE_LARGER)
		layout->text_state_shift = STATE_MORE_BITS;
}

int cpython_layout_find(uint32_t version, struct cpython_layout *ret_layout)
{
	struct cpython_layout layout = {0};
	const uint32_t minor = minor_of(version);

	if (!is_known(version) || minor >= MINOR_DESCRIBED)
		return -ENOTSUP;
	for (size_t i = 0; i < ROWS; i++)
		set(&layout, &rows[i], rows[i].value[minor - MINOR_FIRST]);
	complete(&layout, version);
	*ret_layout = layout;
	return 0;
}

/* ---- what an interpreter says of itself ---- */

/* Reads one offset. position: in the description. */
static int read_offset(const void *bytes, size_t size, uint16_t position, uint16_t *ret_offset)
{
	struct reader reader;
	uint64_t offset;

	*ret_offset = CPYTHON_NONE;
	if (position == CPYTHON_NONE)
		return 0;
	reader_init(&reader, bytes, size);
	reader_seek(&reader, position);
	offset = reader_u64(&reader);
	if (reader_failed(&reader) || offset > CPYTHON_OFFSET_MAX)
		return -EBADMSG;
	*ret_offset = (uint16_t)offset;
	return 0;
}

static int read_offsets(const void *bytes, size_t size, uint32_t minor,
			struct cpython_layout *layout)
{
	for (size_t i = 0; i < ROWS; i++) {
		uint16_t offset = rows[i].value[minor - MINOR_FIRST];
		int r = 0;

		if (!rows[i].is_fixed)
			r = read_offset(bytes, size, offset, &offset);
		if (r < 0)
			return r;
		set(layout, &rows[i], offset);
	}
	return 0;
}

int cpython_layout_read(const void *bytes, size_t size, struct cpython_layout *ret_layout)
{
	struct cpython_layout layout = {.is_described = true};
	uint64_t version, is_without_lock;
	struct reader reader;
	const void *cookie;
	int r;

	reader_init(&reader, bytes, size);
	cookie = reader_bytes(&reader, COOKIE_BYTES);
	version = reader_u64(&reader);
	is_without_lock = reader_u64(&reader);
	if (!cookie || memcmp(cookie, COOKIE, COOKIE_BYTES) != 0)
		return -ENOENT;
	if (reader_failed(&reader))
		return -EBADMSG;
	if (version > UINT32_MAX || !is_known((uint32_t)version) ||
	    minor_of((uint32_t)version) < MINOR_DESCRIBED || is_without_lock > 1)
		return -ENOTSUP;
	r = read_offsets(bytes, size, minor_of((uint32_t)version), &layout);
	if (r < 0)
		return r;
	complete(&layout, (uint32_t)version);
	if (is_without_lock)
		complete_without_lock(&layout);
	*ret_layout = layout;
	return 0;
}
