/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/made/names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/runtimes.h"
#include "ipc/guard.h"
#include "worker/made/map_file.h"
#include "worker/made/ranges.h"
#include "worker/process/mapping.h"
#include "worker/process/object.h"
#include "worker/process/process.h"
#include "worker/target/target.h"

/* A process that was sampled in code made at run time. */
struct maker {
	uint32_t pid;
	uint64_t generation;
	bool asked, forbidden;
	int error;	     /* of the last answer */
	uint64_t after, gap; /* when to ask again */
	struct map_file *file;
	uint64_t looked; /* the file was read as it was then */
	uint64_t wanted; /* the time of the youngest sample */
	bool behind;	 /* more is to be read */
	/* Numbers by the place of a range, until the file is read anew. */
	struct map *numbers;
	unsigned int restarts;
	bool is_pending; /* an address waits for a name */
};

/* An address whose name may still come: programs write a dump late. */
struct pending {
	uint64_t generation, address;
};
#define PENDING_BIT (1u << 31) /* of a number: the rest is an index */

struct made_names {
	struct target *target;
	const struct processes *processes;
	uint64_t (*clock)(void);
	struct map *makers; /* by generation */
	struct intern *text;
	size_t ranges, files, text_bytes;
	struct pending *pending;
	size_t pending_count, pending_capacity;
	struct map *pending_numbers; /* numbers by a mix of both fields */
	size_t left;		     /* bytes that may be read now */
	uint64_t since;		     /* when `left` grew last */
	uint64_t answers, tidied;
	struct made_counts counts;
};

/* ---- life ---- */

struct made_names *made_names_new(struct target *target, const struct processes *processes,
				  uint64_t (*clock)(void))
{
	struct made_names *names = calloc(1, sizeof(*names));

	if (!names)
		return NULL;
	names->target = target;
	names->processes = processes;
	names->clock = clock;
	names->left = MADE_BYTES_AHEAD;
	names->since = clock();
	names->makers = map_new();
	names->text = intern_new();
	names->pending_numbers = map_new();
	if (!names->makers || !names->text || !names->pending_numbers) {
		made_names_free(names);
		return NULL;
	}
	return names;
}

static void close_file(struct made_names *names, struct maker *maker)
{
	if (!maker->file)
		return;
	names->counts.refused += map_file_refused(maker->file);
	map_file_free(maker->file);
	maker->file = NULL;
	maker->behind = false;
	names->files--;
}

static void free_maker(struct made_names *names, struct maker *maker)
{
	close_file(names, maker);
	map_free(maker->numbers);
	free(maker);
}

void made_names_free(struct made_names *names)
{
	size_t cursor = 0;
	uint64_t key;
	void *maker;

	if (!names)
		return;
	while (names->makers && map_next(names->makers, &cursor, &key, &maker))
		free_maker(names, maker);
	map_free(names->makers);
	map_free(names->pending_numbers);
	intern_free(names->text);
	free(names->pending);
	free(names);
}

static struct maker *find_maker(const struct made_names *names, uint64_t generation)
{
	return map_get(names->makers, generation);
}

static struct maker *add_maker(struct made_names *names, const struct process *process)
{
	struct maker *maker;

	if (map_count(names->makers) >= MADE_PROCESSES_MAX) {
		names->counts.refused++;
		return NULL;
	}
	maker = calloc(1, sizeof(*maker));
	if (!maker)
		return NULL;
	maker->pid = process->pid;
	maker->generation = process->generation;
	maker->gap = MADE_GAP_FIRST;
	if (map_put(names->makers, process->generation, maker) < 0) {
		free(maker);
		return NULL;
	}
	return maker;
}

/* ---- files ---- */

static void put_off(struct maker *maker, int error, uint64_t now)
{
	maker->error = error;
	maker->after = now + maker->gap;
	maker->gap *= 2;
	if (maker->gap > MADE_GAP_MAX)
		maker->gap = MADE_GAP_MAX;
}

static size_t at_most(size_t value, size_t most)
{
	if (value < most)
		return value;
	return most;
}

/* The places of ranges mean other lines where the file was read anew. */
static void forget_numbers(struct maker *maker)
{
	if (maker->restarts == map_file_restarts(maker->file))
		return;
	maker->restarts = map_file_restarts(maker->file);
	map_free(maker->numbers);
	maker->numbers = NULL;
}

