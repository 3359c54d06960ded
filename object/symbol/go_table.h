/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions, files, lines and inlined calls of Go programs, from the table that every one of them
 * keeps for its own tracebacks (.gopclntab; strip leaves it). Layouts: Go 1.16 and 1.17, 1.18 and
 * 1.19, and from 1.20 on, which are told apart by the first word.
 *
 *   header   magic, 0 0, quantum, pointer size; counts of functions and files; from 1.18 on the
 *            start of the text (0 since 1.26, and where it is relocated); offsets of what follows
 *   names, files   strings, at the offsets that functions have for them
 *   units    for each file number of a unit the offset of its name
 *   pairs    per function, ascending: where it begins, where its record is
 *   records  offsets of its name and of its tables, and where in go:func.* its inlined calls are
 *   tables   of pairs of varints: how much more the value (zigzag) and the pc are
 *
 * go:func.* is found through the module's description (go_module.h).
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
/* Of an object: a step is a pair of varints, 8 bytes of a name, 64 that are read from the file.
 * Ordinary ones need some hundred per address. */
#ifndef GO_STEPS_MAX
#define GO_STEPS_MAX (64u << 20)
#endif

/* Borrows both. -ENOENT: no such table; -ENOTSUP: of a kind not known; -EBADMSG, -ENOMEM. */
int go_table_open(struct symbol_cache *cache, struct image *image, struct go_table **ret_table);
void go_table_close(struct go_table *table); /* NULL is fine */

struct go_frame {
	const char *name, *file; /* valid while it is being visited; file may be "" */
	uint32_t line, first_line;
	uint64_t start; /* of the function that is not inlined, else 0 */
	bool inlined;
};
/* Called for what is inlined at a pc, the innermost first, and at last for the function itself. */
typedef void go_visit(void *context, const struct go_frame *frame);

/* 0, -ENOENT: no function of Go is there; -EBADMSG, or -ETIME after GO_STEPS_MAX: nothing at all or
 * less was visited. */
int go_table_find(struct go_table *table, uint64_t pc, go_visit *visit, void *context);

#endif
