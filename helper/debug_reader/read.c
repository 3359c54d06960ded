/* SPDX-License-Identifier: Apache-2.0 */
#include "helper/debug_reader/read.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "ipc/time.h"
#include "object/dwarf/answer.h"
#include "object/dwarf/read.h"
#include "object/elf/image.h"
#include "object/symbol/cache.h"
#include "object/symbol/demangle.h"
#include "object/symbol/symtab.h"
#include "policy/policy.h"

struct reading {
	const struct reader_job *job;
	uint64_t *addresses;
	struct answer *answer;
};

/* Names one address by a symbol, unless the address has a name or inlined functions. */
static int set_name(struct reading *reading, size_t index, const struct symbol_match *match)
{
	struct answer *answer = reading->answer;
	const struct answer_frame *frames;
	struct answer_frame frame = {0};
	struct answer_function function = {0};
	size_t count = answer_get(answer, index, &frames);
	char *readable;

	if (count > 1)
		return 0;
	if (count > 0) {
		frame = frames[0];
		function = *answer_function_get(answer, frame.function);
	}
	if (function.name)
		return 0;
	readable = demangle(match->name);
	function.system_name = answer_string(answer, match->name);
	function.name = readable ? answer_string(answer, readable) : function.system_name;
	function.start = match->start;
	free(readable);
	frame.function = answer_function_add(answer, &function);
	if (function.name == ANSWER_FAILED || function.system_name == ANSWER_FAILED ||
	    frame.function == ANSWER_FAILED)
		return -ENOMEM;
	return answer_set(answer, index, &frame, 1);
}

/* Names by symbols the addresses that debug information does not cover. */
static int add_names(struct reading *reading, int fd)
{
	const size_t count = reading->job->address_count;
	struct symbol_match *matches = calloc(count + 1, sizeof(*matches));
	struct symbol_cache *cache = symbol_cache_new(SYMBOL_BYTES_MAX);
	struct image *image = NULL;
	int r = matches && cache ? 0 : -ENOMEM;

	if (r == 0 && image_open(fd, &image) == 0)
		symtab_resolve(cache, image, reading->addresses, count, matches);
	for (size_t i = 0; i < count && r == 0; i++)
		if (matches[i].name)
			r = set_name(reading, i, &matches[i]);
	symbol_cache_forget(cache, image);
	image_close(image); /* the process ends: the names are not freed */
	symbol_cache_free(cache);
	free(matches);
	return r;
}

/*
 * Returns whether the last file had no debug information. A file that is damaged, or takes too
 * long, has some: an answer from the next file would replace it.
 */
static bool has_none(struct answer *answer)
{
	const uint32_t status = answer_summary(answer)->status;

	return status == ANSWER_NONE || status == ANSWER_NO_ELF;
}

/* Finds the files that have the wanted build id. Returns whether there is one. */
static bool find_known(const struct reader_job *job, bool known[READER_FILES_MAX])
{
	bool any = false;

	for (unsigned int i = 0; i < job->file_count; i++) {
		known[i] = job->id_size == 0 ||
			   dwarf_has_build_id(job->files[i], job->id, job->id_size);
		any |= known[i];
	}
	return any;
}

static int read_files(struct reading *reading)
{
	const struct reader_job *job = reading->job;
	struct dwarf_input input = {.alternate = job->alternate, .deadline = job->deadline};
	bool known[READER_FILES_MAX];
	int r = 0;

	if (!find_known(job, known))
		return -ENOENT;
	answer_summary(reading->answer)->status = ANSWER_NONE;
	for (unsigned int i = 0; i < job->file_count && r == 0; i++) {
		input.file = job->files[i];
		if (known[i] && has_none(reading->answer))
			r = dwarf_read(&input, reading->addresses, job->address_count,
				       reading->answer);
	}
	if (!reader_limits[job->purpose].symbols)
		return r;
	for (unsigned int i = 0; i < job->file_count && r == 0; i++)
		if (known[i])
			r = add_names(reading, job->files[i]);
	return r;
}

/* Returns the job's time in whole seconds, and some more, so that the deadline comes first. */
static unsigned int cpu_seconds(const struct reader_job *job)
{
	const uint64_t now = time_now();
	uint64_t left = 0;

	if (job->deadline > now)
		left = job->deadline - now;
	return (unsigned int)(left / NS_PER_SECOND) + reader_limits[job->purpose].more_cpu;
}

int read_job(const struct reader_job *job)
{
	const struct reader_limits *limits = &reader_limits[job->purpose];
	const struct policy_budget budget = {
		.data = limits->memory, .file = limits->answer, .cpu_seconds = cpu_seconds(job)};
	struct reading reading = {.job = job};
	const size_t size = job->address_count * sizeof(*reading.addresses);
	int r = policy_confine_self(ROLE_DEBUG, &budget);

	if (r)
		return r;
	reading.addresses = malloc(size);
	reading.answer = answer_new(job->address_count);
	if (!reading.addresses || !reading.answer)
		return -ENOMEM;
	if (pread(job->addresses, reading.addresses, size, 0) != (ssize_t)size)
		return -EIO;
	r = read_files(&reading);
	if (r)
		return r;
	return answer_write(reading.answer, job->answer);
}
