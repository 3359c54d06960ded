/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/naming/source_lines.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/redact.h"
#include "ipc/guard.h"
#include "ipc/log.h"
#include "ipc/messages.h"
#include "object/debug/reader.h"
#include "object/dwarf/answer.h"
#include "object/dwarf/merge.h"
#include "object/elf/image.h"
#include "profile/profile.h"
#include "worker/naming/debug_file.h"
#include "worker/naming/debug_peer.h"
#include "worker/naming/groups.h"
#include "worker/naming/resources.h"
#include "worker/process/object.h"

#define LOGGED_MAX 50 /* the loader accepts 200 lines in a second */

struct hot {
	const struct object *object;
	uint64_t frames; /* of samples */
};

struct source_lines {
	const struct resources *resources;
	struct source_lines_counts *counts;
	const struct groups *groups;
	uint64_t deadline;
	struct place *places; /* of one object, ascending; those without a line */
	size_t count;
	uint64_t *addresses; /* of the places, each once */
	uint32_t unique;
};

/* ---- the choice of objects and places ---- */

static uint64_t *count_frames(const struct profile *profile)
{
	uint64_t *frames = calloc((size_t)profile_objects(profile) + 1, sizeof(*frames));
	const size_t count = profile_samples(profile);

	for (size_t i = 0; frames && i < count; i++) {
		const struct profile_sample sample = profile_sample_get(profile, i);
		const uint32_t *locations;

		for (size_t n = profile_stack_get(profile, sample.stack, &locations); n > 0; n--)
			frames[profile_location_get(profile, locations[n - 1])->object] +=
				sample.count;
	}
	return frames;
}

static int by_frames(const void *a, const void *b)
{
	const struct hot *left = a, *right = b;

	if (left->frames != right->frames)
		return left->frames > right->frames ? -1 : 1;
	return left->object->profile_id < right->object->profile_id ? -1 : 1;
}

/* Returns the objects with a file, the hottest first. NULL: no memory. */
static struct hot *find_hot(const struct resources *resources, size_t *ret_count)
{
	guard_free uint64_t *frames = count_frames(resources->profile);
	struct hot *hot = calloc((size_t)profile_objects(resources->profile) + 1, sizeof(*hot));
	const struct object *object;
	size_t cursor = 0, count = 0;

	while (frames && hot && (object = objects_next(resources->objects, &cursor)) != NULL)
		if (object->profile_id && object->fd >= 0 && !object->anonymous)
			hot[count++] = (struct hot){object, frames[object->profile_id]};
	if (hot)
		qsort(hot, count, sizeof(*hot), by_frames);
	*ret_count = count;
	return hot;
}

/* Collects the places without a line. Other places have lines from the object itself (Go). */
static void find_places(struct source_lines *lines, uint32_t object)
{
	const struct groups *groups = lines->groups;

	lines->count = 0;
	for (uint32_t i = groups->first[object]; i < groups->first[object + 1]; i++) {
		const struct place *place = &groups->places[i];

		if (profile_location_get(lines->resources->profile, place->location)->line == 0)
			lines->places[lines->count++] = *place;
	}
	qsort(lines->places, lines->count, sizeof(*lines->places), place_compare);
	lines->unique = place_addresses(lines->places, lines->count, lines->addresses);
}

/* ---- one object ---- */

/* Refuses a file that not everybody may read, because a process of the user's gets the file. */
static int check_readable(int fd)
{
	struct stat status;

	if (fstat(fd, &status))
		return -errno;
	if (!(status.st_mode & S_IROTH))
		return -EACCES;
	return 0;
}

/* The file with debug information: the object's own, or another that ret_own owns. -ENOENT: there
 * is none. */
static int find_file(const struct resources *resources, const struct object *object, int *ret_own)
{
	struct image_place place;
	struct debug_file other;
	struct image *image;
	int r = image_open(object->fd, &image), fd = -ENOENT;

	if (r < 0)
		return -ENOENT;
	r = image_section_place(image, ".debug_info", &place);
	if (r == 0 || r == -ENOTSUP) {
		r = check_readable(object->fd);
		if (r == 0)
			fd = object->fd;
		else
			fd = r;
	} else if (debug_file_open(resources->debug_files, image, object->name, &other) == 0) {
		image_close(other.image);
		fd = *ret_own = other.fd;
	}
	image_close(image);
	return fd;
}

