/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An ELF file behind a descriptor, read with pread() (libelf, never mmap: a target may truncate
 * the file under us). Also an image in memory (our own vDSO). x86-64, little endian, 64-bit
 * executables and shared objects only; anything else is -ENOEXEC.
 */
#ifndef KEYHOLE_OBJECT_ELF_IMAGE_H
#define KEYHOLE_OBJECT_ELF_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct image;

/*
 * Borrows fd, which must stay open. -ENOEXEC (no such ELF), -EBADMSG (damaged), -EFBIG (more than
 * IMAGE_HEADERS_MAX headers of sections or of segments), -EIO, -ENOMEM.
 */
#define IMAGE_HEADERS_MAX 65535u
int image_open(int fd, struct image **ret_image);
/* Copies the bytes. */
int image_open_memory(const void *bytes, size_t size, struct image **ret_image);
/* Takes malloc()ed bytes, also when it fails. */
int image_adopt(void *bytes, size_t size, struct image **ret_image);
void image_close(struct image *image); /* NULL is fine */

struct image_segment {					       /* a PT_LOAD */
	uint64_t address, file_offset, file_size, memory_size; /* as in the program header */
	bool executable;
};
#define IMAGE_SEGMENTS_MAX 64
size_t image_segments(const struct image *image, const struct image_segment **ret_segments);
/*
 * The one of a list of executable segments that a part of the file was mapped for, or that a byte
 * of it belongs to. NULL: none, or nothing tells. What is mapped are whole pages, so that at both
 * ends of a segment there may be another's bytes. Therefore the one whose pages hold most of the
 * part, then one that has bytes of its own in it, then the one with fewest of its own elsewhere.
 */
const struct image_segment *image_segment_of(const struct image_segment *segments, size_t count,
					     uint64_t offset, uint64_t size);
/* The end of a segment's bytes that are really in the file, as an address. */
uint64_t image_segment_end(const struct image *image, const struct image_segment *segment);
uint64_t image_entry(const struct image *image); /* e_entry */
/* Whether e_entry is where a program starts; the dynamic linker is one, a library is not. */
bool image_is_program(struct image *image);

/* A named section, or a part of the file by other means; bytes live until image_close(). */
struct image_bytes {
	const unsigned char *bytes; /* NULL: not there */
	size_t size;
	uint64_t address;	   /* of the first byte, in p_vaddr terms; 0 when not mapped */
	uint32_t link, entry_size; /* sh_link, sh_entsize */
};
#define IMAGE_SECTION_MAX (256u << 20) /* larger ones are -EFBIG */
/* 0 with bytes, -ENOENT, -EFBIG, -EBADMSG or -EIO. SHT_NOBITS and compressed sections: -ENOENT. */
int image_section(struct image *image, const char *name, struct image_bytes *ret_bytes);
bool image_has_section(struct image *image, const char *name); /* a compressed one counts */
/* What the file has from an address on, at most to the end of its segment. */
int image_text(struct image *image, uint64_t address, uint64_t most, struct image_bytes *ret_bytes);
/* .eh_frame by section, else through PT_GNU_EH_FRAME (then up to the first record of length 0). */
int image_eh_frame(struct image *image, struct image_bytes *ret_bytes);

/* Where a section, or what an address stands for, is in the file: for reading it in parts. */
struct image_place {
	uint64_t offset, size, address;
	uint32_t link, entry_size;
};
/* 0, -ENOENT (SHT_NOBITS, too), -ENOTSUP (it is compressed) or -EBADMSG. */
int image_section_place(struct image *image, const char *name, struct image_place *ret_place);
int image_section_place_at(struct image *image, uint32_t index, struct image_place *ret_place);
/* From the address to the end of what its segment has in the file. -ENOENT. */
int image_address_place(const struct image *image, uint64_t address, struct image_place *ret_place);
/* Copies bytes of the file and returns how many: fewer at its end, or when it cannot be read. */
size_t image_read(const struct image *image, uint64_t offset, void *to, size_t size);
bool image_is_in_memory(const struct image *image);

/* GNU build id; length 0: none. At most 64 bytes are taken. */
#define IMAGE_BUILD_ID_MAX 64
size_t image_build_id(struct image *image, unsigned char ret_id[IMAGE_BUILD_ID_MAX]);

#endif
