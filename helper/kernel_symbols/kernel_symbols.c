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

#include "ipc/guard.h"
#include "base/ksyms_file.h"

#define READ_BYTES 65536 /* /proc names a block size of 1 KiB, which stdio would read at a time */

struct symbol {
	uint64_t address;
	uint32_t name; /* offset */
};

struct builder {
	struct kernel_range *kernel;
	FILE *symbols, *programs, *names; /* in memory; programs has copies of BPF's symbols */
	uint32_t name_bytes;
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

int ksyms_write_ranges(const struct ksyms *ksyms, uint32_t told, int fd)
{
	const struct kernel_range none = {UINT64_MAX, UINT64_MAX, 0};
	const struct kernel_range *range;
	ssize_t written;

	for (uint32_t i = 0; i < told; i++) {
		range = i < ksyms->count ? &ksyms->parts[i].range : &none;
		written = write(fd, range, sizeof(*range));
		if (written < 0)
			return -errno;
		if (written != sizeof(*range))
			return -ENOSPC;
	}
	return 0;
}

/* ---- symbols ------------------------------------------------------------------------------- */

static uint32_t put_name(struct builder *builder, const char *name, size_t length)
{
	uint32_t at = builder->name_bytes;

	fwrite_unlocked(name, 1, length, builder->names);
	putc_unlocked(0, builder->names);
	builder->name_bytes += (uint32_t)length + 1;
	return at;
}

/* Parses "address type name", behind which symbols of modules have a tab and "[module]". */
static void parse_symbol(struct builder *builder, const char *line)
{
	char *type; /* behind the address: blank, letter, blank, name */
	struct symbol symbol = {.address = strtoull(line, &type, 16)};
	const char *name = type + 3;
	size_t length;

	if (type[0] != ' ' || !type[1] || type[2] != ' ')
		return;
	if (!strchr("tTwW", type[1])) /* no text */
		return;
	length = strcspn(name, " \t\n");
	if (!strncmp(name, "_stext\n", 7)) {
		builder->kernel->start = symbol.address;
	} else if (!strncmp(name, "_etext\n", 7)) {
		builder->kernel->end = symbol.address;
	} else if (length) {
		symbol.name = put_name(builder, name, length);
		fwrite_unlocked(&symbol, sizeof(symbol), 1, builder->symbols);
		if (strstr(name + length, "[bpf]"))
			fwrite_unlocked(&symbol, sizeof(symbol), 1, builder->programs);
	}
}

/* Orders by address, then as in the text. */
static int compare_symbols(const void *left, const void *right)
{
	const struct symbol *a = left, *b = right;

	if (a->address != b->address)
		return (a->address > b->address) - (a->address < b->address);
	return (a->name > b->name) - (a->name < b->name);
}

/* Returns whether a module begins between two programs, so that they are of different parts. */
static bool module_begins(const struct ksyms *ksyms, uint32_t modules, uint64_t after, uint64_t at)
{
	for (uint32_t i = 1; i < modules; i++)
		if (ksyms->parts[i].range.start > after && ksyms->parts[i].range.start <= at)
			return true;
	return false;
}

static void add_programs(struct ksyms *ksyms, struct symbol *programs, size_t count)
{
	const uint32_t modules = ksyms->count, room = ksyms_room(ksyms);
	struct ksyms_part *part = NULL;
	uint64_t last = 0;

	qsort(programs, count, sizeof(*programs), compare_symbols);
	for (size_t i = 0; i < count && programs[i].address; i++) {
		uint64_t at = programs[i].address;

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
static uint32_t write_symbols(const struct ksyms *ksyms, const struct symbol *symbols, size_t count,
			      uint32_t part_names, FILE *file)
{
	const struct ksyms_part *part = ksyms->parts, *end = part + ksyms->count;
	struct ksyms_file_symbol out;
	uint32_t written = 0;

	for (const struct symbol *symbol = symbols; symbol < symbols + count; symbol++) {
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
static bool write_content(const struct ksyms *ksyms, const struct symbol *symbols, size_t count,
			  const char *names, size_t name_bytes, FILE *file)
{
	struct ksyms_file_head head = {KSYMS_MAGIC, ksyms->count, 0, 0};
	uint32_t part_names = 0;

	for (uint32_t i = 0; i < ksyms->count; i++)
		part_names += (uint32_t)strlen(ksyms->parts[i].name) + 1;
	head.name_bytes = part_names + (uint32_t)name_bytes;
	fwrite(&head, sizeof(head), 1, file);
	head.symbols = write_symbols(ksyms, symbols, count, part_names, file);
	for (uint32_t i = 0; i < ksyms->count; i++)
		fwrite(ksyms->parts[i].name, 1, strlen(ksyms->parts[i].name) + 1, file);
	fwrite(names, 1, name_bytes, file);
	if (fflush(file) || ferror(file)) /* asked before rewind(), which clears the error */
		return false;
	rewind(file);
	return fwrite(&head, sizeof(head), 1, file) == 1;
}

/* Returns the sealed memfd, or a negative errno. */
static int write_file(const struct ksyms *ksyms, struct symbol *symbols, size_t count,
		      const char *names, size_t name_bytes)
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
	qsort(symbols, count, sizeof(*symbols), compare_symbols);
	errno = 0; /* a failed write sets errno */
	whole = write_content(ksyms, symbols, count, names, name_bytes, file);
	if (fclose(file) || !whole)
		return errno ? -errno : -ENOSPC;
	if (fcntl(fd, F_ADD_SEALS, seals))
		return -errno;
	return take_fd(&fd);
}

int ksyms_read_symbols(struct ksyms *ksyms, FILE *file)
{
	struct builder builder = {.kernel = &ksyms->parts[0].range};
	guard_free char *symbols = NULL, *programs = NULL, *names = NULL, *line = NULL;
	size_t symbol_bytes, program_bytes, name_bytes, room = 0;

	builder.symbols = open_memstream(&symbols, &symbol_bytes);
	builder.programs = open_memstream(&programs, &program_bytes);
	builder.names = open_memstream(&names, &name_bytes);
	if (!builder.symbols || !builder.programs || !builder.names)
		return -ENOMEM;
	if (file)
		setvbuf(file, NULL, _IOFBF, READ_BYTES);
	while (file && getline(&line, &room, file) > 0)
		parse_symbol(&builder, line);
	if (fclose(builder.symbols) || fclose(builder.programs) || fclose(builder.names))
		return -ENOMEM;
	add_programs(ksyms, (struct symbol *)(void *)programs,
		     program_bytes / sizeof(struct symbol));
	ksyms->fd = write_file(ksyms, (struct symbol *)(void *)symbols,
			       symbol_bytes / sizeof(struct symbol), names, name_bytes);
	if (ksyms->fd < 0)
		return ksyms->fd;
	if (ksyms->parts[0].range.end == 0)
		return -EACCES;
	return 0;
}
