/* SPDX-License-Identifier: Apache-2.0 */
/* byte 0: self, 1: peer, 2: phase, 3: descriptors; then one datagram after the other, each behind
 * its length of two bytes. */
#include <stdlib.h>
#include <string.h>

#include "ipc/channel.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct channel channel = {.fd = -1};

	if (size < 4)
		return 0;
	channel.self = data[0] % (PARTY_ASKER + 1);
	channel.peer = data[1] % (PARTY_ASKER + 1);
	channel.phase = data[2] % (PHASE_FINISH + 1);
	for (size_t at = 4; at + 2 <= size;) {
		size_t length = (size_t)data[at] | (size_t)data[at + 1] << 8;
		unsigned char *copy;
		struct message_head head = {0};

		at += 2;
		if (length > size - at)
			length = size - at;
		copy = malloc(length ? length : 1); /* its own block: an overrun is seen */
		memcpy(copy, data + at, length);
		memcpy(&head, copy, length < sizeof(head) ? length : sizeof(head));
		if (channel_check(&channel, &head, copy + (length < 16 ? length : 16), length,
				  data[3] & 3) == 0) {
			channel.received++;
			channel.seen[head.type / 64] |= 1ull << head.type % 64;
		}
		free(copy);
		at += length;
	}
	return 0;
}
