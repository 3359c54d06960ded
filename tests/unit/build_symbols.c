/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/build_symbols.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum section {
	NONE,
	SYMTAB,
	STRTAB,
	DYNSYM,
	DYNSTR,
	SHSTRTAB,
	SECTIONS
};

static const char section_names[] = "\0.symtab\0.strtab\0.dynsym\0.dynstr\0.shstrtab";
static const unsigned int name_at[SECTIONS] = {0, 1, 9, 17, 25, 33};

struct file {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	Elf64_Shdr section[SECTIONS];
};

static size_t align(size_t size)
{
	return (size + 7) & ~(size_t)7;
}

static void put_section(unsigned char *bytes, size_t *size, enum section section, uint32_t type,
			const void *from, size_t from_size)
{
	Elf64_Shdr *header = &((struct file *)bytes)->section[section];

	if (!from)
		return;
	header->sh_name = name_at[section];
	header->sh_type = type;
	header->sh_offset = *size;
	header->sh_size = from_size;
	header->sh_addralign = 1;
	if (from_size > 0)
		memcpy(bytes + *size, from, from_size);
	*size += align(from_size);
}

static void put_table(unsigned char *bytes, size_t *size, enum section section, uint32_t type,
		      const struct build_symbols_table *table)
{
	Elf64_Shdr *header = &((struct file *)bytes)->section[section];

	put_section(bytes, size, section, type, table->symbols, table->symbols_size);
	put_section(bytes, size, section + 1, SHT_STRTAB, table->strings, table->strings_size);
	header->sh_link = section + 1;
	header->sh_addralign = 8;
	header->sh_entsize = table->entry_size ? table->entry_size : sizeof(Elf64_Sym);
}

static void put_head(struct file *file)
{
	file->header = (Elf64_Ehdr){
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			    EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = offsetof(struct file, segment),
		.e_shoff = offsetof(struct file, section),
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = SECTIONS,
		.e_shstrndx = SHSTRTAB,
	};
	file->segment = (Elf64_Phdr){
		.p_type = PT_LOAD,
		.p_flags = PF_R | PF_X,
		.p_vaddr = BUILD_SYMBOLS_TEXT,
		.p_paddr = BUILD_SYMBOLS_TEXT,
		.p_memsz = BUILD_SYMBOLS_TEXT_SIZE,
		.p_align = 0x1000,
	};
}

unsigned char *build_symbols(const struct build_symbols_table *symtab,
			     const struct build_symbols_table *dynsym, size_t *ret_size)
{
	size_t size = sizeof(struct file);
	unsigned char *bytes =
		calloc(1, size + align(symtab->symbols_size) + align(symtab->strings_size) +
				  align(dynsym->symbols_size) + align(dynsym->strings_size) +
				  align(sizeof(section_names)));

	if (!bytes)
		return NULL;
	put_head((struct file *)bytes);
	put_table(bytes, &size, SYMTAB, SHT_SYMTAB, symtab);
	put_table(bytes, &size, DYNSYM, SHT_DYNSYM, dynsym);
	put_section(bytes, &size, SHSTRTAB, SHT_STRTAB, section_names, sizeof(section_names));
	*ret_size = size;
	return bytes;
}
