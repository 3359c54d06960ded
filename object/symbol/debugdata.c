/* SPDX-License-Identifier: Apache-2.0 */
#include "object/symbol/debugdata.h"

#include <errno.h>
#include <lzma.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "ipc/guard.h"
#include "object/elf/image.h"
#include "object/symbol/cache.h"

#define INPUT_BYTES  (16u << 10)
#define OUTPUT_BYTES (64u << 10) /* at first */

struct unpacker {
	struct symbol_cache *cache;
	const struct image *image;
	struct image_place packed;
	uint64_t taken; /* of the packed bytes */
	lzma_stream stream;
	unsigned char input[INPUT_BYTES];
	unsigned char *output;
	size_t capacity; /* of output, claimed */
};

static int grow_output(struct unpacker *unpacker)
{
	const size_t room = symbol_cache_room(unpacker->cache);
	size_t more = unpacker->capacity;
	size_t used = unpacker->capacity - unpacker->stream.avail_out;
	unsigned char *output;

	if (more == 0)
		more = OUTPUT_BYTES;
	if (more > room && room > 0) /* the rest of the room, where twice as much is too much */
		more = room;
	if (!symbol_cache_claim(unpacker->cache, more))
		return -EFBIG;
	output = realloc(unpacker->output, unpacker->capacity + more);
	if (!output) {
		symbol_cache_release(unpacker->cache, more);
		return -ENOMEM;
	}
	unpacker->output = output;
	unpacker->capacity += more;
	unpacker->stream.next_out = output + used;
	unpacker->stream.avail_out = unpacker->capacity - used;
	return 0;
}

static void feed_input(struct unpacker *unpacker)
{
	uint64_t left = unpacker->packed.size - unpacker->taken;
	size_t got;

	if (left > INPUT_BYTES)
		left = INPUT_BYTES;
	got = image_read(unpacker->image, unpacker->packed.offset + unpacker->taken,
			 unpacker->input, (size_t)left);
	unpacker->taken += got;
	if (got == 0)
		unpacker->taken = unpacker->packed.size;
	unpacker->stream.next_in = unpacker->input;
	unpacker->stream.avail_in = got;
}

static int unpack(struct unpacker *unpacker)
{
	lzma_stream *stream = &unpacker->stream;
	lzma_ret status = LZMA_OK;
	int r;

	while (status == LZMA_OK) {
		if (stream->avail_in == 0)
			feed_input(unpacker);
		if (stream->avail_out == 0) {
			r = grow_output(unpacker);
			if (r < 0)
				return r;
		}
		status = lzma_code(stream, stream->avail_in > 0 ? LZMA_RUN : LZMA_FINISH);
	}
	switch (status) {
	case LZMA_STREAM_END:
		return 0;
	case LZMA_MEMLIMIT_ERROR:
		symbol_cache_refuse(unpacker->cache);
		return -EFBIG;
	case LZMA_MEM_ERROR:
		return -ENOMEM;
	default:
		return -EBADMSG;
	}
}

/* Unpacks with a decoder, whose memory is claimed for that time. */
static int decode(struct unpacker *unpacker)
{
	size_t room = symbol_cache_room(unpacker->cache), decoder = room / 2;
	int r;

	if (decoder > DEBUGDATA_DECODER_MAX || room > DEBUGDATA_DECODER_MAX + OUTPUT_BYTES)
		decoder = DEBUGDATA_DECODER_MAX;
	if (!symbol_cache_claim(unpacker->cache, decoder))
		return -EFBIG;
	r = -ENOMEM;
	if (lzma_stream_decoder(&unpacker->stream, decoder, 0) == LZMA_OK)
		r = unpack(unpacker);
	lzma_end(&unpacker->stream);
	symbol_cache_release(unpacker->cache, decoder);
	return r;
}

static int open_unpacked(struct unpacker *unpacker, struct image **ret_inner, size_t *ret_bytes)
{
	int r = decode(unpacker);

	if (r == 0)
		r = image_adopt(take_pointer(unpacker->output), (size_t)unpacker->stream.total_out,
				ret_inner);
	if (r < 0)
		symbol_cache_release(unpacker->cache, unpacker->capacity);
	else
		*ret_bytes = unpacker->capacity;
	free(unpacker->output);
	return r;
}

int debugdata_open(struct symbol_cache *cache, struct image *image, struct image **ret_inner,
		   size_t *ret_bytes)
{
	struct unpacker *unpacker guard_free = NULL;
	struct image_place packed;
	int r = image_section_place(image, ".gnu_debugdata", &packed);

	if (r < 0)
		return r;
	if (packed.size > DEBUGDATA_PACKED_MAX) {
		symbol_cache_refuse(cache);
		return -EFBIG;
	}
	unpacker = calloc(1, sizeof(*unpacker));
	if (!unpacker)
		return -ENOMEM;
	unpacker->cache = cache;
	unpacker->image = image;
	unpacker->packed = packed;
	return open_unpacked(unpacker, ret_inner, ret_bytes);
}
