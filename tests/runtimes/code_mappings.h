/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mappings of a process that have code of HotSpot or V8: those of the runtime's file, and those
 * without a file. In the file, code with rules in its table is where a walk ends.
 */
#ifndef KEYHOLE_TESTS_RUNTIMES_CODE_MAPPINGS_H
#define KEYHOLE_TESTS_RUNTIMES_CODE_MAPPINGS_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

#include "object/elf/image.h"
#include "object/unwind/unwind_table.h"
#include "tests/bpf/memory_image.h"

#define CODE_RULE_LAST RULE_MAKE(RULE_END, 0, 0, 0, 0)
#define CODE_STEP      4096u
#define CODE_GAP       (512u << 10) /* without rules: the builtins of V8 */

struct code_file {
	uint64_t bias;
	uint64_t gap, gap_end; /* in the mapping of the file's own code; both 0: none */
	unsigned long long inode;
};

static inline int code_add(struct memory_image *image, uint64_t start, uint64_t end, uint64_t bias,
			   bool has_rules, bool is_of_file)
{
	struct memory_image_code *code = &image->code;

	if (start >= end)
		return 0;
	if (code->mappings == MEMORY_IMAGE_MAPPINGS_MAX)
		return -ENOSPC;
	code->mapping[code->mappings++] = (struct memory_image_mapping){
		.start = start,
		.end = end,
		.bias = bias,
		.rule = has_rules ? CODE_RULE_LAST : 0,
		.is_of_file = is_of_file && !has_rules,
	};
	return 0;
}

/* Finds the largest part of a file's code in which its table has no rules. */
static inline int code_find_gap(struct image *elf, struct code_file *file)
{
	struct image_place text = {0};
	struct unwind_table *table;
	u64 damaged;
	int r = image_section_place(elf, ".text", &text);
	uint64_t from = text.address + file->bias;

	if (r == 0)
		r = unwind_table_build(elf, &table, &damaged);
	if (r < 0)
		return r;
	for (uint64_t at = from; at < text.address + file->bias + text.size; at += CODE_STEP) {
		if (unwind_table_rule(table, at - file->bias) != RULE_NONE) {
			from = at + CODE_STEP;
		} else if (at - from >= CODE_GAP && at - from > file->gap_end - file->gap) {
			file->gap = from;
			file->gap_end = at;
		}
	}
	unwind_table_free(table);
	return 0;
}

static inline int code_add_file(struct memory_image *image, const struct code_file *file,
				uint64_t start, uint64_t end, uint64_t bias)
{
	int r;

	/* V8 maps its builtins a second time */
	if (bias != file->bias)
		return code_add(image, start, end, bias, false, true);
	if (!file->gap || file->gap < start || file->gap_end > end)
		return code_add(image, start, end, bias, true, true);
	r = code_add(image, start, file->gap, bias, true, true);
	if (r == 0)
		r = code_add(image, file->gap, file->gap_end, bias, false, true);
	if (r == 0)
		r = code_add(image, file->gap_end, end, bias, true, true);
	return r;
}

static inline uint64_t code_bias(struct image *elf, uint64_t start, uint64_t end, uint64_t offset)
{
	const struct image_segment *segments;
	const size_t count = image_segments(elf, &segments);
	const struct image_segment *segment =
		image_segment_of(segments, count, offset, end - start);

	return segment ? start - offset + segment->file_offset - segment->address : 0;
}

/* Reads the next executable mapping. Returns false at the end. */
struct code_line {
	unsigned long long start, end, offset, inode;
};
static inline bool code_next(FILE *maps, struct code_line *ret_line)
{
	char line[4096], executable;

	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%llx-%llx %*2c%c%*c %llx %*s %llu", &ret_line->start,
			   &ret_line->end, &executable, &ret_line->offset, &ret_line->inode) == 5 &&
		    executable == 'x' && !strstr(line, "[v"))
			return true;
	return false;
}

static inline int code_add_all(FILE *maps, struct image *elf, const struct code_file *file,
			       struct memory_image *image)
{
	struct code_line line;
	int r = 0;

	while (r == 0 && code_next(maps, &line)) {
		if (line.inode == file->inode)
			r = code_add_file(image, file, line.start, line.end,
					  code_bias(elf, line.start, line.end, line.offset));
		else if (line.inode == 0)
			r = code_add(image, line.start, line.end, file->bias, false, false);
	}
	return r;
}

/*
 * Fills in the mappings of an image. elf: the runtime's file, which a mapping at start has. Returns
 * 0 or a negative errno.
 */
static inline int code_mappings(pid_t process, struct image *elf, uint64_t start,
				struct memory_image *image)
{
	struct code_file file = {.bias = image->head.bias};
	struct code_line line;
	char path[64];
	FILE *maps;
	int r = 0;

	if (memory_image_is_v8(image))
		r = code_find_gap(elf, &file);
	if (r < 0)
		return r;
	snprintf(path, sizeof(path), "/proc/%d/maps", process);
	maps = fopen(path, "r");
	if (!maps)
		return -errno;
	while (code_next(maps, &line))
		if (line.start == start)
			file.inode = line.inode;
	rewind(maps);
	image->code.bytes = memory_image_code_bytes(image);
	image->code.mappings = 0;
	r = code_add_all(maps, elf, &file, image);
	fclose(maps);
	return r;
}

#endif
