/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/process/parser.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "object/unwind/pace.h"
#include "worker/process/budget.h"
#include "worker/process/journal.h"
#include "worker/process/queue.h"
#include "object/unwind/unwind_table.h"
#include "worker/runtime/cpython_types.h"
#include "worker/runtime/runtime.h"
#include "worker/runtime/go_labels.h"
#include "worker/runtime/thread_context.h"

#define PRIORITY_NORMAL 0

/* CPU time of a file between two looks at the queue. */
#define SLICE (5 * NS_PER_MS)
/* Small files have so many times the CPU time of the large file that is under way. */
#define BETWEEN_TIMES 3u

struct parser {
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t work;
	struct budget *budget;
	struct queue waiting;
	struct task *done, **done_end;
	uint64_t given_up;
	struct journal *journal; /* NULL: none */
	int event;
	bool started, stop;
};

/* A job under way; CPU time of the thread. */
struct work {
	struct parser *parser;
	struct task *task;
	uint64_t payer;
	uint64_t charged; /* the thread's clock, as far as it has been charged */
	uint64_t used;
	uint64_t between;   /* of jobs in between */
	struct work *outer; /* that waits meanwhile; NULL: none */
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

static void keep_file_id(const struct parser_job *job, struct parser_result *result)
{
	if (job->fd < 0)
		file_id_of_bytes(job->bytes, job->size, result->file_id);
	else
		file_id_of_file(job->fd, result->file_id);
}

#define VOTES 64u

/*
 * Returns the rule that most of the loop has, behind its beginning: a frame is as large as there
 * throughout. A rule that needs more than itself does not count. 0: no rule.
 */
static u64 rule_of_loop(const struct parser_result *result)
{
	const struct runtime_range *loop = &result->setup->loop[0];
	const struct image_segment *segment =
		image_segment_of(result->segments, result->segment_count, loop->start, 1);
	const uint64_t step = (loop->end - loop->start) / VOTES;
	unsigned int votes = 0;
	u64 most = 0;

	for (unsigned int i = 0; segment && i < VOTES; i++) {
		const uint64_t place = loop->start + i * step;
		const u64 rule = unwind_table_rule(result->table,
						   place - segment->file_offset + segment->address);

		if (votes == 0)
			most = rule;
		if (rule == most)
			votes++;
		else
			votes--;
	}
	if (rule_kind(most) != RULE_SP && rule_kind(most) != RULE_BP)
		return 0;
	return most;
}

/* Tells BPF how to walk the frames of the runtime. Without a table no walk meets the runtime. */
static int set_up(struct image *image, struct parser_result *result)
{
	int r;

	if (!result->table)
		return -ENOENT;
	result->setup = calloc(1, sizeof(*result->setup));
	if (!result->setup)
		return -ENOMEM;
	r = runtime_configure(result->runtime, image, result->setup);
	if (r == 0 && result->setup->makes_in_loop)
		result->setup->made_rule = rule_of_loop(result);
	if (r == 0)
		r = unwind_table_set_runtime(result->table, &result->setup->config);
	if (r == 0)
		return 0;
	free(result->setup);
	result->setup = NULL;
	return r;
}

void parser_run(const struct parser_job *job, struct pace *pace, struct parser_result *ret_result)
{
	struct image *image;
	u64 damaged;

	*ret_result = (struct parser_result){.number = job->number};
	keep_file_id(job, ret_result);
	if (job->fd >= 0)
		ret_result->error = image_open(job->fd, &image);
	else
		ret_result->error = image_open_memory(job->bytes, job->size, &image);
	if (ret_result->error < 0)
		return;
	keep_segments(image, ret_result);
	keep_build_id(image, ret_result);
	image_go_build_id(image, ret_result->go_build_id);
	ret_result->runtime = runtime_recognise(image);
	if (ret_result->runtime == RUNTIME_NONE)
		cpython_types_copied(image, &ret_result->copies);
	if (thread_context_find(image, &ret_result->context) < 0)
		ret_result->context = (struct runtime_root){.start = RUNTIME_AT_NOTHING};
	ret_result->table_error =
		unwind_table_build_paced(image, pace, &ret_result->table, &damaged);
	if (ret_result->table_error < 0)
		ret_result->table = NULL;
	ret_result->runtime_error = set_up(image, ret_result);
	ret_result->go_error = go_labels_find(image, ret_result->table, &ret_result->go);
	image_close(image);
}

void parser_result_release(struct parser_result *result)
{
	unwind_table_free(result->table);
	free(result->segments);
	free(result->setup);
	result->table = NULL;
	result->segments = NULL;
	result->setup = NULL;
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

/* ---- the thread ---- */

static uint64_t thread_time(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * NS_PER_SECOND + (uint64_t)time.tv_nsec;
}

static void charge(struct work *work)
{
	uint64_t now = thread_time(), used = now - work->charged;

	work->charged = now;
	work->used += used;
	budget_charge(work->parser->budget, work->payer, used, time_now());
}

static int on_slice(void *context);

static void begin(struct work *work)
{
	journal_begin(work->parser->journal, &work->task->job.identity);
	work->charged = thread_time();
}

/* Does a task, and goes on with the outer work. The caller holds the mutex, free meanwhile. */
static void do_task(struct work *work)
{
	struct parser *parser = work->parser;
	struct task *task = work->task;
	struct pace pace = {.turn = on_slice, .context = work};

	pthread_mutex_unlock(&parser->mutex);
	begin(work);
	parser_run(&task->job, &pace, &task->result);
	journal_end(parser->journal);
	pthread_mutex_lock(&parser->mutex);
	charge(work);
	parser->given_up += task->result.table_error == -ETIME;
	hand_back(parser, task);
	if (!work->outer)
		return;
	work->outer->between += work->used;
	begin(work->outer);
}

static void give_up(struct parser *parser, struct task *task)
{
	task->result = (struct parser_result){.number = task->job.number, .error = -EDQUOT};
	parser->given_up++;
	hand_back(parser, task);
}

/* Takes the next task, and gives up those that found no place to rest. NULL: none may begin. */
static struct task *take_task(struct parser *parser, size_t most, uint64_t now, uint64_t *ret_payer)
{
	struct task *task = queue_take(&parser->waiting, most, now, ret_payer), *refused;

	while ((refused = queue_take_refused(&parser->waiting)) != NULL)
		give_up(parser, refused);
	return task;
}

/* Does small files first. The large one has its share, so that it comes to an end. */
static void do_between(struct work *outer)
{
	struct parser *parser = outer->parser;

	while (!parser->stop && outer->between < BETWEEN_TIMES * outer->used) {
		struct work work = {.parser = parser, .outer = outer};

		work.task = take_task(parser, PARSER_SMALL, time_now(), &work.payer);
		if (!work.task)
			return;
		do_task(&work);
	}
}

static int verdict(const struct work *work)
{
	if (work->parser->stop)
		return -ECANCELED;
	if (work->used > PARSER_FILE_MAX && work->payer != BUDGET_ROOT)
		return -ETIME;
	return 0;
}

static int on_slice(void *context)
{
	struct work *work = context;
	int r;

	if (thread_time() - work->charged < SLICE)
		return 0;
	pthread_mutex_lock(&work->parser->mutex);
	charge(work);
	if (!work->outer)
		do_between(work);
	r = verdict(work);
	pthread_mutex_unlock(&work->parser->mutex);
	return r;
}

static void wait_for_work(struct parser *parser, uint64_t due)
{
	const struct timespec until = {
		.tv_sec = (time_t)(due / NS_PER_SECOND),
		.tv_nsec = (long)(due % NS_PER_SECOND),
	};

	if (due == UINT64_MAX)
		pthread_cond_wait(&parser->work, &parser->mutex);
	else
		pthread_cond_timedwait(&parser->work, &parser->mutex, &until);
}

/* Finds the next task, and waits for it. Returns false at the end. The caller holds the mutex. */
static bool next_task(struct work *work)
{
	struct parser *parser = work->parser;

	while (!parser->stop) {
		uint64_t now = time_now();

		work->task = take_task(parser, SIZE_MAX, now, &work->payer);
		if (work->task)
			return true;
		wait_for_work(parser, queue_due(&parser->waiting, now));
	}
	return false;
}

/* The worker has a raised priority, which is not for whoever makes large files. */
static void lower_priority(void)
{
	if (getpriority(PRIO_PROCESS, 0) < PRIORITY_NORMAL)
		setpriority(PRIO_PROCESS, 0, PRIORITY_NORMAL);
}

static void *parser_main(void *argument)
{
	struct parser *parser = argument;
	struct work work = {.parser = parser};

	lower_priority();
	pthread_mutex_lock(&parser->mutex);
	parser->started = true;
	pthread_cond_broadcast(&parser->work);
	while (next_task(&work)) {
		do_task(&work);
		work = (struct work){.parser = parser};
	}
	pthread_mutex_unlock(&parser->mutex);
	return NULL;
}

/* The thread lowers its priority before the process confines itself. */
static int start(struct parser *parser)
{
	int r = pthread_create(&parser->thread, NULL, parser_main, parser);

	if (r != 0)
		return -r;
	pthread_mutex_lock(&parser->mutex);
	while (!parser->started)
		pthread_cond_wait(&parser->work, &parser->mutex);
	pthread_mutex_unlock(&parser->mutex);
	return 0;
}

/* ---- the event loop's side ---- */

static void init_lock(struct parser *parser)
{
	pthread_condattr_t monotonic;

	pthread_mutex_init(&parser->mutex, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&parser->work, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

static void release(struct parser *parser)
{
	if (parser->event >= 0)
		close(parser->event);
	budget_free(parser->budget);
	pthread_cond_destroy(&parser->work);
	pthread_mutex_destroy(&parser->mutex);
	free(parser);
}

int parser_new(struct budget *budget, struct parser **ret_parser)
{
	struct parser *parser = calloc(1, sizeof(*parser));
	int r = -ENOMEM;

	if (!parser || !budget) {
		budget_free(budget);
		free(parser);
		return r;
	}
	init_lock(parser);
	parser->done_end = &parser->done;
	parser->budget = budget;
	parser->waiting.budget = budget;
	parser->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = -errno;
	if (parser->event >= 0)
		r = start(parser);
	if (r < 0) {
		release(parser);
		return r;
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

	while ((task = queue_remove(&parser->waiting)) != NULL)
		free_task(task);
}

void parser_cancel(struct parser *parser)
{
	struct task *task;

	pthread_mutex_lock(&parser->mutex);
	while ((task = queue_remove(&parser->waiting)) != NULL) {
		if (!task->rested) {
			free_task(task);
			continue;
		}
		task->result =
			(struct parser_result){.number = task->job.number, .table_error = -EDQUOT};
		hand_back(parser, task);
	}
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
	release(parser);
}

void parser_keep_journal(struct parser *parser, struct journal *journal)
{
	parser->journal = journal;
	journal_take_over(journal);
}

static int put(struct parser *parser, struct task *task)
{
	const uint64_t payer = task->job.payer;
	int r = -EDQUOT;

	if (payer == BUDGET_ROOT || queue_waiting(&parser->waiting, payer) < PARSER_RESTING_MAX)
		r = queue_put(&parser->waiting, task, time_now());
	parser->given_up += r == -EDQUOT;
	return r;
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
	r = put(parser, task);
	pthread_cond_signal(&parser->work);
	pthread_mutex_unlock(&parser->mutex);
	if (r < 0)
		free(task);
	return r;
}

void parser_share(struct parser *parser, uint64_t number, uint64_t payer)
{
	pthread_mutex_lock(&parser->mutex);
	queue_add_payer(&parser->waiting, number, payer, time_now());
	pthread_cond_signal(&parser->work);
	pthread_mutex_unlock(&parser->mutex);
}

/* Returns whether so many files of the payer are too many. Holding the mutex. */
static bool is_full(const struct parser *parser, uint64_t payer, size_t waiting)
{
	if (payer == BUDGET_ROOT || waiting < PARSER_WAITING_MAX)
		return false;
	return waiting >= PARSER_RESTING_MAX || !budget_allows(parser->budget, payer, time_now());
}

bool parser_has_place(struct parser *parser, uint64_t payer)
{
	bool full;

	pthread_mutex_lock(&parser->mutex);
	full = is_full(parser, payer, queue_waiting(&parser->waiting, payer));
	pthread_mutex_unlock(&parser->mutex);
	return !full;
}

bool parser_may_begin(struct parser *parser, uint64_t payer)
{
	bool may;

	pthread_mutex_lock(&parser->mutex);
	may = budget_allows(parser->budget, payer, time_now());
	pthread_mutex_unlock(&parser->mutex);
	return may;
}

size_t parser_waiting(struct parser *parser, uint64_t payer)
{
	size_t waiting;

	pthread_mutex_lock(&parser->mutex);
	waiting = queue_waiting(&parser->waiting, payer);
	pthread_mutex_unlock(&parser->mutex);
	return waiting;
}

size_t parser_resting(struct parser *parser)
{
	size_t resting;

	pthread_mutex_lock(&parser->mutex);
	resting = parser->waiting.resting_count;
	pthread_mutex_unlock(&parser->mutex);
	return resting;
}

void parser_counts(struct parser *parser, struct parser_counts *ret_counts)
{
	pthread_mutex_lock(&parser->mutex);
	ret_counts->rested = parser->waiting.rested;
	ret_counts->given_up = parser->given_up;
	pthread_mutex_unlock(&parser->mutex);
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
