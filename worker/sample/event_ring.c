/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/sample/event_ring.h"

#include <stddef.h>
#include <string.h>

#define HEAD_BYTES  8u
#define BUSY_BIT    (1u << 31)
#define DISCARD_BIT (1u << 30)

void event_ring_init(struct event_ring *ring, void *consumer, const void *producer, uint64_t page,
		     uint64_t bytes)
{
	*ring = (struct event_ring){
		.consumer = consumer,
		.producer = producer,
		.data = (const unsigned char *)producer + page,
		.bytes = bytes,
	};
}

void event_ring_skip(void *consumer, const void *producer)
{
	const uint64_t end = __atomic_load_n((const uint64_t *)producer, __ATOMIC_ACQUIRE);

	__atomic_store_n((uint64_t *)consumer, end, __ATOMIC_RELEASE);
}

uint64_t event_ring_head(const struct event_ring *ring)
{
	return __atomic_load_n(ring->producer, __ATOMIC_ACQUIRE);
}

bool event_ring_passed(const struct event_ring *ring, uint64_t head)
{
	return (int64_t)(*ring->consumer - head) >= 0;
}

static bool is_code(uint32_t size)
{
	return size == EVENT_CODE_TINY_BYTES || size == EVENT_CODE_SHORT_BYTES ||
	       size == sizeof(struct event_code);
}

static bool is_known(uint32_t size)
{
	return size == EVENT_SHORT_BYTES || size == sizeof(struct event) ||
	       size == sizeof(struct event_name) || size == sizeof(struct event_cgroup) ||
	       size == sizeof(struct event_wait) || is_code(size);
}

/* The part that a short event lacks is 0. */
static void take_code(struct event_ring *ring, const unsigned char *at, size_t size)
{
	memset(&ring->code, 0, sizeof(ring->code));
	memcpy(&ring->code, at, size);
	ring->has_code = ring->code.event.kind == EVENT_CODE;
}

static void take_wait(struct event_ring *ring, const unsigned char *at)
{
	memcpy(&ring->wait, at, sizeof(ring->wait));
	ring->has_wait = ring->wait.event.kind == EVENT_WAIT;
}

/* Takes one record; true: it is an event. */
static bool take(struct event_ring *ring, uint64_t position, uint32_t head, uint64_t left,
		 struct event *ret_event)
{
	uint32_t size = head & ~(BUSY_BIT | DISCARD_BIT);
	uint64_t step = (HEAD_BYTES + (uint64_t)size + 7) & ~7ull;
	const unsigned char *at = ring->data + (position & (ring->bytes - 1)) + HEAD_BYTES;
	bool good = is_known(size) && !(head & DISCARD_BIT) && step <= left;

	ring->name[0] = '\0';
	ring->path[0] = '\0';
	ring->has_code = false;
	ring->has_wait = false;
	if (good) {
		*ret_event = (struct event){0};
		memcpy(ret_event, at, size < sizeof(*ret_event) ? size : sizeof(*ret_event));
	}
	if (good && size == sizeof(struct event_name))
		memcpy(ring->name, at + offsetof(struct event_name, name), sizeof(ring->name) - 1);
	if (good && size == sizeof(struct event_cgroup))
		cgroup_path_read(at + sizeof(*ret_event), size - sizeof(*ret_event), ring->path);
	if (good && size == sizeof(struct event_wait))
		take_wait(ring, at);
	if (good && is_code(size))
		take_code(ring, at, size);
	if (!good && (!(head & DISCARD_BIT) || step > left))
		ring->discarded++;
	/* Behind an impossible length no record can be found. */
	if (step > left)
		step = left;
	__atomic_store_n(ring->consumer, position + step, __ATOMIC_RELEASE);
	return good;
}

bool event_ring_next(struct event_ring *ring, struct event *ret_event)
{
	if (!ring->reading)
		ring->end = event_ring_head(ring);
	ring->reading = false;
	for (;;) {
		uint64_t position = *ring->consumer;
		uint64_t left = ring->end - position;
		uint32_t head;

		if (left == 0 || position % 8 != 0)
			return false;
		if (left > ring->bytes) {
			ring->discarded++;
			__atomic_store_n(ring->consumer, ring->end, __ATOMIC_RELEASE);
			return false;
		}
		head = __atomic_load_n(
			(const uint32_t *)(ring->data + (position & (ring->bytes - 1))),
			__ATOMIC_ACQUIRE);
		if (head & BUSY_BIT)
			return false;
		ring->reading = take(ring, position, head, left, ret_event);
		if (ring->reading)
			return true;
	}
}
