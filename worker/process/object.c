/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/process/object.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/map.h"
#include "base/tally.h"
#include "object/elf/image.h"
#include "worker/process/budget.h"
#include "worker/process/failures.h"
#include "worker/process/parser.h"
#include "worker/process/segments.h"
#include "worker/process/table.h"
#include "object/unwind/unwind_table.h"

#define UNNAMED "(a file in place of another)"

struct objects {
	struct tables *tables;
	struct segments *segments;
	struct parser *parser;
	struct map *by_identity, *by_number;
	struct map *parsing_for; /* owners' counts */
	struct object *vdso, *anonymous;
	size_t descriptors, open, parsing, storing;
	uint64_t numbers, changes, room;
	uint64_t rested;   /* files, as of the last turn */
	bool wants_labels; /* of Go */
	struct failures failures;
	uint64_t now; /* of the last turn */
	struct objects_counts counts;
};

static bool may_follow(enum object_state from, enum object_state to)
{
	static const unsigned int next[OBJECT_STATES] = {
		[OBJECT_NEW] = 1u << OBJECT_PARSING | 1u << OBJECT_READY | 1u << OBJECT_FAILED,
		[OBJECT_PARSING] = 1u << OBJECT_STORING | 1u << OBJECT_READY | 1u << OBJECT_FAILED,
		[OBJECT_STORING] = 1u << OBJECT_READY,
		[OBJECT_FAILED] = 1u << OBJECT_PARSING | 1u << OBJECT_FAILED, /* resubmit() */
	};

	return next[from] >> to & 1;
}

static void set_state(struct objects *objects, struct object *object, enum object_state state)
{
	int parsing = (state == OBJECT_PARSING) - (object->state == OBJECT_PARSING);

	if (!may_follow(object->state, state))
		abort();
	objects->parsing += (size_t)parsing;
	if (parsing)
		tally_add(objects->parsing_for, object->owner, parsing);
	objects->storing -= object->state == OBJECT_STORING;
	objects->storing += state == OBJECT_STORING;
	object->state = state;
	objects->changes += state == OBJECT_READY || state == OBJECT_FAILED;
}

void objects_want_labels(struct objects *objects)
{
	objects->wants_labels = true;
}

void objects_set_redact(struct objects *objects, const struct redact *redact)
{
	objects->failures.redact = redact;
}

static void fail(struct objects *objects, struct object *object, int reason)
{
	object->reason = reason;
	objects->counts.failed++;
	set_state(objects, object, OBJECT_FAILED);
	failures_object(&objects->failures, object->name, reason);
}

static uint64_t identity_hash(const struct target_identity *identity)
{
	uint64_t hash = identity->device * 0x9e3779b97f4a7c15ull + identity->inode;

	hash = hash * 0x9e3779b97f4a7c15ull + identity->size;
	return hash * 0x9e3779b97f4a7c15ull + identity->change_time;
}

static bool identity_equal(const struct target_identity *a, const struct target_identity *b)
{
	return a->device == b->device && a->inode == b->inode && a->size == b->size &&
	       a->change_time == b->change_time;
}

static void close_fd(struct objects *objects, struct object *object)
{
	if (object->fd < 0)
		return;
	close(object->fd);
	object->fd = -1;
	objects->open--;
}

static void object_free(struct objects *objects, struct object *object)
{
	close_fd(objects, object);
	if (object->state == OBJECT_STORING)
		tables_release(objects->tables, object->table, 0);
	unwind_table_free(object->source);
	free(object->segments);
	free(object->build_id);
	free(object->go_build_id);
	free(object->setup);
	free(object->name);
	free(object);
}

static struct object *object_new(struct objects *objects, const char *name)
{
	struct object *object = calloc(1, sizeof(*object));

	if (!object)
		return NULL;
	object->fd = -1;
	object->number = ++objects->numbers;
	object->name = strdup(name);
	if (!object->name || map_put(objects->by_number, object->number, object) < 0) {
		free(object->name);
		free(object);
		return NULL;
	}
	return object;
}

