/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libiberty prints Rust's v0 names, but a hostile one keeps it busy for ever: nineteen bytes may
 * ask for 2^60 lifetimes in a part that is not printed. This goes through a name by the grammar
 * first (Rust RFC 2603, "Syntax of mangled names"), without following what it refers back to.
 */
#ifndef KEYHOLE_OBJECT_SYMBOL_RUST_V0_H
#define KEYHOLE_OBJECT_SYMBOL_RUST_V0_H

#include <stdbool.h>

/*
 * The name is well-formed, refers back to the starts of its own parts only, binds few lifetimes and
 * has no identifier in Punycode (for which libiberty needs the heap). At most DEMANGLE_INPUT_MAX.
 */
bool rust_v0_is_harmless(const char *name);

#endif
