/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks Rust's v0 names before libiberty prints them. A hostile name keeps libiberty busy for
 * ever: nineteen bytes may ask for 2^60 lifetimes in a part that is not printed. The check walks a
 * name by the grammar (Rust RFC 2603, "Syntax of mangled names"), and follows no back reference.
 */
#ifndef KEYHOLE_OBJECT_SYMBOL_RUST_V0_H
#define KEYHOLE_OBJECT_SYMBOL_RUST_V0_H

#include <stdbool.h>

/*
 * Returns whether the name is well-formed, refers back only to the starts of its own parts, and
 * binds few lifetimes. Identifiers in Punycode are refused, because libiberty needs the heap for
 * them. The name has at most DEMANGLE_INPUT_MAX bytes.
 */
bool rust_v0_is_harmless(const char *name);

#endif
