/* SPDX-License-Identifier: Apache-2.0 */
#include "object/unwind/go_rows.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/reader.h"
#include "object/elf/go_module.h"
#include "object/elf/image.h"
#include "object/elf/pclntab.h"
#include "object/unwind/go_switch.h"
#include "object/unwind/text.h"

#define PAIR_BYTES	8u
#define PAIR_BYTES_116	16u
#define FLAG_SPWRITE	2u /* internal/abi: FuncFlagSPWrite */
#define ENTRY_PREFIX	"_rt0_"
#define SIGNAL_PREFIX	"runtime.sigreturn" /* __sigaction follows since Go 1.21 */
#define SLOT_RBP	1u		    /* saved at CFA - 16 */
#define SAVE_BYTES	8u
#define NAME_BYTES	24u /* of a name that are read, with a NUL */
#define BEGINNING_BYTES 512u
#define CALL_BYTES	3u

struct go_rows {
	struct image *image;
	struct image_bytes table;
	struct image_place text; /* Go's functions, and what follows them */
	bool linked_by_c;	 /* threads begin in code of C */
	struct pclntab_header header;
	struct go_layout layout;
	go_row *row;
	void *context;
};

struct function {
	u64 start, end;
	u32 distances; /* offset in tables; 0: none */
	u8 flags;
	char name[NAME_BYTES];
	bool tried; /* the search for the instruction that saves rbp is done */
	bool saves; /* rbp is saved where there is room on the stack */
	u64 saved;  /* from this address on */
	struct go_ranges ranges;
};

struct steps {
	struct reader reader;
	u64 start, end; /* of the last one */
	s32 distance;
};

/* ---- the table ---- */

static struct reader table_at(const struct go_rows *rows, u64 part, u64 offset)
{
	struct reader reader;

	reader_init(&reader, rows->table.bytes, rows->table.size);
	reader_skip(&reader, part);
	reader_skip(&reader, offset);
	return reader;
}

static u32 pair_bytes(const struct go_rows *rows)
{
	return rows->header.magic == PCLNTAB_116 ? PAIR_BYTES_116 : PAIR_BYTES;
}

/* Returns where a pair says that a function starts; offset: of its record. */
static u64 read_pair(const struct go_rows *rows, struct reader *pair, u64 *ret_offset)
{
	u64 start;

	if (rows->header.magic == PCLNTAB_116) {
		start = reader_u64(pair);
		*ret_offset = reader_u64(pair);
		return start;
	}
	start = rows->text.address + reader_u32(pair);
	*ret_offset = reader_u32(pair);
	return start;
}

static struct reader pair_at(const struct go_rows *rows, u64 index)
{
	return table_at(rows, rows->header.functions, index * pair_bytes(rows));
}

/* Returns the start of a function; that of the last index is where all functions end. */
static u64 start_of(const struct go_rows *rows, u64 index)
{
	struct reader pair = pair_at(rows, index);

	if (rows->header.magic == PCLNTAB_116)
		return reader_u64(&pair);
	return rows->text.address + reader_u32(&pair);
}

static int read_header(struct go_rows *rows)
{
	const struct pclntab_header *header = &rows->header;
	int r = pclntab_read_header(rows->table.bytes, rows->table.size, &rows->header);

	if (r == -ENOTSUP)
		return -ENOENT;
	if (r < 0)
		return r;
	if (header->quantum != 1)
		return -ENOENT;
	if (header->count > GO_FUNCTIONS_MAX || header->functions > rows->table.size)
		return -EBADMSG;
	if (header->count >= (rows->table.size - header->functions) / pair_bytes(rows))
		return -EBADMSG;
	return 0;
}

/* Reads the beginning of a name into zeros; nothing where there is no name. */
static void read_name(const struct go_rows *rows, u64 offset, char ret_name[NAME_BYTES])
{
	struct reader reader = table_at(rows, rows->header.names, offset);
	size_t size = reader_left(&reader);
	const void *bytes;

	if (size > NAME_BYTES - 1)
		size = NAME_BYTES - 1;
	bytes = reader_bytes(&reader, size);
	if (bytes)
		memcpy(ret_name, bytes, size);
}

