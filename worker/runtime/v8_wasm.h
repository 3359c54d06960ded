/* SPDX-License-Identifier: Apache-2.0 */
/* Names of functions of WebAssembly, as Error.stack has them. */
#ifndef KEYHOLE_WORKER_RUNTIME_V8_WASM_H
#define KEYHOLE_WORKER_RUNTIME_V8_WASM_H

#include <stdint.h>

#include "worker/runtime/told.h"

#define V8_WASM_SCHEME	   "wasm://wasm/"
#define V8_WASM_FILE_BYTES (TOLD_FILE_BYTES - TOLD_NAME_BYTES - sizeof(V8_WASM_SCHEME))

/* Texts of an event, which may be empty. */
struct v8_wasm_text {
	char name[TOLD_NAME_BYTES]; /* of the function, in UTF-8 */
	char before
		[TOLD_NAME_BYTES]; /* what V8 has joined with the last part of the script's name */
	char file[V8_WASM_FILE_BYTES]; /* that part, or the whole name */
	uint32_t index;		       /* of the function in its module */
};

/* Sets the name, with that of the module, and the file. */
void v8_wasm_name(const struct v8_wasm_text *text, struct told_code *ret_code);

#endif