/* Reads what is new, as far as this turn allows. */
static void read_file(struct made_names *names, struct maker *maker, uint64_t now)
{
	const uint64_t before = map_file_bytes(maker->file);
	int r = map_file_read(maker->file, at_most(names->left, MADE_FILE_BYTES), maker->wanted);
	const uint64_t bytes = map_file_bytes(maker->file) - before;

	names->left -= at_most(names->left, bytes);
	maker->behind = r == 1;
	maker->looked = now;
	if (map_file_is_timed(maker->file))
		maker->looked = maker->wanted;
	if (bytes > 0)
		names->answers++;
	forget_numbers(maker);
	if (r < 0)
		maker->error = r; /* the old names hold until another file is there */
}

/* key: the generation of the process. */
static void on_answer(void *context, uint64_t key, struct target_reply *reply)
{
	struct made_names *names = context;
	struct maker *maker = find_maker(names, key);
	const uint64_t now = names->clock();

	names->answers++;
	if (!maker)
		return;
	maker->asked = false;
	maker->forbidden = reply->error == -EPERM;
	if (reply->error == 0 && !maker->file && names->files >= MADE_FILES_MAX)
		reply->error = -EMFILE;
	if (reply->error < 0) {
		put_off(maker, reply->error, now);
		return;
	}
	close_file(names, maker);
	map_free(maker->numbers);
	maker->numbers = NULL;
	maker->restarts = 0;
	maker->file = map_file_new(take_fd(&reply->fd), &names->ranges);
	if (!maker->file) {
		put_off(maker, -ENOMEM, now);
		return;
	}
	maker->error = 0;
	maker->after = now + MADE_GAP_FIRST;
	names->files++;
	names->counts.files++;
	read_file(names, maker, now);
}

/*
 * Returns the mapping of jit-PID.dump, or NULL. A program maps the file executable for profilers to
 * see: only so does it get into a list of mappings.
 */
static const struct mapping *find_dump(const struct process *process)
{
	static const char start[] = "jit-", end[] = ".dump";
	const struct mappings *mappings = process->mappings;

	for (size_t i = 0; mappings && i < mappings->open_count; i++) {
		const struct object *object = mappings->open[i].object;
		const char *name = object ? strrchr(object->name, '/') : NULL;

		if (!name || strncmp(name + 1, start, sizeof(start) - 1) != 0)
			continue;
		if (strcmp(name + strlen(name) - (sizeof(end) - 1), end) == 0)
			return &mappings->open[i];
	}
	return NULL;
}

/* Returns whether an answer is under way. */
static bool ask(struct made_names *names, struct maker *maker, const struct process *process,
		uint64_t now)
{
	const struct mapping *dump = find_dump(process);
	struct target_request request = {
		.kind = TARGET_CODE,
		.process = process_asked(process),
		.generation = process->generation,
		.done = on_answer,
		.context = names,
		.key = process->generation,
	};

	if (maker->asked)
		return true;
	if (maker->forbidden || now < maker->after || process_state_is_ended(process->state))
		return false;
	if (target_is_slow(names->target, &request.process))
		return false;
	if (dump) {
		request.start = dump->start;
		request.end = dump->end;
	}
	if (names->target->ask(names->target, &request) < 0) {
		put_off(maker, -EAGAIN, now);
		return false;
	}
	maker->asked = true;
	return true;
}

bool made_names_want(struct made_names *names, const struct process *process, uint64_t time,
		     uint64_t now)
{
	struct maker *maker = find_maker(names, process->generation);

	if (!maker)
		maker = add_maker(names, process);
	if (!maker)
		return false;
	if (maker->wanted < time)
		maker->wanted = time;
	if (!maker->file)
		return ask(names, maker, process, now);
	if (maker->looked < time && !maker->behind)
		read_file(names, maker, now);
	if (maker->error < 0 && ask(names, maker, process, now))
		return true;
	return maker->behind;
}

static void tidy(struct made_names *names, uint64_t now)
{
	size_t cursor = 0;
	uint64_t key;
	void *value;

	if (now < names->tidied + NS_PER_SECOND)
		return;
	names->tidied = now;
	while (map_next(names->makers, &cursor, &key, &value)) {
		struct maker *maker = value;

		if (maker->is_pending ||
		    processes_find(names->processes, maker->pid, maker->generation))
			continue;
		map_remove(names->makers, key);
		free_maker(names, maker);
	}
}

/* Adds what may be read for the time that has passed, in whole milliseconds. */
static void earn(struct made_names *names, uint64_t now)
{
	uint64_t passed = (now - names->since) / NS_PER_MS;

	names->since += passed * NS_PER_MS;
	if (passed > 1000)
		passed = 1000;
	names->left = at_most(names->left + passed * (MADE_BYTES_RATE / 1000), MADE_BYTES_AHEAD);
}

