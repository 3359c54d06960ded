/* SPDX-License-Identifier: Apache-2.0 */
#include "helper/kernel_symbols/kernel_symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/array.h"
#include "base/ksyms_file.h"
#include "ipc/guard.h"

#define READ_BYTES 65536 /* /proc names a block size of 1 KiB, which stdio would read at a time */

struct symbol {
	uint64_t address;
	uint32_t name; /* offset */
};

struct symbols {
	struct symbol *items;
	size_t count, capacity;
};

struct builder {
	struct ksyms *ksyms;	      /* gets the ranges */
	struct symbols all, programs; /* programs has copies of BPF's symbols */
	u64 addresses_end, rows_end;  /* of ksyms->orc */
	char *names;
	size_t name_bytes, name_capacity;
};

/* ---- modules ------------------------------------------------------------------------------- */

static int compare_parts(const void *left, const void *right)
{
	const struct ksyms_part *a = left, *b = right;

	return (a->range.start > b->range.start) - (a->range.start < b->range.start);
}

/* Ends each part where the next one begins: a module's size counts data, which 6.4 moved away. */
static void cut_parts(struct ksyms *ksyms)
{
	struct ksyms_part *part = ksyms->parts + 1, *end = ksyms->parts + ksyms->count;

	qsort(part, ksyms->count - 1, sizeof(*part), compare_parts);
	for (; part + 1 < end; part++)
		if (part->range.end > part[1].range.start)
			part->range.end = part[1].range.start;
}

/* Parses "name size references users state 0xaddress". */
static bool parse_module(const char *line, struct ksyms_part *ret_part)
{
	unsigned long long bytes, start;

	if (sscanf(line, "%63s %llu %*s %*s %*s %llx", ret_part->name, &bytes, &start) != 3)
		return false;
	ret_part->range.start = start;
	ret_part->range.end = start + bytes;
	return start != 0;
}

void ksyms_read_modules(struct ksyms *ksyms, FILE *file)
{
	guard_free char *line = NULL;
	size_t room = 0;

	ksyms->parts[0] = (struct ksyms_part){.name = "kernel"};
	ksyms->count = 1;
	while (ksyms->count < KERNEL_RANGES_MAX && file && getline(&line, &room, file) > 0)
		if (parse_module(line, &ksyms->parts[ksyms->count]))
			ksyms->count++;
	cut_parts(ksyms);
}

uint32_t ksyms_room(const struct ksyms *ksyms)
{
	const uint32_t most = ksyms->count + KSYMS_BPF_PARTS_MAX;

	if (most > KERNEL_RANGES_MAX)
		return KERNEL_RANGES_MAX;
	return most;
}

static int write_part(const void *part, size_t bytes, int fd)
{
	const ssize_t written = write(fd, part, bytes);

	if (written < 0)
		return -errno;
	if (written != (ssize_t)bytes)
		return -ENOSPC;
	return 0;
}

static int write_range(const struct kernel_range *range, int fd)
{
	return write_part(range, sizeof(*range), fd);
}

int ksyms_write_ranges(const struct ksyms *ksyms, uint32_t told, int fd)
{
	const struct kernel_range none = {UINT64_MAX, UINT64_MAX, 0};
	int r;

	for (uint32_t i = 0; i < told; i++) {
		r = write_range(i < ksyms->count ? &ksyms->parts[i].range : &none, fd);
		if (r < 0)
			return r;
	}
	r = write_range(&ksyms->scheduler, fd);
	if (r < 0)
		return r;
	return write_part(&ksyms->orc, sizeof(ksyms->orc), fd);
}

/* ---- symbols ------------------------------------------------------------------------------- */

static void clear_builder(struct builder *builder)
{
	free(builder->all.items);
	free(builder->programs.items);
	free(builder->names);
}

static int put_name(struct builder *builder, const char *name, size_t length, uint32_t *ret_at)
{
	const size_t at = builder->name_bytes;
	int r;

	r = ARRAY_RESERVE(builder->names, builder->name_capacity, at + length + 1);
	if (r < 0)
		return r;
	memcpy(builder->names + at, name, length);
	builder->names[at + length] = 0;
	builder->name_bytes += length + 1;
	*ret_at = (uint32_t)at;
	return 0;
}

static int put_symbol(struct symbols *symbols, struct symbol symbol)
{
	int r = ARRAY_RESERVE(symbols->items, symbols->capacity, symbols->count + 1);

	if (r < 0)
		return r;
	symbols->items[symbols->count++] = symbol;
	return 0;
}

static int add_symbol(struct builder *builder, uint64_t address, const char *name, size_t length)
{
	struct symbol symbol = {.address = address};
	int r;

	r = put_name(builder, name, length, &symbol.name);
	if (r < 0)
		return r;
	if (name[length] == '\t' && strstr(name + length, "[bpf]")) {
		r = put_symbol(&builder->programs, symbol);
		if (r < 0)
			return r;
	}
	return put_symbol(&builder->all, symbol);
}

