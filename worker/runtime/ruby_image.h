/* SPDX-License-Identifier: Apache-2.0 */
/* Finds what an image of Ruby has at places that no exported symbol names. */
#ifndef KEYHOLE_WORKER_RUNTIME_RUBY_IMAGE_H
#define KEYHOLE_WORKER_RUNTIME_RUBY_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "worker/runtime/runtime.h"

struct exported;
struct image;

/* Reads the version, as of struct runtime_setup. Returns 0 or -ENOTSUP, as the next ones do. */
int ruby_image_version(struct image *image, const struct exported *exported, uint32_t *ret_version);
/*
 * Finds the way to the context of the current thread, with one step behind it to its innermost
 * frame, at an offset. has_lock: a variable has the context of the thread that holds the lock.
 */
int ruby_image_root(struct image *image, const struct exported *exported, uint16_t frame,
		    struct runtime_root *ret_root, bool *ret_has_lock);
/* Returns the address of the variable that leads to the names of functions in C, or 0. */
uint32_t ruby_image_names(struct image *image, const struct exported *exported);
/* Returns whether YJIT is a part of the image. */
bool ruby_image_compiles(struct image *image);
/* Finds the code of vm_exec(), whose frame each activation has. -ENOMEM also. */
int ruby_image_loop(struct image *image, const struct exported *exported,
		    struct runtime_range ret_ranges[RUNTIME_LOOP_RANGES]);

#endif
