/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A perf-PID.map or jit-PID.dump, which is read while its program goes on writing. No byte is read
 * twice, unless the file was cut short or written anew: then all of it is read again. Names stay in
 * the file until somebody asks for one.
 */
#ifndef KEYHOLE_WORKER_MADE_MAP_FILE_H
#define KEYHOLE_WORKER_MADE_MAP_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "worker/made/perf_map.h"

struct made_range;
struct map_file;

/* Bytes that are read of one file, those that were read again among them. */
#ifndef MAP_FILE_BYTES_MAX
#define MAP_FILE_BYTES_MAX (64u << 20)
#endif
#ifndef MAP_FILE_RANGES_MAX
#define MAP_FILE_RANGES_MAX 262144u
#endif

/* Takes fd in any case. *all: count of the ranges of all files; borrowed. NULL: no memory. */
struct map_file *map_file_new(int fd, size_t *all);
void map_file_free(struct map_file *file); /* NULL is fine */

/*
 * Reads at most `most` bytes more, and of a timed file only what is not younger than `until`.
 * Returns 1 when more is there, 0 when all is read or MAP_FILE_BYTES_MAX is reached, or a negative
 * errno. -ESTALE: the file has no name any more, so
 * that the process may have another one.
 */
int map_file_read(struct map_file *file, size_t most, uint64_t until);
bool map_file_is_timed(const struct map_file *file);  /* once something was read */
uint64_t map_file_bytes(const struct map_file *file); /* read so far */
/* Returns the number of lines that are no line of a map, or found no room. */
uint64_t map_file_refused(const struct map_file *file);
/* Returns how many times all was read anew: until then, places of ranges stay the same. */
unsigned int map_file_restarts(const struct map_file *file);

bool map_file_find(const struct map_file *file, uint64_t address, struct made_range *ret_range);
/* Reads a range's name. Returns its bytes, without a NUL behind them, or a negative errno. */
int map_file_name(const struct map_file *file, const struct made_range *range,
		  char ret_name[PERF_MAP_NAME_MAX]);

#define MAP_FILE_SOURCE_MAX  1023u  /* bytes of a file's name */
#define MAP_FILE_LINES_BYTES 65536u /* of a record of lines that is read */
struct map_file_source {
	char file[MAP_FILE_SOURCE_MAX + 1]; /* raw */
	uint32_t line;			    /* 0: not known */
};
/*
 * Finds the source of an address in a range. Returns 0, -ENOENT: the program has not told it, or
 * another negative errno.
 */
int map_file_source(struct map_file *file, const struct made_range *range, uint64_t address,
		    struct map_file_source *ret_source);

#endif
