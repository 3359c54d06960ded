/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/spill.h"

#include <errno.h>

#include "profile/moment_list.h"
#include "profile/profile.h"
#include "profile/sample_list.h"
#include "profile/stack_list.h"

/* More than so many of the deepest stacks fill a chunk: the file grows faster than memory does. */
#define SAMPLES_PER_CHUNK (CHUNKS_UNIT_BYTES / 8192u)

enum {
	LISTS = 4
};

struct lists {
	struct chunks *chunks[LISTS];
	struct slots *slots[2];
};

static size_t held_bytes(const struct lists *lists)
{
	size_t bytes = slots_bytes(lists->slots[0]) + slots_bytes(lists->slots[1]);

	for (size_t i = 0; i < LISTS; i++)
		bytes += chunks_bytes(lists->chunks[i]);
	return bytes;
}

static struct chunks *find_closed(const struct lists *lists)
{
	for (size_t i = 0; i < LISTS; i++)
		if (chunks_can_spill(lists->chunks[i]))
			return lists->chunks[i];
	return NULL;
}

static void begin(const struct lists *lists)
{
	slots_release(lists->slots[0]);
	slots_release(lists->slots[1]);
	for (size_t i = 0; i < LISTS; i++)
		chunks_close(lists->chunks[i]);
}

bool spill_has_room(const struct spill *spill)
{
	return spill->fd >= 0 && spill->at + CHUNKS_UNIT_BYTES <= PROFILE_SPILL_MAX;
}

static int spill_chunk(struct spill *spill, struct chunks *chunks)
{
	if (!spill_has_room(spill))
		return -EFBIG;
	return chunks_spill(chunks, spill->fd, &spill->at);
}

void spill_turn(struct spill *spill, struct stack_list *stacks, struct sample_list *samples,
		struct moment_list *moments)
{
	const struct lists lists = {
		.chunks = {&stacks->words, &stacks->places, &samples->entries, &moments->bytes},
		.slots = {&stacks->slots, &samples->slots},
	};
	struct chunks *closed;
	int r;

	if (spill->fd < 0)
		return;
	if (!spill->goes_on && held_bytes(&lists) < PROFILE_MEMORY_MAX)
		return;
	if (!spill->goes_on)
		begin(&lists);
	spill->goes_on = true;
	if (++spill->samples % SAMPLES_PER_CHUNK != 0)
		return;
	closed = find_closed(&lists);
	spill->goes_on = closed != NULL;
	if (!closed)
		return;
	r = spill_chunk(spill, closed);
	if (r == 0)
		return;
	spill->error = r;
	spill->fd = -1;
}
