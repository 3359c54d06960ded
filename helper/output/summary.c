/* SPDX-License-Identifier: Apache-2.0 */
#include "helper/output/summary.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/runtimes.h"
#include "base/waited.h"
#include "ipc/log.h"
#include "ipc/time.h"

#define RULELESS_NOTED 1.0 /* percent of the samples: below that, only -v names an object */

enum reason_class {
	END,
	GUESS,
	CUT,
	LOST,
	CLASS_COUNT
};

static const struct {
	const char *name, *help;
	enum reason_class class;
} reasons[REASON_COUNT] = {
#define X(name, class, help) {#name, help, class},
#include "bpf/counters.def"
#undef X
};
static const struct {
	const char *name, *help;
} limits[LIMIT_COUNT] = {
#define L(name, help) {#name, help},
#include "base/limits.def"
#undef L
};
_Static_assert(REASON_COUNT <= SUMMARY_REASONS, "the worker's summary has room for each reason");
_Static_assert(LIMIT_COUNT <= SUMMARY_LIMITS, "and for each limit");

static uint64_t min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Takes the worker's objects without rules, as far as samples were cut for want of rules. */
static void take_objects(struct summary *sum, const struct message_summary *worker)
{
	uint64_t left = sum->reason[REASON_cut_no_rule] + sum->reason[REASON_cut_not_a_call] +
			sum->reason[REASON_cut_no_room];

	memcpy(sum->object, worker->object, sizeof(sum->object));
	for (size_t i = 0; i < SUMMARY_OBJECTS; i++) {
		if (sum->object[i].samples > left)
			sum->object[i].samples = 0;
		left -= sum->object[i].samples;
	}
}

/*
 * Returns how many samples BPF emitted for a reason. The worker proves some of the guesses, which
 * BPF has counted as guesses.
 */
static uint64_t emitted_for(const struct counted *counted, const struct message_summary *worker,
			    unsigned int reason)
{
	const uint64_t proven =
		min(counted->reason[REASON_guess_root], worker->reason[REASON_end_named]);

	if (reason == REASON_guess_root)
		return counted->reason[reason] - proven;
	if (reason == REASON_end_named)
		return counted->reason[reason] + proven;
	return counted->reason[reason];
}

void summary_make(const struct counted *counted, const struct message_summary *worker, bool by_name,
		  struct summary *ret_summary)
{
	/* counted apart from the reasons; a test shows that both sums agree */
	struct summary sum = {.expected = counted->expected, .taken = counted->samples};
	uint64_t classes[CLASS_COUNT] = {0}, hidden = 0;

	sum.counted = counted->counted;
	sum.restarted = counted->restarted;
	for (unsigned int i = 0; i < REASON_COUNT; i++) {
		uint64_t emitted = emitted_for(counted, worker, i);

		sum.reason[i] = emitted;
		if (reasons[i].class != LOST)
			sum.reason[i] = min(emitted, worker->reason[i]);
		sum.discarded += emitted - sum.reason[i];
		classes[reasons[i].class] += sum.reason[i];
	}
	if (by_name)
		hidden = min(worker->filtered, sum.discarded);
	sum.discarded -= hidden;
	sum.taken -= hidden;
	sum.filtered = counted->filtered + hidden;
	sum.complete = classes[END];
	sum.guessed = classes[GUESS];
	sum.cut = classes[CUT];
	sum.lost = classes[LOST] + sum.discarded + sum.restarted;
	sum.malformed = min(worker->discarded, sum.discarded);
	sum.unkept = min(worker->unkept, sum.discarded - sum.malformed);
	memcpy(sum.limit, worker->limit, sizeof(sum.limit));
	sum.limit[LIMIT_generations] = counted->processes_lost;
	sum.limit[LIMIT_events] = counted->events_lost;
	sum.limit[LIMIT_denied] = counted->denied;
	sum.limit[LIMIT_switches] = counted->switches_lost;
	/* the worker may see that a wait has no end, or not */
	if (sum.limit[LIMIT_waits] < counted->waits_lost)
		sum.limit[LIMIT_waits] = counted->waits_lost;
	sum.off_cpu = worker->off_cpu;
	memcpy(sum.runtime, worker->runtime, sizeof(sum.runtime));
	take_objects(&sum, worker);
	sum.without_names = min(worker->without_names, sum.complete + sum.guessed + sum.cut);
	*ret_summary = sum;
}

