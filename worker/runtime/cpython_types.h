/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the types of a CPython interpreter, by which what BPF tells of code is checked. */
#ifndef KEYHOLE_WORKER_RUNTIME_CPYTHON_TYPES_H
#define KEYHOLE_WORKER_RUNTIME_CPYTHON_TYPES_H

#include <stdbool.h>
#include <stdint.h>

struct cpython_types;
struct exported;
struct image;

/* Finds the types of an interpreter's image. Returns false unless the image exports all of them. */
bool cpython_types_find(const struct exported *exported, struct cpython_types *ret_types);
/*
 * Finds the copies of the types in a program that uses a shared interpreter. The dynamic linker
 * makes them (R_X86_64_COPY), and then the interpreter's objects are of the copies. 0: there is
 * none.
 */
void cpython_types_copied(struct image *image, struct cpython_types *ret_types);
/* Returns the types in a process: bias is to be added to addresses of the image. */
struct cpython_types cpython_types_at(const struct cpython_types *types, uint64_t bias);
/* Returns whether there is one. */
bool cpython_types_any(const struct cpython_types *types);
/* Takes those of other types that are there. Returns whether there are any. */
bool cpython_types_replace(struct cpython_types *types, const struct cpython_types *others);

#endif
