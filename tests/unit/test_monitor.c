/* SPDX-License-Identifier: Apache-2.0 */
/* A child says what it has written; the tests show what it can make of a recording so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "bpf/abi.h"
#include "ipc/log.h"
#include "ipc/time.h"
#include "loader/monitor.h"

/* Starts a monitor with one child, whose end of the channel is ret_child. */
static void rig_monitor(struct monitor *monitor, enum policy_role role, enum message_party party,
			struct channel *ret_child)
{
	struct channel *channel = &monitor->children[role].channel;
	int fds[2];

	memset(monitor, 0, sizeof(*monitor));
	monitor->audit.fd = monitor->connector.fd = -1;
	for (int i = 0; i < CHILDREN; i++)
		monitor->children[i].channel.fd = monitor->children[i].spawner.channel.fd = -1;
	assert_int_equal(channel_pair(fds), 0);
	channel_init(ret_child, fds[0], party, PARTY_LOADER);
	channel_init(channel, fds[1], PARTY_LOADER, party);
	ret_child->phase = channel->phase = PHASE_RUN;
	assert_int_equal(monitor_start(monitor), 0);
}

static void release_rig(struct monitor *monitor, enum policy_role role, struct channel *child)
{
	close(monitor->fds[0].fd);
	channel_release(child);
	channel_release(&monitor->children[role].channel);
}

/* Returns what the monitor makes of an exporter's message while the recording goes on. */
static enum monitor_result said(int32_t error, uint32_t bytes)
{
	const struct message_written written = {error, bytes};
	static struct monitor monitor;
	struct channel exporter;
	enum monitor_result result;

	rig_monitor(&monitor, ROLE_EXPORTER, PARTY_EXPORTER, &exporter);
	assert_int_equal(channel_send(&exporter, MESSAGE_WRITTEN, &written, sizeof(written), -1),
			 0);
	result = monitor_run(&monitor, GOAL_STOP, time_now() + 5 * NS_PER_SECOND);
	release_rig(&monitor, ROLE_EXPORTER, &exporter);
	return result;
}

static void test_monitor__an_error_ends_the_recording(void **state)
{
	(void)state;
	assert_int_equal(said(-EPIPE, 0), MONITOR_REACHED);
	assert_int_equal(said(-ENOSPC, 0), MONITOR_REACHED);
	assert_int_equal(said(-EFBIG, 0), MONITOR_REACHED);
}

/* A recording that took the exporter at its word would end with success. */
static void test_monitor__nothing_is_whole_yet(void **state)
{
	(void)state;
	assert_int_equal(said(0, 0), MONITOR_FAILED);
	assert_int_equal(said(0, 1000), MONITOR_FAILED);
	assert_int_equal(said(-ENODATA, 0), MONITOR_FAILED);
}

/* Ends a list of signals. All signals are blocked, so only the monitor sees them. */
#define NO_MORE 0

struct signalled {
	enum monitor_result result;
	bool unasked;
};

/* Makes a monitor whose worker finishes the profile. worker: its end of the channel. */
static void rig_finishing(struct monitor *monitor, struct channel *worker)
{
	rig_monitor(monitor, ROLE_WORKER, PARTY_WORKER, worker);
	worker->phase = monitor->children[ROLE_WORKER].channel.phase = PHASE_FINISH;
}

/* Has the worker tell of a draft before the signals come. */
static struct signalled signalled(enum monitor_goal goal, bool drafted, const int *numbers)
{
	const struct message_summary summary = {.filtered = 1};
	static struct monitor monitor;
	struct channel worker;
	enum monitor_result result = MONITOR_TIMEOUT;

	rig_finishing(&monitor, &worker);
	if (drafted)
		assert_int_equal(
			channel_send(&worker, MESSAGE_DRAFTED, &summary, sizeof(summary), -1), 0);
	for (; *numbers && result == MONITOR_TIMEOUT; numbers++) {
		raise(*numbers);
		result = monitor_run(&monitor, goal, time_now() + NS_PER_SECOND / 20);
	}
	assert_int_equal(*numbers, NO_MORE); /* the last signal alone has a result */
	release_rig(&monitor, ROLE_WORKER, &worker);
	return (struct signalled){result, monitor.unasked};
}

#define SIGNALLED(goal, drafted, ...) \
	signalled(goal, drafted, (const int[]){__VA_ARGS__, NO_MORE}).result

