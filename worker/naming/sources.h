/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sources of names, in the files from_*.c. A source names the places of unnamed[] that it knows
 * and counts them in naming_counts; the others stay for the next source.
 */
#ifndef KEYHOLE_WORKER_NAMING_SOURCES_H
#define KEYHOLE_WORKER_NAMING_SOURCES_H

struct groups;
struct naming_parts;
struct object_names;

/* For an object whose image is open. */
void names_from_go_table(struct object_names *names);	/* .gopclntab: lines and inlining too */
void names_from_symbols(struct object_names *names);	/* .symtab, .dynsym */
void names_from_debugdata(struct object_names *names);	/* symbols in .gnu_debugdata */
void names_from_debug_file(struct object_names *names); /* symbols of the separate debug file */

/*
 * For any object: shows the remaining places by the start of the function, if unwind information
 * has the start, else by their own address.
 */
void names_from_unwind(struct object_names *names);

/* For the kernel with its modules, and for places that stand for no address of an object. */
void names_from_kernel(const struct naming_parts *parts, const struct groups *groups);
void names_from_markers(const struct naming_parts *parts, const struct groups *groups);

#endif
