/* SPDX-License-Identifier: Apache-2.0 */
/* A whole file in memory, uncompressed when it is gzip. */
#ifndef KEYHOLE_PROFILE_READ_UNPACK_H
#define KEYHOLE_PROFILE_READ_UNPACK_H

#include <stddef.h>

/* Of what is unpacked. A million samples of our own, 20 frames each, are 100 MB. */
#ifndef UNPACK_BYTES_MAX
#define UNPACK_BYTES_MAX (1u << 30)
#endif

/*
 * malloc()ed bytes, the caller's. 0, or -ENODATA: empty, -EBADMSG: gzip that is damaged or cut,
 * -EFBIG: more than the limit, another negative errno.
 */
int unpack_file(int fd, unsigned char **ret_bytes, size_t *ret_size);

#endif
