/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KEYHOLE_WORKER_SYMBOL_DEMANGLE_H
#define KEYHOLE_WORKER_SYMBOL_DEMANGLE_H

/* C++ and Rust (legacy and v0), by libiberty with its recursion limit; malloc()ed, or NULL when the
 * name is not mangled or not decodable. Names over DEMANGLE_INPUT_MAX are left alone. */
#define DEMANGLE_INPUT_MAX 4096
char *demangle(const char *name);

#endif
