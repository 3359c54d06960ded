/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_rows_libdw FILE...: compares compiled unwind tables with elfutils' libdw, at the first and
 * last byte of every row that libdw sees and of every gap. Both descriptions of a frame run on one
 * made-up machine state: random registers, and memory that is a hash of its address. Both must give
 * the same caller.
 *
 * "-" stands for this process's own vDSO. -d compares .debug_frame in place of .eh_frame. -v shows
 * the rules that are unsupported. Exit status 1: a difference, or a file that could not be
 * compared.
 */
#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>

#include "bpf/abi.h"
#include "ipc/guard.h"
#include "tests/oracle/answer.h"
#include "object/elf/image.h"
#include "object/elf/image_eh_frame.h"
#include "object/unwind/frame.h"
#include "object/unwind/unwind_table.h"

#define SHOWN_MAX 20 /* differences shown per file */
#define GAP_MIN	  16 /* smaller gaps belong to the function before them */

struct totals {
	u64 rows, unsupported, unsupported_bytes, lost, differences, gaps, refused;
};

static bool verbose, of_debug_frame;

/* ---- comparing ---- */

struct file {
	const char *name;
	struct image *image;
	struct unwind_table *table;
	Elf *elf;
	Dwarf *dwarf; /* owns cfi if that is of .debug_frame */
	Dwarf_CFI *cfi;
	struct totals totals;
	u64 damaged;
};

static void difference(struct file *file, u64 pc, const char *what)
{
	if (file->totals.differences++ < SHOWN_MAX)
		printf("%s: %#llx: rule %016llx: %s\n", file->name, pc,
		       unwind_table_rule(file->table, pc), what);
}

static void compare_answers(struct file *file, u64 pc, const struct answer *our,
			    const struct answer *their)
{
	for (int i = 0; i < ANSWERS; i++) {
		if (our[i].known == LOST)
			file->totals.lost++;
		else if (our[i].known != their[i].known ||
			 (our[i].known == VALUE && our[i].value != their[i].value))
			difference(file, pc, answer_registers[i].name);
	}
}

static void compare_at(struct file *file, u64 pc, Dwarf_Frame *frame, bool signal)
{
	struct answer our[ANSWERS], their[ANSWERS];
	u64 rule = unwind_table_rule(file->table, pc);
	struct answer_state state;

	answer_state_init(&state, pc);
	if (rule_kind(rule) == RULE_UNSUPPORTED)
		return;
	if (!answer_libdw(frame, &state, their)) {
		file->totals.refused++;
		if (verbose)
			printf("%s: %#llx: libdw has no CFA, our rule is %016llx\n", file->name, pc,
			       rule);
		return;
	}
	if (rule_kind(rule) == RULE_END || their[6].known == UNDEFINED) {
		if (rule_kind(rule) != RULE_END || their[6].known != UNDEFINED)
			difference(file, pc, "undefined return address");
		return;
	}
	if (!answer_rule(file->table, rule, &state, our)) {
		difference(file, pc, "libdw has a rule");
		return;
	}
	if (signal != !!(rule_flags(rule) & RULE_FLAG_SIGNAL))
		difference(file, pc, "signal frame");
	compare_answers(file, pc, our, their);
}

static void note_unsupported(struct file *file, u64 start, u64 end, Dwarf_Frame *frame)
{
	Dwarf_Op *ops;
	size_t count;

	file->totals.unsupported++;
	file->totals.unsupported_bytes += end - start;
	if (!verbose || dwarf_frame_cfa(frame, &ops, &count) != 0)
		return;
	printf("%s: unsupported %#llx-%#llx: CFA", file->name, start, end);
	for (size_t i = 0; i < count; i++)
		printf(" %#x(%lld)", ops[i].atom, (s64)ops[i].number);
	printf("\n");
}

static void compare_fde(struct file *file, u64 pc, u64 fde_end)
{
	Dwarf_Addr start, end;
	Dwarf_Frame *frame;
	bool signal;

	while (pc < fde_end) {
		if (dwarf_cfi_addrframe(file->cfi, pc, &frame) != 0) {
			file->totals.refused++;
			if (rule_kind(unwind_table_rule(file->table, pc)) != RULE_NONE)
				difference(file, pc, dwarf_errmsg(-1));
			return;
		}
		dwarf_frame_info(frame, &start, &end, &signal);
		if (end > fde_end)
			end = fde_end;
		file->totals.rows++;
		compare_at(file, pc, frame, signal);
		compare_at(file, end - 1, frame, signal);
		if (rule_kind(unwind_table_rule(file->table, pc)) == RULE_UNSUPPORTED)
			note_unsupported(file, pc, end, frame);
		free(frame);
		pc = end > pc ? end : pc + 1;
	}
}

