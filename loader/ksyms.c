/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/ksyms.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bpf/abi.h"
#include "ipc/guard.h"
#include "ipc/ksyms_file.h"

#define TEXT_BYTES (64u << 20) /* room for a text: of it only what is used costs memory */
#define FIELDS	   6 /* of a line of /proc/modules; kallsyms: address type name [module] */

struct symbol {
	uint64_t address;
	const char *name;
};

struct builder {
	struct symbol *symbols;
	size_t count;
	struct ksyms_range *ranges; /* [0] = the kernel */
	struct symbol modules[KERNEL_RANGES_MAX];
	uint32_t range_count;
	bool addresses; /* one that is not zero was seen */
};

/* Cuts a line at blanks in place; a field that is not there is "". Returns the next line. */
static char *split_line(char *line, char *end, const char *fields[FIELDS])
{
	char *newline = memchr(line, '\n', (size_t)(end - line)), *rest = line;

	newline = newline ? newline : end;
	*newline = 0;
	for (int i = 0; i < FIELDS; i++)
		fields[i] = rest ? strsep(&rest, " \t") : "";
	return newline + 1;
}

/* By address, then in the order of the text. */
static int compare_symbols(const void *left, const void *right)
{
	const struct symbol *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return (a->name > b->name) - (a->name < b->name);
}

static void parse_kallsyms(struct builder *builder, char *text, size_t size)
{
	const char *fields[FIELDS];
	char *end = text + size;

	for (char *line = text; line < end;) {
		uint64_t address;

		line = split_line(line, end, fields);
		address = strtoull(fields[0], NULL, 16);
		builder->addresses |= address != 0;
		if (!strcmp(fields[2], "_stext"))
			builder->ranges[0].start = address;
		else if (!strcmp(fields[2], "_etext"))
			builder->ranges[0].end = address;
		else if (*fields[1] && strchr("tTwW", *fields[1]) && strcmp(fields[3], "[bpf]"))
			builder->symbols[builder->count++] = (struct symbol){address, fields[2]};
	}
}

/* name size references users state 0xaddress */
static void parse_modules(struct builder *builder, char *text, size_t size)
{
	struct ksyms_range *ranges = builder->ranges;
	struct symbol *modules = builder->modules;
	const char *fields[FIELDS];
	char *end = text + size;
	uint32_t count = 1;

	modules[0] = (struct symbol){ranges[0].start, "kernel"};
	for (char *line = text; line < end && count < KERNEL_RANGES_MAX;) {
		line = split_line(line, end, fields);
		modules[count] = (struct symbol){strtoull(fields[5], NULL, 16), fields[0]};
		/* The size is still in the text: the name's field ends where it begins. */
		if (modules[count].address >= ranges[0].end)
			count++;
	}
	qsort(modules + 1, count - 1, sizeof(*modules), compare_symbols);
	for (uint32_t i = 1; i < count; i++) {
		const char *bytes = modules[i].name + strlen(modules[i].name) + 1;

		ranges[i].start = modules[i].address;
		ranges[i].end = ranges[i].start + strtoull(bytes, NULL, 10);
		/* It counts data too, which lies elsewhere since 6.4: up to the next module. */
		if (i + 1 < count && ranges[i].end > modules[i + 1].address)
			ranges[i].end = modules[i + 1].address;
	}
	builder->range_count = count;
}

static uint32_t put_name(char *names, uint32_t *used, const char *name)
{
	uint32_t at = *used, length = (uint32_t)strlen(name) + 1;

	memcpy(names + at, name, length);
	*used += length;
	return at;
}

