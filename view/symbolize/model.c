/* SPDX-License-Identifier: Apache-2.0 */
#include "view/symbolize/model.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ipc/guard.h"
#include "ipc/log.h"
#include "ipc/messages.h"
#include "object/debug/ask.h"
#include "object/debug/reader.h"
#include "object/dwarf/answer.h"
#include "object/dwarf/merge.h"
#include "policy/policy.h"
#include "profile/format/format.h"
#include "profile/format/names.h"
#include "profile/read/pprof_read.h"
#include "profile/read/unpack.h"
#include "profile/place.h"
#include "profile/profile.h"

struct model {
	const struct model_files *files;
	struct model_peer *peer;
	struct profile *profile;
	struct pprof_info info;
	struct place *places; /* by object and address */
	size_t place_count;
	uint64_t *addresses;
	struct merge_counts counts;
	uint64_t objects, objects_read, without_id, too_large;
};

static int failed(const char *object, const char *reason)
{
	log_error("symbolize: %s: %s", object, reason);
	return EXIT_FAILED;
}

static int unreadable(const char *file, const char *reason)
{
	log_error("symbolize: %s: %s; name another, of keyhole record (.pb.gz)", file, reason);
	return EXIT_FAILED;
}

/* ---- places ---- */

static uint32_t object_of(const struct model *model, const struct place *place)
{
	return profile_location_get(model->profile, place->location)->object;
}

static int by_object_and_address(const void *a, const void *b, void *opaque)
{
	const struct model *model = opaque;
	const struct place *left = a, *right = b;
	uint32_t left_object = object_of(model, left), right_object = object_of(model, right);

	if (left_object != right_object)
		return left_object < right_object ? -1 : 1;
	return place_compare(left, right);
}

static int sort_places(struct model *model)
{
	uint32_t count = profile_locations(model->profile);

	model->places = calloc((size_t)count + 1, sizeof(*model->places));
	model->addresses = calloc((size_t)count + 1, sizeof(*model->addresses));
	if (!model->places || !model->addresses)
		return -ENOMEM;
	for (uint32_t id = 1; id <= count; id++)
		model->places[model->place_count++] =
			(struct place){profile_location_get(model->profile, id)->address, id};
	qsort_r(model->places, model->place_count, sizeof(*model->places), by_object_and_address,
		model);
	return 0;
}

/* ---- one object ---- */

static int hex_digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = strchr(digits, c);

	if (!c || !at)
		return -1;
	return (int)(at - digits);
}

/* Parses a build id in lower-case digits, as keyhole writes it. Other texts give the size 0. */
static uint32_t parse_id(const char *hex, unsigned char ret_id[LINES_ID_MAX])
{
	size_t length = strlen(hex);

	if (length % 2 || length / 2 > LINES_ID_MAX)
		return 0;
	for (size_t i = 0; i < length; i += 2) {
		int high = hex_digit(hex[i]), low = hex_digit(hex[i + 1]);

		if (high < 0 || low < 0)
			return 0;
		ret_id[i / 2] = (unsigned char)(high << 4 | low);
	}
	return (uint32_t)(length / 2);
}

static int ask(const struct model *model, const struct message_lines_object *object, uint32_t count)
{
	const struct message_lines question = {
		.count = count, .milliseconds = reader_limits[READER_PROFILE].milliseconds};
	struct model_peer *peer = model->peer;
	const size_t size = count * sizeof(*model->addresses);

	if (ftruncate(peer->addresses, 0) ||
	    pwrite(peer->addresses, model->addresses, size, 0) != (ssize_t)size)
		return -EIO;
	if (channel_send(&peer->channel, MESSAGE_LINES_OBJECT, object, sizeof(*object), -1))
		return -EPIPE;
	return debug_ask(&peer->channel, &question, peer->addresses, peer->answer, INT_MAX);
}

static const char *reason_of(int error)
{
	switch (error) {
	case -ETIME:
		return "debug information: not read in its time";
	case -EBADMSG:
		return "debug information: the process that read it was ended";
	case -ENOENT:
		return "no file of this build id";
	case -ENOMEM:
		return "debug information: needs more memory than its limit";
	default:
		return strerror(-error);
	}
}

static const char *reason_of_answer(const struct answer_summary *summary)
{
	switch (summary->status) {
	case ANSWER_NONE:
		return "no debug information, symbols only";
	case ANSWER_NO_ELF:
		return "not an ELF file";
	case ANSWER_TIME:
		return "debug information: time is over, the rest has no lines";
	default:
		break;
	}
	if (summary->split)
		return "debug information is in .dwo files: no inlined functions";
	if (summary->alt_id_size)
		return "parts of its debug information are in a file that is not there (dwz)";
	return summary->damaged ? "debug information is damaged in parts" : NULL;
}

