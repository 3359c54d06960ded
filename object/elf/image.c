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

#define IMAGE_NOTES_MAX	   (64u << 10) /* bytes of one PT_NOTE that are looked at */
#define EH_PE_PCREL_SDATA4 0x1b
#define EH_PE_ABSPTR	   0x00
#define PAGE_MASK	   4095ull

struct image {
	Elf *elf;
	int fd;
	char *copy; /* an image in memory */
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

/* Only what we unwind; asked before libelf sees the file. */
static int check_ident(const unsigned char *ident, size_t size)
{
	if (size < sizeof(Elf64_Ehdr) || memcmp(ident, ELFMAG, SELFMAG) != 0)
		return -ENOEXEC;
	return ident[EI_CLASS] == ELFCLASS64 && ident[EI_DATA] == ELFDATA2LSB ? 0 : -ENOEXEC;
}

/* sh_size and sh_info of section 0, which say what does not fit the header (gABI). */
static int check_first_section(const unsigned char *section, bool sections, bool segments)
{
	struct reader reader;
	uint64_t size;

	reader_init(&reader, section, sizeof(Elf64_Shdr));
	reader_seek(&reader, offsetof(Elf64_Shdr, sh_size));
	size = reader_u64(&reader);
	reader_seek(&reader, offsetof(Elf64_Shdr, sh_info));
	if ((sections && size > IMAGE_HEADERS_MAX) ||
	    (segments && reader_u32(&reader) > IMAGE_HEADERS_MAX))
		return -EFBIG;
	return 0;
}

/* libelf allocates for as many headers as the file says: asked before it sees the file. */
static int check_header_counts(const unsigned char *header, const void *bytes, size_t size, int fd)
{
	unsigned char section[sizeof(Elf64_Shdr)] = {0};
	struct reader reader;
	uint64_t offset;
	uint16_t segments, sections;

	reader_init(&reader, header, sizeof(Elf64_Ehdr));
	reader_seek(&reader, offsetof(Elf64_Ehdr, e_shoff));
	offset = reader_u64(&reader);
	reader_seek(&reader, offsetof(Elf64_Ehdr, e_phnum));
	segments = reader_u16(&reader);
	reader_skip(&reader, sizeof(uint16_t));
	sections = reader_u16(&reader);
	if (offset == 0 || offset > INT64_MAX || (sections > 0 && segments < PN_XNUM))
		return 0;
	if (!bytes && pread(fd, section, sizeof(section), (off_t)offset) < 0)
		return -EIO;
	if (bytes && offset <= size)
		memcpy(section, (const char *)bytes + offset,
		       size - offset < sizeof(section) ? size - offset : sizeof(section));
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
	if (image->header.e_machine != EM_X86_64 ||
	    (image->header.e_type != ET_EXEC && image->header.e_type != ET_DYN))
		return -ENOEXEC;
	if (elf_getphdrnum(image->elf, &image->program_headers) != 0)
		return -EBADMSG;
	for (size_t i = 0; i < image->program_headers; i++) {
		if (!gelf_getphdr(image->elf, (int)i, &header))
			return -EBADMSG;
		r = header.p_type == PT_LOAD ? add_segment(image, &header) : 0;
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

/* How well a part of the file fits a segment. */
struct fit {
	uint64_t pages;	  /* bytes of the part in the segment's pages */
	bool own;	  /* some of them are the segment's */
	uint64_t outside; /* bytes of the segment that are elsewhere */
};

static uint64_t overlap(uint64_t start, uint64_t end, uint64_t from, uint64_t to)
{
	uint64_t low = start > from ? start : from, high = end < to ? end : to;

	return high > low ? high - low : 0;
}

static bool fit_make(const struct image_segment *segment, uint64_t offset, uint64_t size,
		     struct fit *ret_fit)
{
	uint64_t start = segment->file_offset, end, last, stop, own;

	if (segment->file_size == 0 || __builtin_add_overflow(offset, size, &stop) ||
	    __builtin_add_overflow(start, segment->file_size, &end) ||
	    __builtin_add_overflow(end, PAGE_MASK, &last))
		return false;
	own = overlap(offset, stop, start, end);
	ret_fit->pages = overlap(offset, stop, start & ~PAGE_MASK, last & ~PAGE_MASK);
	ret_fit->own = own > 0;
	ret_fit->outside = segment->file_size - own;
	return ret_fit->pages > 0;
}

/* Positive: a is better. */
static int fit_compare(const struct fit *a, const struct fit *b)
{
	if (a->pages != b->pages)
		return a->pages > b->pages ? 1 : -1;
	if (a->own != b->own)
		return a->own ? 1 : -1;
	return a->outside < b->outside ? 1 : -(a->outside > b->outside);
}

static bool same_shift(const struct image_segment *a, const struct image_segment *b)
{
	return a->address - a->file_offset == b->address - b->file_offset;
}

const struct image_segment *image_segment_of(const struct image_segment *segments, size_t count,
					     uint64_t offset, uint64_t size)
{
	const struct image_segment *best = NULL;
	struct fit best_fit = {0}, fit;
	bool unclear = false;

	for (size_t i = 0; i < count; i++) {
		int order = fit_make(&segments[i], offset, size, &fit)
				    ? fit_compare(&fit, &best_fit)
				    : -1;

		if (order > 0) {
			best = &segments[i];
			best_fit = fit;
			unclear = false;
		}
		unclear |= order == 0 && !same_shift(best, &segments[i]);
	}
	return unclear ? NULL : best;
}

uint64_t image_segment_end(const struct image *image, const struct image_segment *segment)
{
	uint64_t there =
		image->size > segment->file_offset ? image->size - segment->file_offset : 0;

	if (there > segment->file_size)
		there = segment->file_size;
	/* address + memory_size does not overflow */
	return segment->address + (there < segment->memory_size ? there : segment->memory_size);
}

uint64_t image_entry(const struct image *image)
{
	return image->header.e_entry;
}

/* ---- sections ---- */

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
		.address = header->sh_flags & SHF_ALLOC ? header->sh_addr : 0,
		.link = header->sh_link,
		.entry_size = (uint32_t)header->sh_entsize,
	};
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
	const char *found;
	size_t names;

	*ret_section = NULL;
	if (elf_getshdrstrndx(image->elf, &names) != 0)
		return -ENOENT;
	while ((*ret_section = elf_nextscn(image->elf, *ret_section))) {
		if (!gelf_getshdr(*ret_section, ret_header))
			return -EBADMSG;
		found = elf_strptr(image->elf, names, ret_header->sh_name);
		if (found && strcmp(found, name) == 0)
			return 0;
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

	return r < 0 ? r : section_bytes(section, &header, ret_bytes);
}

static int section_place(const struct image *image, const GElf_Shdr *header,
			 struct image_place *ret_place)
{
	if (!section_is_there(header))
		return header->sh_flags & SHF_COMPRESSED ? -ENOTSUP : -ENOENT;
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

	return r < 0 ? r : section_place(image, &header, ret_place);
}

int image_section_place_at(struct image *image, uint32_t index, struct image_place *ret_place)
{
	Elf_Scn *section = index > 0 ? elf_getscn(image->elf, index) : NULL;
	GElf_Shdr header;

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
	return got < 0 ? 0 : (size_t)got;
}

bool image_is_in_memory(const struct image *image)
{
	return image->copy != NULL;
}

/* ---- parts of segments ---- */

static bool find_program_header(struct image *image, uint32_t type, GElf_Phdr *ret_header)
{
	for (size_t i = 0; i < image->program_headers; i++) {
		if (gelf_getphdr(image->elf, (int)i, ret_header) && ret_header->p_type == type)
			return true;
	}
	return false;
}

/* Linkers give libraries the start of .text for want of an entry point. */
static bool is_default_entry(struct image *image)
{
	struct image_bytes text;

	return image->header.e_entry == 0 || image_section(image, ".text", &text) != 0 ||
	       text.address == image->header.e_entry;
}

bool image_is_program(struct image *image)
{
	GElf_Phdr header;

	return image->header.e_type == ET_EXEC || find_program_header(image, PT_INTERP, &header) ||
	       !is_default_entry(image);
}

static int file_bytes(struct image *image, uint64_t offset, uint64_t size,
		      struct image_bytes *ret_bytes)
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
	uint64_t size;
	int r;

	for (size_t i = 0; i < image->segment_count; i++) {
		const struct image_segment *segment = &image->segments[i];
		uint64_t inside = address - segment->address;

		if (address < segment->address || inside >= segment->file_size)
			continue;
		size = segment->file_size - inside;
		r = file_bytes(image, segment->file_offset + inside, size < most ? size : most,
			       ret_bytes);
		if (r == 0)
			ret_bytes->address = address;
		return r;
	}
	return -EBADMSG;
}

/* .eh_frame_ptr of PT_GNU_EH_FRAME: LSB Core, "The .eh_frame_hdr section". */
static int eh_frame_address(struct image *image, const GElf_Phdr *header, uint64_t *ret_address)
{
	struct image_bytes bytes;
	struct reader reader;
	uint8_t encoding;
	int r = file_bytes(image, header->p_offset, header->p_filesz, &bytes);

	if (r < 0)
		return r;
	reader_init(&reader, bytes.bytes, bytes.size);
	if (reader_u8(&reader) != 1)
		return -EBADMSG;
	encoding = reader_u8(&reader);
	reader_skip(&reader, 2);
	if (encoding == EH_PE_PCREL_SDATA4)
		*ret_address = header->p_vaddr + 4 + (uint64_t)(int32_t)reader_u32(&reader);
	else if (encoding == EH_PE_ABSPTR)
		*ret_address = reader_u64(&reader);
	else
		return -ENOENT;
	return reader_failed(&reader) ? -EBADMSG : 0;
}

/* Nothing says how long it is: it ends at the first record of length zero. */
static size_t eh_frame_size(const struct image_bytes *bytes)
{
	struct reader reader;
	uint64_t length;

	reader_init(&reader, bytes->bytes, bytes->size);
	do {
		length = reader_u32(&reader);
		if (length == UINT32_MAX)
			length = reader_u64(&reader);
		reader_skip(&reader, length);
	} while (length != 0 && !reader_failed(&reader));
	return reader_offset(&reader);
}

int image_eh_frame(struct image *image, struct image_bytes *ret_bytes)
{
	GElf_Phdr header;
	uint64_t address;
	int r = image_section(image, ".eh_frame", ret_bytes);

	if (r != -ENOENT)
		return r;
	if (!find_program_header(image, PT_GNU_EH_FRAME, &header))
		return -ENOENT;
	r = eh_frame_address(image, &header, &address);
	if (r == 0)
		r = image_text(image, address, UINT64_MAX, ret_bytes);
	if (r == 0)
		ret_bytes->size = eh_frame_size(ret_bytes);
	return r;
}

/* ---- notes ---- */

/* The first GNU build id among notes whose parts are padded to `alignment`. */
static size_t find_build_id(struct reader *notes, uint64_t alignment,
			    unsigned char ret_id[IMAGE_BUILD_ID_MAX])
{
	while (reader_left(notes) > 0) {
		uint32_t name_size = reader_u32(notes), size = reader_u32(notes);
		uint32_t type = reader_u32(notes);
		const void *name = reader_bytes(notes, name_size);
		const void *id;

		reader_skip(notes, -reader_offset(notes) & (alignment - 1));
		id = reader_bytes(notes, size);
		if (reader_failed(notes))
			return 0;
		if (type == NT_GNU_BUILD_ID && name_size == sizeof(ELF_NOTE_GNU) &&
		    memcmp(name, ELF_NOTE_GNU, name_size) == 0 && size > 0) {
			size = size < IMAGE_BUILD_ID_MAX ? size : IMAGE_BUILD_ID_MAX;
			memcpy(ret_id, id, size);
			return size;
		}
		reader_skip(notes, -reader_offset(notes) & (alignment - 1));
	}
	return 0;
}

size_t image_build_id(struct image *image, unsigned char ret_id[IMAGE_BUILD_ID_MAX])
{
	struct image_bytes bytes;
	struct reader reader;
	GElf_Phdr header;
	size_t length;

	for (size_t i = 0; i < image->program_headers; i++) {
		if (!gelf_getphdr(image->elf, (int)i, &header) || header.p_type != PT_NOTE ||
		    header.p_filesz > IMAGE_NOTES_MAX ||
		    file_bytes(image, header.p_offset, header.p_filesz, &bytes) < 0)
			continue;
		reader_init(&reader, bytes.bytes, bytes.size);
		length = find_build_id(&reader, header.p_align == 8 ? 8 : 4, ret_id);
		if (length > 0)
			return length;
	}
	return 0;
}
