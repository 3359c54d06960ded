/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/runtime/loop.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/reader.h"
#include "ipc/guard.h"
#include "object/elf/exported.h"
#include "object/elf/image.h"
#include "object/unwind/function_starts.h"

#define CODE_BYTES_MAX	 (1u << 20)
#define CALLEES_BYTES	 (8u << 20) /* of all functions that a search for callees reads */
#define JUMPS_MAX	 4096u
#define PARTS_TRIED_MAX	 64u
#define NEAR_CALL	 0xe8u /* call rel32 */
#define NEAR_JUMP	 0xe9u /* jmp rel32 */
#define TWO_BYTE_OPCODE	 0x0fu
#define NEAR_BRANCH	 0x80u /* jcc rel32: 0f 80 to 0f 8f */
#define NEAR_BRANCH_MASK 0xf0u
#define NEAR_BYTES	 5u /* of a near call or jump */

/* The bytes of a function or a part. */
struct code {
	uint64_t address;
	uint64_t place; /* in the file */
	size_t size;
	unsigned char *bytes; /* owned */
};

static void release_code(struct code *code)
{
	free(code->bytes);
}
#define guard_code __attribute__((cleanup(release_code)))

static int read_code(struct image *image, uint64_t start, uint64_t size, struct code *ret_code)
{
	struct image_place place;

	if (size == 0 || size > CODE_BYTES_MAX || image_address_place(image, start, &place) < 0 ||
	    place.size < size)
		return -ENOTSUP;
	ret_code->bytes = malloc(size);
	if (!ret_code->bytes)
		return -ENOMEM;
	ret_code->address = start;
	ret_code->place = place.offset;
	ret_code->size = image_read(image, place.offset, ret_code->bytes, size);
	return 0;
}

/*
 * Returns where a jump or call leads that begins at a place of the code, or 0: none begins there.
 * The code is not decoded: so a place may be within an instruction.
 */
static uint64_t target_of(const struct code *code, size_t at, bool with_calls)
{
	struct reader reader;
	uint8_t opcode;
	uint64_t target;

	reader_init(&reader, code->bytes, code->size);
	reader_seek(&reader, at);
	opcode = reader_u8(&reader);
	if (opcode == TWO_BYTE_OPCODE) {
		if ((reader_u8(&reader) & NEAR_BRANCH_MASK) != NEAR_BRANCH)
			return 0;
	} else if (opcode != NEAR_JUMP && !(with_calls && opcode == NEAR_CALL)) {
		return 0;
	}
	target = (uint64_t)(int32_t)reader_u32(&reader);
	if (reader_failed(&reader))
		return 0;
	return target + code->address + reader_offset(&reader);
}

static uint64_t jump_target(const struct code *code, size_t at)
{
	return target_of(code, at, false);
}

static bool is_within(uint64_t address, const struct code *code)
{
	return address - code->address < code->size;
}

static int by_value(const void *left, const void *right)
{
	const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	if (a < b)
		return -1;
	return a > b;
}

/* Adds where jumps, and calls, out of a function lead. Returns how many there are then. */
static size_t add_targets(const struct code *function, bool with_calls, uint64_t targets[JUMPS_MAX],
			  size_t count)
{
	for (size_t at = 0; at < function->size && count < JUMPS_MAX; at++) {
		const uint64_t target = target_of(function, at, with_calls);

		if (target != 0 && !is_within(target, function))
			targets[count++] = target;
	}
	return count;
}

/* Writes where the jumps out of a function lead, ascending. Returns how many. */
static size_t jumps_out(const struct code *function, uint64_t targets[JUMPS_MAX])
{
	const size_t count = add_targets(function, false, targets, 0);

	qsort(targets, count, sizeof(*targets), by_value);
	return count;
}

/* Returns whether code jumps into the middle of a function, as no other function does. */
static bool jumps_into(const struct code *code, const struct code *function)
{
	for (size_t at = 0; at < code->size; at++) {
		const uint64_t target = jump_target(code, at);

		if (target != function->address && is_within(target, function))
			return true;
	}
	return false;
}

static struct runtime_range range_of(const struct code *code)
{
	return (struct runtime_range){code->place, code->place + code->size, code->address};
}

/* Adds the range of an FDE if it is a part of the function. */
static int try_part(struct image *image, const struct code *function, uint64_t start, uint64_t end,
		    struct runtime_range ranges[RUNTIME_LOOP_RANGES], size_t *count)
{
	struct code part guard_code = {0};
	int r;

	if (*count >= RUNTIME_LOOP_RANGES || is_within(start, function))
		return 0;
	r = read_code(image, start, end - start, &part);
	if (r == -ENOTSUP)
		return 0;
	if (r < 0)
		return r;
	if (jumps_into(&part, function))
		ranges[(*count)++] = range_of(&part);
	return 0;
}

