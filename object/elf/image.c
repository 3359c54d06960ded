/* SPDX-License-Identifier: Apache-2.0 */
#include "object/elf/image.h"

#include <elf.h>
#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ipc/guard.h"
#include "base/reader.h"

#define IMAGE_NOTES_MAX (64u << 10) /* bytes; a larger PT_NOTE is skipped */

struct image {
	Elf *elf;
	int fd;
	char *copy; /* of an image in memory */
	uint64_t size;
	GElf_Ehdr header;
	size_t program_headers;
	struct image_segment segments[IMAGE_SEGMENTS_MAX];
	size_t segment_count;
};

void image_close(struct image *image)
{
	if (!image)
		return;
	elf_end(image->elf);
	free(image->copy);
	free(image);
}

static void guard_image_(struct image **image)
{
	image_close(*image);
}
#define guard_image __attribute__((cleanup(guard_image_)))

/* ---- opening ---- */

/* Refuses other kinds of files before libelf sees them. */
static int check_ident(const unsigned char *ident, size_t size)
{
	if (size < sizeof(Elf64_Ehdr) || memcmp(ident, ELFMAG, SELFMAG) != 0)
		return -ENOEXEC;
	if (ident[EI_CLASS] != ELFCLASS64 || ident[EI_DATA] != ELFDATA2LSB)
		return -ENOEXEC;
	return 0;
}

/*
 * Checks sh_size and sh_info of section 0, which hold numbers of sections and of segments that are
 * too large for the header (gABI).
 */
static int check_first_section(const unsigned char *section, bool sections, bool segments)
{
	struct reader reader;
	uint64_t size;

	reader_init(&reader, section, sizeof(Elf64_Shdr));
	reader_seek(&reader, offsetof(Elf64_Shdr, sh_size));
	size = reader_u64(&reader);
	if (sections && size > IMAGE_HEADERS_MAX)
		return -EFBIG;
	reader_seek(&reader, offsetof(Elf64_Shdr, sh_info));
	if (segments && reader_u32(&reader) > IMAGE_HEADERS_MAX)
		return -EFBIG;
	return 0;
}

/* Copies the part of a section header that the file has. */
static int copy_section_header(const void *bytes, size_t size, int fd, uint64_t offset,
			       unsigned char section[sizeof(Elf64_Shdr)])
{
	size_t there;

	memset(section, 0, sizeof(Elf64_Shdr));
	if (!bytes) {
		if (pread(fd, section, sizeof(Elf64_Shdr), (off_t)offset) < 0)
			return -EIO;
		return 0;
	}
	if (offset > size)
		return 0;
	there = size - offset;
	if (there > sizeof(Elf64_Shdr))
		there = sizeof(Elf64_Shdr);
	memcpy(section, (const char *)bytes + offset, there);
	return 0;
}

/*
 * Limits the number of headers before libelf sees the file: libelf allocates for as many headers as
 * the file claims. `bytes` is NULL for a file behind fd.
 */
static int check_header_counts(const unsigned char *header, const void *bytes, size_t size, int fd)
{
	unsigned char section[sizeof(Elf64_Shdr)];
	struct reader reader;
	uint64_t offset;
	uint16_t segments, sections;
	int r;

	reader_init(&reader, header, sizeof(Elf64_Ehdr));
	reader_seek(&reader, offsetof(Elf64_Ehdr, e_shoff));
	offset = reader_u64(&reader);
	reader_seek(&reader, offsetof(Elf64_Ehdr, e_phnum));
	segments = reader_u16(&reader);
	reader_skip(&reader, sizeof(uint16_t));
	sections = reader_u16(&reader);
	if (offset == 0 || offset > INT64_MAX)
		return 0;
	if (sections > 0 && segments < PN_XNUM) /* both numbers are in the header */
		return 0;
	r = copy_section_header(bytes, size, fd, offset, section);
	if (r < 0)
		return r;
	return check_first_section(section, sections == 0, segments == PN_XNUM);
}

static int add_segment(struct image *image, const GElf_Phdr *header)
{
	if (image->segment_count == IMAGE_SEGMENTS_MAX)
		return -EBADMSG;
	if (header->p_vaddr + header->p_memsz < header->p_vaddr)
		return -EBADMSG;
	image->segments[image->segment_count++] = (struct image_segment){
		.address = header->p_vaddr,
		.file_offset = header->p_offset,
		.file_size = header->p_filesz,
		.memory_size = header->p_memsz,
		.executable = header->p_flags & PF_X,
	};
	return 0;
}

