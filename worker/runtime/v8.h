/* SPDX-License-Identifier: Apache-2.0 */
/* V8 in Node.js, whose functions of JavaScript have frames on the stack. */
#ifndef KEYHOLE_WORKER_RUNTIME_V8_H
#define KEYHOLE_WORKER_RUNTIME_V8_H

struct runtime_handler;

extern const struct runtime_handler v8_handler;

#endif
