/* SPDX-License-Identifier: Apache-2.0 */
/* Finds what an image of LuaJIT shows of its layout. */
#ifndef KEYHOLE_WORKER_RUNTIME_LUAJIT_BUILD_H
#define KEYHOLE_WORKER_RUNTIME_LUAJIT_BUILD_H

struct exported;
struct image;
struct luajit_build;
struct runtime_range;

/* loop: the interpreter's code. Returns 0, or -ENOTSUP for an image that does not show it. */
int luajit_build_find(struct image *image, const struct exported *exported,
		      const struct runtime_range *loop, struct luajit_build *ret_build);

#endif
