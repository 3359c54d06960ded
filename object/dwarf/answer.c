/* SPDX-License-Identifier: Apache-2.0 */
/* A file has a head, strings with their NULs, functions, a count for each address, and frames. */
#include "object/dwarf/answer.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ipc/guard.h"
#include "base/array.h"
#include "base/intern.h"
#include "base/reader.h"

#define ANSWER_MAGIC 0x6b6c6e31u

struct chain {
	uint32_t first, count;
};

struct answer {
	struct answer_summary summary;
	struct intern *strings, *functions;
	struct chain *chains;
	size_t addresses;
	struct answer_frame *frames;
	size_t frame_count, frame_capacity;
};

struct answer_head {
	uint32_t magic, strings, functions, frames;
	uint64_t string_bytes, addresses;
	struct answer_summary summary;
};

_Static_assert(sizeof(struct answer_function) == 24, "a key has no padding");

struct answer *answer_new(size_t addresses)
{
	struct answer *answer = calloc(1, sizeof(*answer));

	if (!answer)
		return NULL;
	answer->strings = intern_new();
	answer->functions = intern_new();
	answer->chains = calloc(addresses + 1, sizeof(*answer->chains));
	answer->addresses = addresses;
	if (answer->strings && answer->functions && answer->chains)
		return answer;
	answer_free(answer);
	return NULL;
}

void answer_free(struct answer *answer)
{
	if (!answer)
		return;
	intern_free(answer->strings);
	intern_free(answer->functions);
	free(answer->chains);
	free(answer->frames);
	free(answer);
}

static void guard_answer_(struct answer **answer)
{
	answer_free(*answer);
}
#define guard_answer __attribute__((cleanup(guard_answer_)))

struct answer_summary *answer_summary(struct answer *answer)
{
	return &answer->summary;
}

uint32_t answer_string(struct answer *answer, const char *string)
{
	size_t length = strnlen(string, ANSWER_STRING_MAX);
	bool cut = length == ANSWER_STRING_MAX;

	answer->summary.cut += cut;
	return intern_add(answer->strings, string, length - cut);
}

const char *answer_string_get(const struct answer *answer, uint32_t id)
{
	return intern_get(answer->strings, id, NULL);
}

uint32_t answer_function_add(struct answer *answer, const struct answer_function *function)
{
	return intern_add(answer->functions, function, sizeof(*function));
}

const struct answer_function *answer_function_get(const struct answer *answer, uint32_t id)
{
	return intern_get(answer->functions, id, NULL);
}

uint32_t answer_functions(const struct answer *answer)
{
	return intern_count(answer->functions) - 1;
}

int answer_set(struct answer *answer, size_t address, const struct answer_frame *frames,
	       size_t count)
{
	if (answer->frame_count + count > UINT32_MAX ||
	    ARRAY_RESERVE(answer->frames, answer->frame_capacity, answer->frame_count + count) < 0)
		return -ENOMEM;
	if (count > 0)
		memcpy(answer->frames + answer->frame_count, frames, count * sizeof(*frames));
	answer->chains[address] = (struct chain){(uint32_t)answer->frame_count, (uint32_t)count};
	answer->frame_count += count;
	return 0;
}

size_t answer_get(const struct answer *answer, size_t address,
		  const struct answer_frame **ret_frames)
{
	const struct chain *chain = &answer->chains[address];

	*ret_frames = chain->count > 0 ? answer->frames + chain->first : NULL;
	return chain->count;
}

/* ---- writing ---- */

struct sink {
	char *bytes;
	size_t size, capacity;
	int r;
};

static void put(struct sink *sink, const void *bytes, size_t size)
{
	if (sink->r == 0)
		sink->r = ARRAY_RESERVE(sink->bytes, sink->capacity, sink->size + size);
	if (sink->r < 0 || size == 0)
		return;
	memcpy(sink->bytes + sink->size, bytes, size);
	sink->size += size;
}

static void put_all(struct sink *sink, const struct intern *items, bool nul)
{
	for (uint32_t id = 1; id < intern_count(items); id++) {
		size_t size;
		const void *bytes = intern_get(items, id, &size);

		put(sink, bytes, size + nul);
	}
}

static void put_chains(struct sink *sink, const struct answer *answer, uint32_t *ret_frames)
{
	*ret_frames = 0;
	for (size_t i = 0; i < answer->addresses; i++) {
		put(sink, &answer->chains[i].count, sizeof(uint32_t));
		*ret_frames += answer->chains[i].count;
	}
	for (size_t i = 0; i < answer->addresses; i++) {
		const struct answer_frame *frames;
		size_t count = answer_get(answer, i, &frames);

		put(sink, frames, count * sizeof(*frames));
	}
}

static int write_all(int fd, const char *bytes, size_t size)
{
	while (size > 0) {
		ssize_t wrote = write(fd, bytes, size);

		if (wrote < 0 && errno != EINTR)
			return -errno;
		if (wrote <= 0)
			continue;
		bytes += wrote;
		size -= (size_t)wrote;
	}
	return 0;
}

