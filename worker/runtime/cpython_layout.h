/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layout of CPython's structures in one version (cpython_layout.def). A version that is not
 * there has no layout: nothing is guessed from another version.
 */
#ifndef KEYHOLE_WORKER_RUNTIME_CPYTHON_LAYOUT_H
#define KEYHOLE_WORKER_RUNTIME_CPYTHON_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "worker/runtime/cpython_lines.h"

#define CPYTHON_NONE	   0xffffu /* an offset: there is no such field */
#define CPYTHON_OFFSET_MAX 0x1000u /* of those that an interpreter may tell */

/* Py_Version: major, minor, micro, level and serial in a byte each, the last two share one. */
#define CPYTHON_VERSION(major, minor) ((uint32_t)(major) << 24 | (uint32_t)(minor) << 16)

struct cpython_layout {
	uint32_t version; /* as Py_Version */
	enum cpython_lines lines;
	uint32_t text_compact;	   /* offset of the characters of a text that is not ASCII */
	uint32_t text_state_shift; /* bits of `interned` that other builds lack */
	uint32_t instruction_unit; /* bytes; frame_instruction 3.10: an index in such units */
	bool is_described;	   /* by the interpreter itself */
	bool is_without_lock;	   /* built with --disable-gil */
#define O(field, v9, v10, v11, v12, v13, v14, v15) uint16_t field;
#define F					   O
#include "worker/runtime/cpython_layout.def"
#undef F
#undef O
};

/*
 * Addresses of the types whose objects tell of a function: in an image, or in a process. An object
 * of another type is not what its place says.
 */
struct cpython_types {
	uint64_t code, text, bytes;
};

/* Finds the layout of a version that does not describe itself. 0, or -ENOTSUP. */
int cpython_layout_find(uint32_t version, struct cpython_layout *ret_layout);

/*
 * Reads the layout that an interpreter has of itself, at the start of its section .PyRuntime.
 *   0          done
 *   -ENOENT    it describes nothing there: 3.12 or before
 *   -ENOTSUP   an unknown version
 *   -EBADMSG   what it says is not possible
 */
int cpython_layout_read(const void *bytes, size_t size, struct cpython_layout *ret_layout);

#endif
