/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/sample_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/intern.h"

/* Equal samples have equal keys. */
struct key {
	uint32_t pid, tid;
	uint32_t process_name, thread_name;
	uint32_t stack;
	uint32_t process : 14;
	uint32_t cpu : 11;
	uint32_t reason : 7;
	uint32_t scene; /* id in sample_list.scenes */
	uint32_t link;
};

/* Few samples differ in this: a sample keeps a number in its place. */
struct scene {
	uint64_t cgroup, goroutine;
	uint32_t labels, state, waker, unused;
};

struct entry {
	struct key key;
	uint64_t count;
};

#define CHUNK_ENTRIES (CHUNKS_UNIT_BYTES / sizeof(struct entry))
#define ENTRIES_MAX   (1u << 30)

_Static_assert(sizeof(struct key) == 32, "a key has no padding");
_Static_assert(PROFILE_PROCESSES_MAX < 1u << 14 && PROFILE_CPUS_MAX < 1u << 11 &&
		       PROFILE_REASONS_MAX <= 1u << 7,
	       "fields of a key");

int sample_list_init(struct sample_list *list)
{
	*list = (struct sample_list){.scenes = intern_new()};
	if (!list->scenes)
		return -ENOMEM;
	return hash_key_random(&list->hash_key);
}

void sample_list_release(struct sample_list *list)
{
	chunks_release(&list->entries);
	slots_release(&list->slots);
	intern_free(list->scenes);
	free(list->bases.items);
	free(list->waits.items);
}

static struct entry *entry_at(const struct sample_list *list, size_t index)
{
	struct entry *entries = (struct entry *)list->entries.items[index / CHUNK_ENTRIES].bytes;

	return entries + index % CHUNK_ENTRIES;
}

/* Numbers the scene of a sample; 0 is one of zeros. Returns 0 or -ENOMEM. */
static int number_scene(struct sample_list *list, const struct profile_sample *sample,
			uint32_t *ret_number)
{
	const struct scene scene = {
		.cgroup = sample->cgroup,
		.goroutine = sample->goroutine,
		.labels = sample->labels,
		.state = sample->state,
		.waker = sample->waker,
	};
	static const struct scene nothing;

	*ret_number = 0;
	if (memcmp(&scene, &nothing, sizeof(scene)) != 0)
		*ret_number = intern_add(list->scenes, &scene, sizeof(scene));
	if (*ret_number == INTERN_FAILED)
		return -ENOMEM;
	return 0;
}

static struct scene scene_of(const struct sample_list *list, const struct key *key)
{
	struct scene scene = {0};

	if (key->scene)
		memcpy(&scene, intern_get(list->scenes, key->scene, NULL), sizeof(scene));
	return scene;
}

static int make_key(struct sample_list *list, const struct profile_sample *sample,
		    struct key *ret_key)
{
	*ret_key = (struct key){
		.pid = sample->pid,
		.tid = sample->tid,
		.process_name = sample->process_name,
		.thread_name = sample->thread_name,
		.stack = sample->stack,
		.process = sample->process & 0x3fff,
		.reason = sample->reason & 0x7f,
		.cpu = sample->cpu & 0x7ff,
		.link = sample->link,
	};
	return number_scene(list, sample, &ret_key->scene);
}

static int add_to(struct sample_column *column, size_t index, uint64_t number)
{
	if (number == 0)
		return 0;
	if (ARRAY_RESERVE(column->items, column->capacity, index + 1) < 0)
		return -ENOMEM;
	for (; column->count <= index; column->count++)
		column->items[column->count] = 0;
	column->items[index] += number;
	return 0;
}

static int add_columns(struct sample_list *list, size_t index, const struct profile_sample *sample)
{
	int r = add_to(&list->bases, index, sample->base);

	if (r < 0)
		return r;
	return add_to(&list->waits, index, sample->waits);
}

static uint64_t column_at(const struct sample_column *column, size_t index)
{
	if (index >= column->count)
		return 0;
	return column->items[index];
}

static int append(struct sample_list *list, const struct key *key,
		  const struct profile_sample *sample)
{
	struct entry *entry = NULL;

	if (add_columns(list, list->count, sample) < 0)
		return -ENOMEM;
	if (list->count < ENTRIES_MAX)
		entry = chunks_add(&list->entries, sizeof(*entry));
	if (!entry)
		return -ENOMEM;
	*entry = (struct entry){.key = *key, .count = sample->count};
	list->count++;
	return 0;
}

int sample_list_append(struct sample_list *list, const struct profile_sample *sample)
{
	struct key key;
	int r = make_key(list, sample, &key);

	if (r < 0)
		return r;
	return append(list, &key, sample);
}

/* Returns the slot of an equal sample, or a free one. */
static struct slot *find(const struct sample_list *list, uint32_t hash, const struct key *key)
{
	struct slot *slot = slots_first(&list->slots, hash);

	while (slot->id && memcmp(&entry_at(list, slot->id - 1)->key, key, sizeof(*key)) != 0)
		slot = slots_next(&list->slots, slot, hash);
	return slot;
}

int sample_list_add(struct sample_list *list, const struct profile_sample *sample,
		    uint32_t *ret_index)
{
	struct slot *slot;
	struct key key;
	uint32_t hash;
	int r = make_key(list, sample, &key);

	if (r < 0)
		return r;
	if (slots_reserve(&list->slots) < 0)
		return -ENOMEM;
	hash = (uint32_t)hash_bytes(&list->hash_key, &key, sizeof(key));
	slot = find(list, hash, &key);
	if (slot->id) {
		*ret_index = slot->id - 1;
		r = add_columns(list, *ret_index, sample);
		if (r == 0)
			entry_at(list, *ret_index)->count += sample->count;
		return r;
	}
	*ret_index = (uint32_t)list->count;
	r = append(list, &key, sample);
	if (r == 0)
		slots_fill(&list->slots, slot, hash, *ret_index + 1);
	return r;
}

struct profile_sample sample_list_get(const struct sample_list *list, size_t index)
{
	const struct entry *entry = entry_at(list, index);
	const struct scene scene = scene_of(list, &entry->key);
	struct profile_sample sample = {
		.pid = entry->key.pid,
		.tid = entry->key.tid,
		.process_name = entry->key.process_name,
		.thread_name = entry->key.thread_name,
		.stack = entry->key.stack,
		.process = entry->key.process,
		.reason = entry->key.reason,
		.cpu = entry->key.cpu,
		.link = entry->key.link,
		.labels = scene.labels,
		.state = scene.state,
		.waker = scene.waker,
		.cgroup = scene.cgroup,
		.goroutine = scene.goroutine,
		.count = entry->count,
	};

	sample.base = column_at(&list->bases, index);
	sample.waits = column_at(&list->waits, index);
	return sample;
}

void sample_list_scale(struct sample_list *list, size_t from, uint64_t factor)
{
	for (size_t i = from; i < list->count; i++)
		entry_at(list, i)->count *= factor;
	for (size_t i = from; i < list->bases.count; i++)
		list->bases.items[i] *= factor;
}
