/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/build_elf.h"

#include <stdlib.h>
#include <string.h>

static void must(int good)
{
	if (!good)
		abort();
}

uint64_t build_elf_bytes(struct build_elf *elf, const void *bytes, size_t size)
{
	size_t start = (elf->size + 7) & ~(size_t)7;

	if (start + size > elf->capacity) {
		elf->capacity = 2 * (start + size);
		elf->data = realloc(elf->data, elf->capacity);
		must(elf->data != NULL);
	}
	memset(elf->data + elf->size, 0, start - elf->size);
	if (size > 0)
		memcpy(elf->data + start, bytes, size);
	elf->size = start + size;
	return start;
}

static uint32_t add_name(struct build_elf *elf, const char *name)
{
	size_t length = strlen(name) + 1, at = elf->names_size;

	must(at + length <= sizeof(elf->names));
	memcpy(elf->names + at, name, length);
	elf->names_size += length;
	return (uint32_t)at;
}

void build_elf_init(struct build_elf *elf)
{
	memset(elf, 0, sizeof(*elf));
	memcpy(elf->header.e_ident, ELFMAG, SELFMAG);
	elf->header.e_ident[EI_CLASS] = ELFCLASS64;
	elf->header.e_ident[EI_DATA] = ELFDATA2LSB;
	elf->header.e_ident[EI_VERSION] = EV_CURRENT;
	elf->header.e_type = ET_DYN;
	elf->header.e_machine = EM_X86_64;
	elf->header.e_version = EV_CURRENT;
	elf->header.e_ehsize = sizeof(Elf64_Ehdr);
	elf->header.e_phentsize = sizeof(Elf64_Phdr);
	elf->header.e_shentsize = sizeof(Elf64_Shdr);
	build_elf_bytes(elf, &elf->header, sizeof(elf->header));
	add_name(elf, "");
	elf->section_count = 1;
}

Elf64_Phdr *build_elf_segment(struct build_elf *elf, uint32_t type, uint32_t flags,
			      uint64_t address, const void *bytes, size_t size)
{
	Elf64_Phdr *segment = &elf->segments[elf->segment_count++];

	must(elf->segment_count <= BUILD_ELF_PARTS);
	*segment = (Elf64_Phdr){.p_type = type,
				.p_flags = flags,
				.p_vaddr = address,
				.p_offset = build_elf_bytes(elf, bytes, size),
				.p_filesz = size,
				.p_memsz = size,
				.p_align = 1};
	return segment;
}

Elf64_Shdr *build_elf_section(struct build_elf *elf, const char *name, uint32_t type,
			      uint64_t address, const void *bytes, size_t size)
{
	Elf64_Shdr *section = &elf->sections[elf->section_count++];

	must(elf->section_count < BUILD_ELF_PARTS);
	*section = (Elf64_Shdr){.sh_name = add_name(elf, name),
				.sh_type = type,
				.sh_flags = address ? SHF_ALLOC : 0,
				.sh_addr = address,
				.sh_offset = build_elf_bytes(elf, bytes, size),
				.sh_size = size,
				.sh_addralign = 1};
	return section;
}

void build_elf_text(struct build_elf *elf, uint64_t text, uint64_t text_size)
{
	unsigned char *zeros = calloc(text_size, 1);

	must(zeros != NULL);
	build_elf_segment(elf, PT_LOAD, PF_R | PF_X, text, zeros, text_size);
	free(zeros);
}

unsigned char *build_elf_finish(struct build_elf *elf, size_t *ret_size)
{
	if (elf->segment_count > 0)
		elf->header.e_phoff = build_elf_bytes(elf, elf->segments,
						      elf->segment_count * sizeof(Elf64_Phdr));
	elf->header.e_phnum = (uint16_t)elf->segment_count;
	if (elf->section_count > 1) {
		Elf64_Shdr *names = build_elf_section(elf, ".shstrtab", SHT_STRTAB, 0, NULL, 0);

		names->sh_size = elf->names_size;
		names->sh_offset = build_elf_bytes(elf, elf->names, elf->names_size);
		elf->header.e_shstrndx = (uint16_t)(elf->section_count - 1);
		elf->header.e_shnum = (uint16_t)elf->section_count;
		elf->header.e_shoff = build_elf_bytes(elf, elf->sections,
						      elf->section_count * sizeof(Elf64_Shdr));
	}
	memcpy(elf->data, &elf->header, sizeof(elf->header));
	*ret_size = elf->size;
	return elf->data;
}

unsigned char *build_elf_with_frames(uint64_t text, uint64_t text_size, const void *eh_frame,
				     size_t eh_frame_size, size_t *ret_size)
{
	struct build_elf elf;

	build_elf_init(&elf);
	build_elf_text(&elf, text, text_size);
	build_elf_section(&elf, ".eh_frame", SHT_PROGBITS, BUILD_ELF_EH_FRAME, eh_frame,
			  eh_frame_size);
	return build_elf_finish(&elf, ret_size);
}