struct objects *objects_new(struct tables *tables, struct segments *segments, struct parser *parser,
			    size_t descriptors)
{
	struct objects *objects = calloc(1, sizeof(*objects));

	if (!objects)
		return NULL;
	objects->tables = tables;
	objects->segments = segments;
	objects->parser = parser;
	objects->descriptors = descriptors;
	objects->by_identity = map_new();
	objects->by_number = map_new();
	objects->parsing_for = map_new();
	if (objects->by_identity && objects->by_number && objects->parsing_for)
		objects->anonymous = object_new(objects, "[anon]");
	if (!objects->anonymous) {
		objects_free(objects);
		return NULL;
	}
	objects->anonymous->anonymous = true;
	set_state(objects, objects->anonymous, OBJECT_READY);
	return objects;
}

struct object *objects_next(const struct objects *objects, size_t *cursor)
{
	uint64_t key;
	void *value;

	if (!map_next(objects->by_number, cursor, &key, &value))
		return NULL;
	return value;
}

void objects_forget_profile(struct objects *objects)
{
	struct object *object;
	size_t cursor = 0;

	while ((object = objects_next(objects, &cursor)) != NULL)
		object->profile_id = 0;
}

void objects_free(struct objects *objects)
{
	size_t cursor = 0;
	struct object *object;

	if (!objects)
		return;
	while (objects->by_number && (object = objects_next(objects, &cursor)) != NULL)
		object_free(objects, object);
	map_free(objects->by_identity);
	map_free(objects->by_number);
	map_free(objects->parsing_for);
	free(objects);
}

struct object *objects_vdso(const struct objects *objects)
{
	if (!objects->vdso)
		return objects->anonymous;
	return objects->vdso;
}

struct object *objects_anonymous(const struct objects *objects)
{
	return objects->anonymous;
}

/* Returns whether only CPU time is lacking. The file stays open, as long as there is room. */
static bool is_put_off(const struct object *object)
{
	return object->state == OBJECT_FAILED && object->reason == -EDQUOT;
}

bool object_lacks_file(const struct object *object)
{
	return is_put_off(object) && object->fd < 0;
}

static void fail_to_parse(struct objects *objects, struct object *object, int reason)
{
	fail(objects, object, reason);
	if (reason != -EDQUOT)
		close_fd(objects, object);
}

static void submit(struct objects *objects, struct object *object, size_t size)
{
	const struct parser_job job = {
		.number = object->number,
		.owner = object->owner,
		.payer = object->payers[0],
		.fd = object->fd,
		.bytes = object->bytes,
		.size = size,
		.identity = object->identity,
	};
	int r = parser_submit(objects->parser, &job);

	if (r < 0)
		fail_to_parse(objects, object, r);
	else
		set_state(objects, object, OBJECT_PARSING);
}

int objects_set_vdso(struct objects *objects, const void *bytes, size_t size)
{
	struct object *object = object_new(objects, "[vdso]");

	if (!object)
		return -ENOMEM;
	object->bytes = bytes;
	object->size = size;
	objects->vdso = object;
	submit(objects, object, size);
	return 0;
}

struct object *objects_find(const struct objects *objects, const struct target_identity *identity)
{
	struct chain *at = map_get(objects->by_identity, identity_hash(identity));

	while (at && !identity_equal(&((struct object *)at)->identity, identity))
		at = at->next;
	return (struct object *)at;
}

/* Returns whether a is closed before b: not named by samples, then sampled longest ago. */
static bool more_idle(const struct object *a, const struct object *b)
{
	if (!b)
		return true;
	if ((a->sampled == 0) != (b->sampled == 0))
		return a->sampled == 0;
	if (a->sampled != b->sampled)
		return a->sampled < b->sampled;
	return a->number < b->number;
}

static void limit_descriptors(struct objects *objects)
{
	struct object *object, *idle = NULL;
	size_t cursor = 0;

	if (objects->open <= objects->descriptors)
		return;
	while ((object = objects_next(objects, &cursor)) != NULL)
		if (object->fd >= 0 && object->state != OBJECT_PARSING && more_idle(object, idle))
			idle = object;
	if (!idle)
		return;
	close_fd(objects, idle);
	objects->counts.descriptors_closed++;
}