static int find_parts(struct image *image, const struct code *function,
		      struct runtime_range ranges[RUNTIME_LOOP_RANGES])
{
	uint64_t *targets guard_free = calloc(JUMPS_MAX, sizeof(*targets));
	uint64_t *starts guard_free = calloc(JUMPS_MAX, sizeof(*starts));
	uint64_t *ends guard_free = calloc(JUMPS_MAX, sizeof(*ends));
	size_t jumps, count = 1, tried = 0;
	int r;

	if (!targets || !starts || !ends)
		return -ENOMEM;
	jumps = jumps_out(function, targets);
	r = unwind_function_ranges(image, targets, jumps, starts, ends);
	if (r < 0)
		return -ENOTSUP;
	for (size_t i = 0; i < jumps && tried < PARTS_TRIED_MAX; i++) {
		if (starts[i] == 0 || (i > 0 && starts[i] == starts[i - 1]))
			continue;
		tried++;
		r = try_part(image, function, starts[i], ends[i], ranges, &count);
		if (r < 0)
			return r;
	}
	return 0;
}

static int find_all(struct image *image, uint64_t address, uint64_t size,
		    struct runtime_range ret_ranges[RUNTIME_LOOP_RANGES])
{
	struct runtime_range ranges[RUNTIME_LOOP_RANGES] = {0};
	struct code function guard_code = {0};
	int r = read_code(image, address, size, &function);

	if (r < 0)
		return r;
	ranges[0] = range_of(&function);
	r = find_parts(image, &function, ranges);
	for (size_t i = 0; i < RUNTIME_LOOP_RANGES && r == 0; i++)
		ret_ranges[i] = ranges[i];
	return r;
}

int loop_of_symbol(struct image *image, const struct exported *exported, const char *name,
		   struct runtime_range ret_ranges[RUNTIME_LOOP_RANGES])
{
	struct exported_symbol symbol;

	if (!exported_find(exported, name, &symbol))
		return -ENOTSUP;
	return find_all(image, symbol.address, symbol.size, ret_ranges);
}

/* ---- functions that others call ---- */

/* Functions of one distance from the exported one; owned. */
struct callees {
	uint64_t *target, *start, *end; /* of JUMPS_MAX; target: ascending */
	size_t count;
};

static void release_callees(struct callees *callees)
{
	free(callees->target);
	free(callees->start);
	free(callees->end);
}
#define guard_callees __attribute__((cleanup(release_callees)))

static int init_callees(struct callees *callees)
{
	callees->target = calloc(JUMPS_MAX, sizeof(*callees->target));
	callees->start = calloc(JUMPS_MAX, sizeof(*callees->start));
	callees->end = calloc(JUMPS_MAX, sizeof(*callees->end));
	if (!callees->target || !callees->start || !callees->end)
		return -ENOMEM;
	return 0;
}

/* Drops targets that begin no function, and those that come again. */
static int find_functions(struct image *image, struct callees *callees)
{
	size_t count = 0;
	int r;

	qsort(callees->target, callees->count, sizeof(*callees->target), by_value);
	r = unwind_function_ranges(image, callees->target, callees->count, callees->start,
				   callees->end);
	if (r < 0)
		return -ENOTSUP;
	for (size_t i = 0; i < callees->count; i++) {
		if (callees->start[i] == 0 || callees->start[i] != callees->target[i] ||
		    (count > 0 && callees->start[i] == callees->start[count - 1]))
			continue;
		callees->start[count] = callees->start[i];
		callees->end[count++] = callees->end[i];
	}
	callees->count = count;
	return 0;
}

/* Replaces functions by those that they call. left: bytes that may still be read. */
static int go_on(struct image *image, struct callees *callees, uint64_t *left)
{
	size_t count = 0;
	int r = 0;

	for (size_t i = 0; i < callees->count && r == 0 && count < JUMPS_MAX; i++) {
		struct code function guard_code = {0};
		const uint64_t bytes = callees->end[i] - callees->start[i];

		if (bytes > *left)
			return -ENOTSUP;
		*left -= bytes;
		r = read_code(image, callees->start[i], bytes, &function);
		if (r == 0)
			count = add_targets(&function, true, callees->target, count);
		else if (r == -ENOTSUP)
			r = 0;
	}
	callees->count = count;
	if (r < 0)
		return r;
	return find_functions(image, callees);
}

static void find_largest(const struct callees *callees, uint64_t *start, uint64_t *size)
{
	for (size_t i = 0; i < callees->count; i++) {
		const uint64_t of_this = callees->end[i] - callees->start[i];

		if (of_this <= *size)
			continue;
		*start = callees->start[i];
		*size = of_this;
	}
}

int loop_called_by(struct image *image, const struct exported *exported, const char *name,
		   struct runtime_range ret_ranges[RUNTIME_LOOP_RANGES])
{
	struct callees callees guard_callees = {0};
	uint64_t start = 0, size = LOOP_BYTES_MIN, left = CALLEES_BYTES;
	struct exported_symbol symbol;
	int r = init_callees(&callees);

