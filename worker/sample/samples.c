/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/sample/samples.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/redact.h"
#include "worker/context/contexts.h"
#include "worker/made/names.h"
#include "worker/process/grants.h"
#include "worker/process/mapping.h"
#include "worker/process/object.h"
#include "worker/process/process.h"
#include "worker/process/tracker.h"
#include "profile/profile.h"
#include "worker/sample/cgroups.h"
#include "worker/sample/comm.h"
#include "worker/sample/go_label.h"
#include "worker/sample/stack.h"
#include "worker/sample/waits.h"

_Static_assert(ABI_MAX_CPUS <= PROFILE_CPUS_MAX, "a sample has room for its CPU");
_Static_assert(sizeof(struct profile_link) == CONTEXT_WORDS * sizeof(u64), "a link is a context");

struct held {
	uint64_t bytes;		       /* with the frames */
	uint64_t turn, since, answers; /* answers: the count at the last look */
	struct record head;
	u64 frame[];
};

struct samples {
	struct samples_parts parts;
	struct samples_counts counts;
	unsigned char *buffer; /* struct held, one after another */
	size_t used, capacity, records;
	uint64_t oldest; /* time of a record, or UINT64_MAX */
	struct stack stack;
	struct waits *waits; /* NULL: no thread's time off the CPU is wanted */
	size_t label_bytes;  /* of texts of labels in the profile */
};

/* The answers that a record lacks. */
struct missing {
	bool object;  /* one is being identified */
	bool mapping; /* an address is in none */
	bool made;    /* none, but an address is in code made at run time */
};

/* Why records go before their answers are there. */
enum hurry {
	HURRY_NOT, /* except records that have waited for too long */
	HURRY_ROOM,
	HURRY_END,
};

static void on_told(void *context, const struct process *process);
static void take_wait(void *context, const struct waits_stack *stack, const struct event_wait *end,
		      uint64_t ns, uint64_t waits, bool is_old);
static bool is_alive(void *context, const struct record *head);

static int init_waits(struct samples *samples)
{
	const struct waits_parts parts = {
		.least = samples->parts.off_cpu_min,
		.take = take_wait,
		.is_alive = is_alive,
		.context = samples,
	};

	if (!samples->parts.off_cpu)
		return 0;
	samples->waits = waits_new(&parts);
	return samples->waits ? 0 : -ENOMEM;
}

struct samples *samples_new(const struct samples_parts *parts)
{
	const struct stack_parts stack = {
		.profile = parts->profile,
		.symbols = parts->symbols,
		.late_names = parts->late_names,
		.redact = parts->redact,
		.functions = parts->functions,
		.made = parts->made,
		.native_frames = parts->native_frames,
	};
	struct samples *samples = calloc(1, sizeof(*samples));

	if (!samples)
		return NULL;
	samples->parts = *parts;
	samples->oldest = UINT64_MAX;
	stack_init(&samples->stack, &stack);
	if (init_waits(samples) < 0) {
		free(samples);
		return NULL;
	}
	if (parts->contexts)
		contexts_tell(parts->contexts, on_told, samples);
	return samples;
}

void samples_free(struct samples *samples)
{
	if (!samples)
		return;
	waits_free(samples->waits);
	free(samples->buffer);
	free(samples);
}

/* ---- one record ---- */

static struct missing look(const struct held *held, const struct process *process)
{
	const struct record *head = &held->head;
	const u64 *user = held->frame + head->kernel_frames;
	struct missing missing = {0};

	for (unsigned int i = 0; i < head->user_frames; i++) {
		const struct mapping *mapping = stack_mapping(process, head, user[i]);

		if (!mapping)
			missing.mapping = true;
		else if (!mapping->object)
			missing.object = true;
		else if (mapping->object->anonymous)
			missing.made = true;
	}
	return missing;
}

