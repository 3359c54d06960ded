/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An ELF file behind a descriptor, or an image in memory such as our own vDSO. libelf reads the
 * file with pread(), because a target may truncate a mapped file under us. Only 64-bit executables
 * and shared objects for x86-64 are taken; anything else is -ENOEXEC.
 */
#ifndef KEYHOLE_OBJECT_ELF_IMAGE_H
#define KEYHOLE_OBJECT_ELF_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "object/elf/image_segment.h"

struct image;

/*
 * Borrows fd, which must stay open. Returns 0 or -ENOEXEC (another kind of file), -EBADMSG
 * (damaged), -EFBIG (more than IMAGE_HEADERS_MAX headers of sections or of segments), -EIO,
 * -ENOMEM.
 */
#define IMAGE_HEADERS_MAX 65535u
int image_open(int fd, struct image **ret_image);
/* Copies the bytes. */
int image_open_memory(const void *bytes, size_t size, struct image **ret_image);
/* Takes ownership of malloc()ed bytes, even on failure. */
int image_adopt(void *bytes, size_t size, struct image **ret_image);
void image_close(struct image *image); /* NULL is fine */

#define IMAGE_SEGMENTS_MAX 64
size_t image_segments(const struct image *image, const struct image_segment **ret_segments);
/* Returns the end of those bytes of a segment that the file really has, as an address. */
uint64_t image_segment_end(const struct image *image, const struct image_segment *segment);
uint64_t image_entry(const struct image *image); /* e_entry */
/* Returns whether a program starts at e_entry: true for the dynamic linker, false for a library. */
bool image_is_program(struct image *image);

/* A section or another part of the file; bytes live until image_close(). */
struct image_bytes {
	const unsigned char *bytes; /* NULL: not there */
	size_t size;
	uint64_t address;	   /* of the first byte, in p_vaddr terms; 0: not mapped */
	uint32_t link, entry_size; /* sh_link, sh_entsize */
};
#define IMAGE_SECTION_MAX (256u << 20) /* bytes; larger parts are -EFBIG */
/*
 * Gets the bytes of a section. Returns 0, -ENOENT, -EFBIG, -EBADMSG or -EIO. SHT_NOBITS and
 * compressed sections are -ENOENT.
 */
int image_section(struct image *image, const char *name, struct image_bytes *ret_bytes);
bool image_has_section(struct image *image, const char *name); /* a compressed one counts */
/* Gets `most` bytes of the file from an address on, or fewer, to the end of its segment. */
int image_text(struct image *image, uint64_t address, uint64_t most, struct image_bytes *ret_bytes);
/* Gets a part of the file. Returns 0, -EFBIG, or -EBADMSG for one that is not all there. */
int image_part(struct image *image, uint64_t offset, uint64_t size, struct image_bytes *ret_bytes);

/* Where a part is in the file, for reading it piece by piece. */
struct image_place {
	uint64_t offset, size, address;
	uint32_t link, entry_size; /* of a section */
	uint64_t alignment;	   /* of a program header, as the next one */
	uint64_t memory_size;
};
/* Return 0, -ENOENT (also for SHT_NOBITS), -ENOTSUP for a compressed section, or -EBADMSG. */
int image_section_place(struct image *image, const char *name, struct image_place *ret_place);
int image_section_place_at(struct image *image, uint32_t index, struct image_place *ret_place);
/* Finds the file's bytes from an address to the end of its segment. Returns 0 or -ENOENT. */
int image_address_place(const struct image *image, uint64_t address, struct image_place *ret_place);
/*
 * Finds the next program header of a type; *cursor starts at 0. Returns false after the last one.
 */
bool image_next_header(struct image *image, uint32_t type, size_t *cursor,
		       struct image_place *ret_place);
/* Copies bytes of the file. Returns how many: fewer at its end, or where it cannot be read. */
size_t image_read(const struct image *image, uint64_t offset, void *to, size_t size);
bool image_is_in_memory(const struct image *image);

/* Copies at most 64 bytes of the GNU build id. Returns their number; 0 means no build id. */
#define IMAGE_BUILD_ID_MAX 64
size_t image_build_id(struct image *image, unsigned char ret_id[IMAGE_BUILD_ID_MAX]);
/*
 * Copies the text of Go's build id, which Go's linker writes as a note. Returns its length. 0
 * means that the file has no such note, or a longer text than the linker's. The text may be
 * anything, a NUL too.
 */
#define IMAGE_GO_BUILD_ID_MAX 160
size_t image_go_build_id(struct image *image, char ret_id[IMAGE_GO_BUILD_ID_MAX]);

#endif
