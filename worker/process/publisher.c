/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/process/publisher.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/time.h"
#include "object/elf/image.h"
#include "worker/process/mapping.h"
#include "worker/process/object.h"
#include "worker/process/process.h"
#include "worker/process/segments.h"
#include "worker/process/table.h"
#include "worker/runtime/runtime.h"

#define BLOCK_BYTES_PER_SECOND (4u << 20) /* of one process; twice as much waits out its grace */
#define CODE_GROWTH	       (1u << 20) /* HotSpot adds 64 KiB or some more at a time */

_Static_assert(MAPPINGS_MAX <= BLOCK_MAPPINGS_MAX, "all mappings of a process fit a block");

struct block {
	unsigned int references;
	uint32_t word, words, count;
	uint32_t version; /* of the mappings it was made of */
	u64 has;	  /* PROCESS_SLOT_CONTEXT, PROCESS_SLOT_LABELS: behind the entries */
};

struct publisher {
	struct segments *segments;
	struct process_table *table;
	uint64_t failures;
	struct publisher_counts counts;
};

struct publisher *publisher_new(struct segments *segments, struct process_table *table)
{
	struct publisher *publisher = calloc(1, sizeof(*publisher));

	if (!publisher)
		return NULL;
	publisher->segments = segments;
	publisher->table = table;
	return publisher;
}

void publisher_free(struct publisher *publisher)
{
	free(publisher);
}

static uint32_t publisher_flags(const struct object *object)
{
	bool ready = object && object->state >= OBJECT_READY;

	if (ready && object->table)
		return MAPPING_HAS_TABLE;
	if (object && object->no_room)
		return MAPPING_NO_ROOM;
	if (!ready)
		return MAPPING_PENDING;
	return 0;
}

bool publisher_bias(const struct mapping *mapping, uint64_t *ret_bias)
{
	const struct object *object = mapping->object;
	const struct image_segment *segment =
		image_segment_of(object->segments, object->segment_count, mapping->offset,
				 mapping->end - mapping->start);

	if (!segment)
		return false;
	*ret_bias = mapping->start - mapping->offset + segment->file_offset - segment->address;
	return true;
}

void publisher_entry(const struct mapping *mapping, struct mapping_entry *ret_entry)
{
	const struct object *object = mapping->object;
	uint64_t bias;

	*ret_entry = (struct mapping_entry){.start = mapping->start, .end = mapping->end};
	ret_entry->flags = publisher_flags(object);
	if (!object || object->state < OBJECT_READY)
		return;
	if (!object->table || !publisher_bias(mapping, &bias)) {
		ret_entry->flags &= ~MAPPING_HAS_TABLE;
		return;
	}
	ret_entry->bias = bias;
	ret_entry->first_page = object->table->first_page;
	ret_entry->pages = object->table->pages;
	ret_entry->directory = object->table->directory;
	ret_entry->dictionary = object->table->dictionary;
	ret_entry->runtime = object->table->runtime;
}

bool publisher_waits(const struct mappings *mappings)
{
	for (size_t i = 0; i < mappings->open_count; i++) {
		const struct object *object = mappings->open[i].object;

		if (!object || object->state < OBJECT_READY)
			return true;
	}
	return false;
}

/* The runtimes that make code while a program runs. */
struct makers {
	struct mapping_entry entry;    /* of the one whose config the walk needs for such code */
	u64 rule;		       /* of the code in shared memory */
	u64 own_rule, own_framed_rule; /* of the code in other memory */
	bool may_come;		       /* a rule, of an object that is not ready */
	bool own_may_come;	       /* the same, of one that is named as such a runtime */
	bool grows;		       /* memory with code: HotSpot reserves room behind it */
};

/* Returns whether an object that is not ready may have a rule for code in memory of one process. */
static bool own_may_come(const struct mappings *mappings)
{
	for (size_t i = 0; i < mappings->open_count; i++) {
		const struct object *object = mappings->open[i].object;

		if (object && object->state < OBJECT_READY && object->name &&
		    runtime_is_own_file(RUNTIME_RUBY, object->name))
			return true;
	}
	return false;
}