/* Gives the profile the path of a cgroup, unless it has one. */
static void name_cgroup(struct samples *samples, uint64_t id)
{
	struct profile *profile = samples->parts.profile;
	char text[REDACT_BYTES];
	const char *path;
	uint32_t string;

	if (!id || profile_cgroup_get(profile, id).path)
		return;
	path = cgroups_find(samples->parts.cgroups, id);
	if (!path)
		return;
	string = profile_string(profile,
				redact_name(samples->parts.redact, REDACT_PATH, path, text));
	if (string != PROFILE_FAILED)
		profile_cgroup_add(profile, id, string);
}

/* Gives the profile what a process says of itself. Returns the string's id, or 0. */
static uint32_t say_attributes(struct samples *samples, const struct process *process)
{
	char text[CONTEXTS_TEXT_MAX];
	uint32_t string;

	if (!contexts_text(process, text))
		return 0;
	string = profile_string(samples->parts.profile, text);
	if (string == PROFILE_FAILED)
		return 0;
	return string;
}

/* Tells the profile which program the process runs. Returns its id, or 0. */
static uint32_t add_program(struct samples *samples, const struct process *process,
			    uint32_t attributes)
{
	const struct object *program = process_program(process);
	struct profile_process added = {.generation = process->generation, .pid = process->pid};

	if (process->created)
		added.created = process->created + samples->parts.realtime_offset;
	/* the name of the main thread says more than a path that nobody may see */
	if (program && redact_keeps(samples->parts.redact, REDACT_PATH))
		added.executable = profile_string(samples->parts.profile, program->name);
	if (added.executable == PROFILE_FAILED)
		added.executable = 0;
	added.attributes = attributes;
	return profile_process_add(samples->parts.profile, &added);
}

/* No process's generation has this bit (struct record). A thread of the kernel has none. */
#define KERNEL_GENERATION (1ull << 63)

static uint32_t add_kernel_thread(struct samples *samples, uint32_t pid)
{
	const struct profile_process added = {
		.generation = KERNEL_GENERATION | pid, .pid = pid, .is_kernel = 1};

	return profile_process_add(samples->parts.profile, &added);
}

/* Tells the profile of the process, and tells each profile once what the process says of itself. */
static uint32_t add_process(struct samples *samples, const struct process *process)
{
	const uint32_t id = add_program(samples, process, 0);
	uint32_t attributes;

	if (profile_process_get(samples->parts.profile, id).attributes)
		return id;
	attributes = say_attributes(samples, process);
	if (attributes)
		add_program(samples, process, attributes);
	return id;
}

/* A process that was sampled before it told of itself is told of all the same. */
static void on_told(void *context, const struct process *process)
{
	add_program(context, process, say_attributes(context, process));
}

/* Gives the profile the span in which the thread was. Returns its id, or 0. */
static uint32_t add_link(struct samples *samples, const struct held *held)
{
	const struct record *head = &held->head;
	struct profile_link link;
	uint32_t id;

	if (head->context != CONTEXT_TAKEN)
		return 0;
	memcpy(&link,
	       held->frame + record_label_words_end(head) - head->label_words - CONTEXT_WORDS,
	       sizeof(link));
	id = profile_link_add(samples->parts.profile, &link);
	samples->counts.links_lost += id == 0;
	return id;
}

/* Gives the profile a text of a label. Processes choose these: the profile has LABEL_BYTES_MAX. */
static uint32_t add_label_text(struct samples *samples, const char *text)
{
	struct profile *profile = samples->parts.profile;
	const uint32_t before = profile_strings(profile);
	uint32_t id;

	if (samples->label_bytes > LABEL_BYTES_MAX)
		return PROFILE_FAILED;
	id = profile_string(profile, text);
	if (profile_strings(profile) != before)
		samples->label_bytes += strlen(text) + 1;
	return id;
}

/* Gives the sample the labels of the goroutine, redacted as names of threads are. */
static void add_labels(struct samples *samples, const struct held *held,
		       struct profile_sample *sample)
{
	const struct record *head = &held->head;
	const u64 *words = held->frame + record_label_words_end(head) - head->label_words;
	struct profile_label labels[GO_LABELS_MAX];
	struct go_label read[GO_LABELS_MAX];
	char text[REDACT_BYTES];
	u64 goroutine;
	size_t count = go_label_read(words, head->label_words, read, &goroutine);