#define NAMED(text) text, sizeof(text) - 1

/*
 * Notes the address of a symbol that is needed itself. Returns whether the symbol is a bound, which
 * is the name of no function: include/asm-generic/vmlinux.lds.h. A tracer lets calls return to the
 * functions, but for schedule(); the second of them has had three names.
 */
static bool note_symbol(struct builder *builder, u64 address, bool is_text, const char *name,
			size_t length)
{
	struct ksyms *ksyms = builder->ksyms;
	const struct {
		const char *name;
		size_t length;
		u64 *address;
		bool is_bound;
	} rows[] = {
		{NAMED("_stext"), &ksyms->parts[0].range.start, true},
		{NAMED("_etext"), &ksyms->parts[0].range.end, true},
		{NAMED("__sched_text_start"), &ksyms->scheduler.start, true},
		{NAMED("__sched_text_end"), &ksyms->scheduler.end, true},
		{NAMED("__start_orc_unwind_ip"), &ksyms->orc.addresses, true},
		{NAMED("__stop_orc_unwind_ip"), &builder->addresses_end, true},
		{NAMED("__start_orc_unwind"), &ksyms->orc.first_row, true},
		{NAMED("__stop_orc_unwind"), &builder->rows_end, true},
		{NAMED("return_to_handler"), &ksyms->orc.replaced[0], false},
		{NAMED("kretprobe_trampoline"), &ksyms->orc.replaced[1], false},
		{NAMED("__kretprobe_trampoline"), &ksyms->orc.replaced[1], false},
		{NAMED("arch_rethook_trampoline"), &ksyms->orc.replaced[1], false},
		{NAMED("schedule"), &ksyms->orc.function, false},
	};

	if (name[length] != '\n') /* of a module */
		return false;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].length != length || memcmp(rows[i].name, name, length) != 0)
			continue;
		if (!rows[i].is_bound && !is_text)
			continue;
		*rows[i].address = address;
		return rows[i].is_bound;
	}
	return false;
}

/* Counts the rows, of which both tables have as many; else there are none. */
static void finish_orc(struct builder *builder)
{
	struct kernel_orc *orc = &builder->ksyms->orc;
	u64 rows = (builder->addresses_end - orc->addresses) / KERNEL_ORC_ADDRESS_BYTES;

	if (!orc->addresses || !orc->first_row || !orc->function || rows >> KERNEL_ORC_ROWS_BITS ||
	    builder->rows_end - orc->first_row != rows * KERNEL_ORC_ROW_BYTES)
		rows = 0;
	orc->rows = (u32)rows;
}

/* Parses "address type name", behind which symbols of modules have a tab and "[module]". */
static int parse_symbol(struct builder *builder, const char *line)
{
	char *type; /* behind the address: blank, letter, blank, name */
	uint64_t address = strtoull(line, &type, 16);
	const char *name = type + 3;
	size_t length;
	bool is_text;

	if (type[0] != ' ' || !type[1] || type[2] != ' ')
		return 0;
	length = strcspn(name, " \t\n");
	if (length == 0)
		return 0;
	is_text = strchr("tTwW", type[1]) != NULL;
	if (note_symbol(builder, address, is_text, name, length) || !is_text)
		return 0;
	return add_symbol(builder, address, name, length);
}

/* Orders by address, then as in the text. */
static int compare_symbols(const void *left, const void *right)
{
	const struct symbol *a = left, *b = right;

	if (a->address != b->address)
		return (a->address > b->address) - (a->address < b->address);
	return (a->name > b->name) - (a->name < b->name);
}

/*
 * Sorts a list that ascends at first: the kernel's own symbols do. Those of modules and programs,
 * which follow, lie behind most of the kernel's on x86-64, and before them on arm64.
 */
static void sort_symbols(struct symbols *symbols)
{
	const struct symbol *lowest;
	size_t sorted = 1;

	while (sorted < symbols->count &&
	       symbols->items[sorted - 1].address <= symbols->items[sorted].address)
		sorted++;
	if (sorted >= symbols->count)
		return;
	lowest = &symbols->items[sorted];
	for (size_t i = sorted + 1; i < symbols->count; i++)
		if (symbols->items[i].address < lowest->address)
			lowest = &symbols->items[i];
	while (sorted > 0 && symbols->items[sorted - 1].address > lowest->address)
		sorted--;
	qsort(symbols->items + sorted, symbols->count - sorted, sizeof(*lowest), compare_symbols);
}

/* Returns whether a module begins between two programs, so that they are of different parts. */
static bool module_begins(const struct ksyms *ksyms, uint32_t modules, uint64_t after, uint64_t at)
{
	for (uint32_t i = 1; i < modules; i++)
		if (ksyms->parts[i].range.start > after && ksyms->parts[i].range.start <= at)
			return true;
	return false;
}