static void test_monitor__each_way_to_end_sampling(void **state)
{
	static const int asked[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

	(void)state;
	for (size_t i = 0; i < sizeof(asked) / sizeof(*asked); i++) {
		struct signalled by = signalled(GOAL_STOP, false, (int[]){asked[i], NO_MORE});

		assert_int_equal(by.result, MONITOR_REACHED);
		assert_false(by.unasked);
	}
}

/* These signals would end keyhole, and the recording with it. */
static void test_monitor__other_signals_end_sampling_too(void **state)
{
	static const int others[] = {SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF,
				     SIGXCPU, SIGIO,   SIGPWR,	SIGSTKFLT};

	(void)state;
	log_init("test", LOG_LEVEL_ERROR - 1);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		struct signalled by = signalled(GOAL_STOP, false, (int[]){others[i], NO_MORE});

		assert_int_equal(by.result, MONITOR_REACHED);
		assert_true(by.unasked);
	}
	assert_true(signalled(GOAL_STOP, false, (int[]){SIGRTMIN, NO_MORE}).unasked);
	assert_true(signalled(GOAL_STOP, false, (int[]){SIGRTMAX, NO_MORE}).unasked);
	log_init("test", LOG_LEVEL_ERROR);
}

static void test_monitor__the_second_signal_hurries(void **state)
{
	(void)state;
	assert_int_equal(SIGNALLED(GOAL_WRITTEN, true, SIGINT), MONITOR_TIMEOUT);
	assert_int_equal(SIGNALLED(GOAL_WRITTEN, true, SIGINT, SIGTERM), MONITOR_HURRIED);
	assert_int_equal(SIGNALLED(GOAL_WRITTEN, true, SIGINT, SIGINT), MONITOR_HURRIED);
	/* without a draft there is nothing yet that could be written at once */
	assert_int_equal(SIGNALLED(GOAL_WRITTEN, false, SIGINT, SIGINT), MONITOR_TIMEOUT);
}

static void test_monitor__a_draft_after_the_second_signal(void **state)
{
	const struct message_summary summary = {.filtered = 1};
	static struct monitor monitor;
	struct channel worker;

	(void)state;
	rig_finishing(&monitor, &worker);
	monitor.signals = 2;
	assert_int_equal(channel_send(&worker, MESSAGE_DRAFTED, &summary, sizeof(summary), -1), 0);
	assert_int_equal(monitor_run(&monitor, GOAL_WRITTEN, time_now() + 5 * NS_PER_SECOND),
			 MONITOR_HURRIED);
	assert_int_equal(monitor.summary.filtered, 1);
	release_rig(&monitor, ROLE_WORKER, &worker);
}

static void test_monitor__the_third_signal_aborts(void **state)
{
	(void)state;
	assert_int_equal(SIGNALLED(GOAL_WRITTEN, false, SIGINT, SIGTERM, SIGINT), MONITOR_ABORTED);
}

/* A terminal that is lost may send SIGHUP twice, and systemd sends SIGHUP after SIGTERM. */
static void test_monitor__a_hangup_never_hurries(void **state)
{
	(void)state;
	assert_int_equal(SIGNALLED(GOAL_WRITTEN, true, SIGHUP, SIGHUP, SIGHUP), MONITOR_TIMEOUT);
	assert_int_equal(SIGNALLED(GOAL_WRITTEN, true, SIGTERM, SIGHUP), MONITOR_TIMEOUT);
	assert_int_equal(SIGNALLED(GOAL_WRITTEN, true, SIGQUIT, SIGUSR1, SIGINT), MONITOR_TIMEOUT);
}

/* As nohup(1) does. A shell ignores SIGINT for a background process, which can still be ended. */
static void test_monitor__what_was_ignored_stays_ignored(void **state)
{
	static const int ignored[] = {SIGHUP, SIGQUIT, SIGUSR1};

	(void)state;
	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++) {
		sigset_t set;

		sigemptyset(&set);
		sigaddset(&set, ignored[i]);
		sigprocmask(SIG_UNBLOCK, &set, NULL);
		signal(ignored[i], SIG_IGN);
		assert_int_equal(SIGNALLED(GOAL_STOP, false, ignored[i]), MONITOR_TIMEOUT);
		signal(ignored[i], SIG_DFL);
	}
	signal(SIGINT, SIG_IGN);
	assert_int_equal(SIGNALLED(GOAL_STOP, false, SIGINT), MONITOR_REACHED);
	signal(SIGINT, SIG_DFL);
}