	sample->goroutine = goroutine;
	for (size_t i = 0; i < count; i++) {
		const char *value =
			redact_name(samples->parts.redact, REDACT_THREAD, read[i].value, text);

		labels[i].key = add_label_text(samples, read[i].key);
		labels[i].value = add_label_text(samples, value);
	}
	sample->labels = profile_labels_add(samples->parts.profile, labels, count);
	samples->counts.labels_lost += count > 0 && sample->labels == 0;
}

/* Tells the profile what some formats alone show. */
static void add_details(struct samples *samples, const struct record *head,
			const struct process *process, struct profile_sample *sample)
{
	sample->cpu = head->cpu + 1u;
	if (process)
		sample->process = add_process(samples, process);
	else
		sample->process = add_kernel_thread(samples, head->pid);
}

/* Says what the sample of a record is about. Returns 0 or -ENOMEM. */
static int describe(struct samples *samples, const struct record *head,
		    const struct process *process, struct profile_sample *ret_sample)
{
	struct profile *profile = samples->parts.profile;
	struct profile_sample sample = {.pid = head->pid, .tid = head->tid, .reason = head->reason};
	const struct redact *redact = samples->parts.redact;
	char name[ABI_COMM_BYTES] = "", text[REDACT_BYTES];

	if (samples->parts.details)
		add_details(samples, head, process, &sample);
	if (process) {
		sample.cgroup = process_cgroup(process, head->time);
		process_name(process, name);
	}
	if (!name[0])
		memcpy(name, head->comm, sizeof(name));
	name_cgroup(samples, sample.cgroup);
	sample.process_name = profile_string(profile, redact_name(redact, REDACT_COMM, name, text));
	sample.thread_name = profile_string(
		profile, redact_name(redact, REDACT_THREAD, (const char *)head->comm, text));
	if (sample.thread_name == PROFILE_FAILED || sample.process_name == PROFILE_FAILED)
		return -ENOMEM;
	*ret_sample = sample;
	return 0;
}

/* Says what only the words of a record have. */
static void add_words(struct samples *samples, const struct held *held,
		      struct profile_sample *sample)
{
	const struct record *head = &held->head;

	samples->counts.labels[head->labels]++;
	add_labels(samples, held, sample);
	if (!samples->parts.details)
		return;
	samples->counts.context[head->context]++;
	sample->link = add_link(samples, held);
}

/* Adds a sample of time on the CPU: a count, or the time for which the sample stands. */
static int add_running(struct samples *samples, const struct record *head,
		       struct profile_sample *sample)
{
	struct profile *profile = samples->parts.profile;

	sample->count = 1;
	sample->stack = profile_stack_add(profile, samples->stack.location, samples->stack.depth);
	if (sample->stack == PROFILE_FAILED)
		return -ENOMEM;
	if (!samples->waits)
		return profile_sample_add_at(profile, sample, head->time);
	sample->count = samples->parts.tick;
	return profile_sample_add(profile, sample);
}

static int add_waiting(struct samples *samples, const struct held *held, bool left_out,
		       const struct profile_sample *sample)
{
	const struct waits_stack stack = {
		.head = held->head,
		.word = held->frame[record_label_words_end(&held->head)],
		.left_out = left_out,
		.sample = *sample,
		.locations = samples->stack.location,
		.depth = samples->stack.depth,
	};

	return waits_begin(samples->waits, &stack);
}

static bool is_off_cpu(const struct samples *samples, const struct record *head)
{
	return samples->waits && head->flags & RECORD_FLAG_OFF_CPU;
}

