/* SPDX-License-Identifier: Apache-2.0 */
#include "base/waited.h"

#include <inttypes.h>
#include <stdio.h>

#include "ipc/messages.h"
#include "ipc/time.h"

#define USE_BYTES  128 /* of three numbers and their units */
#define TIME_BYTES 32

bool waited_is_noted(const struct message_waited *waited)
{
	if (waited->wall < WAITED_WALL_MS * NS_PER_MS)
		return false;
	return waited->used < waited->wall / 100 * WAITED_PERCENT;
}

/* Writes "less than 0.1 ms", "0.4 ms", "400 ms" or "4.0 s". */
static void write_time(char ret_text[static TIME_BYTES], uint64_t ns)
{
	if (ns < NS_PER_MS / 10)
		snprintf(ret_text, TIME_BYTES, "less than 0.1 ms");
	else if (ns < NS_PER_MS)
		snprintf(ret_text, TIME_BYTES, "%.1f ms", (double)ns / NS_PER_MS);
	else if (ns < NS_PER_SECOND)
		snprintf(ret_text, TIME_BYTES, "%llu ms", ns / NS_PER_MS);
	else
		snprintf(ret_text, TIME_BYTES, "%.1f s", (double)ns / NS_PER_SECOND);
}

static void write_share(char ret_text[static TIME_BYTES], double percent)
{
	if (percent < 0.1)
		snprintf(ret_text, TIME_BYTES, "less than 0.1 %%");
	else if (percent < 1)
		snprintf(ret_text, TIME_BYTES, "%.1f %%", percent);
	else
		snprintf(ret_text, TIME_BYTES, "%.0f %%", percent);
}

static void write_threads(char ret_text[static TIME_BYTES], uint64_t threads)
{
	ret_text[0] = '\0';
	if (threads == 1)
		snprintf(ret_text, TIME_BYTES, " (1 thread)");
	else if (threads > 1)
		snprintf(ret_text, TIME_BYTES, " (%" PRIu64 " threads)", threads);
}

void waited_use(char ret_text[static WAITED_NOTE_BYTES], const struct message_waited *waited)
{
	char used[TIME_BYTES], wall[TIME_BYTES], share[TIME_BYTES], threads[TIME_BYTES];

	write_time(wall, waited->wall);
	write_threads(threads, waited->threads);
	if (waited->used == 0) {
		snprintf(ret_text, WAITED_NOTE_BYTES, "no CPU time in %s%s", wall, threads);
		return;
	}
	write_time(used, waited->used);
	write_share(share, (double)waited->used * 100 / (double)waited->wall);
	snprintf(ret_text, WAITED_NOTE_BYTES, "%s of CPU time in %s, %s of one CPU%s", used, wall,
		 share, threads);
}

void waited_note(char ret_text[static WAITED_NOTE_BYTES], const struct message_waited *waited)
{
	char use[WAITED_NOTE_BYTES];

	waited_use(use, waited);
	snprintf(ret_text, WAITED_NOTE_BYTES,
		 WAITED_NOTE_START "the recorded processes used %.*s: they mostly waited, for "
				   "an event or for a CPU, and time spent waiting is not sampled",
		 USE_BYTES, use);
}
