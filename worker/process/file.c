/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/process/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/guard.h"
#include "base/chain.h"
#include "base/map.h"
#include "worker/process/object.h"
#include "worker/process/openings.h"
#include "worker/process/parser.h"
#include "worker/target/target.h"

#define FILE_STALE_MAX 3
/* Open questions about files of one process: the broker answers one question at a time. */
#define FILES_ASKED_MAX 2

#define QUESTION_BITS 24
#define QUESTION_MASK ((1u << QUESTION_BITS) - 1)

enum file_state {
	FILE_UNKNOWN,
	FILE_VERIFYING, /* asked whether the object is still the same */
	FILE_OPENING,	/* asked for a descriptor */
	FILE_KNOWN,
	FILE_FAILED,
	FILE_STATES
};

struct file {
	struct chain chain; /* with the same hash */
	uint64_t number, device, inode, generation;
	char *path;
	enum file_state state;
	struct object *object;
	uint64_t verified, asked; /* times */
	uint64_t replaced;	  /* the last time that the file was an earlier object */
	unsigned int stale;	  /* answers in a row that were another file's */
	bool foreign;		  /* another device answered, for the asking process alone */
	bool gone;		  /* the mapping of the last question is gone */
	uint32_t question;	  /* count: tells the answers apart */
	/* A broker ended with the file. One bad file costs one broker: nobody asks again, and the
	 * object stays. A process that hung a broker says nothing about the file. */
	bool quarantined;
	uint64_t round;		       /* of the last answer that tells of a moment alone */
	struct target_process process; /* with start and end: the mapping of the question */
	uint64_t start, end;
	bool apart; /* OPENING: the question waits apart */
	bool put_off;
	uint64_t waited; /* the last time that a question had to wait */
	bool marked;
};

struct files {
	struct objects *objects;
	struct target *target;
	struct map *by_listing, *by_number;
	struct map *own_devices; /* that answer the numbers that they list */
	struct map *busy_for;	 /* processes that the broker makes wait until the next round */
	struct openings openings;
	uint64_t numbers, changes, replaced, put_off;
	uint64_t round;	 /* counts from 1 */
	bool put_back;	 /* a file waits for the next round */
	uint64_t slowed; /* groups, when the questions that wait apart were last told */
};

static void set_state(struct file *file, enum file_state state)
{
	static const unsigned int next[FILE_STATES] = {
		[FILE_UNKNOWN] = 1u << FILE_OPENING | 1u << FILE_FAILED,
		[FILE_VERIFYING] = 1u << FILE_OPENING | 1u << FILE_KNOWN | 1u << FILE_FAILED |
				   1u << FILE_UNKNOWN,
		[FILE_OPENING] = 1u << FILE_KNOWN | 1u << FILE_FAILED | 1u << FILE_UNKNOWN,
		[FILE_KNOWN] = 1u << FILE_VERIFYING,
		[FILE_FAILED] = 1u << FILE_OPENING | 1u << FILE_FAILED,
	};

	if (!(next[file->state] >> state & 1))
		abort();
	file->state = state;
}

static uint64_t listing_hash(uint64_t device, uint64_t inode)
{
	return device * 0x9e3779b97f4a7c15ull ^ inode;
}

struct files *files_new(struct objects *objects, struct target *target)
{
	struct files *files = calloc(1, sizeof(*files));

	if (!files)
		return NULL;
	files->objects = objects;
	files->target = target;
	files->round = 1;
	files->by_listing = map_new();
	files->by_number = map_new();
	files->own_devices = map_new();
	files->busy_for = map_new();
	if (openings_init(&files->openings) < 0 || !files->by_listing || !files->by_number ||
	    !files->own_devices || !files->busy_for) {
		files_free(files);
		return NULL;
	}
	return files;
}

/* Freed memory keeps its bytes, and the path may be of a program that is denied. */
static void file_free(struct file *file)
{
	if (file->path)
		explicit_bzero(file->path, strlen(file->path));
	free(file->path);
	free(file);
}

void files_free(struct files *files)
{
	size_t cursor = 0;
	uint64_t key;
	void *value;

	if (!files)
		return;
	while (files->by_number && map_next(files->by_number, &cursor, &key, &value))
		file_free(value);
	map_free(files->by_listing);
	map_free(files->by_number);
	map_free(files->own_devices);
	openings_release(&files->openings);
	map_free(files->busy_for);
	free(files);
}