static int add_sample(struct samples *samples, const struct held *held,
		      const struct process *process)
{
	struct profile_sample sample;

	if (describe(samples, &held->head, process, &sample) < 0)
		return -ENOMEM;
	add_words(samples, held, &sample);
	if (is_off_cpu(samples, &held->head))
		return add_waiting(samples, held, false, &sample);
	return add_running(samples, &held->head, &sample);
}

/* ---- threads off their CPU ---- */

static struct process *process_of(const struct samples *samples, const struct record *head)
{
	return processes_find(tracker_processes(samples->parts.tracker), head->pid,
			      head->generation);
}

static bool is_alive(void *context, const struct record *head)
{
	const struct process *process = process_of(context, head);

	return process && process->ended == 0;
}

/* Names who ended a wait: "thread/pid", or what is no thread. Returns the string's id, or 0. */
static uint32_t name_waker(struct samples *samples, const struct event_wait *end)
{
	static const char *const others[WAKERS] = {
		[WAKER_INTERRUPT] = "[interrupt]",
		[WAKER_HIDDEN] = "[denied]",
	};
	char text[REDACT_BYTES], name[REDACT_BYTES + 16];
	uint32_t id = 0;

	if (!end || end->waker == WAKER_UNKNOWN)
		return 0;
	if (others[end->waker])
		id = profile_string(samples->parts.profile, others[end->waker]);
	if (id == 0) {
		snprintf(name, sizeof(name), "%s/%u",
			 redact_name(samples->parts.redact, REDACT_THREAD,
				     (const char *)end->waker_name, text),
			 end->waker_pid);
		id = profile_string(samples->parts.profile, name);
	}
	return id == PROFILE_FAILED ? 0 : id;
}

/* Adds the time of a wait. A wait that goes on in a further profile is described anew there. */
static void take_wait(void *context, const struct waits_stack *stack, const struct event_wait *end,
		      uint64_t ns, uint64_t waits, bool is_old)
{
	struct samples *samples = context;
	struct profile *profile = samples->parts.profile;
	struct profile_sample sample = stack->sample;
	int r = 0;

	if (is_old)
		r = describe(samples, &stack->head, process_of(samples, &stack->head), &sample);
	sample.state = waits_state(stack->word);
	sample.waker = name_waker(samples, end);
	sample.count = ns;
	sample.waits = waits;
	sample.stack = profile_stack_add(profile, stack->locations, stack->depth);
	if (r < 0 || sample.stack == PROFILE_FAILED || profile_sample_add(profile, &sample) < 0)
		samples->counts.failed++;
}

void samples_end_wait(struct samples *samples, const struct event_wait *event)
{
	if (samples->waits)
		waits_end(samples->waits, event);
}

void samples_told_until(struct samples *samples, uint64_t time)
{
	if (samples->waits)
		waits_told_until(samples->waits, time);
}

void samples_close_window(struct samples *samples)
{
	if (samples->waits)
		waits_close_window(samples->waits);
}

void samples_begin_window(struct samples *samples)
{
	if (samples->waits)
		waits_begin_profile(samples->waits, true);
}

/* The first listing may have failed. Without one the process never gets ready. */
static bool lacks_listing(const struct process *process, const struct record *head)
{
	return head->reason == REASON_cut_not_ready && !process_state_is_complete(process->state);
}

static bool lacks_mapping(const struct record *head, struct missing missing)
{
	return missing.mapping &&
	       (head->reason == REASON_cut_no_mapping || head->reason == REASON_cut_no_room);
}

/* Asks for names of code made at run time. As ask(). */
static bool ask_made(struct samples *samples, const struct process *process,
		     const struct record *head, struct missing missing, uint64_t now)
{
	if (!missing.made || !process || !samples->parts.made)
		return false;
	return made_names_want(samples->parts.made, process, head->time, now);
}

/* Asks what the process says of itself. No record waits for that. */
static void ask_context(struct samples *samples, struct process *process, uint64_t now)
{
	if (samples->parts.contexts && contexts_want(samples->parts.contexts, process, now))
		tracker_look(samples->parts.tracker, process);
}

