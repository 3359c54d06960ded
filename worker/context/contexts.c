/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/context/contexts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ipc/messages.h"
#include "worker/context/attributes.h"
#include "worker/context/hierarchies.h"
#include "worker/context/payload.h"
#include "worker/context/variables.h"
#include "worker/process/process.h"
#include "worker/target/target.h"

/* cgroups have two attributes */
_Static_assert(CONTEXTS_TEXT_MAX >= 2 * ATTRIBUTES_BYTES_MAX + 512, "three texts and no more");

struct contexts {
	struct contexts_parts parts;
	bool no_variables;	   /* the policy names none */
	bool no_cgroups;	   /* the host has control groups of version 2 alone */
	uint64_t second, listings; /* in this second */
	size_t bytes;		   /* of the texts of all processes */
	struct contexts_counts counts;
	struct attributes attributes; /* of the answer that is read */
	char answer[CONTEXT_BYTES_MAX];
};

struct contexts *contexts_new(const struct contexts_parts *parts)
{
	struct contexts *contexts = calloc(1, sizeof(*contexts));

	if (contexts)
		contexts->parts = *parts;
	return contexts;
}

void contexts_free(struct contexts *contexts)
{
	free(contexts);
}

void contexts_tell(struct contexts *contexts,
		   void (*told)(void *context, const struct process *process), void *context)
{
	contexts->parts.told = told;
	contexts->parts.context = context;
}

/* ---- texts ---- */

static size_t bytes_of(const char *text)
{
	if (!text)
		return 0;
	return strlen(text) + 1;
}

/* Counts the texts of all processes, of which ended ones have been freed since. */
static size_t count_bytes(const struct contexts *contexts)
{
	const struct process *process;
	size_t cursor = 0, bytes = 0;

	while ((process = processes_next(contexts->parts.processes, &cursor)) != NULL)
		bytes += bytes_of(process->context.text) + bytes_of(process->context.variables) +
			 bytes_of(process->context.cgroups);
	return bytes;
}

static bool has_room(struct contexts *contexts, size_t bytes)
{
	if (contexts->bytes + bytes <= CONTEXTS_BYTES_MAX)
		return true;
	contexts->bytes = count_bytes(contexts);
	return contexts->bytes + bytes <= CONTEXTS_BYTES_MAX;
}

/* Puts what was read in the place of an older text. Returns whether they differ. */
static bool keep(struct contexts *contexts, char **text)
{
	const char *read = contexts->attributes.text;
	char *copy = NULL;

	contexts->counts.left_out += contexts->attributes.left_out;
	if (*text && strcmp(*text, read) == 0)
		return false;
	if (!*text && !read[0])
		return false;
	if (read[0] && has_room(contexts, bytes_of(read)))
		copy = strdup(read);
	if (read[0] && !copy)
		contexts->counts.left_out++;
	contexts->bytes += bytes_of(copy);
	free(*text);
	*text = copy;
	return true;
}

/* ---- answers ---- */

/* Returns the number of bytes, or a negative errno. The broker has closed its end. */
static ssize_t read_answer(struct contexts *contexts, int fd)
{
	size_t size = 0;
	ssize_t got;

	do {
		got = read(fd, contexts->answer + size, sizeof(contexts->answer) - size);
		if (got < 0 && errno != EINTR)
			return -errno;
		if (got > 0)
			size += (size_t)got;
	} while (got != 0 && size < sizeof(contexts->answer));
	return (ssize_t)size;
}

/* Takes an answer whose attributes come next. Returns as read_answer() does. */
static ssize_t begin_text(struct contexts *contexts, const struct target_reply *reply)
{
	if (reply->error < 0)
		return reply->error;
	contexts->attributes = (struct attributes){.used = 0};
	return read_answer(contexts, reply->fd);
}

/* Keeps the attributes as the text, and tells of another text than the one before. */
static void end_text(struct contexts *contexts, const struct process *process, char **text)
{
	if (keep(contexts, text) && contexts->parts.told)
		contexts->parts.told(contexts->parts.context, process);
}

static struct process *find(const struct contexts *contexts, uint64_t key)
{
	return processes_find(contexts->parts.processes, key & PROCESS_PID_MAX,
			      key >> PROCESS_PID_BITS);
}

/* Forgets a mapping that is none of a context: the next listing may have another. */
static void take_refusal(struct process_context *context, int error)
{
	if (error == -EPERM || error == -EACCES)
		context->after = UINT64_MAX;
	else if (error == -ENOENT || error == -EOPNOTSUPP || error == -EIO)
		context->start = context->end = 0;
}

