/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/sample/ring.h"

#include <string.h>

#include "profile/profile.h"

void ring_init(struct ring *ring, const void *base, uint64_t bytes, u64 *tail)
{
	*ring = (struct ring){.base = base, .bytes = bytes, .tail = tail, .position = *tail};
}

/* Returns where the record at a position begins: not so near the end that it may not fit. */
static uint64_t skip_end(const struct ring *ring, uint64_t position)
{
	uint64_t left = ring->bytes - (position & (ring->bytes - 1));

	if (left < RECORD_BYTES_MAX)
		return position + left;
	return position;
}

/*
 * Tells whether a record ends with a reason. A lost sample has no record, and only files have
 * reasons beyond the enum's.
 */
static bool may_end_record(uint32_t number)
{
	const struct profile_reason *reason = profile_reason(number);

	return number < REASON_COUNT && reason->class != CLASS_LOST;
}

static bool well_formed(const struct record *head, uint64_t bytes)
{
	return head->kernel_frames <= RECORD_KERNEL_FRAMES_MAX &&
	       head->user_frames <= RECORD_FRAMES_MAX &&
	       head->runtime_words <= RECORD_RUNTIME_WORDS_MAX && head->context < CONTEXT_RESULTS &&
	       bytes == sizeof(*head) + 8 * record_words(head) && may_end_record(head->reason) &&
	       head->cpu < ABI_MAX_CPUS && head->pid <= PROCESS_PID_MAX &&
	       head->tid <= PROCESS_PID_MAX && head->generation <= UINT64_MAX >> PROCESS_PID_BITS;
}

/* Returns the bytes of the record at a position, 0: there is none. */
static uint64_t committed(const struct ring *ring, uint64_t position)
{
	const unsigned char *at = ring->base + (position & (ring->bytes - 1));
	u64 commit = __atomic_load_n((const u64 *)at, __ATOMIC_ACQUIRE);
	uint64_t bytes = commit & 0xffff;

	if (commit != record_commit(position, bytes) || bytes < sizeof(struct record) ||
	    bytes > RECORD_BYTES_MAX || bytes % 8 != 0)
		return 0;
	return bytes;
}

bool ring_next(struct ring *ring, struct record *ret_head, const u64 **ret_frames)
{
	for (;;) {
		uint64_t position = skip_end(ring, ring->position);
		const unsigned char *at = ring->base + (position & (ring->bytes - 1));
		uint64_t bytes = committed(ring, position);

		if (bytes == 0)
			return false;
		memcpy(ret_head, at, sizeof(*ret_head));
		ring->position = position + bytes;
		if (well_formed(ret_head, bytes)) {
			ret_head->comm[ABI_COMM_BYTES - 1] = 0;
			*ret_frames = (const u64 *)(at + sizeof(*ret_head));
			return true;
		}
		ring->discarded++;
	}
}

void ring_publish(struct ring *ring)
{
	__atomic_store_n(ring->tail, ring->position, __ATOMIC_RELEASE);
}