static void find_makers(const struct mappings *mappings, struct makers *ret_makers)
{
	*ret_makers = (struct makers){.may_come = publisher_waits(mappings),
				      .own_may_come = own_may_come(mappings)};
	for (size_t i = 0; i < mappings->open_count; i++) {
		const struct mapping *mapping = &mappings->open[i];
		const struct object *object = mapping->object;

		if (!object || !object->setup || object->state < OBJECT_READY || !object->table)
			continue;
		if (object->setup->made_rule && !ret_makers->rule)
			ret_makers->rule = object->setup->made_rule;
		if (object->setup->own_rule && !ret_makers->own_rule) {
			ret_makers->own_rule = object->setup->own_rule;
			ret_makers->own_framed_rule = object->setup->own_framed_rule;
		}
		if (object->setup->config.flags & (RUNTIME_STACKED | RUNTIME_HEAPS) &&
		    !ret_makers->entry.runtime) {
			publisher_entry(mapping, &ret_makers->entry);
			ret_makers->grows = object->setup->config.flags & RUNTIME_HEAPS;
		}
	}
}

/*
 * Returns where code of an anonymous mapping ends for the walk. HotSpot uses new code at once, and
 * the event about its memory takes some milliseconds. The walk asks the kernel for what is code.
 */
static uint64_t code_end(const struct mappings *mappings, size_t index)
{
	uint64_t end = mappings->open[index].end + CODE_GROWTH;

	if (index + 1 < mappings->open_count && mappings->open[index + 1].start < end)
		return mappings->open[index + 1].start;
	return end;
}

/* Tells what is known of the code of an anonymous mapping. */
static void set_maker(const struct mappings *mappings, size_t index, const struct makers *makers,
		      struct mapping_entry *entry)
{
	const struct mapping *mapping = &mappings->open[index];

	if (!mapping->object || !mapping->object->anonymous)
		return;
	if (makers->grows)
		entry->end = code_end(mappings, index);
	entry->runtime = makers->entry.runtime;
	entry->bias = makers->entry.bias;
	entry->rule = makers->rule;
	if (!mapping->is_shared) {
		entry->rule = makers->own_rule;
		entry->framed_rule = makers->own_framed_rule;
	}
	/* BPF keeps what it has found out of code that is not pending */
	if (!entry->rule && (mapping->is_shared ? makers->may_come : makers->own_may_come))
		entry->flags |= MAPPING_PENDING;
}

/* Returns whether the object of a mapping is known, with the bias of its addresses. */
static bool is_placed(const struct mapping *mapping, uint64_t *ret_bias)
{
	const struct object *object = mapping->object;

	return object && object->state >= OBJECT_READY && publisher_bias(mapping, ret_bias);
}

/*
 * Finds where threads have their context. Where several objects have the variable, the dynamic
 * linker gives all of them that of one. Returns whether there is one.
 */
static bool find_root(const struct mappings *mappings, struct runtime_root *ret_root)
{
	for (size_t i = 0; i < mappings->open_count; i++) {
		const struct mapping *mapping = &mappings->open[i];
		uint64_t bias;

		if (!is_placed(mapping, &bias) ||
		    mapping->object->context.start == RUNTIME_AT_NOTHING)
			continue;
		*ret_root = mapping->object->context;
		ret_root->pc += bias;
		return true;
	}
	return false;
}

/* Finds where goroutines have their labels. The first of several runtimes of Go counts. */
static bool find_labels(const struct mappings *mappings, struct go_labels *ret_labels)
{
	for (size_t i = 0; i < mappings->open_count; i++) {
		const struct mapping *mapping = &mappings->open[i];
		uint64_t bias;

		if (!is_placed(mapping, &bias) || mapping->object->go.form == GO_LABELS_NONE)
			continue;
		*ret_labels = mapping->object->go;
		if (ret_labels->word != 0)
			ret_labels->word += bias;
		return true;
	}
	return false;
}

/* Returns the flags of what was found. */
static u64 find_context(const struct mappings *mappings, struct thread_context *ret_context)
{
	u64 found = 0;

	*ret_context = (struct thread_context){.root = {.start = RUNTIME_AT_NOTHING}};
	if (find_root(mappings, &ret_context->root))
		found |= PROCESS_SLOT_CONTEXT;
	if (find_labels(mappings, &ret_context->go))
		found |= PROCESS_SLOT_LABELS;
	return found;
}