void summary_progress(const struct counted *counted, char ret_line[static PROGRESS_BYTES])
{
	uint64_t lost = 0;
	int used;

	for (unsigned int i = 0; i < REASON_COUNT; i++)
		if (reasons[i].class == LOST)
			lost += counted->reason[i];
	used = snprintf(ret_line, PROGRESS_BYTES, "%.0f s: %" PRIu64 " samples, %" PRIu64 " lost",
			(double)counted->elapsed / NS_PER_SECOND, counted->samples, lost);
	if (counted->seen)
		snprintf(ret_line + used, PROGRESS_BYTES - (size_t)used,
			 ", %" PRIu64 " %% complete", counted->complete * 100 / counted->seen);
}

static void print_lost(uint64_t count, const char *name, const char *help, FILE *stream)
{
	if (count)
		fprintf(stream, "  lost lost_%s: %" PRIu64 "  (%s)\n", name, count, help);
}

/* Names the runtimes. The worker tells their names, and may have been taken over. */
static void print_runtimes(const struct summary *summary, FILE *stream)
{
	for (size_t i = 0; i < SUMMARY_RUNTIMES; i++) {
		const struct summary_runtime *runtime = &summary->runtime[i];
		char text[RUNTIME_NOTE_BYTES], name[sizeof(runtime->name) + 1] = "";

		if (runtime->samples > summary->taken || !runtime_row(runtime->runtime) ||
		    !runtime_is_noted(runtime->samples, summary->taken))
			continue;
		for (size_t j = 0; j < sizeof(runtime->name) && runtime->name[j]; j++) {
			name[j] = runtime->name[j];
			if (name[j] < ' ' || name[j] > '~')
				name[j] = '?';
		}
		runtime_note(text, runtime->runtime, name,
			     (double)runtime->samples * 100 / (double)summary->taken);
		fprintf(stream, "  note %s\n", text);
	}
}

static void print_waited(const struct message_waited *waited, FILE *stream)
{
	char text[WAITED_NOTE_BYTES];

	if (!waited_is_noted(waited))
		return;
	waited_note(text, waited);
	fprintf(stream, "  note %s\n", text);
}

static const char *explain(int32_t reason)
{
	static const struct {
		int32_t reason;
		const char *text;
	} own[] = {
		{-ENOENT, "no unwind information"},
		{-ENOSPC, "no room for its unwind tables"},
		{-EACCES, "not opened: no regular file, open for writing, or its file system is "
			  "not allowed"},
		{-ESRCH, "the process had ended before the file was opened"},
		{-ESTALE, "the process had another program before the file was opened"},
		{-EDQUOT, "its cgroup, or its owner, has used up the CPU time for parsing"},
		{-ETIME, "given up: parsing it takes too much CPU time"},
		{-EOWNERDEAD, "quarantined: a worker ended while it parsed the file"},
	};

	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		if (own[i].reason == reason)
			return own[i].text;
	if (reason >= 0 || reason < -MESSAGE_ERRNO_MAX)
		return "unknown";
	return strerror(-reason);
}

/* Prints the name of a file that the worker tells, which may have been taken over. */
static void print_name(const struct summary_object *object, FILE *stream)
{
	for (size_t i = 0; i < sizeof(object->name) && object->name[i]; i++) {
		char byte = object->name[i];

		if (byte < ' ' || byte > '~')
			byte = '?';
		fputc(byte, stream);
	}
}

/* Prints the objects without rules in which most stacks were cut. */
static void print_ruleless(const struct summary *summary, bool verbose, FILE *stream)
{
	for (size_t i = 0; i < SUMMARY_OBJECTS; i++) {
		const struct summary_object *object = &summary->object[i];
		double share;

		if (object->samples == 0 || object->samples > summary->taken)
			continue;
		share = (double)object->samples * 100 / (double)summary->taken;
		if (share < RULELESS_NOTED && !verbose)
			continue;
		fputs("  no rules: ", stream);
		print_name(object, stream);
		fprintf(stream, " %.1f %% of the samples (%s)\n", share, explain(object->reason));
	}
}

/* Prints what is known of threads off their CPU. A probability is a share of 2^32. */
static void print_off_cpu(const struct summary_off_cpu *off_cpu, FILE *stream)
{
	if (!off_cpu->least_probability && !off_cpu->shorter)
		return;
	fprintf(stream, "off-CPU: stacks %" PRIu64 ", time %.3f s (estimated, +- %.3f s)",
		off_cpu->waits, (double)off_cpu->ns / NS_PER_SECOND,
		(double)off_cpu->error / NS_PER_SECOND);
	if (off_cpu->least_probability)
		fprintf(stream, ", probability of a stack %.6f to 1",
			(double)(off_cpu->least_probability & UINT32_MAX) / UINT32_MAX);
	if (off_cpu->open)
		fprintf(stream, ", going on at the end %" PRIu64, off_cpu->open);
	if (off_cpu->shorter)
		fprintf(stream, ", shorter than MIN %" PRIu64, off_cpu->shorter);
	fputc('\n', stream);
}