bool made_names_turn(struct made_names *names, uint64_t now)
{
	size_t cursor = 0;
	uint64_t key;
	void *value;
	bool behind = false;

	earn(names, now);
	while (names->files > 0 && map_next(names->makers, &cursor, &key, &value)) {
		struct maker *maker = value;

		if (maker->behind)
			read_file(names, maker, now);
		behind |= maker->behind;
	}
	tidy(names, now);
	return behind && names->left >= MADE_FILE_BYTES;
}

uint64_t made_names_answers(const struct made_names *names)
{
	return names->answers;
}

/* ---- names ---- */

static uint32_t add_text(struct made_names *names, const char *text, size_t bytes)
{
	const uint32_t before = intern_count(names->text);
	uint32_t number;

	if (names->text_bytes + bytes > MADE_TEXT_MAX) {
		names->counts.refused++;
		return 0;
	}
	number = intern_add(names->text, text, bytes);
	if (number == INTERN_FAILED)
		return 0;
	if (intern_count(names->text) > before)
		names->text_bytes += bytes;
	return number;
}

static uint32_t known_number(struct maker *maker, uint64_t key)
{
	if (!maker->numbers)
		maker->numbers = map_new();
	if (!maker->numbers)
		return 0;
	return (uint32_t)(uintptr_t)map_get(maker->numbers, key);
}

static void keep_number(struct maker *maker, uint64_t key, uint32_t number)
{
	if (number && maker->numbers)
		map_put(maker->numbers, key, (void *)(uintptr_t)number);
}

/* Returns the number of a range's name, which is read at its first sample. */
static uint32_t number_of(struct made_names *names, struct maker *maker,
			  const struct made_range *range)
{
	char text[PERF_MAP_NAME_MAX];
	uint32_t number = known_number(maker, range->place);
	int bytes;

	if (number)
		return number;
	bytes = map_file_name(maker->file, range, text);
	if (bytes < 1)
		return 0;
	number = add_text(names, text, (size_t)bytes);
	keep_number(maker, range->place, number);
	return number;
}

#define LINE_TEXT_BYTES 16u

/*
 * Returns the number of an address whose line a dump has told, or that of the range. The text of
 * such a number is the name, the file and the line, with NULs between them. That of the function is
 * the same without the line.
 */
static uint32_t number_at(struct made_names *names, struct maker *maker,
			  const struct made_range *range, uint64_t address)
{
	const uint64_t key = ((range->place + 1ull) * 0x9e3779b97f4a7c15ull) ^ address;
	char text[PERF_MAP_NAME_MAX + MAP_FILE_SOURCE_MAX + LINE_TEXT_BYTES];
	struct map_file_source source;
	uint32_t number = known_number(maker, key);
	size_t bytes;
	int r;

	if (number)
		return number;
	if (!maker->numbers || map_count(maker->numbers) >= MADE_SOURCES_MAX ||
	    map_file_source(maker->file, range, address, &source) < 0)
		return number_of(names, maker, range);
	r = map_file_name(maker->file, range, text);
	if (r < 1)
		return 0;
	bytes = (size_t)r;
	text[bytes++] = '\0';
	memcpy(text + bytes, source.file, strlen(source.file));
	bytes += strlen(source.file);
	if (!add_text(names, text, bytes))
		return 0;
	bytes += (size_t)snprintf(text + bytes, LINE_TEXT_BYTES, "%c%u", '\0', source.line);
	number = add_text(names, text, bytes);
	keep_number(maker, key, number);
	return number;
}

static uint32_t find_in(struct made_names *names, uint64_t generation, uint64_t address)
{
	struct maker *maker = find_maker(names, generation);
	struct made_range range;

	if (!maker || !maker->file || !map_file_find(maker->file, address, &range))
		return 0;
	return number_at(names, maker, &range, address);
}

/* A fork has the code of its parent, which the parent's file names. */
static uint32_t look_up(struct made_names *names, const struct process *process, uint64_t address)
{
	uint32_t number = find_in(names, process->generation, address);

	if (number == 0 && process->family != process->generation)
		number = find_in(names, process->family, address);
	return number;
}

/* Returns a number for an address in the code of a dump that has no name yet, or 0. */
static uint32_t add_pending(struct made_names *names, uint64_t generation, uint64_t address)
{
	const uint64_t key = (generation * 0x9e3779b97f4a7c15ull) ^ address;
	struct maker *maker = find_maker(names, generation);
	const struct pending *known;
	uint32_t number;

	if (!maker || !maker->file || !map_file_is_timed(maker->file))
		return 0;
	number = (uint32_t)(uintptr_t)map_get(names->pending_numbers, key);
	if (number) {
		known = &names->pending[number & ~PENDING_BIT];
		return known->generation == generation && known->address == address ? number : 0;
	}
	if (names->pending_count >= MADE_PENDING_MAX ||
	    ARRAY_RESERVE(names->pending, names->pending_capacity, names->pending_count + 1) < 0)
		return 0;
	number = PENDING_BIT | (uint32_t)names->pending_count;
	if (map_put(names->pending_numbers, key, (void *)(uintptr_t)number) < 0)
		return 0;
	names->pending[names->pending_count++] = (struct pending){generation, address};
	maker->is_pending = true;
	return number;
}