/* Asks for the answers that a record lacks. Returns true when the record should wait for one. */
static bool ask(struct samples *samples, struct process *process, const struct record *head,
		struct missing missing, uint64_t now)
{
	struct tracker *tracker = samples->parts.tracker;
	bool wait = missing.object;

	if (!process)
		return false;
	process->tid = head->tid;
	ask_context(samples, process, now);
	if (lacks_listing(process, head) && tracker_unknown(tracker, process, now))
		wait = true;
	if (head->user_frames == 0)
		return false;
	if (tracker_doubtful(tracker, process, now))
		wait = true;
	if (lacks_mapping(head, missing) && tracker_unknown(tracker, process, now))
		wait = true;
	if (ask_made(samples, process, head, missing, now))
		wait = true;
	return wait;
}

static void count(struct samples *samples, const struct record *head, uint64_t by)
{
	samples->counts.reason[head->reason] += by;
	if (!profile_reason_is_told(head->reason))
		samples->counts.complete += by;
}

/* Counts a sample that the profile lacks neither as complete nor as cut. */
static void fail(struct samples *samples, const struct record *head)
{
	samples->counts.failed++;
	count(samples, head, -1ull);
}

/* A filter asks for names as the profile has them: of the process or of the thread. */
static bool is_filtered(const struct samples *samples, const struct record *head,
			const struct process *process)
{
	struct comm_filter *comm = samples->parts.comm;
	char name[ABI_COMM_BYTES] = "";

	if (!comm || comm_filter_matches(comm, (const char *)head->comm))
		return false;
	if (process)
		process_name(process, name);
	return !name[0] || !comm_filter_matches(comm, name);
}

static void filter(struct samples *samples, const struct record *head)
{
	samples->counts.filtered++;
	samples->counts.samples--;
	count(samples, head, -1ull);
}

/* The event of a thread that a filter leaves out finds the record, which has no stack. */
static void leave_out(struct samples *samples, const struct held *held)
{
	static const struct profile_sample nothing;

	samples->stack.depth = 0;
	if (is_off_cpu(samples, &held->head))
		add_waiting(samples, held, true, &nothing);
}

/* Returns whether an object or a listing may still come that explains the record. */
static bool is_unanswered(const struct process *process, struct missing missing)
{
	if (missing.object)
		return true;
	return missing.mapping && process && process_state_is_asked(process->state);
}

/* Returns whether the process has its new name, but not yet its new generation. */
static bool is_within_exec(const struct record *head)
{
	return head->reason == REASON_cut_exec || head->reason == REASON_end_exec;
}

static struct process *find_process(struct samples *samples, const struct record *head,
				    uint64_t now)
{
	struct process *process;

	/* the task is exiting, or is a kernel thread */
	if (head->generation == 0 && head->reason == REASON_end_no_user)
		return tracker_owner(samples->parts.tracker, head->pid, head->time);
	if (head->generation == 0)
		return NULL;
	process = tracker_process(samples->parts.tracker, head->pid, head->generation, head->time,
				  now);
	if (process && head->pid == head->tid && !is_within_exec(head))
		process_set_comm(process, (const char *)head->comm);
	return process;
}

/* Counts a record that goes before its answers are there. A record of this turn lacks the side-band
 * as well. */
static void count_hurried(struct samples *samples, const struct held *held, uint64_t turn,
			  enum hurry hurry, bool unanswered)
{
	if (hurry == HURRY_ROOM && (held->turn >= turn || unanswered))
		samples->counts.held++;
	if (hurry != HURRY_ROOM && unanswered)
		samples->counts.early++;
}

/* Returns whether a walk that ended in an object ended for want of its table. Without a table, only
 * frame pointers lead to the caller, or to an address behind no call. */
static bool wants_table(const struct object *object, unsigned int reason)
{
	if (reason == REASON_cut_no_room)
		return object->no_room;
	return reason == REASON_cut_no_rule || reason == REASON_cut_not_a_call;
}