/* The worker ended after a draft, and the exporter had written the draft before. */
static void test_monitor__a_draft_that_is_written(void **state)
{
	const struct message_summary summary = {.filtered = 1};
	const struct message_written written = {0, 1000};
	static struct monitor monitor;
	struct channel worker, exporter;
	int fds[2];

	(void)state;
	rig_monitor(&monitor, ROLE_WORKER, PARTY_WORKER, &worker);
	assert_int_equal(channel_pair(fds), 0);
	channel_init(&exporter, fds[0], PARTY_EXPORTER, PARTY_LOADER);
	channel_init(&monitor.children[ROLE_EXPORTER].channel, fds[1], PARTY_LOADER,
		     PARTY_EXPORTER);
	for (int role = ROLE_WORKER; role <= ROLE_EXPORTER; role++)
		monitor.children[role].channel.phase = PHASE_FINISH;
	worker.phase = exporter.phase = PHASE_FINISH;
	assert_int_equal(channel_send(&worker, MESSAGE_DRAFTED, &summary, sizeof(summary), -1), 0);
	assert_int_equal(channel_send(&exporter, MESSAGE_WRITTEN, &written, sizeof(written), -1),
			 0);
	/* the worker might still send its summary */
	assert_int_equal(monitor_run(&monitor, GOAL_WRITTEN, time_now() + NS_PER_SECOND / 10),
			 MONITOR_TIMEOUT);
	channel_release(&monitor.children[ROLE_WORKER].channel);
	assert_int_equal(monitor_run(&monitor, GOAL_WRITTEN, time_now() + 5 * NS_PER_SECOND),
			 MONITOR_REACHED);
	channel_release(&exporter);
	channel_release(&monitor.children[ROLE_EXPORTER].channel);
	release_rig(&monitor, ROLE_WORKER, &worker);
}

/* Returns what the monitor makes of so many drafts, with SUMMARY before the last one or not. */
static enum monitor_result drafted(int drafts, bool summary_before)
{
	const struct message_summary draft = {.filtered = 1}, last = {.filtered = 2};
	static struct monitor monitor;
	struct channel worker;
	enum monitor_result result;

	rig_finishing(&monitor, &worker);
	for (int i = 1; i <= drafts; i++) {
		if (i == drafts && summary_before)
			assert_int_equal(
				channel_send(&worker, MESSAGE_SUMMARY, &last, sizeof(last), -1), 0);
		assert_int_equal(channel_send(&worker, MESSAGE_DRAFTED, &draft, sizeof(draft), -1),
				 0);
	}
	result = monitor_run(&monitor, GOAL_WRITTEN, time_now() + NS_PER_SECOND / 10);
	assert_int_equal(monitor.summary.filtered, summary_before ? 2 : 1);
	release_rig(&monitor, ROLE_WORKER, &worker);
	return result;
}

static void test_monitor__drafts_are_few_and_come_before_the_summary(void **state)
{
	(void)state;
	assert_int_equal(drafted(3, false), MONITOR_TIMEOUT);
	assert_int_equal(drafted(4, false), MONITOR_FAILED);
	assert_int_equal(drafted(1, true), MONITOR_FAILED);
	assert_int_equal(drafted(2, true), MONITOR_FAILED);
}

/* The exporter that had the draft has ended: no signal may end the worker, which has all. */
static void test_monitor__a_draft_ends_with_its_exporter(void **state)
{
	const struct message_summary summary = {.filtered = 1};
	static struct monitor monitor;
	struct channel worker;

	(void)state;
	rig_finishing(&monitor, &worker);
	monitor.signals = 2;
	monitor.drafted = true;
	monitor_lose_draft(&monitor);
	assert_false(monitor.drafted);
	/* sent before the worker can know */
	assert_int_equal(channel_send(&worker, MESSAGE_DRAFTED, &summary, sizeof(summary), -1), 0);
	assert_int_equal(monitor_run(&monitor, GOAL_WRITTEN, time_now() + NS_PER_SECOND / 10),
			 MONITOR_TIMEOUT);
	assert_false(monitor.drafted);
	release_rig(&monitor, ROLE_WORKER, &worker);
}

static void test_monitor__the_last_target(void **state)
{
	static struct monitor monitor;
	struct channel worker;
	int targets[2][2];

	(void)state;
	rig_monitor(&monitor, ROLE_WORKER, PARTY_WORKER, &worker);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(pipe(targets[i]), 0);
		monitor_add_target(&monitor, targets[i][0]);
	}
	close(monitor.fds[0].fd);
	assert_int_equal(monitor_start(&monitor), 0);
	close(targets[0][1]);
	assert_int_equal(monitor_run(&monitor, GOAL_STOP, time_now() + NS_PER_SECOND / 10),
			 MONITOR_TIMEOUT);
	close(targets[1][1]);
	assert_int_equal(monitor_run(&monitor, GOAL_STOP, time_now() + 5 * NS_PER_SECOND),
			 MONITOR_REACHED);
	close(targets[0][0]);
	close(targets[1][0]);
	release_rig(&monitor, ROLE_WORKER, &worker);
}