static int load_headers(struct image *image)
{
	GElf_Phdr header;
	int r;

	if (elf_kind(image->elf) != ELF_K_ELF || !gelf_getehdr(image->elf, &image->header))
		return -EBADMSG;
	if (image->header.e_machine != EM_X86_64)
		return -ENOEXEC;
	if (image->header.e_type != ET_EXEC && image->header.e_type != ET_DYN)
		return -ENOEXEC;
	if (elf_getphdrnum(image->elf, &image->program_headers) != 0)
		return -EBADMSG;
	for (size_t i = 0; i < image->program_headers; i++) {
		if (!gelf_getphdr(image->elf, (int)i, &header))
			return -EBADMSG;
		if (header.p_type != PT_LOAD)
			continue;
		r = add_segment(image, &header);
		if (r < 0)
			return r;
	}
	return 0;
}

int image_open(int fd, struct image **ret_image)
{
	struct image *image guard_image = NULL;
	unsigned char header[sizeof(Elf64_Ehdr)];
	ssize_t got = pread(fd, header, sizeof(header), 0);
	struct stat status;
	int r;

	if (got < 0 || fstat(fd, &status) < 0)
		return -EIO;
	r = check_ident(header, (size_t)got);
	if (r == 0)
		r = check_header_counts(header, NULL, 0, fd);
	if (r < 0)
		return r;
	image = calloc(1, sizeof(*image));
	if (!image)
		return -ENOMEM;
	image->fd = fd;
	image->size = (uint64_t)status.st_size;
	elf_version(EV_CURRENT);
	image->elf = elf_begin(fd, ELF_C_READ, NULL);
	r = load_headers(image);
	if (r < 0)
		return r;
	*ret_image = take_pointer(image);
	return 0;
}

int image_open_memory(const void *bytes, size_t size, struct image **ret_image)
{
	void *copy = malloc(size + 1);

	if (!copy)
		return -ENOMEM;
	memcpy(copy, bytes, size);
	return image_adopt(copy, size, ret_image);
}

int image_adopt(void *adopted, size_t size, struct image **ret_image)
{
	struct image *image guard_image = NULL;
	guard_free void *bytes = adopted;
	int r = check_ident(bytes, size);

	if (r == 0)
		r = check_header_counts(bytes, bytes, size, -1);
	if (r < 0)
		return r;
	image = calloc(1, sizeof(*image));
	if (!image)
		return -ENOMEM;
	image->fd = -1;
	image->size = size;
	image->copy = take_pointer(bytes);
	elf_version(EV_CURRENT);
	image->elf = elf_memory(image->copy, size);
	r = load_headers(image);
	if (r < 0)
		return r;
	*ret_image = take_pointer(image);
	return 0;
}

size_t image_segments(const struct image *image, const struct image_segment **ret_segments)
{
	*ret_segments = image->segments;
	return image->segment_count;
}

uint64_t image_segment_end(const struct image *image, const struct image_segment *segment)
{
	uint64_t there = 0;

	if (image->size > segment->file_offset)
		there = image->size - segment->file_offset;
	if (there > segment->file_size)
		there = segment->file_size;
	if (there > segment->memory_size)
		there = segment->memory_size;
	return segment->address + there; /* add_segment() has ruled an overflow out */
}

uint64_t image_entry(const struct image *image)
{
	return image->header.e_entry;
}

/* ---- sections ---- */

/* Returns whether the file has the section's bytes as they are. */
static bool section_is_there(const GElf_Shdr *header)
{
	return header->sh_type != SHT_NOBITS && !(header->sh_flags & SHF_COMPRESSED);
}

static int section_bytes(Elf_Scn *section, const GElf_Shdr *header, struct image_bytes *ret_bytes)
{
	Elf_Data *data;

	if (!section_is_there(header))
		return -ENOENT;
	if (header->sh_size > IMAGE_SECTION_MAX)
		return -EFBIG;
	*ret_bytes = (struct image_bytes){
		.bytes = (const unsigned char *)"",
		.link = header->sh_link,
		.entry_size = (uint32_t)header->sh_entsize,
	};
	if (header->sh_flags & SHF_ALLOC)
		ret_bytes->address = header->sh_addr;
	if (header->sh_size == 0)
		return 0;
	data = elf_rawdata(section, NULL);
	if (!data || !data->d_buf || data->d_size < header->sh_size)
		return -EBADMSG;
	ret_bytes->bytes = data->d_buf;
	ret_bytes->size = header->sh_size;
	return 0;
}

