/* SPDX-License-Identifier: Apache-2.0 */
/* A worker that ends, or that was taken over: it corrupts what it can write, and then it ends. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bpf/abi.h"
#include "tests/e2e/doomed/doomed.h"
#include "object/elf/image.h"
#include "worker/delivery.h"
#include "worker/naming/naming.h"
#include "worker/naming/source_lines.h"
#include "worker/regions.h"
#include "worker/sample/sideband.h"
#include "worker/session.h"
#include "object/unwind/unwind_table.h"

#define POISONED_MS 300 /* while the walk uses what was written, and remembers it */

static struct regions *regions;

int __real_regions_configure(struct regions *parts, const struct message_config *config);
int __wrap_regions_configure(struct regions *parts, const struct message_config *config);
int __wrap_regions_configure(struct regions *parts, const struct message_config *config)
{
	regions = parts;
	doom_epoch(config->epoch);
	return __real_regions_configure(parts, config);
}

int __real_regions_add(struct regions *parts, const struct message_descriptor *descriptor, int fd);
int __wrap_regions_add(struct regions *parts, const struct message_descriptor *descriptor, int fd);
int __wrap_regions_add(struct regions *parts, const struct message_descriptor *descriptor, int fd)
{
	const struct message_config *config = &parts->config;

	/* it need not map them to read only */
	if (descriptor->kind == DESCRIPTOR_RINGS)
		mmap(NULL, (size_t)config->cpus * config->ring_bytes, PROT_READ | PROT_WRITE,
		     MAP_SHARED, fd, 0);
	return __real_regions_add(parts, descriptor, fd);
}

/* ---- what it can write ---- */

#define AREAS 1200

static struct area {
	void *memory;
	size_t bytes;
} areas[AREAS];
static size_t area_count;

void *__real_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	void *memory = __real_mmap(at, bytes, protection, flags, fd, offset);

	if (memory != MAP_FAILED && flags & MAP_SHARED && protection & PROT_WRITE &&
	    area_count < AREAS)
		areas[area_count++] = (struct area){memory, bytes};
	return memory;
}

/* Segments are mapped in order. */
static u32 *word_at(u64 word)
{
	u64 segment = word >> SEGMENT_WORD_BITS;

	for (size_t i = 0; i < area_count; i++)
		if (areas[i].bytes == SEGMENT_BYTES && segment-- == 0)
			return (u32 *)areas[i].memory + (word & (SEGMENT_WORDS - 1));
	return NULL;
}

/* The kernel lets nobody write more than the first page of the side-band (SIGBUS). */
static size_t writable(const struct area *area)
{
	size_t page = regions->page;

	return area->bytes == page + regions->config.sideband_bytes ? page : area->bytes;
}

static void fill(const struct area *area)
{
	unsigned char *at = area->memory;
	u32 state = 0x9e3779b9;

	for (size_t i = 0; i < writable(area); i++) {
		state = state * 1664525 + 1013904223;
		at[i] = (unsigned char)(state >> 24);
	}
}

/* ---- what it does with it ---- */

/* All rules of a table say that the walk has come to its end. */
static void poison_table(const struct mapping_entry *entry)
{
	u64 *rules = (u64 *)word_at(entry->dictionary);
	u32 left = (SEGMENT_WORDS - (entry->dictionary & (SEGMENT_WORDS - 1))) / 2;
	u32 room = left < ROW_ESCAPE ? left : ROW_ESCAPE;

	for (u32 i = 0; rules && i < room; i++)
		rules[i] = RULE_MAKE(RULE_END, 0, 0, 0, 0);
}

static void poison_block(u64 block)
{
	u32 count = block >> 24 & BLOCK_MAPPINGS_MAX;
	u64 word = (block & 0xffffff) << 4;
	const struct mapping_entry *entries =
		(const struct mapping_entry *)word_at(word + (count * 2 + 15) / 16 * 16);

	for (u32 i = 0; entries && i < count; i++)
		if (entries[i].flags & MAPPING_HAS_TABLE)
			poison_table(&entries[i]);
}

/* Any process of the machine, under the generations that it has or may get. */
static void claim_slots(struct process_table *table)
{
	struct process_slot some = table->slot[0];

	for (u32 i = 0; i < PROCESS_SLOTS; i++)
		if (table->slot[i].key && table->slot[i].key != PROCESS_SLOT_GONE)
			some = table->slot[i];
	for (u32 i = 0; i < PROCESS_SLOTS; i++)
		if (!table->slot[i].key || table->slot[i].key == PROCESS_SLOT_GONE)
			table->slot[i] = (struct process_slot){some.key + i, some.block};
}

