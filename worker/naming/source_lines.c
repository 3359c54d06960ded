/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/naming/source_lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ipc/guard.h"
#include "ipc/log.h"
#include "ipc/messages.h"
#include "base/redact.h"
#include "worker/naming/debug_file.h"
#include "object/dwarf/answer.h"
#include "object/debug/reader.h"
#include "object/dwarf/merge.h"
#include "object/elf/image.h"
#include "worker/naming/groups.h"
#include "base/memory_file.h"
#include "worker/naming/naming.h"
#include "worker/process/object.h"
#include "profile/profile.h"
#include "worker/naming/debug_peer.h"

#define LOGGED_MAX 50 /* the loader accepts 200 lines in a second */

struct hot {
	const struct object *object;
	uint64_t frames; /* of samples */
};

struct source_lines {
	const struct naming_parts *parts;
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
	size_t samples;
	const struct profile_sample *sample = profile_samples(profile, &samples);
	const uint32_t *locations;

	for (size_t i = 0; frames && i < samples; i++, sample++)
		for (size_t n = profile_stack_get(profile, sample->stack, &locations); n > 0; n--)
			frames[profile_location_get(profile, locations[n - 1])->object] +=
				sample->count;
	return frames;
}

static int by_frames(const void *a, const void *b)
{
	const struct hot *left = a, *right = b;

	if (left->frames != right->frames)
		return left->frames > right->frames ? -1 : 1;
	return left->object->profile_id < right->object->profile_id ? -1 : 1;
}

/* Returns the objects that have a file, the hottest first. NULL: no memory. */
static struct hot *find_hot(const struct naming_parts *parts, size_t *ret_count)
{
	guard_free uint64_t *frames = count_frames(parts->profile);
	struct hot *hot = calloc((size_t)profile_objects(parts->profile) + 1, sizeof(*hot));
	const struct object *object;
	size_t cursor = 0, count = 0;

	while (frames && hot && (object = objects_next(parts->objects, &cursor)) != NULL)
		if (object->profile_id && object->fd >= 0 && !object->anonymous)
			hot[count++] = (struct hot){object, frames[object->profile_id]};
	if (hot)
		qsort(hot, count, sizeof(*hot), by_frames);
	*ret_count = count;
	return hot;
}

/* Collects the places without a line. Other places have lines from the object itself (Go). */
static void find_places(struct source_lines *inlines, uint32_t object)
{
	const struct groups *groups = inlines->groups;

	inlines->count = 0;
	for (uint32_t i = groups->first[object]; i < groups->first[object + 1]; i++) {
		const struct place *place = &groups->places[i];

		if (profile_location_get(inlines->parts->profile, place->location)->line == 0)
			inlines->places[inlines->count++] = *place;
	}
	qsort(inlines->places, inlines->count, sizeof(*inlines->places), place_compare);
	inlines->unique = place_addresses(inlines->places, inlines->count, inlines->addresses);
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

/*
 * Returns the file with debug information: the object's own file, or another one, which *ret_own
 * then owns. -ENOENT: there is no such file.
 */
static int find_file(const struct naming_parts *parts, const struct object *object, int *ret_own)
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
		fd = r ? r : object->fd;
	} else if (debug_file_open(parts->debug_files, image, object->name, &other) == 0) {
		image_close(other.image);
		fd = *ret_own = other.fd;
	}
	image_close(image);
	return fd;
}

static int make_file(const void *bytes, size_t size)
{
	guard_fd int fd = memory_file("keyhole-addresses");

	if (fd < 0)
		return fd;
	if (write(fd, bytes, size) != (ssize_t)size)
		return -EIO;
	return take_fd(&fd);
}

/* Reads the answer. Seals its file first, so that the writer can neither change nor cut it. */
static int read_answer(struct source_lines_counts *counts, int fd, size_t addresses,
		       struct answer **ret_answer)
{
	const uint64_t most = reader_limits[READER_RECORDING].answer;
	uint64_t left = SOURCE_LINES_BYTES_MAX - counts->bytes;
	struct stat status;
	int r;

