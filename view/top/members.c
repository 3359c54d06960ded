/* SPDX-License-Identifier: Apache-2.0 */
#include "view/top/members.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/array.h"

#define GZIP_WINDOW_BITS (MAX_WBITS + 16) /* zlib.h, inflateInit2(): gzip alone */
#define PIECE_BYTES	 65536u

struct members {
	z_stream z;
	unsigned char *bytes; /* of the profile that has begun */
	size_t size, capacity;
};

struct members *members_new(void)
{
	struct members *members = calloc(1, sizeof(*members));

	if (members && inflateInit2(&members->z, GZIP_WINDOW_BITS) != Z_OK) {
		free(members);
		return NULL;
	}
	return members;
}

void members_free(struct members *members)
{
	if (!members)
		return;
	inflateEnd(&members->z);
	free(members->bytes);
	free(members);
}

static int inflate_piece(struct members *members, bool *ret_ended)
{
	int status;

	if (members->size + PIECE_BYTES > MEMBERS_PROFILE_MAX)
		return -EFBIG;
	if (ARRAY_RESERVE(members->bytes, members->capacity, members->size + PIECE_BYTES) < 0)
		return -ENOMEM;
	members->z.next_out = members->bytes + members->size;
	members->z.avail_out = PIECE_BYTES;
	status = inflate(&members->z, Z_NO_FLUSH);
	members->size += PIECE_BYTES - members->z.avail_out;
	*ret_ended = status == Z_STREAM_END;
	if (status == Z_MEM_ERROR)
		return -ENOMEM;
	/* Z_BUF_ERROR: the input is used up */
	if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
		return -EBADMSG;
	return 0;
}

int members_feed(struct members *members, const unsigned char *bytes, size_t size,
		 members_take *take, void *context)
{
	bool ended = false, full = false;
	int r = 0;

	if (size > UINT32_MAX)
		return -EFBIG;
	members->z.next_in = (unsigned char *)bytes;
	members->z.avail_in = (unsigned int)size;
	while (r == 0 && (members->z.avail_in > 0 || full)) {
		r = inflate_piece(members, &ended);
		full = r == 0 && !ended && members->z.avail_out == 0;
		if (r || !ended)
			continue;
		r = take(context, members->bytes, members->size);
		members->size = 0;
		if (inflateReset(&members->z) != Z_OK)
			return -EBADMSG;
	}
	return r;
}
