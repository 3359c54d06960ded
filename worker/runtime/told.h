/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what an event about code tells of a function: struct event_code of bpf/abi.h. */
#ifndef KEYHOLE_WORKER_RUNTIME_TOLD_H
#define KEYHOLE_WORKER_RUNTIME_TOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/abi.h"

struct cpython_types;
struct runtime_handler;
struct runtime_setup;

#define TOLD_TABLE_BYTES CODE_LAST_BYTES
#define TOLD_NAME_BYTES	 256u /* with a NUL; a longer text is cut */
#define TOLD_FILE_BYTES	 512u

struct told_code {
	char name[TOLD_NAME_BYTES]; /* qualified, as far as the version has such a name */
	char file[TOLD_FILE_BYTES]; /* as the compiler was told, maybe "<string>" */
	uint32_t first_line;
};

/* The lines of a function, which its runtime's handler finds. */
struct told_lines {
	uint32_t format, unit; /* as the handler uses them */
	uint32_t first_line;   /* of told_code */
	bool is_cut;	       /* the table's end is not there */
	const unsigned char *table;
	size_t size;
};

/* A format of lines: the table has no lines, but struct told_frame of inlined functions. */
#define TOLD_LINES_INLINED 0xffffffffu

/* The same: a bit for each character of a part of a script, 1: it is a newline. */
#define TOLD_LINES_NEWLINES 0xfffffffeu

/*
 * The script that has a function. `find_line` then finds a place in the script, and no line: the
 * number of characters before the place, and 1. Events about the script tell of its newlines. Each
 * event has the script's address, and its fingerprint plus the number of the part.
 */
struct told_script {
	uint64_t address; /* 0: `find_line` finds lines */
	uint32_t fingerprint;
	uint32_t start; /* the place of the function; 0: not known */
	uint32_t line;	/* of the script's first line, counted from 0 */
};
#define TOLD_SCRIPT_PART 4096u /* characters */

/*
 * A format of lines: the event is about code that a compiler made of a function. Its table and that
 * of another event lead from places in the code to instructions of the function. The other event
 * is about `bytecode`, whose fingerprint is the function's.
 */
#define TOLD_LINES_COMPILED 0xfffffffdu
#define TOLD_LINES_BYTECODE 0xfffffffcu
/*
 * The same, but optimized code: the table itself leads to places in the text of the script. `unit`
 * is that of the function's lines. The table begins with TOLD_PUT_IN_BYTES, which tell where the
 * compiler has put other functions in. A further event has these functions (TOLD_LINES_INLINED).
 * Its code is the same, and its fingerprint is larger by 1.
 */
#define TOLD_LINES_OPTIMIZED 0xfffffffbu
#define TOLD_PUT_IN_BYTES    (CODE_PART_3 - CODE_PART_2 + CODE_PART_1)
#define TOLD_PUT_IN_MAX	     (TOLD_PUT_IN_BYTES / 16 + 1) /* functions at a place */
struct told_compiled {
	uint64_t function, bytecode; /* addresses */
	uint32_t fingerprint;
};

/* A function at a place in code, innermost first: the function's key, and its instruction. */
struct told_frame {
	uint64_t code;
	uint32_t fingerprint, instruction;
};

/* A function at a place in optimized code, and its own place there: in the text of its script. */
struct told_put_in {
	uint32_t function; /* its number among those of the event, or TOLD_PUT_IN_NONE */
	uint32_t place;	   /* as of struct told_script, or 0 */
};
#define TOLD_PUT_IN_NONE 0xffffffffu /* the code is that of the function itself */

/*
 * Names that code has for functions that it calls, packed side by side. An event about such a
 * function has TOLD_PACKED_BYTES of them alone.
 */
#define TOLD_PACKED_BYTES (CODE_PART_3 - CODE_PART_2)
#define TOLD_PACKED_KINDS 2u /* upvalues, variables */
struct told_packed {
	uint64_t address[TOLD_PACKED_KINDS]; /* where each kind begins; 0: it fits in an event */
	uint64_t first;			     /* address of `bytes` */
	const unsigned char *bytes;
	size_t size;
};

/* A name that is packed behind the bytes of the event. The event about the caller has it. */
struct told_late {
	uint64_t address; /* as in told_packed; 0: no name is awaited */
	uint64_t named;	  /* as in struct event_code */
	uint64_t mark;	  /* told_mark() of the first TOLD_PACKED_BYTES there */
};

struct told {
	const struct runtime_handler *handler;
	uint64_t part[RUNTIME_PARTS]; /* addresses, as the event has them */
	uint64_t called; /* address of the text that a caller has as its name; 0: none */
	uint32_t called_by, called_in; /* the caller's instruction and frame, as the event has it */
	uint64_t named;		       /* as in struct event_code */
	bool has_callers_name;	       /* the name of `code` is one that a caller has */
	bool is_start;		       /* no function, but where the list of a coroutine begins */
	struct told_code code;
	struct told_late late;
	struct told_script script;
	struct told_compiled compiled;
	struct told_lines lines;   /* whose table is the following one */
	struct told_packed packed; /* whose bytes are there, too */
	unsigned char table[TOLD_TABLE_BYTES];
};

/* Returns a number that tells packed names apart by their first TOLD_PACKED_BYTES. */
uint64_t told_mark(const unsigned char bytes[TOLD_PACKED_BYTES]);

/*
 * Reads the event as the handler of the interpreter's setup does. types: addresses in the process,
 * for CPython. A function without a readable line table has no lines.
 *   0         done
 *   -EFAULT   the event lacks a name
 *   -EBADMSG  what it has cannot be
 *   -EPROTO   an object is of another type: the layout is wrong, or this is no code
 */
int told_read(const struct runtime_setup *setup, const struct cpython_types *types,
	      const struct event_code *event, struct told *ret_told);

#endif