/* Returns what the monitor makes of so many messages of a worker in one second. */
static enum monitor_result talkative(int messages, enum message_type type, const void *payload,
				     size_t size)
{
	static struct monitor monitor;
	struct channel worker;
	enum monitor_result result = MONITOR_TIMEOUT;

	rig_monitor(&monitor, ROLE_WORKER, PARTY_WORKER, &worker);
	monitor.children[ROLE_WORKER].second = time_now() + 60 * NS_PER_SECOND;
	for (int i = 0; i < messages && result == MONITOR_TIMEOUT; i++) {
		assert_int_equal(channel_send(&worker, type, payload, size, -1), 0);
		result = monitor_run(&monitor, GOAL_STOP, time_now() + NS_PER_MS);
	}
	release_rig(&monitor, ROLE_WORKER, &worker);
	return result;
}

static void test_monitor__too_many_lines(void **state)
{
	const struct message_log line = {.level = LOG_LEVEL_DEBUG, .length = 1, .text = "x"};
	const size_t size = sizeof(line);

	(void)state;
	assert_int_equal(talkative(200, MESSAGE_LOG, &line, size), MONITOR_TIMEOUT);
	assert_int_equal(talkative(201, MESSAGE_LOG, &line, size), MONITOR_FAILED);
}

static void test_monitor__too_much_progress(void **state)
{
	const struct message_progress progress = {0};
	const size_t size = sizeof(progress);

	(void)state;
	assert_int_equal(talkative(1000, MESSAGE_PROGRESS, &progress, size), MONITOR_TIMEOUT);
	assert_int_equal(talkative(1001, MESSAGE_PROGRESS, &progress, size), MONITOR_FAILED);
}

/* Returns what comes of so many BROKER_STUCKs of a worker that was given two brokers. */
static enum monitor_result stuck(uint32_t lane, uint32_t brokers, int times,
				 struct monitor *ret_monitor)
{
	const struct message_stuck message = {lane, brokers};
	static struct monitor monitor;
	struct channel worker;
	enum monitor_result result = MONITOR_TIMEOUT;

	rig_monitor(&monitor, ROLE_WORKER, PARTY_WORKER, &worker);
	monitor.brokers = 2;
	monitor.children[ROLE_WORKER].second = time_now() + 60 * NS_PER_SECOND;
	for (int i = 0; i < times && result != MONITOR_FAILED; i++) {
		assert_int_equal(
			channel_send(&worker, MESSAGE_BROKER_STUCK, &message, sizeof(message), -1),
			0);
		result = monitor_run(&monitor, GOAL_STOP, time_now() + NS_PER_MS);
	}
	release_rig(&monitor, ROLE_WORKER, &worker);
	*ret_monitor = monitor;
	return result;
}

static void test_monitor__a_broker_that_hangs(void **state)
{
	static struct monitor monitor;

	(void)state;
	assert_int_equal(stuck(LANE_ORDINARY, 2, 1, &monitor), MONITOR_HANGS);
	assert_int_equal(monitor.stuck, LANE_ORDINARY);
	assert_int_equal(monitor_explain_hang(&monitor).child, ROLE_BROKER);
	assert_int_equal(stuck(LANE_PENAL, 2, 1, &monitor), MONITOR_HANGS);
	assert_int_equal(monitor_explain_hang(&monitor).child, CHILD_PENAL);
	assert_int_equal(monitor_explain_hang(&monitor).fate, FATE_REPLACE);
}

/* The worker did not know yet that there was another one. */
static void test_monitor__a_late_complaint(void **state)
{
	static struct monitor monitor;

	(void)state;
	assert_int_equal(stuck(LANE_ORDINARY, 1, 1, &monitor), MONITOR_TIMEOUT);
}

static void test_monitor__complaints_that_cannot_be(void **state)
{
	static struct monitor monitor;

	(void)state;
	assert_int_equal(stuck(LANES, 2, 1, &monitor), MONITOR_FAILED);
	assert_int_equal(stuck(LANE_PENAL, 3, 1, &monitor), MONITOR_FAILED);
	assert_int_equal(stuck(LANE_PENAL, 1, 200, &monitor), MONITOR_TIMEOUT);
	assert_int_equal(stuck(LANE_PENAL, 1, 201, &monitor), MONITOR_FAILED);
}