static struct file *find(const struct files *files, uint64_t device, uint64_t inode,
			 uint64_t generation)
{
	struct chain *at = map_get(files->by_listing, listing_hash(device, inode));

	for (; at; at = at->next) {
		struct file *file = (struct file *)at;

		if (file->device != device || file->inode != inode)
			continue;
		if (generation == 0 || file->generation == 0 || file->generation == generation)
			return file;
	}
	return NULL;
}

static struct file *add(struct files *files, uint64_t device, uint64_t inode, const char *path)
{
	struct file *file = calloc(1, sizeof(*file));

	if (!file)
		return NULL;
	file->number = ++files->numbers;
	file->device = device;
	file->inode = inode;
	file->path = strdup(path);
	if (!file->path || map_put(files->by_number, file->number, file) < 0) {
		file_free(file);
		return NULL;
	}
	if (chain_add(files->by_listing, listing_hash(device, inode), &file->chain) < 0) {
		map_remove(files->by_number, file->number);
		file_free(file);
		return NULL;
	}
	return file;
}

struct file *files_get(struct files *files, uint64_t device, uint64_t inode, uint64_t generation,
		       const char *path)
{
	struct file *file = find(files, device, inode, generation);

	if (!file)
		file = add(files, device, inode, path);
	if (file && file->generation == 0)
		file->generation = generation;
	return file;
}

static void file_fail(struct files *files, struct file *file, int reason, uint64_t when)
{
	file->verified = when;
	file->quarantined |= reason == -EPIPE;
	set_state(file, FILE_FAILED);
	if (!file->object || file->object->state != OBJECT_FAILED || file->object->reason != reason)
		file->object = objects_add_failed(files->objects, file->path, reason);
	files->changes++;
}

static void file_know(struct files *files, struct file *file, struct object *object)
{
	if (file->object && file->object != object && file->object->state != OBJECT_FAILED &&
	    !file->foreign) {
		file->replaced = file->verified;
		files->replaced++;
	}
	objects_name(object, file->path);
	file->object = object;
	file->verified = file->asked;
	file->stale = 0;
	set_state(file, FILE_KNOWN);
	files->changes++;
}

/*
 * Returns false when the answer is about another file: the mapping may have been replaced since the
 * listing. A plain file system answers the numbers that it lists. A stacked one answers other
 * numbers, but never those of a device that is known to be plain.
 */
static bool plausible(struct files *files, const struct file *file,
		      const struct target_identity *identity)
{
	if (identity->device != file->device)
		return !map_get(files->own_devices, identity->device);
	if (identity->inode != file->inode)
		return false;
	map_put(files->own_devices, file->device, files);
	return true;
}

static void ask(struct files *files, struct file *file, bool want_fd);

/* Returns whether an error tells of the broker's moment alone, not of the file or the process. */
static bool is_momentary(int error)
{
	static const int momentary[] = {-EAGAIN, -EINTR, -EMFILE, -ENFILE, -ENOMEM};

	for (size_t i = 0; i < sizeof(momentary) / sizeof(*momentary); i++)
		if (error == momentary[i])
			return true;
	return false;
}

/* Returns true when the mapping is gone. Nothing is known of the file: another mapping may ask. */
static bool mapping_gone(struct file *file, int error)
{
	/* Another file is mapped there now, unless the file system always answers others. */
	if (error == -ESTALE)
		return ++file->stale < FILE_STALE_MAX;
	return error == -ESRCH || error == -ENOENT;
}

static bool has_object(const struct file *file)
{
	return file->object && file->object->state != OBJECT_FAILED;
}

/* Leaves a file as it was before the question. Another question waits for the next round. */
static void put_back(struct files *files, struct file *file)
{
	file->round = files->round;
	files->put_back = true;
	files->changes++;
	if (has_object(file))
		set_state(file, FILE_KNOWN);
	else
		set_state(file, FILE_UNKNOWN);
}

/* The process waits for the next round with all its files. Other processes may ask meanwhile. */
static void make_wait(struct files *files, struct file *file)
{
	if (map_put(files->busy_for, file->process.pid, files) < 0)
		file->round = files->round;
	files->put_back = true;
	files->changes++;
	set_state(file, FILE_UNKNOWN);
}

