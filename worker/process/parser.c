/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/process/parser.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "worker/process/journal.h"
#include "worker/process/queue.h"
#include "object/unwind/unwind_table.h"
#include "worker/runtime/runtime.h"

struct parser {
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t work;
	struct queue waiting;
	struct task *done, **done_end;
	struct journal *journal; /* NULL: none */
	int event;
	bool stop;
};

static void keep_segments(const struct image *image, struct parser_result *result)
{
	const struct image_segment *segments;
	size_t count = image_segments(image, &segments);

	result->segments = calloc(count + 1, sizeof(*segments));
	if (!result->segments) {
		result->error = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < count; i++)
		if (segments[i].executable)
			result->segments[result->segment_count++] = segments[i];
}

static void keep_build_id(struct image *image, struct parser_result *result)
{
	unsigned char id[IMAGE_BUILD_ID_MAX];
	size_t size = image_build_id(image, id);

	for (size_t i = 0; i < size; i++) {
		result->build_id[2 * i] = "0123456789abcdef"[id[i] >> 4];
		result->build_id[2 * i + 1] = "0123456789abcdef"[id[i] & 15];
	}
}

void parser_run(const struct parser_job *job, struct parser_result *ret_result)
{
	struct image *image;
	u64 damaged;

	*ret_result = (struct parser_result){.number = job->number};
	if (job->fd >= 0)
		ret_result->error = image_open(job->fd, &image);
	else
		ret_result->error = image_open_memory(job->bytes, job->size, &image);
	if (ret_result->error < 0)
		return;
	keep_segments(image, ret_result);
	keep_build_id(image, ret_result);
	ret_result->runtime = runtime_recognise(image);
	ret_result->table_error = unwind_table_build(image, &ret_result->table, &damaged);
	if (ret_result->table_error < 0)
		ret_result->table = NULL;
	image_close(image);
}

void parser_result_release(struct parser_result *result)
{
	unwind_table_free(result->table);
	free(result->segments);
	result->table = NULL;
	result->segments = NULL;
}

/* Returns the next task, or NULL at the end. The caller holds the mutex. */
static struct task *next_task(struct parser *parser)
{
	struct task *task = NULL;

	while (!parser->stop && !(task = queue_take(&parser->waiting)))
		pthread_cond_wait(&parser->work, &parser->mutex);
	return task;
}

static void hand_back(struct parser *parser, struct task *task)
{
	const uint64_t one = 1;
	ssize_t written;

	task->next = NULL;
	*parser->done_end = task;
	parser->done_end = &task->next;
	written = write(parser->event, &one, sizeof(one));
	(void)written; /* only a full counter refuses, and a full counter wakes as well */
}

static void *parser_main(void *argument)
{
	struct parser *parser = argument;
	struct task *task;

	pthread_mutex_lock(&parser->mutex);
	while ((task = next_task(parser)) != NULL) {
		pthread_mutex_unlock(&parser->mutex);
		journal_begin(parser->journal, &task->job.identity);
		parser_run(&task->job, &task->result);
		journal_end(parser->journal);
		pthread_mutex_lock(&parser->mutex);
		hand_back(parser, task);
	}
	pthread_mutex_unlock(&parser->mutex);
	return NULL;
}

int parser_new(struct parser **ret_parser)
{
	struct parser *parser = calloc(1, sizeof(*parser));
	int r;

	if (!parser)
		return -ENOMEM;
	parser->done_end = &parser->done;
	parser->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (parser->event < 0) {
		r = -errno;
		free(parser);
		return r;
	}
	pthread_mutex_init(&parser->mutex, NULL);
	pthread_cond_init(&parser->work, NULL);
	r = pthread_create(&parser->thread, NULL, parser_main, parser);
	if (r != 0) {
		close(parser->event);
		free(parser);
		return -r;
	}
	*ret_parser = parser;
	return 0;
}

static void free_task(struct task *task)
{
	parser_result_release(&task->result);
	free(task);
}

static void free_waiting(struct parser *parser)
{
	struct task *task;

	while ((task = queue_take(&parser->waiting)) != NULL)
		free_task(task);
}

void parser_cancel(struct parser *parser)
{
	pthread_mutex_lock(&parser->mutex);
	free_waiting(parser);
	pthread_mutex_unlock(&parser->mutex);
}

void parser_free(struct parser *parser)
{
	if (!parser)
		return;
	pthread_mutex_lock(&parser->mutex);
	parser->stop = true;
	pthread_cond_signal(&parser->work);
	pthread_mutex_unlock(&parser->mutex);
	pthread_join(parser->thread, NULL);
	free_waiting(parser);
	while (parser->done) {
		struct task *task = parser->done;

		parser->done = task->next;
		free_task(task);
	}
	close(parser->event);
	pthread_cond_destroy(&parser->work);
	pthread_mutex_destroy(&parser->mutex);
	free(parser);
}

void parser_keep_journal(struct parser *parser, struct journal *journal)
{
	parser->journal = journal;
	journal_take_over(journal);
}

int parser_submit(struct parser *parser, const struct parser_job *job)
{
	struct task *task;
	int r;

	if (journal_has(parser->journal, &job->identity))
		return -EOWNERDEAD;
	task = calloc(1, sizeof(*task));
	if (!task)
		return -ENOMEM;
	task->job = *job;
	pthread_mutex_lock(&parser->mutex);
	r = queue_put(&parser->waiting, task);
	pthread_cond_signal(&parser->work);
	pthread_mutex_unlock(&parser->mutex);
	if (r < 0)
		free(task);
	return r;
}

bool parser_take(struct parser *parser, struct parser_result *ret_result)
{
	uint64_t count;
	struct task *task;

	pthread_mutex_lock(&parser->mutex);
	task = parser->done;
	if (task) {
		parser->done = task->next;
		if (!parser->done)
			parser->done_end = &parser->done;
	} else if (read(parser->event, &count, sizeof(count)) < 0) {
		count = 0; /* nothing to take back */
	}
	pthread_mutex_unlock(&parser->mutex);
	if (!task)
		return false;
	*ret_result = task->result;
	free(task);
	return true;
}

int parser_fd(const struct parser *parser)
{
	return parser->event;
}
