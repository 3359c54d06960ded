/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/build_python.h"

#include <stdlib.h>
#include <string.h>

#include "object/elf/image.h"
#include "tests/unit/build_cfi.h"
#include "tests/unit/build_elf.h"
#include "worker/runtime/cpython_layout.h"

#define STRINGS	   4096u
#define HASH_SHIFT 6u

#define GOT	 (PYTHON_DATA + 0x10u) /* the word that has the address of _PyRuntime */
#define MODULE	 (PYTHON_DATA + 0x20u) /* the two words of thread-local memory */
#define VERSION	 (PYTHON_DATA + 0x40u)
#define FORMAT	 (PYTHON_DATA + 0x60u)
#define VARIABLE (PYTHON_DATA + 0x80u) /* Py_Version */

#define BYTES(...) ((const unsigned char[]){__VA_ARGS__}), sizeof((unsigned char[]){__VA_ARGS__})

static void must(int good)
{
	if (!good)
		abort();
}

void build_python_init(struct build_python *python, uint64_t size)
{
	static const char *const types[] = {"PyCode_Type", "PyUnicode_Type", "PyBytes_Type"};

	memset(python, 0, sizeof(*python));
	python->symbols = 1;
	build_python_symbol(python, "_PyRuntime", PYTHON_RUNTIME, size);
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		build_python_symbol(python, types[i], PYTHON_TYPES + i * PYTHON_TYPE_BYTES,
				    PYTHON_TYPE_BYTES);
}

uint32_t build_python_symbol(struct build_python *python, const char *name, uint64_t address,
			     uint64_t size)
{
	size_t at = python->symbols++;

	must(at < PYTHON_SYMBOLS);
	python->name[at] = name;
	python->symbol[at] = (Elf64_Sym){.st_shndx = 1, .st_value = address, .st_size = size};
	return (uint32_t)at;
}

void build_python_relocation(struct build_python *python, uint64_t address, uint32_t type,
			     uint32_t symbol, int64_t addend)
{
	must(python->relocations < PYTHON_RELOCATIONS);
	python->relocation[python->relocations++] = (Elf64_Rela){
		.r_offset = address,
		.r_info = ELF64_R_INFO((uint64_t)symbol, type),
		.r_addend = addend,
	};
}

void build_python_bytes(struct build_python *python, uint64_t address, const void *bytes,
			size_t size)
{
	if (address < PYTHON_DATA)
		memcpy(python->text + (address - PYTHON_TEXT), bytes, size);
	else
		memcpy(python->data + (address - PYTHON_DATA), bytes, size);
}

void build_python_function(struct build_python *python, const char *name, uint64_t address,
			   const void *code, size_t size)
{
	build_python_symbol(python, name, address, size);
	build_python_bytes(python, address, code, size);
}

/* ---- the file ---- */

static uint32_t hash_of(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (unsigned char)*name;
	return hash;
}

/* .gnu.hash of one bucket, whose filter lets all names pass. */
static void add_hash(const struct build_python *python, struct build_elf *elf)
{
	uint32_t words[7 + PYTHON_SYMBOLS] = {1, 1, 1, HASH_SHIFT, UINT32_MAX, UINT32_MAX, 1};

	for (size_t i = 1; i < python->symbols; i++)
		words[6 + i] = hash_of(python->name[i]) & ~1u;
	words[5 + python->symbols] |= 1;
	build_elf_section(elf, ".gnu.hash", SHT_GNU_HASH, 0, words,
			  (6 + python->symbols) * sizeof(*words));
}

static void add_symbols(const struct build_python *python, struct build_elf *elf)
{
	Elf64_Sym symbols[PYTHON_SYMBOLS];
	char strings[STRINGS] = "";
	Elf64_Dyn dynamic[2] = {{.d_tag = DT_NEEDED}};
	size_t used = 1;

	memcpy(symbols, python->symbol, sizeof(symbols));
	for (size_t i = 1; i < python->symbols; i++) {
		symbols[i].st_name = (uint32_t)used;
		memcpy(strings + used, python->name[i], strlen(python->name[i]) + 1);
		used += strlen(python->name[i]) + 1;
	}
	dynamic[0].d_un.d_val = used;
	if (python->needs) {
		memcpy(strings + used, python->needs, strlen(python->needs) + 1);
		used += strlen(python->needs) + 1;
		build_elf_section(elf, ".dynamic", SHT_DYNAMIC, 0, dynamic, sizeof(dynamic));
	}
	must(used <= sizeof(strings));
	build_elf_section(elf, ".dynsym", SHT_DYNSYM, 0, symbols,
			  python->symbols * sizeof(*symbols));
	build_elf_section(elf, ".dynstr", SHT_STRTAB, 0, strings, used);
}