static void on_context(void *user, uint64_t key, struct target_reply *reply)
{
	struct contexts *contexts = user;
	struct process *process = find(contexts, key);
	ssize_t size;

	if (!process)
		return;
	process->context.asked = false;
	take_refusal(&process->context, reply->error);
	size = begin_text(contexts, reply);
	if (size < 0)
		return;
	contexts->counts.contexts++;
	if (payload_read(contexts->answer, (size_t)size, &contexts->attributes) < 0)
		contexts->counts.malformed++;
	end_text(contexts, process, &process->context.text);
}

static void on_variables(void *user, uint64_t key, struct target_reply *reply)
{
	struct contexts *contexts = user;
	struct process *process = find(contexts, key);
	ssize_t size;

	contexts->no_variables |= reply->error == -EOPNOTSUPP;
	if (!process)
		return;
	size = begin_text(contexts, reply);
	if (size < 0)
		return;
	contexts->counts.environments++;
	variables_read(contexts->answer, (size_t)size, &contexts->attributes);
	end_text(contexts, process, &process->context.variables);
}

static void on_cgroups(void *user, uint64_t key, struct target_reply *reply)
{
	struct contexts *contexts = user;
	struct process *process = find(contexts, key);
	ssize_t size;

	if (!process)
		return;
	size = begin_text(contexts, reply);
	if (size < 0)
		return;
	if (hierarchies_read(contexts->answer, (size_t)size, &contexts->attributes) < 0)
		contexts->no_cgroups = true;
	end_text(contexts, process, &process->context.cgroups);
}

/* ---- questions ---- */

static bool ask(struct contexts *contexts, const struct process *process, enum target_kind kind,
		uint64_t start, uint64_t end, void (*done)(void *, uint64_t, struct target_reply *))
{
	struct target *target = contexts->parts.target;
	const struct target_request request = {
		.kind = kind,
		.process = process_asked(process),
		.start = start,
		.end = end,
		.generation = process->generation,
		.done = done,
		.context = contexts,
		.key = process_slot_key(process->pid, process->generation),
	};

	return !target_is_slow(target, &request.process) && target->ask(target, &request) == 0;
}

static void put_off(struct process_context *context, uint64_t now)
{
	if (context->gap == 0)
		context->gap = CONTEXTS_GAP_FIRST;
	else
		context->gap *= 2;
	if (context->gap > CONTEXTS_GAP_MAX)
		context->gap = CONTEXTS_GAP_MAX;
	context->after = now + context->gap;
}

static void want_variables(struct contexts *contexts, struct process *process)
{
	struct process_context *context = &process->context;

	if (context->has_asked_variables || contexts->no_variables)
		return;
	context->has_asked_variables = ask(contexts, process, TARGET_CONTEXT, 0, 0, on_variables);
}

static void want_cgroups(struct contexts *contexts, struct process *process)
{
	struct process_context *context = &process->context;

	if (context->has_asked_cgroups || contexts->no_cgroups)
		return;
	context->has_asked_cgroups = ask(contexts, process, TARGET_CGROUPS, 0, 0, on_cgroups);
}

/* Counts a listing of this second. False: there were too many. */
static bool take_turn(struct contexts *contexts, uint64_t now)
{
	if (now / NS_PER_SECOND != contexts->second) {
		contexts->second = now / NS_PER_SECOND;
		contexts->listings = 0;
	}
	if (contexts->listings >= CONTEXTS_LISTINGS_PER_SECOND)
		return false;
	contexts->listings++;
	return true;
}

/* A process that has just become complete was listed just now, or is young. */
static bool want_listing(struct contexts *contexts, struct process_context *context, uint64_t now)
{
	const bool is_first = context->gap == 0;

	if (!is_first && !take_turn(contexts, now))
		return false;
	put_off(context, now);
	return !is_first;
}

bool contexts_want(struct contexts *contexts, struct process *process, uint64_t now)
{
	struct process_context *context = &process->context;

	if (!process_state_is_complete(process->state) || process_state_is_ended(process->state))
		return false;
	want_variables(contexts, process);
	want_cgroups(contexts, process);
	if (now < context->after || context->asked)
		return false;
	if (!context->start)
		return want_listing(contexts, context, now);
	put_off(context, now);
	context->asked =
		ask(contexts, process, TARGET_CONTEXT, context->start, context->end, on_context);
	return false;
}

/* ---- figures ---- */

bool contexts_text(const struct process *process, char ret_text[CONTEXTS_TEXT_MAX])
{
	const struct process_context *context = &process->context;
	const char *const texts[] = {context->cgroups, context->text, context->variables};
	size_t used = 0;

	ret_text[0] = '\0';
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (texts[i] && strlen(texts[i]) < CONTEXTS_TEXT_MAX - used)
			used += (size_t)snprintf(ret_text + used, CONTEXTS_TEXT_MAX - used, "%s",
						 texts[i]);
	return used > 0;
}

void contexts_counts(const struct contexts *contexts, struct contexts_counts *ret_counts)
{
	*ret_counts = contexts->counts;
}