/* Returns what comes of a segment that a broker gives after so many others. */
static enum monitor_result give(uint32_t index, uint32_t given, struct monitor *ret_monitor)
{
	const struct message_segment message = {index};
	static struct monitor monitor;
	struct channel broker;
	enum monitor_result result;

	rig_monitor(&monitor, ROLE_BROKER, PARTY_BROKER, &broker);
	monitor.segments = 2;
	monitor.given = given;
	assert_int_equal(
		channel_send(&broker, MESSAGE_SEGMENT_GIVEN, &message, sizeof(message), -1), 0);
	result = monitor_run(&monitor, GOAL_STOP, time_now() + NS_PER_SECOND / 100);
	release_rig(&monitor, ROLE_BROKER, &broker);
	*ret_monitor = monitor;
	return result;
}

/* The next broker begins behind the last segment of all, and all brokers together have an end. */
static void test_monitor__segments_outlive_brokers(void **state)
{
	static struct monitor monitor;

	(void)state;
	assert_int_equal(give(2, 2, &monitor), MONITOR_TIMEOUT);
	assert_int_equal(monitor.segments, 3);
	assert_int_equal(give(7, 2, &monitor), MONITOR_TIMEOUT);
	assert_int_equal(monitor.segments, 8);
	/* of the broker before, told late */
	assert_int_equal(give(1, 2, &monitor), MONITOR_TIMEOUT);
	assert_int_equal(monitor.segments, 2);
	assert_int_equal(monitor.given, 3);
	assert_int_equal(give(2, SEGMENT_MAX - 1, &monitor), MONITOR_TIMEOUT);
	assert_int_equal(give(2, SEGMENT_MAX, &monitor), MONITOR_FAILED);
	assert_int_equal(give(SEGMENT_MAX, 2, &monitor), MONITOR_FAILED);
}

/* ---- which end explains the others --------------------------------------------------------- */

#define RUNS	 (-1)
#define RELEASED (-2) /* the loader closed the channel, and an old status is on its way */

/*
 * Ends of the worker, the exporter, the broker and the penal broker: a status as waitpid() has it,
 * or the above.
 */
static const struct {
	int ends[CHILDREN];
	int child;
	enum child_end end;
} causes[] = {
	{{0, RUNS, RUNS, RUNS, RELEASED}, ROLE_LOADER, CHILD_RUNS},
	{{0, SIGKILL, RUNS, RUNS, RELEASED}, ROLE_WORKER, CHILD_KILLED},
	{{0, RUNS, SIGSEGV, RUNS, RUNS}, ROLE_EXPORTER, CHILD_KILLED},
	{{0, RUNS, RUNS, 1 << 8, RUNS}, ROLE_BROKER, CHILD_ENDED},
	{{0, RUNS, RUNS, RUNS, SIGSEGV}, CHILD_PENAL, CHILD_KILLED},
	{{0, SIGSEGV, 0, 0, 0}, ROLE_WORKER, CHILD_KILLED},
	{{0, 0, 0, 0, 0}, ROLE_WORKER, CHILD_ENDED},
	{{0, SIGKILL, RUNS, RELEASED, RELEASED}, ROLE_WORKER, CHILD_KILLED},
	{{0, RUNS, RUNS, RELEASED, RUNS}, ROLE_LOADER, CHILD_RUNS},
};

/* Leaves the spawner's end of its channel, which has told the end of the child. */
static void end_child(struct child *child, int end, struct channel *ret_spawner)
{
	const struct message_exited exited = {.status = end == RELEASED ? 1 << 8 : end};
	int fds[2];

	assert_int_equal(channel_pair(fds), 0);
	channel_init(ret_spawner, fds[0], PARTY_SPAWNER, PARTY_LOADER);
	channel_init(&child->spawner.channel, fds[1], PARTY_LOADER, PARTY_SPAWNER);
	child->channel.fd = end == RELEASED ? -1 : STDIN_FILENO;
	child->ended = end >= 0;
	if (end != RUNS)
		assert_int_equal(
			channel_send(ret_spawner, MESSAGE_EXITED, &exited, sizeof(exited), -1), 0);
}