unsigned char *build_python_finish(const struct build_python *python, size_t *ret_size)
{
	struct build_elf elf;

	build_elf_init(&elf);
	build_elf_segment(&elf, PT_LOAD, PF_R | PF_X, PYTHON_TEXT, python->text,
			  sizeof(python->text));
	build_elf_segment(&elf, PT_LOAD, PF_R | PF_W, PYTHON_DATA, python->data,
			  sizeof(python->data));
	if (python->more)
		build_elf_segment(&elf, PT_LOAD, PF_R | PF_W, PYTHON_MORE, python->more,
				  python->more_size);
	if (python->tls.p_memsz) {
		Elf64_Phdr *tls =
			build_elf_segment(&elf, PT_TLS, PF_R, python->tls.p_vaddr, NULL, 0);

		tls->p_memsz = python->tls.p_memsz;
		tls->p_align = python->tls.p_align;
	}
	if (python->is_program)
		build_elf_segment(&elf, PT_INTERP, PF_R, 0, "/ld.so", sizeof("/ld.so"));
	add_hash(python, &elf);
	add_symbols(python, &elf);
	build_elf_section(&elf, ".rela.dyn", SHT_RELA, 0, python->relocation,
			  python->relocations * sizeof(*python->relocation));
	if (python->rodata)
		build_elf_section(&elf, ".rodata", SHT_PROGBITS, 0, python->rodata,
				  python->rodata_size);
	if (python->eh_frame)
		build_elf_section(&elf, ".eh_frame", SHT_PROGBITS, BUILD_ELF_EH_FRAME,
				  python->eh_frame, python->eh_frame_size);
	return build_elf_finish(&elf, ret_size);
}

struct image *build_python_image(const struct build_python *python)
{
	struct image *image = NULL;
	size_t size;
	unsigned char *file = build_python_finish(python, &size);

	must(image_adopt(file, size, &image) == 0);
	return image;
}

/* ---- some interpreters, as objdump shows them ---- */

/* mov GOT(%rip),%rax; cmpq $0,0x240(%rax); je; lea 0x248(%rax),%rdi; jmp PyThread_tss_get */
static void add_key_by_pointer(struct build_python *python)
{
	build_python_relocation(python, GOT, R_X86_64_GLOB_DAT, 1, 0);
	build_python_function(python, "PyGILState_GetThisThreadState", 0x1000,
			      BYTES(0x48, 0x8b, 0x05, 0x09, 0x30, 0, 0, /* 0x1007 + 0x3009 */
				    0x48, 0x83, 0xb8, 0x40, 2, 0, 0, 0, /**/
				    0x74, 0x0f, 0x48, 0x8d, 0xb8, 0x48, 2, 0, 0, /**/
				    0xe9, 0, 1, 0, 0, 0x0f, 0x1f, 0, 0x31, 0xc0, 0xc3));
}

/* sub $8,%rsp; data16 lea MODULE(%rip),%rdi; call __tls_get_addr; mov 8(%rax),%rax; add; ret */
static void add_variable(struct build_python *python)
{
	build_python_relocation(python, MODULE, R_X86_64_DTPMOD64, 0, 0);
	build_python_function(python, "_PyThreadState_GetCurrent", 0x1100,
			      BYTES(0x48, 0x83, 0xec, 8,		      /**/
				    0x66, 0x48, 0x8d, 0x3d, 0x14, 0x2f, 0, 0, /* 0x110c + 0x2f14 */
				    0x66, 0x66, 0x48, 0xe8, 0, 1, 0, 0,	      /**/
				    0x48, 0x8b, 0x40, 8, 0x48, 0x83, 0xc4, 8, 0xc3));
}

static void add_version(struct build_python *python, uint32_t version)
{
	build_python_symbol(python, "Py_Version", VARIABLE, 4);
	build_python_bytes(python, VARIABLE, &version, sizeof(version));
}

/*
 * Adds the loop, which jumps to its cold part, and to a function. The function calls the loop and
 * jumps within itself. The cold part jumps back into the loop.
 */