static int find_section(struct image *image, const char *name, Elf_Scn **ret_section,
			GElf_Shdr *ret_header)
{
	Elf_Scn *section;
	const char *found;
	size_t names;

	if (elf_getshdrstrndx(image->elf, &names) != 0)
		return -ENOENT;
	section = elf_nextscn(image->elf, NULL);
	for (; section; section = elf_nextscn(image->elf, section)) {
		if (!gelf_getshdr(section, ret_header))
			return -EBADMSG;
		found = elf_strptr(image->elf, names, ret_header->sh_name);
		if (found && strcmp(found, name) == 0) {
			*ret_section = section;
			return 0;
		}
	}
	return -ENOENT;
}

bool image_has_section(struct image *image, const char *name)
{
	Elf_Scn *section;
	GElf_Shdr header;

	return find_section(image, name, &section, &header) == 0 && header.sh_type != SHT_NOBITS;
}

int image_section(struct image *image, const char *name, struct image_bytes *ret_bytes)
{
	Elf_Scn *section;
	GElf_Shdr header;
	int r = find_section(image, name, &section, &header);

	if (r < 0)
		return r;
	return section_bytes(section, &header, ret_bytes);
}

static int section_place(const struct image *image, const GElf_Shdr *header,
			 struct image_place *ret_place)
{
	if (header->sh_flags & SHF_COMPRESSED)
		return -ENOTSUP;
	if (!section_is_there(header))
		return -ENOENT;
	if (header->sh_offset > image->size || header->sh_size > image->size - header->sh_offset)
		return -EBADMSG;
	*ret_place = (struct image_place){
		.offset = header->sh_offset,
		.size = header->sh_size,
		.address = header->sh_addr,
		.link = header->sh_link,
		.entry_size = (uint32_t)header->sh_entsize,
	};
	return 0;
}

int image_section_place(struct image *image, const char *name, struct image_place *ret_place)
{
	Elf_Scn *section;
	GElf_Shdr header;
	int r = find_section(image, name, &section, &header);

	if (r < 0)
		return r;
	return section_place(image, &header, ret_place);
}

int image_section_place_at(struct image *image, uint32_t index, struct image_place *ret_place)
{
	Elf_Scn *section;
	GElf_Shdr header;

	if (index == 0)
		return -ENOENT;
	section = elf_getscn(image->elf, index);
	if (!section)
		return -ENOENT;
	if (!gelf_getshdr(section, &header))
		return -EBADMSG;
	return section_place(image, &header, ret_place);
}

int image_address_place(const struct image *image, uint64_t address, struct image_place *ret_place)
{
	for (size_t i = 0; i < image->segment_count; i++) {
		const struct image_segment *segment = &image->segments[i];
		uint64_t inside = address - segment->address;

		if (address < segment->address || inside >= segment->file_size)
			continue;
		*ret_place = (struct image_place){
			.offset = segment->file_offset + inside,
			.size = segment->file_size - inside,
			.address = address,
		};
		return 0;
	}
	return -ENOENT;
}

size_t image_read(const struct image *image, uint64_t offset, void *to, size_t size)
{
	ssize_t got;

	if (offset >= image->size || offset > INT64_MAX)
		return 0;
	if (size > image->size - offset)
		size = image->size - offset;
	if (image->copy) {
		memcpy(to, image->copy + offset, size);
		return size;
	}
	got = pread(image->fd, to, size, (off_t)offset);
	if (got < 0)
		return 0;
	return (size_t)got;
}

bool image_is_in_memory(const struct image *image)
{
	return image->copy != NULL;
}

/* ---- parts of segments ---- */

bool image_next_header(struct image *image, uint32_t type, size_t *cursor,
		       struct image_place *ret_place)
{
	GElf_Phdr header;

	while (*cursor < image->program_headers) {
		if (!gelf_getphdr(image->elf, (int)(*cursor)++, &header) || header.p_type != type)
			continue;
		*ret_place = (struct image_place){
			.offset = header.p_offset,
			.size = header.p_filesz,
			.address = header.p_vaddr,
			.alignment = header.p_align,
			.memory_size = header.p_memsz,
		};
		return true;
	}
	return false;
}

/* Returns whether e_entry is 0 or the start of .text, which linkers give to libraries. */
static bool is_default_entry(struct image *image)
{
	struct image_bytes text;

	if (image->header.e_entry == 0)
		return true;
	if (image_section(image, ".text", &text) < 0)
		return true;
	return text.address == image->header.e_entry;
}

bool image_is_program(struct image *image)
{
	struct image_place interpreter;
	size_t cursor = 0;

	if (image->header.e_type == ET_EXEC)
		return true;
	if (image_next_header(image, PT_INTERP, &cursor, &interpreter))
		return true;
	return !is_default_entry(image);
}

