/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bpf/replay.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "tests/bpf/host.h"
#include "object/elf/image.h"
#include "object/unwind/unwind_table.h"

#define OBJECTS_MAX 48u

static struct mapping_entry mapping[OBJECTS_MAX];
static u32 mappings, regions, tables;

void replay_allow(const void *start, u64 bytes)
{
	assert(regions < HOST_REGIONS);
	host.region[regions++] = (struct host_region){(u64)start, bytes, start};
}

/* ---- tables ---- */

/* The vDSO is in no file. It has two or three pages. */
static int open_image(const struct dl_phdr_info *info, int *ret_fd, struct image **ret_image)
{
	u64 vdso = getauxval(AT_SYSINFO_EHDR);

	*ret_fd = -1;
	if (vdso && info->dlpi_addr == vdso) {
		const ElfW(Ehdr) *head = (const void *)vdso;

		return image_open_memory(head, head->e_shoff + head->e_shnum * head->e_shentsize,
					 ret_image);
	}
	*ret_fd = open(*info->dlpi_name ? info->dlpi_name : "/proc/self/exe", O_RDONLY | O_CLOEXEC);
	return *ret_fd < 0 ? -errno : image_open(*ret_fd, ret_image);
}

static int add_table(const struct dl_phdr_info *info, struct mapping_entry *entry)
{
	struct image *image = NULL;
	struct unwind_table *table = NULL;
	u64 damaged;
	int fd, r = open_image(info, &fd, &image);

	if (r >= 0)
		r = unwind_table_build(image, &table, &damaged);
	if (r >= 0) {
		build_compiled(&host.build, table, entry);
		tables++;
	}
	unwind_table_free(table);
	image_close(image);
	if (fd >= 0)
		close(fd);
	return r;
}

static int add_object(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)size;
	(void)unused;
	for (u32 i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		u64 start = (info->dlpi_addr + header->p_vaddr) & ~4095ull;
		u64 end = (info->dlpi_addr + header->p_vaddr + header->p_memsz + 4095) & ~4095ull;

		if (header->p_type != PT_LOAD || !(header->p_flags & PF_X))
			continue;
		if (mappings == OBJECTS_MAX)
			return -E2BIG;
		mapping[mappings] =
			(struct mapping_entry){.start = start, .end = end, .bias = info->dlpi_addr};
		if (add_table(info, &mapping[mappings]) == -ENOMEM)
			return -ENOMEM;
		mappings++;
		replay_allow((const void *)start, end - start);
	}
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct mapping_entry *one = a, *other = b;

	return (one->start > other->start) - (one->start < other->start);
}

int replay_open(void)
{
	int r;

	mappings = regions = tables = 0;
	build_init(&host.build);
	r = dl_iterate_phdr(add_object, NULL);
	if (r < 0)
		return r;
	qsort(mapping, mappings, sizeof(mapping[0]), by_start);
	host.walk.block = build_block(&host.build, mapping, mappings);
	host.walk.mappings = mappings;
	host.walk.multiplier = 0x9e3779b97f4a7c15ull;
	host.walk.seed = cache_seed(1, 1, host.walk.multiplier);
	return (int)tables;
}

void replay_close(void)
{
	build_free(&host.build);
}

/* ---- walks ---- */

int replay_knows(u64 address)
{
	for (u32 i = 0; i < mappings; i++)
		if (address >= mapping[i].start && address < mapping[i].end)
			return mapping[i].flags & MAPPING_HAS_TABLE;
	return 0;
}

struct replay_stack replay_walk(const long long *gregs)
{
	/* the places of rax rdx rcx rbx rsi rdi rbp rsp r8 ... r15 in gregs */
	static const u8 order[16] = {13, 12, 14, 11, 9, 8, 10, 15, 0, 1, 2, 3, 4, 5, 6, 7};

	walk_init(&host.walk);
	for (u32 i = 0; i < 16; i++)
		host.walk.reg[i] = (u64)gregs[order[i]];
	host.walk.address = (u64)gregs[16];
	host.walk.deadline = ~0ull;
	host.walk.looked = host.clock;
	host_walk();
	return (struct replay_stack){walk_result(&host.walk), host.walk.frames, host.frame};
}
