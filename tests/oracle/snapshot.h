/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The executable mappings of a process at a moment, and their files, opened while the process
 * lives. Equal moments of a process are one snapshot.
 */
#ifndef KEYHOLE_TESTS_ORACLE_SNAPSHOT_H
#define KEYHOLE_TESTS_ORACLE_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>

#include "bpf/abi.h"

struct image;
struct unwind_table;

/* A file that is ELF, or the vDSO. */
struct elf_object {
	u64 device, inode;
	char *name;
	int fd;
	const u8 *bytes; /* the file, mapped */
	u64 size;
	struct image *image;
	struct unwind_table *table; /* NULL: it has no unwind information */
	struct mapping_entry entry; /* the place of its table for walks (rewalk.h) */
	struct elf_object *next;
};

struct area {
	u64 start, end, offset;
	u64 bias;
	struct elf_object *object; /* NULL: not of a file */
};

struct snapshot {
	u32 pid;
	u64 time; /* CLOCK_MONOTONIC: when it was read */
	size_t count;
	struct area *area;
	u32 block; /* its mapping block for walks (rewalk.h) */
	void *dwfl;
	struct snapshot *next; /* older first */
};

/*
 * Returns the process as it is now, or as last known when it is gone. NULL: nothing is known.
 * Snapshots are never freed: they live as long as the program.
 */
struct snapshot *snapshot_take(u32 pid);
const struct area *snapshot_find(const struct snapshot *snapshot, u64 address);
/* All objects so far. */
struct elf_object *snapshot_objects(void);
/* Reads text from the file. Returns 0, or -1 for text of no file. */
int snapshot_read(const struct snapshot *snapshot, u64 address, u64 bytes, void *to);

#endif