/* Returns the words of the start addresses, padded to an entry. */
static uint32_t starts_words(size_t count)
{
	return ((uint32_t)count * 2 + 15) & ~15u;
}

/* Returns the words of the start addresses and of the entries. */
static uint32_t mappings_words(size_t count)
{
	return starts_words(count) +
	       (uint32_t)count * (uint32_t)(sizeof(struct mapping_entry) / sizeof(u32));
}

static void fill(struct mappings *mappings, u32 *words)
{
	struct mapping_entry entry;
	struct makers makers;
	uint32_t entries = starts_words(mappings->open_count);

	find_makers(mappings, &makers);
	for (size_t i = 0; i < mappings->open_count; i++) {
		uint64_t start = mappings->open[i].start;

		publisher_entry(&mappings->open[i], &entry);
		set_maker(mappings, i, &makers, &entry);
		memcpy(words + 2 * i, &start, sizeof(start));
		memcpy(words + entries + i * (sizeof(entry) / sizeof(u32)), &entry, sizeof(entry));
		mappings->open[i].flags = publisher_flags(mappings->open[i].object);
	}
}

static struct block *block_new(struct publisher *publisher, const struct mappings *mappings,
			       int *ret_error)
{
	struct block *block = calloc(1, sizeof(*block));
	uint32_t count = (uint32_t)mappings->open_count;
	struct thread_context context;

	*ret_error = -ENOMEM;
	if (!block)
		return NULL;
	block->references = 1;
	block->count = count;
	block->version = mappings->version;
	block->has = find_context(mappings, &context);
	block->words = mappings_words(count);
	if (block->has)
		block->words += sizeof(context) / sizeof(u32);
	if (block->words == 0)
		block->words = SEGMENTS_ALIGN;
	*ret_error = segments_alloc(publisher->segments, block->words, &block->word);
	if (*ret_error < 0) {
		free(block);
		return NULL;
	}
	if (block->has)
		memcpy(segments_at(publisher->segments, block->word) + mappings_words(count),
		       &context, sizeof(context));
	return block;
}

/* A process that keeps changing its mappings must not fill the segments with old blocks. */
static void pace(struct mappings *mappings, uint64_t now)
{
	mappings->published = now;
	mappings->publish_gap =
		mappings->block->words * sizeof(u32) * NS_PER_SECOND / BLOCK_BYTES_PER_SECOND;
}

void publisher_look_for_ready(struct mappings *mappings)
{
	for (size_t i = 0; i < mappings->open_count && !mappings->dirty; i++) {
		const struct mapping *mapping = &mappings->open[i];

		mappings->dirty = publisher_flags(mapping->object) != mapping->flags;
	}
}

int publisher_build(struct publisher *publisher, struct mappings *mappings, uint64_t now)
{
	struct block *block;
	int r;

	if (!mappings->dirty)
		return 0;
	if (now < mappings->published + mappings->publish_gap)
		return -EAGAIN;
	block = block_new(publisher, mappings, &r);
	if (!block && r == -EAGAIN && segments_full(publisher->segments))
		r = -ENOSPC; /* no waiting memory may come back soon */
	if (!block) {
		publisher->failures += r != -EAGAIN;
		mappings->incomplete |= r != -EAGAIN;
		return r;
	}
	fill(mappings, segments_at(publisher->segments, block->word));
	mappings->dirty = false;
	mappings->incomplete = false;
	publisher_release(publisher, mappings, now);
	mappings->block = block;
	pace(mappings, now);
	return 1;
}

bool publisher_outdated(const struct mappings *mappings)
{
	return mappings->block && mappings->block->version != mappings->version;
}

void publisher_share(struct mappings *copy, const struct mappings *mappings)
{
	copy->block = mappings->block;
	copy->incomplete = mappings->incomplete;
	if (copy->block)
		copy->block->references++;
}

void publisher_release(struct publisher *publisher, struct mappings *mappings, uint64_t now)
{
	struct block *block = mappings->block;

	mappings->block = NULL;
	if (!block || --block->references > 0)
		return;
	segments_release(publisher->segments, block->word, block->words, now);
	free(block);
}

/*
 * Returns the slot of a process, else a free one; NULL: neither is within PROCESS_PROBES. An
 * earlier program of the pid may have a slot too, as long as BPF keeps a sample of that program.
 */
