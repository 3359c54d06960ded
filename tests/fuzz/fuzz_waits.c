/* SPDX-License-Identifier: Apache-2.0 */
/* Records and events of threads off their CPU, in any order and with any fields. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "worker/sample/waits.h"

#define STEP_BYTES (1 + sizeof(struct event_wait))

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* No wait comes here that has no time or that a filter leaves out, and no event of another one. */
static void take(void *context, const struct waits_stack *stack, const struct event_wait *end,
		 uint64_t ns, uint64_t waits, bool is_old)
{
	(void)context, (void)waits, (void)is_old;
	if (ns == 0 || stack->left_out || stack->locations[0] != 1)
		abort();
	if (!end)
		return;
	if (end->waker >= WAKERS || end->waker_name[sizeof(end->waker_name) - 1])
		abort();
	if (end->left > end->event.time || end->tid != stack->head.tid)
		abort();
}

static bool is_alive(void *context, const struct record *head)
{
	(void)context;
	return head->pid % 2 == 0;
}

/* The record that an event belongs to. */
static void begin(struct waits *waits, const struct event_wait *event)
{
	uint32_t location = 1;
	struct waits_stack stack = {.word = event->left, .locations = &location, .depth = 1};

	stack.head.time = event->began;
	stack.head.tid = event->tid;
	stack.head.pid = event->event.pid;
	stack.left_out = event->waker == WAKER_HIDDEN;
	if (waits_begin(waits, &stack) < 0)
		abort();
}

/* Times and threads that meet often. */
static void narrow(struct event_wait *event)
{
	event->began %= 64;
	event->left %= 64;
	event->event.time %= 256;
	event->woken %= 256;
	event->lost_at %= 64;
	event->tid %= 4;
	event->waker %= 2 * WAKERS;
	event->waker_pid %= 8;
	event->waker_tid %= 8;
	event->event.pid %= 8;
}

static void step(struct waits *waits, uint8_t what, struct event_wait *event)
{
	if (what & 0x80)
		narrow(event);
	switch (what % 8) {
	case 0:
		waits_turn(waits, event->event.time);
		break;
	case 1:
		waits_told_until(waits, event->event.time);
		waits_close_window(waits);
		break;
	case 2:
		waits_begin_profile(waits, event->tid % 2);
		break;
	case 3:
		waits_finish(waits, event->event.time);
		break;
	case 4:
	case 5:
		begin(waits, event);
		break;
	default:
		waits_end(waits, event);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct waits_parts parts = {
		.take = take, .is_alive = is_alive, .least = size > 0 ? data[0] % 4 : 0};
	struct waits *waits = waits_new(&parts);
	struct event_wait event;

	if (!waits)
		abort();
	for (; size >= STEP_BYTES; data += STEP_BYTES, size -= STEP_BYTES) {
		memcpy(&event, data + 1, sizeof(event));
		step(waits, data[0], &event);
	}
	waits_free(waits);
	return 0;
}