static void add_loop(struct build_python *python)
{
	static struct build_cfi frames;

	build_python_function(python, "_PyEval_EvalFrameDefault", 0x1300,
			      BYTES(0x0f, 0x84, 0xfb, 0x04, 0, 0,    /* 0x1306: je 0x1801 */
				    0xe9, 0xf5, 0x05, 0, 0,	     /* 0x130b: jmp 0x1900 */
				    0xe9, 0x10, 0, 0, 0, [63] = 0)); /* 0x1310: jmp 0x1320 */
	build_python_bytes(
		python, 0x1800,
		BYTES(0x90, 0x90, 0xe9, 0x09, 0xfb, 0xff, 0xff)); /* 0x1807: jmp 0x1310 */
	build_python_bytes(python, 0x1900,
			   BYTES(0xe9, 0xfb, 0xf9, 0xff, 0xff, /* 0x1905: jmp 0x1300 */
				 0xe9, 0x04, 0, 0, 0));	       /* 0x190a: jmp 0x190e */
	if (frames.size == 0) {
		const size_t cie = build_cfi_usual_cie(&frames);

		build_cfi_fde(&frames, cie, 0x1300, 64, (struct build_cfi_code){NULL, 0});
		build_cfi_fde(&frames, cie, 0x1800, 32, (struct build_cfi_code){NULL, 0});
		build_cfi_fde(&frames, cie, 0x1900, 32, (struct build_cfi_code){NULL, 0});
	}
	python->eh_frame = frames.bytes;
	python->eh_frame_size = frames.size;
}

void build_python_3_9(struct build_python *python)
{
	build_python_3_10(python);
	build_python_bytes(python, VERSION, "3.9.18", 7);
}

/* push %rbx; call; mov %rax,%rbx; call; lea VERSION(%rip),%rcx; lea FORMAT(%rip),%rdx; call */
void build_python_3_10(struct build_python *python)
{
	build_python_init(python, 0x300);
	add_key_by_pointer(python);
	add_loop(python);
	build_python_bytes(python, VERSION, "3.10.13", 8);
	build_python_bytes(python, FORMAT, "%.80s (%.80s) %.80s", 20);
	build_python_function(python, "Py_GetVersion", 0x1200,
			      BYTES(0x53, 0xe8, 0, 1, 0, 0, 0x48, 0x89, 0xc3, /**/
				    0xe8, 0, 1, 0, 0,			      /**/
				    0x48, 0x8d, 0x0d, 0x2b, 0x2e, 0, 0,	      /* 0x1215 + 0x2e2b */
				    0x48, 0x8d, 0x15, 0x44, 0x2e, 0, 0,	      /* 0x121c + 0x2e44 */
				    0xe8, 0, 1, 0, 0, 0x5b, 0xc3));
}

/* cmpq $0,0x4a48; je; mov 0x4a54,%edi; jmp pthread_getspecific */
void build_python_3_11(struct build_python *python)
{
	build_python_init(python, 0x300);
	add_version(python, CPYTHON_VERSION(3, 11) | 0x02f0);
	build_python_function(python, "PyGILState_GetThisThreadState", 0x1000,
			      BYTES(0x48, 0x83, 0x3d, 0x40, 0x3a, 0, 0, 0, 0x74, 0x20, /**/
				    0x8b, 0x3d, 0x44, 0x3a, 0, 0, /* 0x1010 + 0x3a44 */
				    0xe9, 0, 1, 0, 0));
}

void build_python_3_12(struct build_python *python)
{
	build_python_init(python, 0x300);
	add_version(python, CPYTHON_VERSION(3, 12) | 0x01f0);
	add_key_by_pointer(python);
	add_variable(python);
}

/* The fields of _Py_DebugOffsets that count: position, offset. Measured in libpython3.14. */
static const uint16_t description[][2] = {
	{208, 72},  {256, 8},	{264, 0},   {272, 56}, {288, 74}, {320, 112},
	{328, 120}, {336, 128}, {344, 136}, {352, 68}, {360, 52}, {384, 208},
	{408, 8},   {600, 16},	{608, 32},  {624, 32}, {632, 16}, {640, 40},
};

void build_python_3_14(struct build_python *python)
{
	const uint64_t head[] = {CPYTHON_VERSION(3, 14) | 0x03f0, 0};

	build_python_init(python, 0x400);
	build_python_bytes(python, PYTHON_RUNTIME, "xdebugpy", 8);
	build_python_bytes(python, PYTHON_RUNTIME + 8, head, sizeof(head));
	for (size_t i = 0; i < sizeof(description) / sizeof(*description); i++)
		build_python_bytes(python, PYTHON_RUNTIME + description[i][0], &description[i][1],
				   sizeof(uint16_t));
	add_key_by_pointer(python);
	add_variable(python);
}
