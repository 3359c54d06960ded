/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/vdso.h"

#include <elf.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

/* The kernel made these bytes, so that they need no check. */
const void *vdso_image(size_t *ret_bytes)
{
	const unsigned char *base = (const unsigned char *)getauxval(AT_SYSINFO_EHDR);
	const Elf64_Ehdr *head = (const Elf64_Ehdr *)base;
	const Elf64_Phdr *programs;
	size_t bytes;

	if (!base || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0)
		return NULL;
	programs = (const Elf64_Phdr *)(base + head->e_phoff);
	/* The section headers are the last part of the image; names need them. */
	bytes = head->e_shoff + (size_t)head->e_shnum * head->e_shentsize;
	for (unsigned int i = 0; i < head->e_phnum; i++)
		if (programs[i].p_type == PT_LOAD &&
		    programs[i].p_offset + programs[i].p_filesz > bytes)
			bytes = programs[i].p_offset + programs[i].p_filesz;
	*ret_bytes = bytes;
	return base;
}