/* Reads a copy of the answer: its writer is another process, and is not trusted. */
static int read_answer(struct source_lines_counts *counts, int fd, size_t addresses,
		       struct answer **ret_answer)
{
	const uint64_t most = reader_limits[READER_RECORDING].answer;
	uint64_t left = SOURCE_LINES_BYTES_MAX - counts->bytes;
	struct stat status;
	int r;

	if (fstat(fd, &status))
		return -EBADMSG;
	if (left > most)
		left = most;
	r = answer_read_file(fd, left, addresses, ret_answer);
	if (r != -EFBIG)
		counts->bytes += (uint64_t)status.st_size;
	return r;
}

/* Returns 0, -ETIME when the reader had no more time, or -ENODATA when some lines are missing. */
static int judge(const struct answer_summary *summary)
{
	if (summary->status == ANSWER_TIME)
		return -ETIME;
	if (summary->status != ANSWER_COMPLETE || summary->split || summary->damaged ||
	    summary->alt_id_size)
		return -ENODATA;
	return 0;
}

static int ask(struct source_lines *lines, int file, uint64_t left)
{
	const struct resources *resources = lines->resources;
	const uint64_t time = left < SOURCE_LINES_OBJECT_MAX ? left : SOURCE_LINES_OBJECT_MAX;
	const struct message_lines question = {lines->unique, (uint32_t)(time / NS_PER_MS)};
	struct source_lines_counts *counts = lines->counts;
	struct answer *answer;
	int fd = -1;
	int r = debug_peer_lines(resources->debug_files, file, &question, lines->addresses, &fd);

	counts->asked++;
	if (r == 0)
		r = read_answer(counts, fd, lines->unique, &answer);
	if (r < 0)
		return r;
	r = merge_places(resources->profile, lines->places, lines->count, answer, &counts->merged);
	if (r == 0)
		r = judge(answer_summary(answer));
	answer_free(answer);
	return r;
}

static const char *reason_of(int error)
{
	switch (error) {
	case -ETIME:
		return "not read in its time";
	case -EPIPE:
		return "nobody reads it any more";
	case -EACCES:
		return "only its owner may read it";
	case -EBADMSG:
		return "the process that read it was ended";
	case -ENODATA:
		return "parts are damaged or in another file (.dwo, dwz)";
	case -ENOMEM:
		return "needs more memory than its limit";
	case -E2BIG:
		return "too many addresses or objects";
	default:
		return strerror(-error);
	}
}

static int take_object(struct source_lines *lines, const struct object *object)
{
	const struct resources *resources = lines->resources;
	const uint64_t now = resources->clock();
	guard_fd int own = -1;
	int file;

	/* first: looking for the file may take long, too */
	if (now + SOURCE_LINES_OBJECT_MIN > lines->deadline)
		return -ETIME;
	file = find_file(resources, object, &own);
	if (file == -ENOENT)
		return 0;
	if (file < 0)
		return file;
	if (lines->counts->asked >= SOURCE_LINES_OBJECTS_MAX ||
	    lines->unique > reader_limits[READER_RECORDING].addresses)
		return -E2BIG;
	return ask(lines, file, lines->deadline - now);
}

static void take_objects(struct source_lines *lines)
{
	const struct resources *resources = lines->resources;
	size_t count;
	guard_free struct hot *hot = find_hot(resources, &count);

	for (size_t i = 0; hot && i < count; i++) {
		int r;

		find_places(lines, hot[i].object->profile_id);
		if (lines->unique == 0)
			continue;
		r = take_object(lines, hot[i].object);
		if (r == 0)
			continue;
		if (++lines->counts->left > LOGGED_MAX)
			continue;
		log_info("lines: %s: debug information: %s", hot[i].object->name, reason_of(r));
	}
}

void source_lines_run(const struct resources *resources, struct source_lines_counts *counts,
		      const struct groups *groups)
{
	const uint64_t began = resources->clock();
	const size_t most = (size_t)profile_locations(resources->profile) + 1;
	guard_free struct place *places = calloc(most, sizeof(*places));
	guard_free uint64_t *addresses = calloc(most, sizeof(*addresses));
	struct source_lines lines = {
		.resources = resources,
		.counts = counts,
		.groups = groups,
		.deadline = began + SOURCE_LINES_BUDGET,
		.places = places,
		.addresses = addresses,
	};

	if (resources->debug_files && redact_keeps(resources->redact, REDACT_PATH) &&
	    redact_keeps(resources->redact, REDACT_FUNCTION) && places && addresses)
		take_objects(&lines);
	counts->time += resources->clock() - began;
}
