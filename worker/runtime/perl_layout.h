/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layout of Perl's structures in one version (perl_layout.def). A version that is not there has
 * no layout: nothing is guessed from another version. Builds for debugging or with long
 * floating-point numbers have none. In builds without threads, the fields of an interpreter are
 * variables, and all other structures are the same.
 */
#ifndef KEYHOLE_WORKER_RUNTIME_PERL_LAYOUT_H
#define KEYHOLE_WORKER_RUNTIME_PERL_LAYOUT_H

#include <stdint.h>

struct perl_layout {
#define O(field, v532, v534, v536, v538, v540, v542, v544) uint16_t field;
#include "worker/runtime/perl_layout.def"
#undef O
};

#define PERL_NO_INTERPRETER 0u /* bytes */

/*
 * Finds the layout of a version, as of struct runtime_setup, without the last number. The bytes of
 * an interpreter have to be those of the version, or PERL_NO_INTERPRETER. Returns 0, or -ENOTSUP.
 */
int perl_layout_find(uint32_t version, uint32_t interpreter_bytes, struct perl_layout *ret_layout);

#endif
