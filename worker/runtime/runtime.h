/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runtimes of languages. An object is recognised by the symbols that it exports. For those
 * runtimes that have a handler, BPF then walks the frames of the program's functions, as a struct
 * runtime_config says. See worker/runtime/README.md.
 */
#ifndef KEYHOLE_WORKER_RUNTIME_RUNTIME_H
#define KEYHOLE_WORKER_RUNTIME_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/runtimes.h"
#include "bpf/abi.h"
#include "worker/runtime/cpython_layout.h"
#include "worker/runtime/hotspot_layout.h"
#include "worker/runtime/lua_layout.h"
#include "worker/runtime/luajit_layout.h"
#include "worker/runtime/perl_layout.h"
#include "worker/runtime/php_layout.h"
#include "worker/runtime/ruby_layout.h"
#include "worker/runtime/told.h"
#include "worker/runtime/v8_layout.h"

struct image;
struct memory;

/* A range of code, in bytes of the file. */
struct runtime_range {
	uint64_t start, end;
	uint64_t address; /* of its start, in the image; 0: not known */
};
#define RUNTIME_LOOP_RANGES 4u

/* That which an image says of the runtime in it. */
struct runtime_setup {
	struct runtime_config config;
	const struct runtime_handler *handler;
	uint32_t version;  /* as Py_Version: major, minor, micro in a byte each, and one more */
	bool is_described; /* the runtime itself tells the layout of its memory */
	bool lacks_traces; /* which functions and lines are in code made of several is not known */
	/*
	 * The code of a loop that is called for each function, where nothing ties the list to the
	 * stack. Each of its frames then has one frame of the list. All 0: the list has borders.
	 */
	struct runtime_range loop[RUNTIME_LOOP_RANGES];
	bool has_groups; /* each frame of the loop has the frames up to a border, not just one */
	/* Code from which the loop is called for functions of the next outer loop. */
	struct runtime_range again;
	/*
	 * Code that the runtime makes in shared memory runs in frames of the loop, whose rule it
	 * has. configure() sets the flag, and the parse thread the rule; 0: none is known.
	 */
	bool makes_in_loop;
	u64 made_rule;
	/* As in struct mapping_entry: of code that the runtime makes in memory of one process */
	u64 own_rule, own_framed_rule;
	union {
		struct cpython_layout cpython;
		struct lua_layout lua;
		struct luajit_layout luajit;
		struct php_layout php;
		struct ruby_layout ruby;
		struct perl_layout perl;
		struct hotspot_layout hotspot;
		struct v8_layout v8;
	} layout;		    /* for decoding what BPF tells of code */
	struct cpython_types types; /* addresses in the image, for checking that */
};

struct runtime_handler {
	enum runtime runtime;
	bool has_callers_names; /* a function has a name of each caller; the first one stays */
	/*
	 * Makes the setup of an image that was recognised. Returns 0, or -ENOTSUP: an unknown
	 * version, or one whose frames cannot be found. Nothing is guessed from another version.
	 * -EOVERFLOW: pointers of the build are compressed.
	 */
	int (*configure)(struct image *image, struct runtime_setup *ret_setup);
	/* Fills in code and lines of what an event told, but not their first line: told_read(). */
	int (*read_code)(const struct runtime_setup *setup, const struct cpython_types *types,
			 const struct memory *memory, uint64_t code, struct told *ret_told);
	/*
	 * Returns the line of an instruction, as frames of the runtime have it, or 0: not known.
	 */
	uint32_t (*find_line)(const struct told_lines *lines, uint32_t instruction);
	/*
	 * Returns the instruction at a place in compiled code, or RUNTIME_OFFSET_NONE. The lines
	 * are those of TOLD_LINES_COMPILED and TOLD_LINES_BYTECODE. NULL: no event has such lines.
	 */
	uint32_t (*find_instruction)(const struct told_lines *compiled,
				     const struct told_lines *bytecode, uint32_t place);
	/*
	 * Finds the functions at a place in optimized code, innermost first and the code's own
	 * function last. Returns their number, or 0. NULL: no event has TOLD_LINES_OPTIMIZED.
	 */
	size_t (*find_put_in)(const struct told_lines *optimized, uint32_t place,
			      struct told_put_in ret_functions[TOLD_PUT_IN_MAX]);
	/*
	 * Finds a name among packed ones, as `named` of struct event_code says. Returns 0 or
	 * -ENOENT. NULL: the runtime packs no names.
	 */
	int (*find_name)(const unsigned char *packed, size_t size, uint64_t named,
			 char ret_name[TOLD_NAME_BYTES]);
};

/* Returns whether a place in the file is in the code of the loop. */
bool runtime_is_loop(const struct runtime_setup *setup, uint64_t place);

/* Returns whether a place in the file is in code that calls the loop again. */
bool runtime_is_again(const struct runtime_setup *setup, uint64_t place);

/* Returns the first row of base/runtimes.def that fits. A file's name says nothing. */
enum runtime runtime_recognise(struct image *image);
/* Returns whether the functions of the runtime's programs can be shown. */
bool runtime_has_handler(enum runtime runtime);
/* Does as runtime_handler.configure; -ENOENT: the runtime has no handler. */
int runtime_configure(enum runtime runtime, struct image *image, struct runtime_setup *ret_setup);

#endif
