/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KEYHOLE_OBJECT_SYMBOL_DEMANGLE_H
#define KEYHOLE_OBJECT_SYMBOL_DEMANGLE_H

/*
 * C++ and Rust (legacy and v0) without parameters, by libiberty; malloc()ed, or NULL when the name
 * is not mangled, not decodable or expands to too much. Names over DEMANGLE_INPUT_MAX are left
 * alone: that bounds libiberty's recursion to 1 MiB of stack.
 */
#define DEMANGLE_INPUT_MAX 4096
char *demangle(const char *name);

#endif
