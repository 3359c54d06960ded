/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the output of `record --every`: gzip members one after another, each of them a profile. */
#ifndef KEYHOLE_VIEW_TOP_MEMBERS_H
#define KEYHOLE_VIEW_TOP_MEMBERS_H

#include <stddef.h>
#include <stdint.h>

struct members;

#define MEMBERS_PROFILE_MAX (256u << 20) /* bytes of one, unpacked */

struct members *members_new(void); /* NULL: no memory */
void members_free(struct members *members);

/* Takes a whole profile, unpacked. A result other than 0 ends the feeding. */
typedef int members_take(void *context, const unsigned char *bytes, size_t size);

/*
 * Feeds a piece of the stream. Returns 0, -EBADMSG: no gzip, -EFBIG: a profile is too large,
 * -ENOMEM, or the result of take() that ended the feeding.
 */
int members_feed(struct members *members, const unsigned char *bytes, size_t size,
		 members_take *take, void *context);

#endif
