/* SPDX-License-Identifier: Apache-2.0 */
/* Makes events about code, as BPF reads it from CPython 3.11 at BUILD_CODE_IMAGE. */
#ifndef KEYHOLE_TESTS_UNIT_BUILD_CODE_H
#define KEYHOLE_TESTS_UNIT_BUILD_CODE_H

#include <stdint.h>

#include "bpf/abi.h"
#include "worker/runtime/cpython_layout.h"

#define BUILD_CODE_TABLE_MAX 64u
#define BUILD_CODE_MARKED    0x10000100ull /* in the interpreter */

/* The interpreter, and its types there. */
#define BUILD_CODE_IMAGE 0x10000000ull
#define BUILD_CODE_TYPE	 (BUILD_CODE_IMAGE + 0x3000u)
#define BUILD_TEXT_TYPE	 (BUILD_CODE_IMAGE + 0x3200u)
#define BUILD_BYTES_TYPE (BUILD_CODE_IMAGE + 0x3400u)

struct build_code {
	uint64_t address, fingerprint;
	const char *name, *file;
	uint32_t first_line;
	unsigned char table[BUILD_CODE_TABLE_MAX];
	uint64_t table_size; /* as the process has it; more than there is: the table is cut */
};

extern const struct cpython_types build_code_types;

struct event_code build_code(uint32_t pid, uint64_t generation, uint64_t family,
			     const struct build_code *code);

/* The two words of a frame in a record, and a border. */
#define BUILD_FRAME(code, fingerprint, instruction) \
	RUNTIME_WORD_FRAME | (code), (u64)(instruction) << 32 | (fingerprint)
#define BUILD_BORDER(number) (RUNTIME_WORD_BORDER | (number))

#endif