void summary_print(const struct summary *summary, bool verbose, FILE *stream)
{
	static const char *const class_names[] = {
		[END] = "end", [GUESS] = "guess", [CUT] = "cut", [LOST] = "lost"};
	/* rounded down, so that 100.00 % means every sample */
	uint64_t share = summary->taken ? summary->complete * 10000 / summary->taken : 0;

	fputs("samples: ", stream);
	if (!summary->counted)
		fprintf(stream, "expected %" PRIu64 ", ", summary->expected);
	fprintf(stream, "taken %" PRIu64 ", complete %" PRIu64 " (%" PRIu64 ".%02" PRIu64 " %%), ",
		summary->taken, summary->complete, share / 100, share % 100);
	if (summary->guessed)
		fprintf(stream, "complete (guessed) %" PRIu64 ", ", summary->guessed);
	fprintf(stream, "cut %" PRIu64 ", without names %" PRIu64 ", lost %" PRIu64, summary->cut,
		summary->without_names, summary->lost);
	if (summary->filtered)
		fprintf(stream, ", filtered %" PRIu64, summary->filtered);
	fputc('\n', stream);
	print_off_cpu(&summary->off_cpu, stream);
	for (unsigned int i = 0; i < REASON_COUNT; i++)
		if (summary->reason[i] && (reasons[i].class != END || verbose))
			fprintf(stream, "  %-4s %s: %" PRIu64 "  (%s)\n",
				class_names[reasons[i].class], reasons[i].name, summary->reason[i],
				reasons[i].help);
	print_ruleless(summary, verbose, stream);
	print_lost(summary->restarted, "restart", "with a worker that ended", stream);
	print_lost(summary->malformed, "malformed", "record not well-formed", stream);
	print_lost(summary->unkept, "unkept", "no memory for the record", stream);
	print_lost(summary->discarded - summary->malformed - summary->unkept, "unread",
		   "not read by the worker", stream);
	for (unsigned int i = 0; i < LIMIT_COUNT; i++)
		if (summary->limit[i])
			fprintf(stream, "  note %s: %" PRIu64 "  (%s)\n", limits[i].name,
				summary->limit[i], limits[i].help);
	print_runtimes(summary, stream);
	print_waited(&summary->waited, stream);
}

/* Returns whether the use of CPU time alone explains that there are no samples. */
static bool has_waited(const struct counted *counted, const struct message_waited *waited,
		       uint64_t lost, uint64_t filtered)
{
	if (waited->wall == 0 || lost > 0 || filtered > 0 || counted->denied > 0)
		return false;
	return counted->expected == 0 || waited_is_noted(waited);
}

static void explain_waited(const struct message_waited *waited)
{
	const char *advice = "too little for a sample; record longer (-d) or at a higher rate (-F)";
	char use[WAITED_NOTE_BYTES];

	if (waited_is_noted(waited))
		advice = "time spent waiting is not sampled; record while there is work, or longer "
			 "(-d)";
	waited_use(use, waited);
	log_error("record: no samples: the recorded processes used %s: %s", use, advice);
}

void summary_explain_none(const struct counted *counted, const struct message_waited *waited,
			  uint64_t lost, uint64_t filtered)
{
	if (has_waited(counted, waited, lost, filtered))
		explain_waited(waited);
	else if (counted->denied && counted->denied >= counted->expected && !lost && !filtered)
		log_error("record: no samples: %" PRIu64 " denied, by a rule of the policy or by "
			  "--exclude-*; see: keyhole check-config",
			  counted->denied);
	else if (counted->counted)
		log_error("record: no samples: the event came less often than its period, or was "
			  "filtered: %" PRIu64 " were lost, %" PRIu64 " denied, %" PRIu64
			  " filtered; record longer (-d), another event or other filters",
			  lost, counted->denied, filtered);
	else if (filtered && !lost && !counted->denied)
		log_error("record: no samples: the filters left all out, %" PRIu64
			  " filtered; give other filters, or record longer (-d)",
			  filtered);
	else if (!counted->expected && !counted->denied)
		log_error("record: no samples: no CPU time was used by what may be sampled; "
			  "record while there is work, or longer (-d)");
	else
		log_error("record: no samples: CPU time for %" PRIu64 " was used, %" PRIu64
			  " were lost, %" PRIu64 " denied, %" PRIu64
			  " filtered; record longer (-d), at another rate (-F) or with other "
			  "filters",
			  counted->expected, lost, counted->denied, filtered);
}