	if (fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) ||
	    fstat(fd, &status))
		return -EBADMSG;
	if (left > most)
		left = most;
	r = answer_read_file(fd, left, addresses, ret_answer);
	if (r != -EFBIG)
		counts->bytes += (uint64_t)status.st_size;
	return r;
}

/* Returns 0 for a complete answer. -ENODATA: debug information is missing. */
static int judge(const struct answer_summary *summary)
{
	if (summary->status == ANSWER_TIME)
		return -ETIME;
	if (summary->status != ANSWER_COMPLETE || summary->split || summary->damaged ||
	    summary->alt_id_size)
		return -ENODATA;
	return 0;
}

static int ask(struct source_lines *inlines, int file, uint64_t left)
{
	const struct naming_parts *parts = inlines->parts;
	const uint64_t time = left < SOURCE_LINES_OBJECT_MAX ? left : SOURCE_LINES_OBJECT_MAX;
	const struct message_lines question = {inlines->unique, (uint32_t)(time / NS_PER_MS)};
	guard_fd int addresses =
		make_file(inlines->addresses, inlines->unique * sizeof(*inlines->addresses));
	guard_fd int file_of_answer = memory_file("keyhole-lines");
	struct answer *answer;
	int r;

	if (addresses < 0)
		return addresses;
	if (file_of_answer < 0)
		return file_of_answer;
	parts->inlines->asked++;
	r = debug_peer_lines(parts->debug_files, file, &question, addresses, file_of_answer);
	if (r == 0)
		r = read_answer(parts->inlines, file_of_answer, inlines->unique, &answer);
	if (r < 0)
		return r;
	r = merge_places(parts->profile, inlines->places, inlines->count, answer,
			 &parts->inlines->merged);
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

static int take_object(struct source_lines *inlines, const struct object *object)
{
	const struct naming_parts *parts = inlines->parts;
	guard_fd int own = -1;
	int file = find_file(parts, object, &own);
	uint64_t now = parts->clock(), left = inlines->deadline > now ? inlines->deadline - now : 0;

	if (file < 0)
		return file == -ENOENT ? 0 : file;
	if (left < SOURCE_LINES_OBJECT_MIN)
		return -ETIME;
	if (parts->inlines->asked >= SOURCE_LINES_OBJECTS_MAX ||
	    inlines->unique > reader_limits[READER_RECORDING].addresses)
		return -E2BIG;
	return ask(inlines, file, left);
}

static void take_objects(struct source_lines *inlines)
{
	const struct naming_parts *parts = inlines->parts;
	size_t count;
	guard_free struct hot *hot = find_hot(parts, &count);

	for (size_t i = 0; hot && i < count; i++) {
		int r;

		find_places(inlines, hot[i].object->profile_id);
		if (inlines->unique == 0)
			continue;
		r = take_object(inlines, hot[i].object);
		if (r == 0)
			continue;
		if (++parts->inlines->left > LOGGED_MAX)
			continue;
		log_info("lines: %s: debug information: %s", hot[i].object->name, reason_of(r));
	}
}

void source_lines_run(const struct naming_parts *parts, const struct groups *groups)
{
	const uint64_t began = parts->clock();
	const size_t most = (size_t)profile_locations(parts->profile) + 1;
	guard_free struct place *places = calloc(most, sizeof(*places));
	guard_free uint64_t *addresses = calloc(most, sizeof(*addresses));
	struct source_lines inlines = {
		.parts = parts,
		.groups = groups,
		.deadline = began + SOURCE_LINES_BUDGET,
		.places = places,
		.addresses = addresses,
	};

	if (parts->debug_files && redact_keeps(parts->redact, REDACT_PATH) &&
	    redact_keeps(parts->redact, REDACT_FUNCTION) && places && addresses)
		take_objects(&inlines);
	parts->inlines->time = parts->clock() - began;
}
