/* SPDX-License-Identifier: Apache-2.0 */
/* A writer of small ELF files for tests: add parts, then finish. */
#ifndef KEYHOLE_TESTS_UNIT_BUILD_ELF_H
#define KEYHOLE_TESTS_UNIT_BUILD_ELF_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#define BUILD_ELF_PARTS 80

struct build_elf {
	Elf64_Ehdr header; /* may be changed before finishing */
	unsigned char *data;
	size_t size, capacity;
	Elf64_Phdr segments[BUILD_ELF_PARTS];
	size_t segment_count;
	Elf64_Shdr sections[BUILD_ELF_PARTS];
	size_t section_count;
	char names[1024];
	size_t names_size;
};

/* A shared object for x86-64 with nothing in it. */
void build_elf_init(struct build_elf *elf);
/* Returns the bytes' offset in the file. */
uint64_t build_elf_bytes(struct build_elf *elf, const void *bytes, size_t size);
Elf64_Phdr *build_elf_segment(struct build_elf *elf, uint32_t type, uint32_t flags,
			      uint64_t address, const void *bytes, size_t size);
Elf64_Shdr *build_elf_section(struct build_elf *elf, const char *name, uint32_t type,
			      uint64_t address, const void *bytes, size_t size);
/* Adds executable zeros, which are in the file. */
void build_elf_text(struct build_elf *elf, uint64_t text, uint64_t text_size);
/* Returns the file (free()), without a table of sections when there are none. */
unsigned char *build_elf_finish(struct build_elf *elf, size_t *ret_size);

/* An object with text of `text_size` bytes at `text` and this .eh_frame. */
#define BUILD_ELF_EH_FRAME 0x100000ull /* its address: after the text of most tests */
unsigned char *build_elf_with_frames(uint64_t text, uint64_t text_size, const void *eh_frame,
				     size_t eh_frame_size, size_t *ret_size);

#endif