/* The outermost frame is where the walk ended. */
static void count_ruleless(const struct held *held, const struct process *process)
{
	const struct record *head = &held->head;
	const struct mapping *mapping;

	if (!profile_reason_is_cut(head->reason) || head->user_frames == 0)
		return;
	mapping = stack_mapping(process, head,
				held->frame[head->kernel_frames + head->user_frames - 1]);
	if (mapping && mapping->object && wants_table(mapping->object, head->reason))
		object_count_ruleless(mapping->object);
}

/* A root behind guesses that names of code have proven is a proven root. */
static void prove(struct samples *samples, struct record *head)
{
	if (head->reason != REASON_guess_root || !samples->stack.proven)
		return;
	count(samples, head, -1ull);
	head->reason = REASON_end_named;
	count(samples, head, 1);
}

static void enter(struct samples *samples, struct held *held, const struct process *process)
{
	struct record *head = &held->head;

	if (head->flags & RECORD_FLAG_KERNEL_CUT)
		samples->counts.kernel_cut++;
	if (head->runtime < SAMPLES_RUNTIMES)
		samples->counts.runtime[head->runtime]++;
	stack_make(&samples->stack, head, held->frame, process);
	prove(samples, head);
	if (samples->stack.failed || add_sample(samples, held, process) < 0)
		fail(samples, head);
	else
		count_ruleless(held, process);
}

static uint64_t count_answers(const struct samples *samples)
{
	uint64_t answers = tracker_answers(samples->parts.tracker);

	if (samples->parts.made)
		answers += made_names_answers(samples->parts.made);
	return answers;
}

/* Returns false while the record has to wait. */
static bool resolve(struct samples *samples, struct held *held, uint64_t turn, uint64_t now,
		    enum hurry hurry)
{
	const struct record *head = &held->head;
	uint64_t answers = count_answers(samples);
	bool may_wait = hurry == HURRY_NOT && now < held->since + SAMPLES_HELD_FOR;
	struct process *process;
	struct missing missing;

	if (may_wait && held->answers == answers)
		return false;
	held->answers = answers;
	process = find_process(samples, head, now);
	missing = look(held, process);
	if (may_wait && ask(samples, process, head, missing, now))
		return false;
	if (is_filtered(samples, head, process)) {
		leave_out(samples, held);
		filter(samples, head);
		return true;
	}
	if (!may_wait)
		ask_made(samples, process, head, missing, now);
	if (!may_wait)
		count_hurried(samples, held, turn, hurry, is_unanswered(process, missing));
	if (process)
		grants_note(process, head->runtime);
	enter(samples, held, process);
	return true;
}

/* ---- all records ---- */

static void keep_oldest(struct samples *samples, const struct held *held)
{
	if (held->head.time < samples->oldest)
		samples->oldest = held->head.time;
}

static void resolve_all(struct samples *samples, uint64_t turn, uint64_t now, enum hurry hurry)
{
	size_t kept = 0, records = 0, bytes;

	samples->oldest = UINT64_MAX;
	for (size_t at = 0; at < samples->used; at += bytes) {
		struct held *held = (struct held *)(samples->buffer + at);

		bytes = held->bytes;
		if ((hurry != HURRY_NOT || held->turn < turn) &&
		    resolve(samples, held, turn, now, hurry))
			continue;
		keep_oldest(samples, held);
		memmove(samples->buffer + kept, samples->buffer + at, bytes);
		kept += bytes;
		records++;
	}
	samples->used = kept;
	samples->records = records;
}

/*
 * Copies the words of a record: frames of the kernel, of the user, then words of a list, of a
 * context and of labels.
 */
