/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads functions, files, lines and inlined calls of Go programs. Every Go program keeps them in a
 * table for its own tracebacks (.gopclntab; strip leaves it). The first word tells the layouts of
 * Go 1.16 and 1.17, 1.18 and 1.19, and 1.20 and newer apart.
 *
 *   header   magic, 0 0, quantum, pointer size; counts of functions and files; from 1.18 on the
 *            start of the text (0 since 1.26, and where it is relocated); offsets of the parts
 *   names, files   strings, at the offsets that functions have for them
 *   units    for each file number of a unit the offset of its name
 *   pairs    per function, ascending: its start, and the offset of its record
 *   records  offsets of its name and of its tables, and of its inlined calls in go:func.*
 *   tables   pairs of varints: increments of the value (zigzag) and of the pc
 *
 * The module's description leads to go:func.* (go_module.h).
 */
#ifndef KEYHOLE_OBJECT_SYMBOL_GO_TABLE_H
#define KEYHOLE_OBJECT_SYMBOL_GO_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct go_table;
struct image;
struct symbol_cache;

#define GO_NAME_MAX   4096 /* bytes of a name or a path with its NUL; longer ones are cut */
#define GO_INLINE_MAX 63   /* inlined calls at one address; the outermost ones are left out */
/*
 * The most steps for an object. A step is a pair of varints, 8 bytes of a name, or 64 bytes of the
 * file. Ordinary objects need some hundred steps an address.
 */
#ifndef GO_STEPS_MAX
#define GO_STEPS_MAX (64u << 20)
#endif

/* Borrows cache and image. Returns 0, -ENOENT, -ENOTSUP: an unknown layout, -EBADMSG or -ENOMEM. */
int go_table_open(struct symbol_cache *cache, struct image *image, struct go_table **ret_table);
void go_table_close(struct go_table *table); /* NULL is fine */

struct go_frame {
	const char *name, *file; /* valid while it is being visited; file may be "" */
	uint32_t line, first_line;
	uint64_t start; /* of the function that is not inlined, else 0 */
	bool inlined;
};
/*
 * Called for each function that is inlined at a pc, innermost first, then for the function around
 * them.
 */
typedef void go_visit(void *context, const struct go_frame *frame);

/*
 * Visits the frames of a pc. Returns 0, -ENOENT: no function of Go is there, -EBADMSG, or -ETIME
 * after GO_STEPS_MAX. After an error some frames or all are missing.
 */
int go_table_find(struct go_table *table, uint64_t pc, go_visit *visit, void *context);

#endif
