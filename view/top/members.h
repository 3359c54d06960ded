/* SPDX-License-Identifier: Apache-2.0 */
/* The output of `record --every`: gzip members, one after another, each of them a profile. */
#ifndef KEYHOLE_VIEW_TOP_MEMBERS_H
#define KEYHOLE_VIEW_TOP_MEMBERS_H

#include <stddef.h>
#include <stdint.h>

struct members;

#define MEMBERS_PROFILE_MAX (256u << 20) /* bytes of one, unpacked */

struct members *members_new(void); /* NULL: no memory */
void members_free(struct members *members);

/* A whole profile, unpacked. What it returns ends the feeding, unless it is 0. */
typedef int members_take(void *context, const unsigned char *bytes, size_t size);

/* 0; -EBADMSG: no gzip; -EFBIG: a profile is too large; -ENOMEM; or what take() has returned. */
int members_feed(struct members *members, const unsigned char *bytes, size_t size,
		 members_take *take, void *context);

#endif
