/* SPDX-License-Identifier: Apache-2.0 */
/* Makes events about code, as BPF reads it from Perl, and images that look like interpreters. */
#ifndef KEYHOLE_TESTS_UNIT_BUILD_PERL_H
#define KEYHOLE_TESTS_UNIT_BUILD_PERL_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/abi.h"

struct image;

#define BUILD_PERL_CODE 0x7f0000010000ull

struct build_perl {
	enum runtime_scope_kind kind;
	const char *name, *package, *file; /* NULL: none */
	uint8_t flags;			   /* of both texts */
};

struct event_code build_perl(const struct build_perl *code);

#define BUILD_PERL_KEY	 0x4f00u /* PL_thr_key */
#define BUILD_PERL_STACK 0x4e00u /* PL_curstackinfo */
#define BUILD_PERL_LOOP	 0x1100u /* Perl_runops_standard() */
#define BUILD_PERL_AGAIN 0x1500u /* what both of the next call */
#define BUILD_PERL_TRY	 0x1200u
#define BUILD_PERL_EVAL	 0x1300u
#define BUILD_PERL_BYTES 0x80u /* of each function */

struct build_perl_parts {
	unsigned char version, release;
	uint16_t interpreter_bytes;
	const char *options; /* NULL: none */
	uint32_t try, eval;  /* numbers of operations */
	uint32_t try_leads_to, eval_leads_to;
	uint32_t type;	  /* of relocations of the table of operations; 0: none */
	const char *also; /* exports another function; NULL: none */
	uint32_t also_at;
	/* Addresses of PL_curcop, PL_curstackinfo and PL_op; 0: not exported */
	uint32_t statement, stack, operation;
	uint32_t variable_bytes;
};

/* The parts of Debian's Perl 5.36, and those of a build without threads. */
extern const struct build_perl_parts build_perl_5_36, build_perl_single;

/* Bytes of data change the bits of its code, its data and its symbols, in this order. */
struct image *build_perl_image(const struct build_perl_parts *parts, const void *data, size_t size);

#endif
