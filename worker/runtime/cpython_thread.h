/* SPDX-License-Identifier: Apache-2.0 */
/* Finds where a CPython interpreter keeps the PyThreadState of the current thread. */
#ifndef KEYHOLE_WORKER_RUNTIME_CPYTHON_THREAD_H
#define KEYHOLE_WORKER_RUNTIME_CPYTHON_THREAD_H

#include "bpf/abi.h"

struct exported;
struct image;

/*
 * Finds the thread-local variable that has the state of a thread, while the thread holds the lock
 * of the interpreter: _Py_tss_tstate, from 3.12 on. Returns 0 or -ENOTSUP.
 */
int cpython_thread_current(struct image *image, const struct exported *exported,
			   struct runtime_root *ret_root);
/*
 * Finds the variable that has the state of the thread which holds the lock, until 3.11. Returns 0
 * or -ENOTSUP.
 */
int cpython_thread_holder(struct image *image, const struct exported *exported,
			  struct runtime_root *ret_root);
/*
 * Finds the state that a thread has with and without the lock: the first one of the thread. Until
 * 3.14 it is the value of a key of pthreads. Returns 0 or -ENOTSUP.
 */
int cpython_thread_own(struct image *image, const struct exported *exported,
		       struct runtime_root *ret_root);

#endif