int answer_write(const struct answer *answer, int fd)
{
	struct answer_head head = {
		.magic = ANSWER_MAGIC,
		.strings = intern_count(answer->strings) - 1,
		.functions = intern_count(answer->functions) - 1,
		.addresses = answer->addresses,
		.summary = answer->summary,
	};
	struct sink sink = {.bytes = NULL};
	int r;

	put(&sink, &head, sizeof(head));
	put_all(&sink, answer->strings, true);
	head.string_bytes = sink.size - sizeof(head);
	put_all(&sink, answer->functions, false);
	put_chains(&sink, answer, &head.frames);
	if (sink.r == 0)
		memcpy(sink.bytes, &head, sizeof(head));
	r = sink.r;
	if (r == 0)
		r = write_all(fd, sink.bytes, sink.size);
	free(sink.bytes);
	return r;
}

/* ---- reading ---- */

/* Adds the file's strings. Equal strings would share an id, and are malformed. */
static int take_strings(struct answer *answer, struct reader *reader,
			const struct answer_head *head)
{
	struct reader strings = reader_sub(reader, head->string_bytes);

	for (uint32_t id = 1; id <= head->strings; id++) {
		const char *string = reader_string(&strings);
		uint32_t made = string ? answer_string(answer, string) : 0;

		if (made == INTERN_FAILED)
			return -ENOMEM;
		if (made != id)
			return -EBADMSG;
	}
	return reader_left(&strings) > 0 ? -EBADMSG : 0;
}

static int take_functions(struct answer *answer, struct reader *reader,
			  const struct answer_head *head)
{
	for (uint32_t id = 1; id <= head->functions; id++) {
		struct answer_function function = {
			.name = reader_u32(reader),
			.system_name = reader_u32(reader),
			.file = reader_u32(reader),
			.line = reader_u32(reader),
			.start = reader_u64(reader),
		};
		uint32_t made;

		if (reader_failed(reader) || function.name > head->strings ||
		    function.system_name > head->strings || function.file > head->strings)
			return -EBADMSG;
		made = answer_function_add(answer, &function);
		if (made == INTERN_FAILED)
			return -ENOMEM;
		if (made != id)
			return -EBADMSG;
	}
	return 0;
}

static int take_chain(struct answer *answer, size_t address, size_t count, struct reader *reader,
		      uint32_t functions)
{
	struct answer_frame frames[ANSWER_CHAIN_MAX];

	if (count > ANSWER_CHAIN_MAX)
		return -EBADMSG;
	for (size_t i = 0; i < count; i++) {
		frames[i].function = reader_u32(reader);
		frames[i].line = reader_u32(reader);
		if (frames[i].function == 0 || frames[i].function > functions)
			return -EBADMSG;
	}
	return answer_set(answer, address, frames, count);
}

static int take_chains(struct answer *answer, struct reader *reader, const struct answer_head *head)
{
	struct reader counts = reader_sub(reader, head->addresses * sizeof(uint32_t));
	int r = 0;

	for (size_t i = 0; i < head->addresses && r == 0; i++)
		r = take_chain(answer, i, reader_u32(&counts), reader, head->functions);
	if (r == 0 && (reader_failed(&counts) || reader_failed(reader) || reader_left(reader) > 0))
		r = -EBADMSG;
	return r;
}

static bool is_sound(const struct answer_head *head)
{
	const struct answer_summary *summary = &head->summary;

	return head->magic == ANSWER_MAGIC && summary->status < ANSWER_STATUSES &&
	       summary->alt_id_size <= ANSWER_ALT_ID_MAX &&
	       memchr(summary->alt_name, '\0', sizeof(summary->alt_name)) != NULL;
}

int answer_peek(int fd, struct answer_summary *ret_summary)
{
	struct answer_head head;

	if (pread(fd, &head, sizeof(head), 0) != sizeof(head) || !is_sound(&head))
		return -EBADMSG;
	*ret_summary = head.summary;
	return 0;
}

bool answer_is_complete(int fd)
{
	struct answer_summary summary;

	return answer_peek(fd, &summary) == 0 && summary.status == ANSWER_COMPLETE;
}

int answer_read(const void *bytes, size_t size, size_t addresses, struct answer **ret_answer)
{
	struct answer *answer guard_answer = NULL;
	struct answer_head head;
	struct reader reader;
	const void *start;
	int r;

	if (size > ANSWER_BYTES_MAX)
		return -EFBIG;
	reader_init(&reader, bytes, size);
	start = reader_bytes(&reader, sizeof(head));
	if (!start)
		return -EBADMSG;
	memcpy(&head, start, sizeof(head));
	if (!is_sound(&head) || head.addresses != addresses)
		return -EBADMSG;
	answer = answer_new(addresses);
	if (!answer)
		return -ENOMEM;
	answer->summary = head.summary;
	r = take_strings(answer, &reader, &head);
	if (r == 0)
		r = take_functions(answer, &reader, &head);
	if (r == 0)
		r = take_chains(answer, &reader, &head);
	if (r == 0)
		*ret_answer = take_pointer(answer);
	return r;
}

int answer_read_file(int fd, uint64_t most, size_t addresses, struct answer **ret_answer)
{
	guard_free void *bytes = NULL;
	struct stat status;
	size_t size;

	if (fstat(fd, &status))
		return -errno;
	if (status.st_size <= 0)
		return -EBADMSG;
	if ((uint64_t)status.st_size > most)
		return -EFBIG;
	size = (size_t)status.st_size;
	bytes = malloc(size);
	if (!bytes)
		return -ENOMEM;
	if (pread(fd, bytes, size, 0) != (ssize_t)size)
		return -EIO;
	return answer_read(bytes, size, addresses, ret_answer);
}