static bool read_function(const struct go_rows *rows, u64 index, struct function *ret_function)
{
	struct reader pair = pair_at(rows, index), record;
	const bool is_116 = rows->header.magic == PCLNTAB_116;
	u64 most, offset;

	*ret_function = (struct function){.start = read_pair(rows, &pair, &offset)};
	record = table_at(rows, rows->header.functions, offset);
	ret_function->end = start_of(rows, index + 1);
	most = text_end(rows->image, ret_function->start);
	reader_skip(&record, is_116 ? 8 : 4); /* the function's start */
	read_name(rows, reader_u32(&record), ret_function->name);
	reader_skip(&record, 8); /* arguments, deferreturn */
	ret_function->distances = reader_u32(&record);
	reader_skip(&record, 16); /* files, lines, pcdata, unit */
	if (rows->header.magic == PCLNTAB_120)
		reader_skip(&record, 4); /* first line */
	reader_skip(&record, 1);	 /* the number of a special function */
	ret_function->flags = reader_u8(&record);
	return !reader_failed(&pair) && !reader_failed(&record) &&
	       ret_function->end > ret_function->start && ret_function->end <= most;
}

/*
 * Returns whether the entry point is a function _rt0_*, as with Go's linker. That also proves that
 * the table counts addresses from .text.
 */