/* The kernel's inode generation vouches for the inode; without one the next mapping asks again. */
static void asker_gone(struct files *files, struct file *file)
{
	bool known = has_object(file);

	file->gone = true;
	if (known && file->generation != 0)
		file->verified = file->asked;
	if (known)
		set_state(file, FILE_KNOWN);
	else
		set_state(file, FILE_UNKNOWN);
	files->changes++;
}

/* Keeps the object of a file with which a broker was lost, for the mapping of the question at
 * least. A foreign file fails instead, because the file of another process may have the same
 * numbers. */
static bool keep_unverified(struct files *files, struct file *file, int error)
{
	if ((error != -EPIPE && error != -ETIMEDOUT) || file->foreign)
		return false;
	file->quarantined |= error == -EPIPE;
	file->gone = error == -ETIMEDOUT;
	set_state(file, FILE_KNOWN);
	files->changes++;
	return true;
}

static void on_verified(struct files *files, struct file *file, const struct target_reply *reply)
{
	if (keep_unverified(files, file, reply->error))
		return;
	if (is_momentary(reply->error))
		put_back(files, file);
	else if (mapping_gone(file, reply->error))
		asker_gone(files, file);
	else if (reply->error < 0)
		file_fail(files, file, reply->error, file->asked);
	else if (objects_find(files->objects, &reply->identity) == file->object &&
		 !object_lacks_file(file->object))
		file_know(files, file, file->object);
	else
		ask(files, file, true);
}

static void count_opening(struct files *files, const struct file *file, int more)
{
	openings_add(&files->openings, file->process, file->apart, more);
}

/* Keeps the object of an answer about another file. The broker gives no file twice in a minute, so
 * that a process that swaps mappings could take a library from others. */
static void keep_other(struct files *files, struct target_reply *reply,
		       struct target_process process)
{
	if (reply->fd >= 0 && !objects_find(files->objects, &reply->identity))
		objects_add(files->objects, &reply->identity, NULL, take_fd(&reply->fd), process);
}

static void on_opened(struct files *files, struct file *file, struct target_reply *reply)
{
	struct object *object;

	if (reply->error == 0 && !plausible(files, file, &reply->identity)) {
		keep_other(files, reply, file->process);
		reply->error = -ESTALE;
	}
	if (is_momentary(reply->error)) {
		put_back(files, file);
		return;
	}
	if (reply->error == -EBUSY) {
		make_wait(files, file);
		return;
	}
	if (mapping_gone(file, reply->error)) {
		asker_gone(files, file);
		return;
	}
	if (reply->error < 0) {
		file_fail(files, file, reply->error, file->asked);
		return;
	}
	object = objects_find(files->objects, &reply->identity);
	/* Opened within the last minute, but forgotten since: a later question gets it. */
	if (!object && reply->fd < 0) {
		put_back(files, file);
		return;
	}
	file->foreign = reply->identity.device != file->device;
	if (object)
		objects_reopen(files->objects, object, take_fd(&reply->fd), file->process);
	else
		object = objects_add(files->objects, &reply->identity, file->path,
				     take_fd(&reply->fd), file->process);
	if (object)
		file_know(files, file, object);
	else
		file_fail(files, file, -ENOMEM, file->asked);
}

/* Has both numbers. A file's question is not asked 2^24 times while an answer is due. */
static uint64_t key_of(const struct file *file)
{
	return file->number << QUESTION_BITS | (file->question & QUESTION_MASK);
}

static void on_object(void *context, uint64_t key, struct target_reply *reply)
{
	struct files *files = context;
	struct file *file = map_get(files->by_number, key >> QUESTION_BITS);

	if (!file)
		return;
	if (key != key_of(file)) {
		/* another process was asked meanwhile, see give_question_up() */
		keep_other(files, reply, file->process);
	} else if (file->state == FILE_VERIFYING) {
		on_verified(files, file, reply);
	} else if (file->state == FILE_OPENING) {
		count_opening(files, file, -1);
		on_opened(files, file, reply);
	}
}

static void ask(struct files *files, struct file *file, bool want_fd)
{
	struct target_request request = {
		.kind = TARGET_OBJECT,
		.process = file->process,
		.start = file->start,
		.end = file->end,
		.want_fd = want_fd,
		.done = on_object,
		.context = files,
	};
	int r;

	file->question++;
	request.key = key_of(file);

	set_state(file, want_fd ? FILE_OPENING : FILE_VERIFYING);
	file->apart = want_fd && target_is_slow(files->target, &file->process);
	r = files->target->ask(files->target, &request);
	if (r == 0 && want_fd)
		count_opening(files, file, 1);
	/* the next answer makes room for the question */
	if (r == -EAGAIN)
		set_state(file, want_fd ? FILE_UNKNOWN : FILE_KNOWN);
	else if (r < 0)
		file_fail(files, file, r, file->asked);
}