/* A record where the next worker begins to read, behind which BPF will not go on. */
static void forge(unsigned char *rings)
{
	const struct record record = {
		.commit = record_commit(RING_START(regions->config.epoch + 1),
					sizeof(record) + sizeof(u64)),
		.generation = 1,
		.pid = 1,
		.tid = 1,
		.user_frames = 1,
		.reason = REASON_end_root,
	};

	for (uint32_t i = 0; i < regions->config.cpus; i++)
		memcpy(rings + (size_t)i * regions->config.ring_bytes, &record, sizeof(record));
}

static void corrupt(void)
{
	const size_t rings = (size_t)regions->config.cpus * regions->config.ring_bytes;
	struct process_table *table = regions->processes;

	for (u32 i = 0; i < PROCESS_SLOTS; i++)
		if (table->slot[i].key && table->slot[i].key != PROCESS_SLOT_GONE)
			poison_block(table->slot[i].block);
	poll(NULL, 0, POISONED_MS);
	claim_slots(table);
	for (size_t i = 0; i < area_count; i++)
		if (areas[i].memory != table)
			fill(&areas[i]);
	poll(NULL, 0, POISONED_MS);
	for (size_t i = 0; i < area_count; i++)
		if (areas[i].bytes == rings)
			forge(areas[i].memory);
}

/* ---- after STOP ---- */

static unsigned int drafts;

int __real_delivery_draft(struct delivery *delivery, const struct message_stop *stop);
int __wrap_delivery_draft(struct delivery *delivery, const struct message_stop *stop);
int __wrap_delivery_draft(struct delivery *delivery, const struct message_stop *stop)
{
	doom_at(MOMENT_STOP);
	drafts++;
	return __real_delivery_draft(delivery, stop);
}

int __real_naming_run(const struct naming_parts *parts);
int __wrap_naming_run(const struct naming_parts *parts);
int __wrap_naming_run(const struct naming_parts *parts)
{
	doom_at(MOMENT_NAMES);
	return __real_naming_run(parts);
}

void __real_source_lines_run(const struct resources *resources, struct source_lines_counts *counts,
			     const struct groups *groups);
void __wrap_source_lines_run(const struct resources *resources, struct source_lines_counts *counts,
			     const struct groups *groups);
void __wrap_source_lines_run(const struct resources *resources, struct source_lines_counts *counts,
			     const struct groups *groups)
{
	doom_at(MOMENT_LINES);
	__real_source_lines_run(resources, counts, groups);
}

int __real_delivery_profile(struct delivery *delivery, const struct message_stop *stop);
int __wrap_delivery_profile(struct delivery *delivery, const struct message_stop *stop);
int __wrap_delivery_profile(struct delivery *delivery, const struct message_stop *stop)
{
	int r;

	doom_at(MOMENT_RENDER);
	r = __real_delivery_profile(delivery, stop);
	doom_at(MOMENT_SENT);
	return r;
}

/* ---- turns and files ---- */

uint64_t __real_session_turn(struct session *session);
uint64_t __wrap_session_turn(struct session *session);
uint64_t __wrap_session_turn(struct session *session)
{
	doom_at(MOMENT_RUN);
	if (drafts > 0)
		doom_at(MOMENT_SETTLE);
	if (doom_is(MOMENT_CORRUPT)) {
		corrupt();
		doom_at(MOMENT_CORRUPT);
	}
	return __real_session_turn(session);
}

int __real_session_finish(struct session *session);
int __wrap_session_finish(struct session *session);
int __wrap_session_finish(struct session *session)
{
	doom_at(MOMENT_FINISH);
	return __real_session_finish(session);
}

int __real_unwind_table_build_paced(struct image *image, struct pace *pace,
				    struct unwind_table **ret_table, u64 *damaged);
int __wrap_unwind_table_build_paced(struct image *image, struct pace *pace,
				    struct unwind_table **ret_table, u64 *damaged);
int __wrap_unwind_table_build_paced(struct image *image, struct pace *pace,
				    struct unwind_table **ret_table, u64 *damaged)
{
	unsigned char id[IMAGE_BUILD_ID_MAX];
	size_t size = image_build_id(image, id);
	int same = size > 0;

	for (size_t i = 0; i < size; i++)
		same &= doom.build_id[2 * i] == "0123456789abcdef"[id[i] >> 4] &&
			doom.build_id[2 * i + 1] == "0123456789abcdef"[id[i] & 15];
	if (same)
		doom_at(MOMENT_PARSE);
	return __real_unwind_table_build_paced(image, pace, ret_table, damaged);
}
