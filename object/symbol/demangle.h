/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KEYHOLE_OBJECT_SYMBOL_DEMANGLE_H
#define KEYHOLE_OBJECT_SYMBOL_DEMANGLE_H

/*
 * Decodes C++ and Rust names (legacy and v0) by libiberty, without parameters. The caller frees the
 * result. NULL means that the name is not mangled, not decodable, or too long when decoded. Names
 * over DEMANGLE_INPUT_MAX are left alone, which bounds libiberty's recursion to 1 MiB of stack.
 */
#define DEMANGLE_INPUT_MAX 4096
char *demangle(const char *name);

#endif
