/* SPDX-License-Identifier: Apache-2.0 */
/* The output of `record --every`: gzip members, one after another, each of them a profile. */
#ifndef KEYHOLE_TOP_STREAM_H
#define KEYHOLE_TOP_STREAM_H

#include <stddef.h>
#include <stdint.h>

struct stream;

#define STREAM_PROFILE_MAX (256u << 20) /* bytes of one, unpacked */

struct stream *stream_new(void); /* NULL: no memory */
void stream_free(struct stream *stream);

/* A whole profile, unpacked. What it returns ends the feeding, unless it is 0. */
typedef int stream_take(void *context, const unsigned char *bytes, size_t size);

/* 0; -EBADMSG: no gzip; -EFBIG: a profile is too large; -ENOMEM; or what take() has returned. */
int stream_feed(struct stream *stream, const unsigned char *bytes, size_t size, stream_take *take,
		void *context);

#endif