static int take_answer(struct model *model, const struct place *places, size_t count,
		       uint32_t unique, const char *name)
{
	struct answer *answer;
	const char *reason;
	int r = answer_read_file(model->peer->answer, ANSWER_BYTES_MAX, unique, &answer);

	if (r < 0) {
		log_warning("dwarf: %s: answer: %s", name, strerror(-r));
		if (r == -ENOMEM)
			return r;
		return 0;
	}
	reason = reason_of_answer(answer_summary(answer));
	if (reason)
		log_line(answer_summary(answer)->status == ANSWER_NONE ? LOG_LEVEL_INFO
								       : LOG_LEVEL_WARNING,
			 "dwarf: %s: %s", name, reason);
	r = merge_places(model->profile, places, count, answer, &model->counts);
	answer_free(answer);
	return r;
}

/* Asks about an object. model->addresses has the addresses of the places. */
static int ask_object(struct model *model, const struct place *places, size_t count,
		      uint32_t unique, const struct message_lines_object *object, const char *name)
{
	const int r = ask(model, object, unique);

	if (r == -EPIPE)
		return r;
	if (r < 0) {
		log_line(r == -ENOENT ? LOG_LEVEL_INFO : LOG_LEVEL_WARNING, "dwarf: %s: %s", name,
			 reason_of(r));
		return 0;
	}
	model->objects_read++;
	return take_answer(model, places, count, unique, name);
}

static int read_object(struct model *model, const struct place *places, size_t count)
{
	const struct profile_object *object =
		profile_object_get(model->profile, object_of(model, places));
	const char *path = profile_string_get(model->profile, object->name);
	struct message_lines_object wanted = {0};
	char name[FORMAT_NAME_MAX];
	uint32_t unique;

	if (object->kind != KIND_NATIVE)
		return 0;
	model->objects++;
	wanted.id_size = parse_id(profile_string_get(model->profile, object->build_id), wanted.id);
	unique = place_addresses(places, count, model->addresses);
	format_clean_name(name, sizeof(name), path);
	model->without_id += wanted.id_size == 0;
	if (unique > reader_limits[READER_PROFILE].addresses) {
		log_warning("dwarf: %s: more than %u addresses: not looked for", name,
			    reader_limits[READER_PROFILE].addresses);
		model->too_large++;
		return 0;
	}
	if (wanted.id_size == 0)
		return 0;
	if (strlen(path) < sizeof(wanted.path))
		memcpy(wanted.path, path, strlen(path) + 1);
	return ask_object(model, places, count, unique, &wanted, name);
}

static int read_objects(struct model *model)
{
	size_t first = 0;
	int r = 0;

	for (size_t i = 1; i <= model->place_count && r == 0; i++) {
		if (i < model->place_count &&
		    object_of(model, &model->places[i]) == object_of(model, &model->places[first]))
			continue;
		r = read_object(model, model->places + first, i - first);
		first = i;
	}
	return r;
}

/* ---- the profile ---- */

static const char *problem_of(const struct model *model, int error)
{
	if (model->info.problem[0])
		return model->info.problem;
	switch (error) {
	case -EBADMSG:
		return "gzip is damaged or cut";
	case -ENODATA:
		return "is empty";
	default:
		return strerror(-error);
	}
}

static int read_profile(struct model *model)
{
	static const struct pprof_options options;
	guard_free unsigned char *bytes = NULL;
	const char *name = model->files->name;
	size_t size = 0;
	int r = unpack_file(model->files->input, &bytes, &size);

	if (r == 0)
		r = pprof_read(bytes, size, &options, model->profile, &model->info);
	if (r)
		return unreadable(name, problem_of(model, r));
	if (!model->info.ours)
		return unreadable(name, "not written by keyhole: its addresses are not of objects");
	return EXIT_DONE;
}

static void say(const struct model *model)
{
	const struct merge_counts *counts = &model->counts;

	log_line(LOG_LEVEL_WARNING,
		 "symbolize: %s: %zu addresses: %" PRIu64 " have lines, %" PRIu64
		 " inlined functions, %" PRIu64 " named anew; of %" PRIu64 " objects %" PRIu64
		 " were read, %" PRIu64 " have no build id, %" PRIu64 " have too many addresses",
		 model->files->name, model->place_count, counts->lines, counts->inlined,
		 counts->named, model->objects, model->objects_read, model->without_id,
		 model->too_large);
}

static int write_profile(const struct model *model)
{
	static const struct format_options options;
	int r = format_pprof.render(model->profile, &model->info.times, &options,
				    model->files->output);

	if (r)
		return failed("output", strerror(-r));
	return EXIT_DONE;
}

int model_run(const struct model_files *files, struct model_peer *peer)
{
	static struct model model;
	int r = policy_confine_self(ROLE_PROFILE, NULL);

	if (r)
		return failed("confinement", strerror(-r));
	model.files = files;
	model.peer = peer;
	model.profile = profile_new();
	if (!model.profile)
		return failed(files->name, strerror(ENOMEM));
	r = read_profile(&model);
	if (r)
		return r;
	r = sort_places(&model);
	if (r == 0)
		r = read_objects(&model);
	if (r)
		return failed(files->name, strerror(-r));
	say(&model);
	return write_profile(&model);
}
