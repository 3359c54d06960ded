/* SPDX-License-Identifier: Apache-2.0 */
/* Writes an ELF file that looks like an interpreter: symbols, relocations, code and data. */
#ifndef KEYHOLE_TESTS_UNIT_BUILD_PYTHON_H
#define KEYHOLE_TESTS_UNIT_BUILD_PYTHON_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PYTHON_TEXT	   0x1000u
#define PYTHON_TEXT_SIZE   0x1000u
#define PYTHON_DATA	   0x4000u
#define PYTHON_DATA_SIZE   0x1000u
#define PYTHON_RUNTIME	   0x4800u /* _PyRuntime, in the data */
#define PYTHON_TYPES	   0x4c00u /* PyCode_Type, PyUnicode_Type, PyBytes_Type */
#define PYTHON_TYPE_BYTES  0x100u
#define PYTHON_MORE	   0x10000u
#define PYTHON_SYMBOLS	   64u
#define PYTHON_RELOCATIONS 8u

struct image;

struct build_python {
	Elf64_Sym symbol[PYTHON_SYMBOLS]; /* the first one is empty */
	const char *name[PYTHON_SYMBOLS];
	size_t symbols;
	Elf64_Rela relocation[PYTHON_RELOCATIONS];
	size_t relocations;
	unsigned char text[PYTHON_TEXT_SIZE], data[PYTHON_DATA_SIZE];
	const char *needs; /* a library; NULL: none */
	const void *eh_frame;
	size_t eh_frame_size;
	const void *rodata; /* NULL: no such section */
	size_t rodata_size;
	const void *more; /* a further segment of data, at PYTHON_MORE; NULL: none */
	size_t more_size;
	Elf64_Phdr tls; /* address, size and alignment of thread-local memory; size 0: none */
	bool is_program;
};

/* Nothing but _PyRuntime, of `size` bytes, and the types. */
void build_python_init(struct build_python *python, uint64_t size);
/* Returns the symbol's number. */
uint32_t build_python_symbol(struct build_python *python, const char *name, uint64_t address,
			     uint64_t size);
void build_python_relocation(struct build_python *python, uint64_t address, uint32_t type,
			     uint32_t symbol, int64_t addend);
void build_python_bytes(struct build_python *python, uint64_t address, const void *bytes,
			size_t size);
/* Adds a function with this code. */
void build_python_function(struct build_python *python, const char *name, uint64_t address,
			   const void *code, size_t size);
/* Returns the file; free(). */
unsigned char *build_python_finish(const struct build_python *python, size_t *ret_size);
struct image *build_python_image(const struct build_python *python);

/* Some interpreters. 3.11: a static one; 3.12, 3.14: libraries, which have both roots. */
void build_python_3_9(struct build_python *python);
void build_python_3_10(struct build_python *python);
void build_python_3_11(struct build_python *python);
void build_python_3_12(struct build_python *python);
void build_python_3_14(struct build_python *python);

#endif
