/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sources of names, in the files from_*.c. A source names the places of unnamed[] that it
 * knows, and returns how many it named; the others stay for the next source.
 */
#ifndef KEYHOLE_WORKER_NAMING_SOURCES_H
#define KEYHOLE_WORKER_NAMING_SOURCES_H

#include <stdint.h>

struct groups;
struct object_names;
struct resources;

/* For an object whose image is open. */
uint64_t names_from_go_table(struct object_names *names);   /* .gopclntab: lines and inlining too */
uint64_t names_from_symbols(struct object_names *names);    /* .symtab, .dynsym */
uint64_t names_from_debugdata(struct object_names *names);  /* .gnu_debugdata, symbols in it */
uint64_t names_from_debug_file(struct object_names *names); /* symbols of the separate debug file */

/* For any object: shows places by the start of their function, which the unwind information may
 * have. */
uint64_t names_from_unwind(struct object_names *names);
/* For any object: shows the rest by their own addresses. */
uint64_t names_from_offsets(struct object_names *names);

/* For the kernel with its modules. Places without a symbol are shown by their addresses, and not
 * counted. */
uint64_t names_from_kernel(const struct resources *resources, const struct groups *groups);
/* For functions of interpreted languages: with their lines. Adds the bytes of their names. */
uint64_t names_from_runtimes(const struct resources *resources, const struct groups *groups,
			     uint64_t *bytes);
/* For code made at run time, as far as its program names it. As above. */
uint64_t names_from_made(const struct resources *resources, const struct groups *groups,
			 uint64_t *bytes);
/* For places that stand for no address of an object. */
void names_from_markers(const struct resources *resources, const struct groups *groups);

#endif