static bool begins_there(const struct go_rows *rows)
{
	u64 entry = image_entry(rows->image), low = 0, high = rows->header.count;
	struct function function;

	while (low < high) {
		u64 middle = low + (high - low) / 2;

		if (!read_function(rows, middle, &function))
			return false;
		if (function.start == entry)
			return strncmp(function.name, ENTRY_PREFIX, strlen(ENTRY_PREFIX)) == 0;
		if (function.start < entry)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

/* Finds the code that the table describes where the linker of C has put it. */
static int find_moved(struct go_rows *rows)
{
	const u64 table = rows->table.address;
	struct go_module module;
	int r = go_module_find(rows->image, table, table + rows->header.names,
			       rows->header.magic == PCLNTAB_120, &module);

	if (r < 0)
		return r;
	r = image_address_place(rows->image, module.text, &rows->text);
	if (r < 0)
		return r;
	rows->linked_by_c = true;
	if (start_of(rows, 0) != module.start || start_of(rows, rows->header.count) != module.end)
		return -ENOENT;
	return 0;
}

static int find_text(struct go_rows *rows)
{
	const u64 said = rows->header.text;
	int r = image_section_place(rows->image, ".text", &rows->text);

	if (r < 0)
		return r;
	if ((said == 0 || said == rows->text.address) && begins_there(rows))
		return 0;
	return find_moved(rows);
}

/* ---- one function ---- */

static size_t read_text(const struct go_rows *rows, u64 pc, unsigned char *to, size_t size)
{
	return image_read(rows->image, rows->text.offset + (pc - rows->text.address), to, size);
}

static u64 rule_of(const struct function *function, s32 distance, bool saved)
{
	s64 offset = (s64)distance + 8;

	if (distance < 0 || offset > RULE_OFFSET_MAX || distance % 8 != 0)
		return RULE_MAKE(RULE_UNSUPPORTED, 0, 0, 0, 0);
	if (distance > 0 && !function->saves)
		return RULE_MAKE(RULE_UNSUPPORTED, 0, 0, 0, 0);
	if (distance > 0 && saved)
		return RULE_MAKE(RULE_SP, 0, SLOT_RBP, offset, 0);
	return RULE_MAKE(RULE_SP, 0, 0, offset, 0);
}

/*
 * Finds mov %rbp, distance - 8(%rsp) behind the instruction that made room (until Go 1.20). Returns
 * the end of the mov, up to which the register has the caller's value, or 0.
 */
static u64 saved_behind(const struct go_rows *rows, u64 pc, s32 distance)
{
	static const unsigned char none[] = {0x48, 0x89, 0x2c, 0x24},
				   near[] = {0x48, 0x89, 0x6c, 0x24},
				   far[] = {0x48, 0x89, 0xac, 0x24};
	unsigned char bytes[SAVE_BYTES];
	s32 at;

	if (read_text(rows, pc, bytes, sizeof(bytes)) != sizeof(bytes))
		return 0;
	memcpy(&at, bytes + sizeof(far), sizeof(at));
	if (memcmp(bytes, none, sizeof(none)) == 0 && distance == 8)
		return pc + sizeof(none);
	if (memcmp(bytes, near, sizeof(near)) == 0 && (s8)bytes[sizeof(near)] == distance - 8)
		return pc + sizeof(near) + 1;
	if (memcmp(bytes, far, sizeof(far)) == 0 && at == distance - 8)
		return pc + SAVE_BYTES;
	return 0;
}

/* Recognises push %rbp; mov %rsp, %rbp: rbp is saved from the second instruction on. */
static bool saved_before(const struct go_rows *rows, u64 pc, s32 distance)
{
	static const unsigned char prologue[] = {0x55, 0x48, 0x89, 0xe5};
	unsigned char bytes[sizeof(prologue)];

	return distance == 8 && read_text(rows, pc - 1, bytes, sizeof(bytes)) == sizeof(bytes) &&
	       memcmp(bytes, prologue, sizeof(prologue)) == 0;
}

/* Returns the address from which rbp is saved. pc: the first with room on the stack. */
static u64 find_saved(const struct go_rows *rows, struct function *function, u64 pc, s32 distance)
{
	u64 from = pc;

	if (!saved_before(rows, pc, distance))
		from = saved_behind(rows, pc, distance);
	function->saves = from != 0;
	return from;
}

/* Takes the next pair of distance, zigzag, and bytes. The first distance counts from -1. */
static bool next_step(struct steps *steps, const struct function *function)
{
	u32 value = (u32)reader_uleb(&steps->reader);
	u64 more = reader_uleb(&steps->reader);

	steps->start = steps->end;
	if (reader_failed(&steps->reader) || more == 0 || more > function->end - steps->start ||
	    (value == 0 && steps->start > function->start))
		return false;
	steps->distance = (s32)((u32)steps->distance + ((value >> 1) ^ -(value & 1)));
	steps->end += more;
	return true;
}

/*
 * Adds the row of an address, whose distance holds up to `end`. Returns the address of the next
 * row, or 0 with an errno in *ret_error.
 */
static u64 add_row(const struct go_rows *rows, struct function *function, u64 pc, u64 end,
		   s32 distance, int *ret_error)
{
	struct go_range *inside = NULL;
	bool saved = pc >= function->saved;
	u64 rule;

	if (!saved && function->saved < end)
		end = function->saved;
	for (size_t i = 0; i < function->ranges.count; i++) {
		struct go_range *range = &function->ranges.range[i];
		u64 from = function->start + range->start, to = function->start + range->end;

		if (from > pc && from < end)
			end = from;
		if (from > pc || pc >= to)
			continue;
		inside = range;
		if (to < end)
			end = to;
	}
	if (inside)
		rule = go_switch_rule(inside, &rows->layout, distance,
				      distance > 0 && saved && function->saves);
	else
		rule = rule_of(function, distance, saved);
	*ret_error = rows->row(rows->context, pc, rule);
	return *ret_error == 0 ? end : 0;
}

static int add_distances(const struct go_rows *rows, struct function *function)
{
	struct steps steps = {table_at(rows, rows->header.tables, function->distances),
			      function->start, function->start, -1};
	int r = 0;

	while (r == 0 && steps.end < function->end && next_step(&steps, function)) {
		u64 pc = steps.start;

		if (!function->tried && steps.distance > 0) {
			function->tried = true;
			function->saved = find_saved(rows, function, steps.start, steps.distance);
		}
		while (pc != 0 && pc < steps.end)
			pc = add_row(rows, function, pc, steps.end, steps.distance, &r);
	}
	if (r == 0 && steps.end < function->end)
		r = rows->row(rows->context, steps.end, RULE_NONE);
	return r;
}

/* Finds the only place of some bytes in a function. *ret_at: its offset. */
static bool find_only(const struct go_rows *rows, const struct function *function,
		      const unsigned char *wanted, size_t wanted_size, u64 *ret_at)
{
	unsigned char bytes[BEGINNING_BYTES];
	size_t size = function->end - function->start;
	const unsigned char *at;

	if (size > sizeof(bytes))
		size = sizeof(bytes);
	size = read_text(rows, function->start, bytes, size);
	at = memmem(bytes, size, wanted, wanted_size);
	if (!at)
		return false;
	*ret_at = (u64)(at - bytes);
	size -= *ret_at + 1;
	return !memmem(at + 1, size, wanted, wanted_size);
}

/* Finds the function's only call *%r12. *ret_at: its offset. */
static bool find_call(const struct go_rows *rows, const struct function *function, u64 *ret_at)
{
	static const unsigned char call[CALL_BYTES] = {0x41, 0xff, 0xd4};

	return find_only(rows, function, call, sizeof(call), ret_at);
}

/* Adds a function in which a stack begins, by a call that never returns. */
static int add_beginning(const struct go_rows *rows, const struct function *function)
{
	const u64 root = RULE_MAKE(RULE_END, 0, 0, 0, RULE_FLAG_ENTRY);
	u64 at;
	int r = rows->row(rows->context, function->start, RULE_NONE);

	if (r < 0 || !find_call(rows, function, &at))
		return r;
	r = rows->row(rows->context, function->start + at, root);
	if (r < 0)
		return r;
	return rows->row(rows->context, function->start + at + CALL_BYTES, RULE_NONE);
}

/*
 * Finds where runtime.clone takes the new thread's stack: behind its only mov %rsi, %rsp. *ret_at:
 * the offset.
 */
static bool find_new_stack(const struct go_rows *rows, const struct function *function, u64 *ret_at)
{
	static const unsigned char take[] = {0x48, 0x89, 0xf4};

	if (!find_only(rows, function, take, sizeof(take), ret_at))
		return false;
	*ret_at += sizeof(take);
	return true;
}

/* Adds runtime.clone: the calling thread has no frame there, and the new one has no caller. */
static int add_clone(const struct go_rows *rows, const struct function *function)
{
	const u64 root = RULE_MAKE(RULE_END, 0, 0, 0, RULE_FLAG_ENTRY);
	u64 at;
	int r;

	if (!find_new_stack(rows, function, &at))
		return add_beginning(rows, function);
	r = rows->row(rows->context, function->start, RULE_MAKE(RULE_SP, 0, 0, 8, 0));
	if (r < 0 || at >= function->end - function->start)
		return r;
	return rows->row(rows->context, function->start + at, root);
}

static bool is_root(const struct go_rows *rows, const struct function *function)
{
	static const char *const roots[] = {
		"runtime.goexit", "runtime.rt0_go", "crosscall1",
		"crosscall_amd64", /* the same until Go 1.19 */
	};

	if (rows->linked_by_c && strcmp(function->name, "runtime.mstart") == 0)
		return true;
	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++)
		if (strcmp(function->name, roots[i]) == 0)
			return true;
	return strncmp(function->name, ENTRY_PREFIX, strlen(ENTRY_PREFIX)) == 0;
}

static size_t read_function_text(const struct go_rows *rows, const struct function *function,
				 unsigned char bytes[GO_SWITCH_BYTES])
{
	size_t size = function->end - function->start;

	if (size > GO_SWITCH_BYTES)
		size = GO_SWITCH_BYTES;
	return read_text(rows, function->start, bytes, size);
}

/* Go 1.16 has no flags. Its functions that are written by hand are in these packages. */
static bool is_flagless(const struct go_rows *rows, const struct function *function)
{
	static const char *const packages[] = {"runtime.", "crypto/"};

	if (rows->header.magic != PCLNTAB_116)
		return false;
	for (size_t i = 0; i < sizeof(packages) / sizeof(packages[0]); i++)
		if (strncmp(function->name, packages[i], strlen(packages[i])) == 0)
			return true;
	return false;
}

/* Finds the ranges of a function where it changes stacks. */
static void find_ranges(const struct go_rows *rows, struct function *function)
{
	bool is_silent = is_flagless(rows, function);
	unsigned char bytes[GO_SWITCH_BYTES];
	size_t size;

	if (rows->layout.thread_local_at == 0)
		return;
	if (!(function->flags & FLAG_SPWRITE) && !is_silent && !go_switch_is_known(function->name))
		return;
	size = read_function_text(rows, function, bytes);
	if (is_silent && go_switch_writes(bytes, size))
		function->flags |= FLAG_SPWRITE;
	go_switch_find(function->name, function->flags & FLAG_SPWRITE, bytes, size,
		       &function->ranges);
}

/* A handler returns to the first byte, and its caller is looked up by the byte before. */
static int add_signal_return(const struct go_rows *rows, const struct function *function)
{
	return rows->row(rows->context, function->start - 1,
			 RULE_MAKE(RULE_SIGNAL, 0, 0, 0, RULE_FLAG_SIGNAL));
}

static int add_function(const struct go_rows *rows, struct function *function)
{
	find_ranges(rows, function);
	if (strncmp(function->name, SIGNAL_PREFIX, strlen(SIGNAL_PREFIX)) == 0)
		return add_signal_return(rows, function);
	if (is_root(rows, function))
		return rows->row(rows->context, function->start,
				 RULE_MAKE(RULE_END, 0, 0, 0, RULE_FLAG_ENTRY));
	if (function->distances != 0 && function->ranges.count > 0)
		return add_distances(rows, function);
	if (strcmp(function->name, "runtime.clone") == 0)
		return add_clone(rows, function);
	if (strcmp(function->name, "runtime.mcall") == 0)
		return add_beginning(rows, function);
	if (function->distances == 0 || function->flags & FLAG_SPWRITE)
		return rows->row(rows->context, function->start, RULE_NONE);
	return add_distances(rows, function);
}

/* Finds what runtime.systemstack shows. Without it, no function changes stacks. */
static void find_layout(struct go_rows *rows)
{
	unsigned char bytes[GO_SWITCH_BYTES];
	struct function function;

	for (u64 i = 0; i < rows->header.count; i++) {
		if (!read_function(rows, i, &function))
			return;
		if (strcmp(function.name, "runtime.systemstack") != 0)
			continue;
		if (go_switch_layout(function.start, bytes,
				     read_function_text(rows, &function, bytes), &rows->layout))
			return;
	}
	rows->layout = (struct go_layout){0};
}

int go_rows(struct image *image, const struct image_bytes *bytes, go_row *row, void *context,
	    u64 *ret_functions, struct go_layout *ret_layout)
{
	struct go_rows rows = {.image = image, .table = *bytes, .row = row, .context = context};
	struct function function = {0};
	u64 end = 0;
	int r = read_header(&rows);

	if (r == 0)
		r = find_text(&rows);
	if (r == 0)
		find_layout(&rows);
	for (u64 i = 0; i < rows.header.count && r == 0; i++) {
		if (!read_function(&rows, i, &function) || function.start < end)
			r = -EBADMSG;
		else
			r = add_function(&rows, &function);
		end = function.end;
	}
	*ret_functions = rows.header.count;
	*ret_layout = rows.layout;
	if (r < 0)
		return r;
	return row(context, end, RULE_NONE);
}
