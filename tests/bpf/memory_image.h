/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A memory image: what the walk over an interpreter's list, and the naming, read of a thread, and
 * what the interpreter said of its stack. tests/runtimes/record_image.c makes images.
 *
 * The file is little endian: a struct memory_image_head, the struct runtime_config, with
 * RUNTIME_HEAPS a struct memory_image_code, and then so many frames and lines. A frame is a u32
 * line, u16 sizes of name and file, and both texts. A line is a u64 address and MEMORY_IMAGE_LINE
 * bytes. Lines are sorted by address.
 */
#ifndef KEYHOLE_TESTS_BPF_MEMORY_IMAGE_H
#define KEYHOLE_TESTS_BPF_MEMORY_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/abi.h"
#include "worker/runtime/runtime.h"

#define MEMORY_IMAGE_MAGIC	 0x34676d696d656b6bull /* "kkemimg4" */
#define MEMORY_IMAGE_LINE	 64u		       /* bytes */
#define MEMORY_IMAGE_LINES_MAX	 8192u
#define MEMORY_IMAGE_FRAMES_MAX	 256u
#define MEMORY_IMAGE_DESCRIPTION 1024u /* bytes at `runtime` */
#define MEMORY_IMAGE_REGISTERS	 16u

struct memory_image_head {
	uint64_t magic;
	uint32_t config_bytes;	    /* another one: the image is to be recorded again */
	uint32_t version;	    /* as Py_Version */
	uint64_t bias;		    /* of the interpreter's mapping */
	uint64_t pc;		    /* an address in it */
	uint64_t thread;	    /* pointer */
	uint64_t stack;		    /* pointer */
	uint64_t runtime;	    /* address of _PyRuntime; 0: no CPython */
	struct cpython_types types; /* in the process */
	uint32_t frames, lines;
	uint64_t leaf[MEMORY_IMAGE_REGISTERS]; /* as struct pt_regs has them */
	uint64_t made; /* the leaf, in code made at run time; 0: it is in other code */
};

/*
 * The mappings of code of an image with RUNTIME_HEAPS, sorted. Its walk begins with the stack, at
 * `made` of the head, and ends where `rule` of a mapping says so.
 */
#define MEMORY_IMAGE_MAPPINGS_MAX 16u
struct memory_image_mapping {
	uint64_t start, end, bias;
	uint64_t rule; /* of all its code; 0: none */
	uint64_t is_of_file;
};

struct memory_image_code {
	uint32_t bytes; /* another size: the image is to be recorded again */
	uint32_t mappings;
	struct memory_image_mapping mapping[MEMORY_IMAGE_MAPPINGS_MAX];
	union { /* as the runtime's own file says */
		struct hotspot_layout hotspot;
		struct v8_layout v8;
	} layout;
};

struct memory_image_frame {
	uint32_t line;
	char name[256], file[256];
};

struct memory_image_line {
	uint64_t address;
	unsigned char bytes[MEMORY_IMAGE_LINE];
};

struct memory_image {
	struct memory_image_head head;
	struct runtime_config config;
	struct memory_image_code code;	  /* RUNTIME_HEAPS */
	struct memory_image_frame *frame; /* innermost first; owned, as the lines are */
	struct memory_image_line *line;
};

/* Copies what is in a file. Returns 0, -EBADMSG, -ESTALE: config_bytes; -ENOMEM. */
int memory_image_parse(const void *bytes, size_t size, struct memory_image *ret_image);
void memory_image_release(struct memory_image *image);
/* Writes the file. Returns 0 or a negative errno. */
int memory_image_write(const struct memory_image *image, const char *path);

/*
 * Sets a word in an image that is being made. Words that were not set are 0. Returns 0, -ENOSPC or
 * -ENOMEM.
 */
int memory_image_keep(struct memory_image *image, uint64_t address, uint64_t word);
/* Reads bytes as the kernel does: all, or none. Returns 0 or -EFAULT. */
int memory_image_read(const struct memory_image *image, void *to, size_t size, uint64_t address);

/*
 * Fills in the handler and the layout of the interpreter, by its description or its version. The
 * layouts of LuaJIT and PHP are those that fit the config, and those of HotSpot and V8 are the
 * recorded ones. 0 or a negative errno.
 */
int memory_image_setup(const struct memory_image *image, struct runtime_setup *ret_setup);
/*
 * Returns whether the image is of PUC-Rio's Lua; of LuaJIT; of PHP; of Ruby; of Perl; of HotSpot;
 * of V8; or else of CPython.
 */
bool memory_image_is_lua(const struct memory_image *image);
bool memory_image_is_luajit(const struct memory_image *image);
bool memory_image_is_php(const struct memory_image *image);
bool memory_image_is_ruby(const struct memory_image *image);
bool memory_image_is_perl(const struct memory_image *image);
bool memory_image_is_hotspot(const struct memory_image *image);
bool memory_image_is_v8(const struct memory_image *image);
/* Returns whether functions have frames on the stack: RUNTIME_HEAPS. */
bool memory_image_has_code(const struct memory_image *image);
/* Returns what memory_image_code.bytes is to be. */
uint32_t memory_image_code_bytes(const struct memory_image *image);
/* Returns the year of LuaJIT's layout, or NULL. */
const char *memory_image_year(const struct memory_image *image);

#endif