struct object *objects_add(struct objects *objects, const struct target_identity *identity,
			   const char *name, int fd, struct target_process process)
{
	struct object *object;

	if (name)
		object = object_new(objects, name);
	else
		object = object_new(objects, UNNAMED);
	if (!object) {
		close(fd);
		return NULL;
	}
	object->unnamed = !name;
	object->opened = objects->now;
	object->identity = *identity;
	object->owner = process.pid;
	object->maker = budget_owner(fd);
	object->payers[object->payer_count++] = budget_payer(process.group.cgroup, object->maker);
	object->fd = fd;
	objects->open++;
	objects->counts.objects++;
	/* Without memory the object is not found again: its file is opened once more. */
	chain_add(objects->by_identity, identity_hash(identity), &object->chain);
	submit(objects, object, identity->size);
	limit_descriptors(objects);
	return object;
}

static bool has_payer(const struct object *object, uint64_t payer)
{
	for (unsigned int i = 0; i < object->payer_count && i < OBJECT_PAYERS; i++)
		if (object->payers[i] == payer)
			return true;
	return false;
}

/* Parses an object that was put off, if the payer may begin. */
static void resubmit(struct objects *objects, struct object *object, uint32_t owner, uint64_t payer)
{
	if (object->fd < 0 || !parser_may_begin(objects->parser, payer))
		return;
	if (!parser_has_place(objects->parser, payer))
		return;
	object->owner = owner;
	object->payers[0] = payer;
	object->payer_count = 1;
	object->reason = 0;
	objects->counts.failed--;
	submit(objects, object, object->identity.size);
}

/* Tells the parse thread of a payer. The newest ones are noted, so that each is told once. */
static void share(struct objects *objects, struct object *object, uint64_t payer)
{
	if (has_payer(object, payer))
		return;
	object->payers[object->payer_count++ % OBJECT_PAYERS] = payer;
	parser_share(objects->parser, object->number, payer);
}

void objects_ask(struct objects *objects, struct object *object, struct target_process process)
{
	uint64_t payer = budget_payer(process.group.cgroup, object->maker);

	if (object->state == OBJECT_PARSING)
		share(objects, object, payer);
	else if (is_put_off(object))
		resubmit(objects, object, process.pid, payer);
}

void objects_reopen(struct objects *objects, struct object *object, int fd,
		    struct target_process process)
{
	if (fd < 0)
		return;
	if (object->fd >= 0 || (object->state == OBJECT_FAILED && !is_put_off(object))) {
		close(fd);
		return;
	}
	object->fd = fd;
	objects->open++;
	objects_ask(objects, object, process); /* an idle descriptor might be closed at once */
	limit_descriptors(objects);
}

bool objects_have_place(struct objects *objects, uint64_t cgroup)
{
	uint64_t payer = budget_payer(cgroup, BUDGET_ROOT);

	return payer == BUDGET_ROOT || parser_has_place(objects->parser, payer);
}

size_t objects_waiting_for(const struct objects *objects, uint64_t cgroup)
{
	uint64_t payer = budget_payer(cgroup, BUDGET_ROOT);

	if (payer == BUDGET_ROOT)
		return 0;
	return parser_waiting(objects->parser, payer);
}

void objects_name(struct object *object, const char *name)
{
	char *copy;

	if (!object->unnamed)
		return;
	copy = strdup(name);
	if (!copy)
		return;
	free(object->name);
	object->name = copy;
	object->unnamed = false;
}

struct object *objects_add_failed(struct objects *objects, const char *name, int reason)
{
	struct object *object = object_new(objects, name);

	if (!object)
		return NULL;
	objects->counts.objects++;
	fail(objects, object, reason);
	return object;
}

static void mark_no_room(struct objects *objects, struct object *object)
{
	if (object->no_room)
		return;
	object->no_room = true;
	objects->counts.no_room++;
	objects->changes++;
}

static void store(struct objects *objects, struct object *object, uint64_t now)
{
	int r = tables_store(objects->tables, object->source, &object->table, now);

	if (r == -EAGAIN) {
		if (object->state != OBJECT_STORING)
			set_state(objects, object, OBJECT_STORING);
		if (segments_full(objects->segments))
			mark_no_room(objects, object);
		return;
	}
	if (r < 0) {
		failures_part(&objects->failures, "tables", object->name, r);
		mark_no_room(objects, object);
	}
	unwind_table_free(object->source);
	object->source = NULL;
	set_state(objects, object, OBJECT_READY);
}

