/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the thread-local variable by which a program or a library publishes the OpenTelemetry
 * context of each thread (OTEP 4947): `otel_thread_ctx_v1`, in the dynamic symbols. The variable
 * is a pointer to a record, or NULL.
 */
#ifndef KEYHOLE_WORKER_RUNTIME_THREAD_CONTEXT_H
#define KEYHOLE_WORKER_RUNTIME_THREAD_CONTEXT_H

#include "bpf/abi.h"

struct image;

/*
 * Makes a root that leads to the variable's value, with a `pc` of the image. Returns 0; -ENOENT:
 * the image has no such variable; -ENOTSUP: no word of the image says where threads have it.
 */
int thread_context_find(struct image *image, struct runtime_root *ret_root);
/* The same of another thread-local variable in the dynamic symbols. */
int thread_variable_find(struct image *image, const char *name, struct runtime_root *ret_root);

#endif