int image_part(struct image *image, uint64_t offset, uint64_t size, struct image_bytes *ret_bytes)
{
	Elf_Data *data;

	if (size > IMAGE_SECTION_MAX)
		return -EFBIG;
	if (offset > INT64_MAX || size == 0)
		return -EBADMSG;
	data = elf_getdata_rawchunk(image->elf, (int64_t)offset, size, ELF_T_BYTE);
	if (!data || !data->d_buf || data->d_size != size)
		return -EBADMSG;
	*ret_bytes = (struct image_bytes){.bytes = data->d_buf, .size = size};
	return 0;
}

int image_text(struct image *image, uint64_t address, uint64_t most, struct image_bytes *ret_bytes)
{
	struct image_place place;
	int r;

	if (image_address_place(image, address, &place) < 0)
		return -EBADMSG;
	if (place.size > most)
		place.size = most;
	r = image_part(image, place.offset, place.size, ret_bytes);
	if (r < 0)
		return r;
	ret_bytes->address = address;
	return 0;
}

/* ---- notes ---- */

struct note {
	uint32_t type, name_size, size;
	const void *name, *bytes;
};

/* Reads the next note, whose name and bytes are padded to `alignment`. */
static bool next_note(struct reader *notes, uint64_t alignment, struct note *ret_note)
{
	ret_note->name_size = reader_u32(notes);
	ret_note->size = reader_u32(notes);
	ret_note->type = reader_u32(notes);
	ret_note->name = reader_bytes(notes, ret_note->name_size);
	reader_skip(notes, -reader_offset(notes) & (alignment - 1));
	ret_note->bytes = reader_bytes(notes, ret_note->size);
	return !reader_failed(notes);
}

/* The notes that tell an id: n_type, owner with its NUL, and the most bytes that are taken. */
struct id_note {
	uint32_t type, owner_size;
	const char *owner;
	size_t most;
	bool cut; /* a longer id is cut; false: left out */
};
static const struct id_note note_gnu = {
	.type = NT_GNU_BUILD_ID,
	.owner_size = sizeof(ELF_NOTE_GNU),
	.owner = ELF_NOTE_GNU,
	.most = IMAGE_BUILD_ID_MAX,
	.cut = true,
};
/* ELF_NOTE_GOBUILDID_TAG and ELF_NOTE_GO_NAME of Go's cmd/link/internal/ld/elf.go */
static const struct id_note note_go = {
	.type = 4,
	.owner_size = 4,
	.owner = "Go\0",
	.most = IMAGE_GO_BUILD_ID_MAX,
};

static bool is_id(const struct id_note *wanted, const struct note *note)
{
	if (note->type != wanted->type || note->size == 0)
		return false;
	if (note->size > wanted->most && !wanted->cut)
		return false;
	return note->name_size == wanted->owner_size &&
	       memcmp(note->name, wanted->owner, wanted->owner_size) == 0;
}

/* Copies the first id of a kind among notes. Returns its length, or 0. */
static size_t find_id(struct reader *notes, uint64_t alignment, const struct id_note *wanted,
		      void *ret_id)
{
	struct note note;

	while (reader_left(notes) > 0 && next_note(notes, alignment, &note)) {
		if (is_id(wanted, &note)) {
			if (note.size > wanted->most)
				note.size = (uint32_t)wanted->most;
			memcpy(ret_id, note.bytes, note.size);
			return note.size;
		}
		reader_skip(notes, -reader_offset(notes) & (alignment - 1));
	}
	return 0;
}

static size_t id_of_note(struct image *image, const struct id_note *wanted, void *ret_id)
{
	struct image_place place;
	struct image_bytes bytes;
	struct reader reader;
	size_t length, cursor = 0;

	while (image_next_header(image, PT_NOTE, &cursor, &place)) {
		if (place.size > IMAGE_NOTES_MAX)
			continue;
		if (image_part(image, place.offset, place.size, &bytes) < 0)
			continue;
		reader_init(&reader, bytes.bytes, bytes.size);
		length = find_id(&reader, place.alignment == 8 ? 8 : 4, wanted, ret_id);
		if (length > 0)
			return length;
	}
	return 0;
}

size_t image_build_id(struct image *image, unsigned char ret_id[IMAGE_BUILD_ID_MAX])
{
	return id_of_note(image, &note_gnu, ret_id);
}

size_t image_go_build_id(struct image *image, char ret_id[IMAGE_GO_BUILD_ID_MAX])
{
	return id_of_note(image, &note_go, ret_id);
}