struct range {
	u64 start, end;
};

static int compare_ranges(const void *a, const void *b)
{
	const struct range *left = a, *right = b;

	return left->start < right->start ? -1 : left->start > right->start;
}

static bool is_derived(const struct file *file, u64 pc)
{
	return rule_flags(unwind_table_rule(file->table, pc)) & RULE_FLAG_DERIVED;
}

/* Few bytes before code that is known without an FDE take the rule before them. */
static bool before_derived(const struct file *file, u64 pc)
{
	for (u64 i = 1; i < GAP_MIN; i++)
		if (is_derived(file, pc + i))
			return true;
	return false;
}

static void compare_gap(struct file *file, u64 from, u64 to)
{
	u64 entry = image_entry(file->image), pcs[2] = {from, to - 1};

	/* another source may have a rule there */
	if (file->table->sources & ~(u32)UNWIND_EH_FRAME)
		return;
	file->totals.gaps++;
	for (int i = 0; i < 2; i++) {
		u32 kind = rule_kind(unwind_table_rule(file->table, pcs[i]));
		bool at_entry = kind == RULE_END && pcs[i] - entry < 64;
		bool padding = pcs[i] < entry && entry < to && entry - from < GAP_MIN;

		padding |= i == 0 && before_derived(file, from);
		if (kind != RULE_NONE && !at_entry && !padding && !is_derived(file, pcs[i]))
			difference(file, pcs[i], "a gap has a rule");
	}
}

/* Records as libdw counts them. */
static u64 count_records(const struct image_bytes *bytes, const char *ident)
{
	Elf_Data data = {.d_buf = (void *)bytes->bytes,
			 .d_size = bytes->size,
			 .d_version = EV_CURRENT,
			 .d_type = ELF_T_BYTE};
	Dwarf_Off offset = 0, next;
	Dwarf_CFI_Entry entry;
	u64 count = 0;

	while (offset != (Dwarf_Off)-1 && offset < bytes->size) {
		int r = dwarf_next_cfi((const unsigned char *)ident, &data, !of_debug_frame, offset,
				       &next, &entry);

		if (r > 0 || (r < 0 && next <= offset))
			break;
		count += r == 0 && !dwarf_cfi_cie_p(&entry);
		offset = next;
	}
	return count;
}

static int section_bytes(const struct file *file, struct image_bytes *ret_bytes)
{
	if (of_debug_frame)
		return image_section(file->image, ".debug_frame", ret_bytes);
	return image_eh_frame(file->image, ret_bytes);
}

static void section_init(struct frame_section *section, const struct image_bytes *bytes)
{
	if (of_debug_frame)
		frame_section_init_debug(section, bytes->bytes, bytes->size);
	else
		frame_section_init(section, bytes->bytes, bytes->size, bytes->address);
}

static int compare_file(struct file *file)
{
	struct frame_section *section guard_free = malloc(sizeof(*section));
	struct range *ranges guard_free = NULL;
	struct image_bytes bytes;
	struct frame_fde fde;
	size_t count = 0, all = 0;

	if (!section || section_bytes(file, &bytes) < 0)
		return -1;
	section_init(section, &bytes);
	ranges = calloc(file->table->frames + 1, sizeof(*ranges));
	if (!ranges)
		return -1;
	for (; frame_next(section, &fde); all++) {
		if (count < file->table->frames && (fde.start || !file->damaged))
			ranges[count++] = (struct range){fde.start, fde.end};
	}
	qsort(ranges, count, sizeof(*ranges), compare_ranges);
	for (size_t i = 0; i < count; i++) {
		u64 next = i + 1 < count ? ranges[i + 1].start : ranges[i].end + GAP_MIN;

		compare_fde(file, ranges[i].start, ranges[i].end < next ? ranges[i].end : next);
		if (next >= ranges[i].end + GAP_MIN)
			compare_gap(file, ranges[i].end, next);
	}
	if (count_records(&bytes, elf_getident(file->elf, NULL)) != all + section->damaged)
		printf("%s: note: libdw counts other FDEs (empty ones?)\n", file->name);
	return 0;
}