static void add_programs(struct ksyms *ksyms, struct symbols *programs)
{
	const uint32_t modules = ksyms->count, room = ksyms_room(ksyms);
	struct ksyms_part *part = NULL;
	uint64_t last = 0;

	sort_symbols(programs);
	for (size_t i = 0; i < programs->count && programs->items[i].address; i++) {
		uint64_t at = programs->items[i].address;

		if (part &&
		    (at - last > KSYMS_BPF_GAP_MAX || module_begins(ksyms, modules, last, at)))
			part = NULL;
		if (!part && ksyms->count == room)
			break;
		if (!part) {
			part = &ksyms->parts[ksyms->count++];
			*part = (struct ksyms_part){.range = {.start = at, .passing = 1},
						    .name = "bpf"};
		}
		part->range.end = at + KSYMS_BPF_LAST_MAX;
		last = at;
	}
	cut_parts(ksyms);
}

/*
 * Writes the symbols that lie in a part, and returns how many. Names of symbols stand behind those
 * of the parts.
 */
static uint32_t write_symbols(const struct ksyms *ksyms, const struct symbols *symbols,
			      uint32_t part_names, FILE *file)
{
	const struct ksyms_part *part = ksyms->parts, *end = part + ksyms->count;
	struct ksyms_file_symbol out;
	uint32_t written = 0;

	for (size_t i = 0; i < symbols->count; i++) {
		const struct symbol *symbol = &symbols->items[i];

		while (part < end && part->range.end <= symbol->address)
			part++;
		if (part == end)
			break;
		/* the difference is also huge for a symbol below the part */
		if (symbol->address - part->range.start >= UINT32_MAX)
			continue;
		out.range = (uint32_t)(part - ksyms->parts);
		out.offset = (uint32_t)(symbol->address - part->range.start);
		out.name = part_names + symbol->name;
		written += (uint32_t)fwrite_unlocked(&out, sizeof(out), 1, file);
	}
	return written;
}

/* Writes the content of the file. The head is written again at the end, when it has the count. */
static bool write_content(const struct ksyms *ksyms, const struct builder *builder, FILE *file)
{
	struct ksyms_file_head head = {KSYMS_MAGIC, ksyms->count, 0, 0};
	uint32_t part_names = 0;

	for (uint32_t i = 0; i < ksyms->count; i++)
		part_names += (uint32_t)strlen(ksyms->parts[i].name) + 1;
	head.name_bytes = part_names + (uint32_t)builder->name_bytes;
	fwrite(&head, sizeof(head), 1, file);
	head.symbols = write_symbols(ksyms, &builder->all, part_names, file);
	for (uint32_t i = 0; i < ksyms->count; i++)
		fwrite(ksyms->parts[i].name, 1, strlen(ksyms->parts[i].name) + 1, file);
	fwrite(builder->names, 1, builder->name_bytes, file);
	if (fflush(file) || ferror(file)) /* asked before rewind(), which clears the error */
		return false;
	rewind(file);
	return fwrite(&head, sizeof(head), 1, file) == 1;
}

/* Returns the sealed memfd, or a negative errno. */
static int write_file(const struct ksyms *ksyms, struct builder *builder)
{
	const int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
	guard_fd int fd = memfd_create("keyhole-kernel-symbols", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	FILE *file;
	bool whole;

	if (fd < 0)
		return -errno;
	file = fdopen(dup(fd), "w");
	if (!file)
		return -errno;
	sort_symbols(&builder->all);
	errno = 0; /* a failed write sets errno */
	whole = write_content(ksyms, builder, file);
	if (fclose(file) || !whole)
		return errno ? -errno : -ENOSPC;
	if (fcntl(fd, F_ADD_SEALS, seals))
		return -errno;
	return take_fd(&fd);
}

static int parse_symbols(struct builder *builder, FILE *file)
{
	guard_free char *line = NULL;
	size_t room = 0;
	int r;

	setvbuf(file, NULL, _IOFBF, READ_BYTES);
	while (getline(&line, &room, file) > 0) {
		r = parse_symbol(builder, line);
		if (r < 0)
			return r;
	}
	return 0;
}

int ksyms_read_symbols(struct ksyms *ksyms, FILE *file)
{
	struct builder builder = {.ksyms = ksyms};
	int r = 0;

	ksyms->scheduler = (struct kernel_range){0};
	ksyms->orc = (struct kernel_orc){0};
	if (file)
		r = parse_symbols(&builder, file);
	finish_orc(&builder);
	if (r == 0) {
		add_programs(ksyms, &builder.programs);
		ksyms->fd = write_file(ksyms, &builder);
		r = ksyms->fd;
	}
	clear_builder(&builder);
	if (r < 0)
		return r;
	if (ksyms->parts[0].range.end == 0)
		return -EACCES;
	return 0;
}