static void copy_words(u64 *to, const struct record *head, const u64 *from)
{
	const u64 *frames = from + head->kernel_frames, *list = frames + head->user_frames;
	size_t rest = head->label_words;

	if (head->flags & RECORD_FLAG_LIST_FIRST) {
		list = frames;
		frames = list + head->runtime_words;
	}
	memcpy(to, from, head->kernel_frames * sizeof(*to));
	to += head->kernel_frames;
	memcpy(to, frames, head->user_frames * sizeof(*to));
	to += head->user_frames;
	memcpy(to, list, head->runtime_words * sizeof(*to));
	to += head->runtime_words;
	if (head->context == CONTEXT_TAKEN)
		rest += CONTEXT_WORDS;
	if (head->flags & RECORD_FLAG_OFF_CPU)
		rest += OFF_WORDS;
	memcpy(to, from + head->kernel_frames + head->user_frames + head->runtime_words,
	       rest * sizeof(*to));
}

void samples_hold(struct samples *samples, const struct record *head, const u64 *frames,
		  uint64_t turn, uint64_t now)
{
	size_t bytes = sizeof(struct held) + sizeof(u64) * record_words(head);
	struct held *held;

	samples->counts.samples++;
	count(samples, head, 1);
	if (samples->used + bytes > SAMPLES_HELD_MAX)
		resolve_all(samples, turn, now, HURRY_ROOM);
	if (ARRAY_RESERVE(samples->buffer, samples->capacity, samples->used + bytes) < 0) {
		fail(samples, head);
		return;
	}
	held = (struct held *)(samples->buffer + samples->used);
	*held = (struct held){
		.bytes = bytes, .turn = turn, .since = now, .answers = UINT64_MAX, .head = *head};
	copy_words(held->frame, head, frames);
	keep_oldest(samples, held);
	samples->used += bytes;
	samples->records++;
}

void samples_resolve(struct samples *samples, uint64_t turn, uint64_t now)
{
	resolve_all(samples, turn, now, HURRY_NOT);
	if (samples->waits)
		waits_turn(samples->waits, now);
}

void samples_finish(struct samples *samples, uint64_t now, uint64_t stopped)
{
	resolve_all(samples, UINT64_MAX, now, HURRY_END);
	if (samples->waits)
		waits_finish(samples->waits, stopped);
}

size_t samples_held(const struct samples *samples)
{
	return samples->records;
}

uint64_t samples_oldest(const struct samples *samples)
{
	return samples->oldest;
}

void samples_use(struct samples *samples, struct profile *profile)
{
	samples->parts.profile = profile;
	samples->label_bytes = 0;
	if (samples->waits)
		waits_begin_profile(samples->waits, false);
	if (samples->parts.made)
		made_names_begin(samples->parts.made);
	stack_use(&samples->stack, profile);
}

uint32_t samples_kernel_object(const struct samples *samples, uint32_t range)
{
	if (range >= SAMPLES_KERNEL_RANGES)
		return 0;
	return samples->stack.kernel_object[range];
}

uint32_t samples_unknown_object(const struct samples *samples)
{
	return samples->stack.unknown_object;
}

uint32_t samples_script_object(const struct samples *samples, uint32_t runtime)
{
	if (runtime >= RUNTIME_COUNT)
		return 0;
	return samples->stack.script_object[runtime];
}

uint32_t samples_made_object(const struct samples *samples, uint32_t runtime)
{
	if (runtime >= RUNTIME_COUNT)
		return 0;
	return samples->stack.made_object[runtime];
}

void samples_counts(const struct samples *samples, struct samples_counts *ret_counts)
{
	*ret_counts = samples->counts;
	ret_counts->kernel_unknown = samples->stack.kernel_unknown;
	ret_counts->malformed = samples->stack.malformed;
	if (samples->waits)
		waits_counts(samples->waits, &ret_counts->waits);
}

void samples_held_reasons(const struct samples *samples, uint64_t ret_reason[REASON_COUNT])
{
	size_t bytes;

	memset(ret_reason, 0, REASON_COUNT * sizeof(ret_reason[0]));
	for (size_t at = 0; at < samples->used; at += bytes) {
		const struct held *held = (const struct held *)(samples->buffer + at);

		bytes = held->bytes;
		ret_reason[held->head.reason]++;
	}
}