/* Returns its size. Names are gathered behind the room for all symbols, then moved up. */
static size_t fill_file(const struct builder *builder, void *file)
{
	struct ksyms_file_head *head = file;
	struct ksyms_file_range *ranges = (struct ksyms_file_range *)(head + 1);
	struct ksyms_file_symbol *symbols =
		(struct ksyms_file_symbol *)(ranges + builder->range_count);
	char *names = (char *)(symbols + builder->count);
	uint32_t range = 0, count = 0, used = 0;

	for (uint32_t i = 0; i < builder->range_count; i++)
		ranges[i].name = put_name(names, &used, builder->modules[i].name);
	for (size_t i = 0; i < builder->count; i++) {
		const struct symbol *symbol = &builder->symbols[i];
		uint64_t offset;

		while (range < builder->range_count &&
		       builder->ranges[range].end <= symbol->address)
			range++;
		if (range == builder->range_count)
			break;
		offset = symbol->address - builder->ranges[range].start; /* below it: huge */
		if (offset < UINT32_MAX)
			symbols[count++] = (struct ksyms_file_symbol){
				range, (uint32_t)offset, put_name(names, &used, symbol->name)};
	}
	memmove(symbols + count, names, used);
	*head = (struct ksyms_file_head){KSYMS_MAGIC, builder->range_count, count, used};
	return (size_t)((char *)(symbols + count) - (char *)file) + used;
}

/* names: bound of all names together. */
static int write_sealed(const struct builder *builder, size_t names)
{
	const int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
	guard_fd int fd = memfd_create("keyhole-ksyms", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	guard_free char *file = malloc(sizeof(struct ksyms_file_head) + names +
				       builder->range_count * sizeof(struct ksyms_file_range) +
				       builder->count * sizeof(struct ksyms_file_symbol));
	size_t size = file ? fill_file(builder, file) : 0;

	if (fd < 0 || !file)
		return -ENOMEM;
	for (size_t at = 0; at < size;) {
		ssize_t written = write(fd, file + at, size - at);

		if (written < 0)
			return -errno;
		at += (size_t)written;
	}
	return fcntl(fd, F_ADD_SEALS, seals) ? -errno : take_fd(&fd);
}

int ksyms_build(char *kallsyms, size_t kallsyms_size, char *modules, size_t modules_size,
		struct ksyms *ret_ksyms)
{
	size_t lines = 1;
	guard_free struct builder *builder = calloc(1, sizeof(*builder));
	guard_free struct ksyms_range *ranges = calloc(KERNEL_RANGES_MAX, sizeof(*ranges));
	guard_free struct symbol *symbols = NULL;
	int fd;

	for (size_t i = 0; i < kallsyms_size; i++)
		lines += kallsyms[i] == '\n';
	symbols = calloc(lines, sizeof(*symbols));
	if (!builder || !ranges || !symbols)
		return -ENOMEM;
	builder->symbols = symbols;
	builder->ranges = ranges;
	parse_kallsyms(builder, kallsyms, kallsyms_size);
	if (ranges[0].start < ranges[0].end)
		parse_modules(builder, modules, modules_size);
	qsort(symbols, builder->count, sizeof(*symbols), compare_symbols);
	fd = write_sealed(builder, kallsyms_size + modules_size + sizeof("kernel"));
	if (fd < 0)
		return fd;
	*ret_ksyms = (struct ksyms){take_pointer(ranges), builder->range_count, fd};
	return builder->addresses ? 0 : -EACCES;
}

/* A file that does not exist is an empty one. */
static ssize_t read_text(const char *path, char *text)
{
	guard_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t size = 0;
	ssize_t got;

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	while ((got = read(fd, text + size, TEXT_BYTES - 1 - size)) > 0)
		size += (size_t)got;
	return got < 0 ? -errno : (ssize_t)size;
}

int ksyms_read(struct ksyms *ret_ksyms)
{
	guard_free char *kallsyms = malloc(TEXT_BYTES), *modules = malloc(TEXT_BYTES);
	ssize_t symbols, listed;

	if (!kallsyms || !modules)
		return -ENOMEM;
	symbols = read_text("/proc/kallsyms", kallsyms);
	listed = read_text("/proc/modules", modules);
	if (symbols < 0 || listed < 0)
		return (int)(symbols < 0 ? symbols : listed);
	return ksyms_build(kallsyms, (size_t)symbols, modules, (size_t)listed, ret_ksyms);
}

void ksyms_release(struct ksyms *ksyms)
{
	free(ksyms->ranges);
	if (ksyms->fd >= 0)
		close(ksyms->fd);
	*ksyms = (struct ksyms){.fd = -1};
}