static void test_monitor__cause_of_the_end(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(causes) / sizeof(*causes); i++) {
		struct monitor monitor = {.audit.fd = -1, .connector.fd = -1};
		struct channel spawners[CHILDREN];
		struct monitor_verdict verdict;

		for (int child = ROLE_WORKER; child < CHILDREN; child++)
			end_child(&monitor.children[child], causes[i].ends[child],
				  &spawners[child]);
		verdict = monitor_explain(&monitor);
		assert_int_equal(verdict.child, causes[i].child);
		assert_int_equal(verdict.end, causes[i].end);
		/* an end is explained once */
		if (verdict.child != ROLE_LOADER)
			assert_int_not_equal(monitor_explain(&monitor).child, verdict.child);
		for (int child = ROLE_WORKER; child < CHILDREN; child++) {
			channel_release(&spawners[child]);
			channel_release(&monitor.children[child].spawner.channel);
		}
	}
}

/* Each row has what a child's end means; the order of the columns is that of enum child_end. */
static void test_monitor__fate_of_each_end(void **state)
{
	enum {
		FAIL = FATE_FAIL,
		NEW = FATE_REPLACE,
		WITHOUT = FATE_WITHOUT,
		DRAFT = FATE_DRAFT
	};
	static const struct {
		int child;
		enum monitor_goal goal;
		int fates[CHILD_END_COUNT]; /* runs, closed, ended, killed, hangs */
	} rows[] = {
		{ROLE_LOADER, GOAL_STOP, {FAIL, FAIL, FAIL, FAIL, FAIL}},
		{ROLE_LOADER, GOAL_WRITTEN, {FAIL, FAIL, FAIL, FAIL, FAIL}},
		{ROLE_WORKER, GOAL_STOP, {FAIL, FAIL, NEW, NEW, FAIL}},
		{ROLE_WORKER, GOAL_WRITTEN, {FAIL, FAIL, DRAFT, DRAFT, FAIL}},
		{ROLE_EXPORTER, GOAL_STOP, {FAIL, FAIL, FAIL, NEW, FAIL}},
		{ROLE_EXPORTER, GOAL_WRITTEN, {FAIL, FAIL, FAIL, NEW, FAIL}},
		{ROLE_BROKER, GOAL_STOP, {FAIL, FAIL, FAIL, NEW, NEW}},
		{ROLE_BROKER, GOAL_WRITTEN, {FAIL, WITHOUT, WITHOUT, WITHOUT, WITHOUT}},
		{CHILD_PENAL, GOAL_STOP, {FAIL, FAIL, FAIL, NEW, NEW}},
		{CHILD_PENAL, GOAL_WRITTEN, {FAIL, WITHOUT, WITHOUT, WITHOUT, WITHOUT}},
	};

	(void)state;
	assert_int_equal(sizeof(rows) / sizeof(*rows), CHILDREN * GOALS);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		for (int end = 0; end < CHILD_END_COUNT; end++)
			assert_int_equal(
				monitor_decide(rows[i].child, (enum child_end)end, rows[i].goal),
				rows[i].fates[end]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_monitor__an_error_ends_the_recording),
		cmocka_unit_test(test_monitor__nothing_is_whole_yet),
		cmocka_unit_test(test_monitor__each_way_to_end_sampling),
		cmocka_unit_test(test_monitor__other_signals_end_sampling_too),
		cmocka_unit_test(test_monitor__the_second_signal_hurries),
		cmocka_unit_test(test_monitor__a_draft_after_the_second_signal),
		cmocka_unit_test(test_monitor__the_third_signal_aborts),
		cmocka_unit_test(test_monitor__a_hangup_never_hurries),
		cmocka_unit_test(test_monitor__what_was_ignored_stays_ignored),
		cmocka_unit_test(test_monitor__a_draft_that_is_written),
		cmocka_unit_test(test_monitor__drafts_are_few_and_come_before_the_summary),
		cmocka_unit_test(test_monitor__a_draft_ends_with_its_exporter),
		cmocka_unit_test(test_monitor__the_last_target),
		cmocka_unit_test(test_monitor__too_many_lines),
		cmocka_unit_test(test_monitor__too_much_progress),
		cmocka_unit_test(test_monitor__a_broker_that_hangs),
		cmocka_unit_test(test_monitor__a_late_complaint),
		cmocka_unit_test(test_monitor__complaints_that_cannot_be),
		cmocka_unit_test(test_monitor__segments_outlive_brokers),
		cmocka_unit_test(test_monitor__cause_of_the_end),
		cmocka_unit_test(test_monitor__fate_of_each_end),
	};

	log_init("test", LOG_LEVEL_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