/* Two stacked file systems may list the same numbers for different files. */
static bool is_fresh(const struct file *file, uint32_t pid, uint64_t now)
{
	if (file->foreign && file->process.pid != pid)
		return false;
	return file->object && now - file->verified < FILE_TRUSTED_FOR;
}

static bool is_last_question(const struct file *file, struct target_process process, uint64_t start,
			     uint64_t end)
{
	return file->process.pid == process.pid && file->process.thread == process.thread &&
	       file->start == start && file->end == end;
}

/* Tells which questions wait apart since a group became slow. Those stay apart until the answer,
 * even when the group is not slow any more. */
static void follow_slowed(struct files *files)
{
	size_t cursor = 0;
	uint64_t key;
	void *value;

	if (files->slowed == files->target->slowed)
		return;
	files->slowed = files->target->slowed;
	while (map_next(files->by_number, &cursor, &key, &value)) {
		struct file *file = value;

		if (file->state != FILE_OPENING || file->apart ||
		    !target_is_slow(files->target, &file->process))
			continue;
		count_opening(files, file, -1);
		file->apart = true;
		count_opening(files, file, 1);
	}
}

/* The cgroup pays for the parsing. Whoever belongs to none has the limits of a process alone. */
static bool cgroup_is_within_limits(const struct files *files, struct target_process process,
				    size_t all)
{
	size_t own = openings_of_group(&files->openings, process) +
		     objects_waiting_for(files->objects, process.group.cgroup);

	return own < PARSER_RESTING_MAX && own < FILES_AT_ONCE_MAX - all &&
	       objects_have_place(files->objects, process.group.cgroup);
}

/* A process or cgroup with many files gets at most as many places as it leaves to others, so that
 * each newcomer finds some. */
static bool is_within_limits(const struct files *files, struct target_process process)
{
	size_t all = files->openings.count + objects_parsing(files->objects);
	size_t own = openings_of_process(&files->openings, process) +
		     objects_parsing_for(files->objects, process.pid);

	if (target_is_slow(files->target, &process) &&
	    !openings_has_place_apart(&files->openings, process))
		return false;
	return own < FILES_OF_PROCESS_MAX && all < FILES_AT_ONCE_MAX &&
	       own < FILES_AT_ONCE_MAX - all && cgroup_is_within_limits(files, process, all);
}

static bool may_open(struct files *files, struct file *file, struct target_process process)
{
	bool within;

	follow_slowed(files);
	if (openings_of_process(&files->openings, process) >= FILES_ASKED_MAX)
		return false;
	if (map_get(files->busy_for, process.pid))
		return false;
	within = is_within_limits(files, process);
	files->put_off += !within && !file->put_off;
	file->put_off = !within;
	return within;
}

static struct object *object_if(const struct file *file, bool usable)
{
	if (!usable)
		return NULL;
	return file->object;
}

static bool is_asked(const struct file *file)
{
	return file->state == FILE_VERIFYING || file->state == FILE_OPENING;
}

/* Forgets a question that waits apart, so that another process can be asked at once. */
static void give_question_up(struct files *files, struct file *file)
{
	if (file->state == FILE_OPENING)
		count_opening(files, file, -1);
	if (has_object(file))
		set_state(file, FILE_KNOWN);
	else
		set_state(file, FILE_UNKNOWN);
}