uint32_t made_names_find(struct made_names *names, const struct process *process, uint64_t address)
{
	uint32_t number = look_up(names, process, address);

	if (number == 0)
		number = add_pending(names, process->generation, address);
	names->counts.without += number == 0;
	return number;
}

void made_names_settle(struct made_names *names)
{
	size_t cursor = 0, left = MADE_SETTLE_BYTES;
	uint64_t key;
	void *value;

	while (map_next(names->makers, &cursor, &key, &value)) {
		struct maker *maker = value;
		int r = maker->is_pending && maker->file;

		for (; r == 1 && left > 0; left -= MADE_FILE_BYTES)
			r = map_file_read(maker->file, MADE_FILE_BYTES, UINT64_MAX);
		if (maker->file)
			forget_numbers(maker);
		maker->is_pending = false;
	}
}

void made_names_begin(struct made_names *names)
{
	size_t cursor = 0;
	uint64_t key;
	void *value;

	while (map_next(names->pending_numbers, &cursor, &key, &value))
		map_remove(names->pending_numbers, key);
	names->pending_count = 0;
}

uint32_t made_names_settled(struct made_names *names, uint32_t number)
{
	const struct pending *pending;

	if (!(number & PENDING_BIT))
		return number;
	pending = &names->pending[number & ~PENDING_BIT];
	return find_in(names, pending->generation, pending->address);
}

const char *made_names_get(const struct made_names *names, uint32_t number)
{
	size_t bytes;

	if (number & PENDING_BIT)
		return "";
	return intern_get(names->text, number, &bytes);
}

bool made_names_source(struct made_names *names, uint32_t number, struct made_source *ret_source)
{
	const char *text, *line;
	size_t bytes, name;

	if (number & PENDING_BIT)
		return false;
	text = intern_get(names->text, number, &bytes);
	name = strnlen(text, bytes);
	if (name == bytes)
		return false;
	line = memchr(text + name + 1, '\0', bytes - name - 1);
	if (!line)
		return false;
	ret_source->file = text + name + 1;
	ret_source->line = (uint32_t)strtoul(line + 1, NULL, 10);
	ret_source->function = intern_add(names->text, text, (size_t)(line - text));
	return ret_source->function != INTERN_FAILED;
}

bool made_names_is_stub(const struct made_names *names, uint32_t number)
{
	static const char start[] = "py::";

	return strncmp(made_names_get(names, number), start, sizeof(start) - 1) == 0;
}

bool made_names_keeps_frames(struct made_names *names, const struct process *process,
			     uint64_t address, bool leaf)
{
	static const char start[] = "JS:";
	const uint32_t runtime = made_names_runtime(process);
	const bool is_v8 = runtime == RUNTIME_NODE || runtime == RUNTIME_V8;
	uint32_t number;

	if (!is_v8 && (leaf || (runtime != RUNTIME_DOTNET && runtime != RUNTIME_ERLANG)))
		return false;
	number = look_up(names, process, address);
	if (number == 0 || !leaf)
		return number != 0;
	return strncmp(made_names_get(names, number), start, sizeof(start) - 1) == 0;
}

uint32_t made_names_runtime(const struct process *process)
{
	const struct mappings *mappings = process->mappings;

	for (size_t i = 0; mappings && i < mappings->open_count; i++)
		if (mappings->open[i].object && mappings->open[i].object->runtime)
			return mappings->open[i].object->runtime;
	return RUNTIME_NONE;
}

/* ---- figures ---- */

int made_names_error(const struct made_names *names, const struct process *process)
{
	const struct maker *maker = find_maker(names, process->generation);

	if (!maker || maker->file)
		return 0;
	return maker->error;
}

bool made_names_has(const struct made_names *names, const struct process *process)
{
	const struct maker *maker = find_maker(names, process->generation);

	return maker && maker->file;
}

void made_names_counts(const struct made_names *names, struct made_counts *ret_counts)
{
	size_t cursor = 0;
	uint64_t key;
	void *value;

	*ret_counts = names->counts;
	while (map_next(names->makers, &cursor, &key, &value)) {
		const struct maker *maker = value;

		if (maker->file)
			ret_counts->refused += map_file_refused(maker->file);
	}
}