/* ---- files ---- */

static int open_vdso(struct file *file)
{
	char *vdso = (char *)getauxval(AT_SYSINFO_EHDR);
	Elf64_Ehdr header;
	size_t size;

	if (!vdso)
		return -1;
	memcpy(&header, vdso, sizeof(header));
	size = header.e_shoff + (size_t)header.e_shnum * header.e_shentsize;
	if (image_open_memory(vdso, size, &file->image) < 0)
		return -1;
	file->elf = elf_memory(vdso, size);
	return file->elf ? 0 : -1;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static Dwarf_CFI *open_cfi(struct file *file)
{
	if (!file->elf)
		return NULL;
	if (!of_debug_frame)
		return dwarf_getcfi_elf(file->elf);
	file->dwarf = dwarf_begin_elf(file->elf, DWARF_C_READ, NULL);
	return dwarf_getcfi(file->dwarf);
}

/* 0: compared; 1: nothing to compare; -1: not possible. */
static int open_file(struct file *file, int fd)
{
	struct image_bytes bytes;
	double started;
	int r;

	if (strcmp(file->name, "-") == 0) {
		if (open_vdso(file) < 0)
			return -1;
	} else if (fd < 0 || image_open(fd, &file->image) < 0) {
		return 1;
	} else {
		file->elf = elf_begin(fd, ELF_C_READ, NULL);
	}
	file->cfi = open_cfi(file);
	started = now();
	r = unwind_table_build(file->image, &file->table, &file->damaged);
	if (verbose && r == 0)
		printf("%s: %.1f ms\n", file->name, (now() - started) * 1e3);
	if (r == -ENOENT || section_bytes(file, &bytes) == -ENOENT)
		return 1;
	return r < 0 || !file->cfi ? -1 : 0;
}

static void close_file(struct file *file, int fd)
{
	unwind_table_free(file->table);
	image_close(file->image);
	if (file->dwarf)
		dwarf_end(file->dwarf);
	else if (file->cfi)
		dwarf_cfi_end(file->cfi);
	elf_end(file->elf);
	if (fd >= 0)
		close(fd);
}

static void print_file(const struct file *file)
{
	const struct unwind_table *table = file->table;
	const struct totals *totals = &file->totals;

	printf("%s: %llu FDEs, %llu rows (%llu compared), %llu gaps, %u entries, %u KB, "
	       "unsupported %llu (%llu bytes), lost registers %llu, damaged %llu, refused %llu, "
	       "differences %llu\n",
	       file->name, table->frames, table->rows, totals->rows, totals->gaps,
	       table->dictionary_count,
	       (table->words_count + table->chunks) / 256 + table->dictionary_count / 128,
	       totals->unsupported, totals->unsupported_bytes, totals->lost / 2, file->damaged,
	       totals->refused, totals->differences);
}

static bool compare_path(const char *path, struct totals *sum)
{
	struct file file = {.name = path};
	int fd = strcmp(path, "-") == 0 ? -1 : open(path, O_RDONLY | O_CLOEXEC);
	int r = open_file(&file, fd);

	if (r == 0)
		r = compare_file(&file);
	if (r == 0)
		print_file(&file);
	if (r < 0)
		printf("%s: cannot be compared\n", path);
	sum->rows += file.totals.rows;
	sum->unsupported += file.totals.unsupported;
	sum->unsupported_bytes += file.totals.unsupported_bytes;
	sum->lost += file.totals.lost / 2;
	sum->differences += file.totals.differences;
	close_file(&file, fd);
	return r >= 0 && file.totals.differences == 0;
}

int main(int argc, char **argv)
{
	struct totals sum = {0};
	bool good = true;

	elf_version(EV_CURRENT);
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "-v") == 0)
			verbose = true;
		else if (strcmp(argv[i], "-d") == 0)
			of_debug_frame = true;
		else
			good &= compare_path(argv[i], &sum);
	}
	printf("%llu rows compared, unsupported %llu (%llu bytes), lost registers %llu, "
	       "differences %llu\n",
	       sum.rows, sum.unsupported, sum.unsupported_bytes, sum.lost, sum.differences);
	return good ? 0 : 1;
}