static struct object *look(struct files *files, struct file *file, struct target_process process,
			   uint64_t start, uint64_t end, uint64_t now)
{
	bool fresh = is_fresh(file, process.pid, now);

	if (is_asked(file) && target_is_slow(files->target, &file->process) &&
	    !target_is_slow(files->target, &process))
		give_question_up(files, file);
	if (file->state == FILE_OPENING)
		return NULL;
	if (file->state == FILE_VERIFYING)
		return object_if(file, fresh);
	if (file->quarantined && (file->state == FILE_FAILED || file->state == FILE_KNOWN))
		return file->object;
	/* The process that was asked through may have ended, be denied, or have started another
	 * program. So a failure counts for the mapping that was asked about. */
	if (file->state == FILE_FAILED && fresh && is_last_question(file, process, start, end))
		return file->object;
	if (fresh && file->state == FILE_KNOWN && now - file->verified < FILE_VERIFIED_FOR)
		return file->object;
	if (file->round == files->round)
		return object_if(file, fresh && file->state == FILE_KNOWN);
	/* A mapping that is gone answers no better the second time. */
	if (file_is_gone(file, process, start, end) && now - file->asked < FILE_RETRY_AFTER)
		return object_if(file, file->state == FILE_KNOWN);
	/* files_changes() or objects_changes() tell when a place is free. */
	if (file->state != FILE_KNOWN && !may_open(files, file, process)) {
		file->waited = now;
		return NULL;
	}
	if (file->process.pid != process.pid)
		file->stale = 0;
	file->gone = false;
	file->process = process;
	file->start = start;
	file->end = end;
	file->asked = now;
	ask(files, file, file->state != FILE_KNOWN);
	/* A known object stays in use during the check: see file_replaces(). */
	if (fresh && (file->state == FILE_VERIFYING || file->state == FILE_KNOWN))
		return file->object;
	return object_if(file, file->state == FILE_FAILED);
}

struct object *files_object(struct files *files, struct file *file, struct target_process process,
			    uint64_t start, uint64_t end, uint64_t now)
{
	struct object *object = look(files, file, process, start, end, now);

	if (object)
		objects_ask(files->objects, object, process);
	return object;
}

bool file_is_gone(const struct file *file, struct target_process process, uint64_t start,
		  uint64_t end)
{
	return file->gone && is_last_question(file, process, start, end);
}

uint64_t file_device(const struct file *file)
{
	return file->device;
}

struct object *files_last_object(struct files *files, struct file *file, uint64_t now)
{
	if (file->state == FILE_VERIFYING || file->state == FILE_OPENING)
		return NULL;
	/* another process, which can be asked, waits for a place */
	if (!file->object && file->waited && now - file->waited < FILE_RETRY_AFTER)
		return NULL;
	if (!file->object)
		file_fail(files, file, -ESTALE, 0);
	return file->object;
}

uint64_t files_replaced(const struct files *files)
{
	return files->replaced;
}

bool file_replaces(const struct file *file, const struct object *object, uint64_t identified)
{
	return file->state == FILE_KNOWN && !file->foreign && file->replaced != 0 &&
	       file->object != object && identified >= file->replaced;
}

uint64_t files_put_off(const struct files *files)
{
	return files->put_off;
}

static void clear_busy(struct files *files)
{
	size_t cursor = 0;
	uint64_t pid;
	void *value;

	while (map_next(files->busy_for, &cursor, &pid, &value))
		map_remove(files->busy_for, pid);
}

void files_retry(struct files *files)
{
	if (!files->put_back)
		return;
	clear_busy(files);
	files->put_back = false;
	files->round++;
	files->changes++;
}

uint64_t files_changes(const struct files *files)
{
	return files->changes + files->target->slowed;
}

void file_mark(struct file *file)
{
	file->marked = true;
	if (file->object)
		file->object->marked = true;
}

static void forget(struct files *files, const struct file *file)
{
	chain_remove(files->by_listing, listing_hash(file->device, file->inode), &file->chain);
	map_remove(files->by_number, file->number);
}

void file_keep(struct file *file)
{
	file->marked = true;
}

static void sweep(struct files *files, bool (*keeps)(const struct file *file))
{
	size_t cursor = 0;
	uint64_t key;
	void *value;

	while (map_next(files->by_number, &cursor, &key, &value)) {
		struct file *file = value;
		bool keep = file->marked || keeps(file);

		file->marked = false;
		if (keep)
			continue;
		forget(files, file);
		file_free(file);
	}
}

/* Keeps the object of a file as well: the answer may be that the object is still the same. */
static bool keep_asked(const struct file *file)
{
	bool asked = is_asked(file);

	if (asked && file->object)
		file->object->marked = true;
	return asked;
}

static bool keep_known(const struct file *file)
{
	return file->object || file->state != FILE_UNKNOWN;
}

void files_sweep(struct files *files)
{
	sweep(files, keep_asked);
}

void files_sweep_unasked(struct files *files)
{
	sweep(files, keep_known);
}