static struct process_slot *find_slot(const struct publisher *publisher, uint32_t pid,
				      uint64_t generation, bool only_own)
{
	const u64 own = process_slot_key(pid, generation);
	struct process_slot *slot, *unused = NULL;

	for (uint32_t i = 0; i < PROCESS_PROBES; i++) {
		uint64_t key;

		slot = &publisher->table->slot[(process_slot_hash(pid) + i) & (PROCESS_SLOTS - 1)];
		key = slot->key;
		if (key == own)
			return slot;
		if ((key == 0 || key == PROCESS_SLOT_GONE) && !unused)
			unused = slot;
		if (key == 0)
			break;
	}
	if (only_own)
		return NULL;
	return unused;
}

static int put(struct publisher *publisher, uint32_t pid, uint64_t generation, u64 value)
{
	struct process_slot *slot = find_slot(publisher, pid, generation, false);
	u64 key = process_slot_key(pid, generation);

	if (!slot) {
		publisher->failures++;
		return -ENOSPC;
	}
	if (slot->key == key && slot->block == value)
		return 0;
	/* A walk that finds the old key again after the block has loaded the old block. */
	if (slot->key != key)
		__atomic_store_n(&slot->key, PROCESS_SLOT_GONE, __ATOMIC_SEQ_CST);
	__atomic_store_n(&slot->block, value, __ATOMIC_RELEASE);
	__atomic_store_n(&slot->key, key, __ATOMIC_RELEASE);
	return 0;
}

int publisher_publish(struct publisher *publisher, uint32_t pid, uint64_t generation,
		      const struct mappings *mappings)
{
	const struct block *block = mappings->block;
	u64 flags = mappings->incomplete ? PROCESS_SLOT_INCOMPLETE : 0;

	if (!block)
		return -ENOENT;
	flags |= block->has;
	return put(publisher, pid, generation,
		   process_slot_block(block->word, block->count, block->version) | flags);
}

/* Tells the walk that the present mappings have found no room. */
static int refuse(struct publisher *publisher, const struct process *process)
{
	return put(publisher, process->pid, process->generation,
		   process_slot_block(SEGMENT_WORD_NONE, 0, 0));
}

void publisher_retract(struct publisher *publisher, uint32_t pid, uint64_t generation)
{
	struct process_slot *slots = publisher->table->slot;
	struct process_slot *slot = find_slot(publisher, pid, generation, true);
	size_t at;

	if (!slot)
		return;
	__atomic_store_n(&slot->key, PROCESS_SLOT_GONE, __ATOMIC_RELEASE);
	/* Tombstones before an empty slot are of no use, because the empty slot ends probes. */
	at = (size_t)(slot - slots);
	if (slots[(at + 1) & (PROCESS_SLOTS - 1)].key != 0)
		return;
	for (; slots[at].key == PROCESS_SLOT_GONE; at = (at - 1) & (PROCESS_SLOTS - 1))
		__atomic_store_n(&slots[at].key, 0, __ATOMIC_RELEASE);
}

static void once(bool *flag, uint64_t *count)
{
	*count += !*flag;
	*flag = true;
}

int publisher_update(struct publisher *publisher, struct process *process, uint64_t now)
{
	struct mappings *mappings = process->mappings;
	int r, placed = 0;
	bool refused;

	if (!process_state_is_complete(process->state))
		return 0;
	if (process_state_is_ended(process->state) && !process_is_waited_for(process, now))
		return 0;
	mappings->dirty |= !mappings->block;
	r = publisher_build(publisher, mappings, now);
	/* A block may wait; a wrong block must not stay if none may ever follow. */
	refused = r < 0 && r != -EAGAIN;
	if (refused)
		once(&process->no_room, &publisher->counts.no_room);
	if (refused && publisher_outdated(mappings))
		publisher_release(publisher, mappings, now);
	if (mappings->block)
		placed = publisher_publish(publisher, process->pid, process->generation, mappings);
	else if (refused)
		placed = refuse(publisher, process);
	process->unplaced = placed < 0;
	if (placed < 0)
		once(&process->no_slot, &publisher->counts.no_slot);
	return r;
}

void publisher_counts(const struct publisher *publisher, struct publisher_counts *ret_counts)
{
	*ret_counts = publisher->counts;
}

uint64_t publisher_failures(const struct publisher *publisher)
{
	return publisher->failures;
}