	if (r < 0)
		return r;
	if (!exported_find(exported, name, &symbol))
		return -ENOTSUP;
	callees.start[0] = symbol.address;
	callees.end[0] = symbol.address + symbol.size;
	callees.count = 1;
	for (unsigned int i = 0; i < LOOP_CALLS && r == 0; i++) {
		r = go_on(image, &callees, &left);
		find_largest(&callees, &start, &size);
	}
	if (r < 0)
		return r;
	if (start == 0)
		return -ENOTSUP;
	return find_all(image, start, size, ret_ranges);
}

/* Takes the targets of an exported function's jumps or calls. */
static int take_targets(struct image *image, const struct exported *exported, const char *name,
			bool of_calls, struct callees *ret_callees)
{
	struct code function guard_code = {0};
	struct exported_symbol symbol;
	int r = init_callees(ret_callees);

	if (r < 0)
		return r;
	if (!exported_find(exported, name, &symbol))
		return -ENOTSUP;
	r = read_code(image, symbol.address, symbol.size, &function);
	if (r < 0)
		return r;
	ret_callees->count = add_targets(&function, of_calls, ret_callees->target, 0);
	return 0;
}

int loop_jumped_to_by(struct image *image, const struct exported *exported, const char *name,
		      struct runtime_range ret_ranges[RUNTIME_LOOP_RANGES])
{
	struct callees callees guard_callees = {0};
	uint64_t start = 0, size = 0;
	int r = take_targets(image, exported, name, false, &callees);

	if (r < 0)
		return r;
	r = find_functions(image, &callees);
	if (r < 0)
		return r;
	find_largest(&callees, &start, &size);
	if (start == 0)
		return -ENOTSUP;
	return find_all(image, start, size, ret_ranges);
}

/* Finds the functions that the one at an address calls or jumps to. */
static int find_callees(struct image *image, uint64_t address, struct callees *ret_callees)
{
	struct code function guard_code = {0};
	uint64_t start, end;
	int r = init_callees(ret_callees);

	if (r < 0)
		return r;
	if (unwind_function_ranges(image, &address, 1, &start, &end) < 0 || start != address)
		return -ENOTSUP;
	r = read_code(image, start, end - start, &function);
	if (r < 0)
		return r;
	ret_callees->count = add_targets(&function, true, ret_callees->target, 0);
	return find_functions(image, ret_callees);
}

static bool is_exported(const struct exported *exported, uint64_t address)
{
	struct exported_symbol symbol;

	for (uint64_t i = 0; i < exported->symbols.size / sizeof(Elf64_Sym); i++)
		if (exported_get(exported, i, &symbol) && symbol.address == address)
			return true;
	return false;
}

static bool has_callee(const struct callees *callees, uint64_t start)
{
	for (size_t i = 0; i < callees->count; i++)
		if (callees->start[i] == start)
			return true;
	return false;
}

int loop_called_by_both(struct image *image, const struct exported *exported, uint64_t address,
			uint64_t other, struct runtime_range *ret_range)
{
	struct callees one guard_callees = {0}, two guard_callees = {0};
	struct code code guard_code = {0};
	size_t found = 0, at = 0;
	int r = find_callees(image, address, &one);

	if (r == 0)
		r = find_callees(image, other, &two);
	if (r < 0)
		return r;
	for (size_t i = 0; i < one.count; i++) {
		if (!has_callee(&two, one.start[i]) || is_exported(exported, one.start[i]))
			continue;
		found++;
		at = i;
	}
	if (found != 1)
		return -ENOTSUP;
	r = read_code(image, one.start[at], one.end[at] - one.start[at], &code);
	if (r == 0)
		*ret_range = range_of(&code);
	return r;
}

/* ---- code by hand ---- */

/* Returns the first address of code that is behind a call of other code of the image, or 0. */
static uint64_t behind_call(struct image *image, const struct code *code)
{
	struct image_place place;

	for (size_t at = 0; at + NEAR_BYTES < code->size; at++) {
		if (code->bytes[at] == NEAR_CALL &&
		    image_address_place(image, target_of(code, at, true), &place) == 0)
			return code->address + at + NEAR_BYTES;
	}
	return 0;
}

int loop_entered_by(struct image *image, const struct exported *exported, const char *name,
		    struct loop_by_hand *ret_loop)
{
	struct callees callees guard_callees = {0};
	struct code loop guard_code = {0};
	uint64_t start = 0, size = LOOP_BYTES_MIN;
	int r = take_targets(image, exported, name, true, &callees);

	if (r < 0)
		return r;
	qsort(callees.target, callees.count, sizeof(*callees.target), by_value);
	r = unwind_function_ranges(image, callees.target, callees.count, callees.start,
				   callees.end);
	if (r < 0)
		return -ENOTSUP;
	find_largest(&callees, &start, &size);
	if (start == 0)
		return -ENOTSUP;
	r = read_code(image, start, size, &loop);
	if (r < 0)
		return r;
	ret_loop->code = range_of(&loop);
	ret_loop->inside = behind_call(image, &loop);
	if (ret_loop->inside == 0)
		return -ENOTSUP;
	return 0;
}