/* Returns whether the CPU time for parsing was used up: parser.h. */
static bool is_over_budget(int error)
{
	return error == -EDQUOT || error == -ETIME || error == -ECANCELED;
}

static void finish(struct objects *objects, struct object *object, struct parser_result *result,
		   uint64_t now)
{
	memcpy(object->file_id, result->file_id, sizeof(object->file_id));
	if (result->error < 0) {
		fail_to_parse(objects, object, result->error);
		return;
	}
	object->segments = result->segments;
	object->segment_count = result->segment_count;
	object->source = result->table;
	result->segments = NULL;
	result->table = NULL;
	object->rules_error = result->table_error;
	object->runtime = result->runtime;
	object->runtime_error = result->runtime_error;
	object->setup = result->setup;
	object->copies = result->copies;
	object->context = result->context;
	if (objects->wants_labels && result->go_error == 0)
		object->go = result->go;
	objects->counts.labels_unknown += objects->wants_labels && result->go_error == -ENOTSUP;
	result->setup = NULL;
	if (result->build_id[0])
		object->build_id = strdup(result->build_id);
	if (result->go_build_id[0])
		object->go_build_id = strdup(result->go_build_id);
	if (result->table_error < 0 && result->table_error != -ENOENT) {
		objects->counts.no_rules += !is_over_budget(result->table_error);
		failures_part(&objects->failures, "unwind", object->name, result->table_error);
	}
	if (object->source)
		store(objects, object, now);
	else
		set_state(objects, object, OBJECT_READY);
}

/* A file that begins to rest leaves its place to another. */
static void follow_rested(struct objects *objects)
{
	struct parser_counts counts;

	parser_counts(objects->parser, &counts);
	objects->changes += counts.rested != objects->rested;
	objects->rested = counts.rested;
}

void objects_turn(struct objects *objects, uint64_t now)
{
	struct parser_result result;
	struct object *object;
	size_t cursor = 0;

	objects->now = now;
	follow_rested(objects);
	while (parser_take(objects->parser, &result)) {
		object = map_get(objects->by_number, result.number);
		if (object && object->state == OBJECT_PARSING)
			finish(objects, object, &result, now);
		parser_result_release(&result);
	}
	if (objects->storing == 0 || objects->room == segments_generation(objects->segments))
		return;
	objects->room = segments_generation(objects->segments);
	while ((object = objects_next(objects, &cursor)) != NULL)
		if (object->state == OBJECT_STORING)
			store(objects, object, now);
}

uint64_t objects_changes(const struct objects *objects)
{
	return objects->changes;
}

size_t objects_parsing(const struct objects *objects)
{
	const size_t resting = parser_resting(objects->parser);

	if (resting > objects->parsing)
		return 0;
	return objects->parsing - resting;
}

size_t objects_parsing_for(const struct objects *objects, uint32_t owner)
{
	return tally_get(objects->parsing_for, owner);
}

size_t objects_count(const struct objects *objects)
{
	return map_count(objects->by_number);
}

/* The broker opens a file once a minute only. */
static bool may_come_back(const struct object *object, uint64_t now)
{
	return object->opened != 0 && now - object->opened < OBJECT_KEPT_FOR;
}

void objects_sweep(struct objects *objects, uint64_t now, bool all)
{
	struct object *object;
	size_t cursor = 0;

	while ((object = objects_next(objects, &cursor)) != NULL) {
		bool kept = object->marked || object == objects->anonymous ||
			    object == objects->vdso || object->state < OBJECT_READY ||
			    (!all && may_come_back(object, now));

		object->marked = false;
		if (kept)
			continue;
		chain_remove(objects->by_identity, identity_hash(&object->identity),
			     &object->chain);
		tables_release(objects->tables, object->table, now);
		object->table = NULL;
		if (object->sampled)
			continue;
		map_remove(objects->by_number, object->number);
		object_free(objects, object);
	}
}

void objects_counts(const struct objects *objects, struct objects_counts *ret_counts)
{
	struct parser_counts parser;

	*ret_counts = objects->counts;
	parser_counts(objects->parser, &parser);
	ret_counts->parsing_late = parser.rested + parser.given_up;
}

void object_count_ruleless(struct object *object)
{
	if (object->state >= OBJECT_READY && !object->table && !object->anonymous)
		object->ruleless++;
}
