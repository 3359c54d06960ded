/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/monitor.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bpf/abi.h"
#include "ipc/log.h"
#include "ipc/signals.h"
#include "ipc/time.h"

#define AUDIT	      CHILDREN /* place in fds[] of the channel */
#define CONNECTOR     (CHILDREN + 1)
#define TARGETS	      (CHILDREN + 2) /* first target's place in fds[] */
#define EXIT_WAIT_MS  500
#define TURN_MESSAGES 64 /* of one child, before other children and signals have their turn */
#define DRAFTS_MAX    3	 /* of one worker, as ipc/PROTOCOL lists */

/* One child may have sent all segments, and as many messages of other types. */
#define DRAIN_MESSAGES (2 * SEGMENT_MAX)

int monitor_start(struct monitor *monitor)
{
	sigset_t signals;

	signals_that_end(&signals);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	monitor->fds[0].fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (monitor->fds[0].fd < 0)
		return -errno;
	monitor->fds[AUDIT].fd = monitor->audit.fd;
	monitor->fds[CONNECTOR].fd = monitor->connector.fd;
	for (unsigned int i = 0; i < TARGETS + monitor->targets; i++)
		monitor->fds[i].events = POLLIN;
	monitor->targets_left = monitor->targets;
	return 0;
}

void monitor_add_target(struct monitor *monitor, int pidfd)
{
	assert(monitor->targets < OPTIONS_PIDS_MAX);
	monitor->fds[TARGETS + monitor->targets++].fd = pidfd;
}

void monitor_audit(struct monitor *monitor, enum audit_event event, enum message_party party,
		   uint64_t first, uint64_t second)
{
	const struct message_audit_event message = {event, party, {first, second}};
	int r;

	if (monitor->audit.fd < 0)
		return;
	r = channel_send(&monitor->audit, MESSAGE_AUDIT_EVENT, &message, sizeof(message), -1);
	if (r && !monitor->unaudited)
		log_error("audit: keyhole-audit: %s", strerror(-r));
	monitor->unaudited = monitor->unaudited || r;
}

/*
 * Returns whether a user repeats the signal to hurry keyhole. SIGHUP is no such signal: the loss of
 * a terminal may send several SIGHUPs, and systemd sends a SIGHUP after SIGTERM.
 */
static bool is_impatient(int number)
{
	return number == SIGINT || number == SIGTERM;
}

static void stop_sampling(struct monitor *monitor, int number)
{
	monitor->result = MONITOR_REACHED;
	monitor->hung_up = number == SIGHUP;
	if (is_impatient(number) || number == SIGHUP || number == SIGQUIT)
		return;
	monitor->unasked = true;
	log_error("record: signal %d: %s; the recording ends", number, strsignal(number));
}

/* The second signal waits for the first draft, which a worker makes at once after STOP. */
static void hurry(struct monitor *monitor)
{
	if (monitor->signals > 2)
		monitor->result = MONITOR_ABORTED;
	else if (monitor->signals == 2 && monitor->drafted)
		monitor->result = MONITOR_HURRIED;
}

static void on_signal(struct monitor *monitor)
{
	struct signalfd_siginfo info;
	int number;

	if (read(monitor->fds[0].fd, &info, sizeof(info)) != sizeof(info))
		return;
	number = (int)info.ssi_signo;
	monitor->signals += is_impatient(number);
	if (monitor->goal == GOAL_STOP)
		stop_sampling(monitor, number);
	else if (is_impatient(number))
		hurry(monitor);
}

static void on_target(struct monitor *monitor, struct pollfd *target)
{
	target->fd = -1;
	if (--monitor->targets_left == 0 && monitor->goal == GOAL_STOP)
		monitor->result = MONITOR_REACHED;
}

/*
 * Messages of one child in a second, at most: more are a violation. A worker sends PROGRESS once a
 * second. Other types come once, or cost their sender more than the loader.
 */
static const struct {
	enum message_type type;
	unsigned int most;
} rates[MONITOR_RATES] = {
	{MESSAGE_LOG, 200},
	{MESSAGE_PROGRESS, 1000},
	{MESSAGE_BROKER_STUCK, 200},
};

static void begin_second(struct child *child)
{
	const uint64_t now = time_now();

	if (now < child->second)
		return;
	child->second = now + NS_PER_SECOND;
	memset(child->counted, 0, sizeof(child->counted));
}

/* Counts the message. Returns 0, or -EPROTO when the child sends too many of its type. */
static int check_rate(struct child *child, enum message_type type)
{
	for (size_t i = 0; i < MONITOR_RATES; i++) {
		if (rates[i].type != type)
			continue;
		begin_second(child);
		if (child->counted[i]++ >= rates[i].most)
			return -EPROTO;
	}
	return 0;
}

static bool has_sent(const struct child *child, enum message_type type)
{
	return channel_has_seen(&child->channel, type);
}

bool monitor_has_profile(const struct monitor *monitor)
{
	return has_sent(&monitor->children[ROLE_WORKER], MESSAGE_SUMMARY);
}

/*
 * Keeps the summary of a draft until the worker sends the summary of a later state. A draft that
 * went to an exporter which has ended is none: the successor has no peer before the worker is done.
 */
static int on_drafted(struct monitor *monitor, const struct message_summary *summary)
{
	if (monitor_has_profile(monitor) || ++monitor->drafts > DRAFTS_MAX)
		return -EPROTO;
	if (monitor->draftless)
		return 0;
	monitor->summary = *summary;
	monitor->drafted = true;
	hurry(monitor);
	return 0;
}

void monitor_lose_draft(struct monitor *monitor)
{
	monitor->drafted = false;
	monitor->draftless = true;
}

/* Lets the recording end early only for a profile that could not be written. */
static int on_written(struct monitor *monitor, const struct message_written *written)
{
	monitor->written = *written;
	if (monitor->goal != GOAL_STOP)
		return 0;
	if (!written->error || written->error == -ENODATA)
		return -EPROTO;
	monitor->result = MONITOR_REACHED;
	return 0;
}

int monitor_child_of(enum broker_lane lane)
{
	if (lane == LANE_PENAL)
		return CHILD_PENAL;
	return ROLE_BROKER;
}

const char *monitor_name(int child)
{
	if (child == CHILD_PENAL)
		child = ROLE_BROKER;
	return message_party_name((enum message_party)child);
}

/* A complaint that names fewer brokers came before the worker knew the last one. */
static int on_broker_stuck(struct monitor *monitor, const struct message_stuck *stuck)
{
	if (stuck->lane >= LANES || stuck->brokers > monitor->brokers)
		return -EPROTO;
	/* the worker repeats what the loader does not follow now */
	if (stuck->brokers < monitor->brokers || monitor->result == MONITOR_HANGS)
		return 0;
	monitor->stuck = (enum broker_lane)stuck->lane;
	monitor->result = MONITOR_HANGS;
	return 0;
}

/*
 * A broker gives the segments in order. The messages of a broker and of its successor may come in
 * another order: so their number is what holds.
 */
static int on_segment_given(struct monitor *monitor, const struct message_segment *given)
{
	if (given->index >= SEGMENT_MAX || ++monitor->given > SEGMENT_MAX)
		return -EPROTO;
	if (given->index >= monitor->segments)
		monitor->segments = given->index + 1;
	return 0;
}

static int dispatch(struct monitor *monitor, struct child *child, const struct message *message)
{
	int r = check_rate(child, message->head.type);

	if (r < 0)
		return r;
	switch (message->head.type) {
	case MESSAGE_LOG:
		return log_from_message(message_party_name(child->channel.peer), &message->LOG);
	case MESSAGE_PROGRESS:
		monitor->progress = message->PROGRESS;
		monitor->progressed = true;
		return 0;
	case MESSAGE_DRAFTED:
		return on_drafted(monitor, &message->DRAFTED);
	case MESSAGE_SUMMARY:
		monitor->summary = message->SUMMARY;
		return 0;
	case MESSAGE_WRITTEN:
		return on_written(monitor, &message->WRITTEN);
	case MESSAGE_BROKER_STUCK:
		return on_broker_stuck(monitor, &message->BROKER_STUCK);
	case MESSAGE_SEGMENT_GIVEN:
		return on_segment_given(monitor, &message->SEGMENT_GIVEN);
	default:
		return -EPROTO;
	}
}

/* The exporter writes the draft of a worker that is gone. */
static bool is_written(const struct monitor *monitor)
{
	const bool gone = monitor->children[ROLE_WORKER].channel.fd < 0;

	if (!has_sent(&monitor->children[ROLE_EXPORTER], MESSAGE_WRITTEN))
		return false;
	return monitor_has_profile(monitor) || (gone && monitor->drafted);
}

/* Returns 0 when the child has no more messages, 1 when there may be more, or a negative errno. */
static int take_messages(struct monitor *monitor, struct child *child, unsigned int most)
{
	struct message message;

	for (unsigned int i = 0; i < most; i++) {
		int r = channel_receive(&child->channel, &message);

		if (r <= 0)
			return r;
		r = dispatch(monitor, child, &message);
		message_release(&message);
		if (r < 0)
			return r;
	}
	return 1;
}

static void on_violation(struct monitor *monitor, const struct child *child, int r)
{
	const char *what = strerror(-r);

	if (r == -EPROTO)
		what = "violation of the protocol";
	log_error("monitor: %s: %s; ended", message_party_name(child->channel.peer), what);
	monitor_audit(monitor, AUDIT_violation, child->channel.peer, (uint64_t)-r, 0);
	monitor->result = MONITOR_FAILED;
}

int monitor_drain(struct monitor *monitor, struct child *child)
{
	int r;

	if (child->channel.fd < 0)
		return 0;
	r = take_messages(monitor, child, DRAIN_MESSAGES);
	if (r == 0 || r == -EPIPE)
		return 0;
	if (r > 0)
		r = -EPROTO;
	on_violation(monitor, child, r);
	return r;
}

static void on_message(struct monitor *monitor, struct child *child)
{
	int r = take_messages(monitor, child, TURN_MESSAGES);

	if (monitor->goal == GOAL_WRITTEN && is_written(monitor) && (r >= 0 || r == -EPIPE)) {
		monitor->result = MONITOR_REACHED;
	} else if (r == -EPIPE) {
		/* nobody else holds that end: the child is gone, or about to be */
		child->ended = true;
		monitor->result = MONITOR_ENDED;
	} else if (r < 0) {
		on_violation(monitor, child, r);
	}
}

/* keyhole-connector says nothing after CONNECTOR_READY: it ended. */
static void on_connector(struct monitor *monitor)
{
	log_error("agent: %s: ended", message_party_name(PARTY_CONNECTOR));
	monitor->result = MONITOR_FAILED;
}

static void on_ready(struct monitor *monitor, unsigned int index)
{
	if (index == 0)
		on_signal(monitor);
	else if (index < CHILDREN)
		on_message(monitor, &monitor->children[index]);
	else if (index == AUDIT)
		monitor->result = MONITOR_FAILED; /* keyhole-audit says nothing here: it ended */
	else if (index == CONNECTOR)
		on_connector(monitor);
	else
		on_target(monitor, &monitor->fds[index]);
}

/* Watches the present channels of the children. */
static void watch_children(struct monitor *monitor)
{
	for (int i = ROLE_WORKER; i < CHILDREN; i++) {
		const struct child *child = &monitor->children[i];

		monitor->fds[i].fd = child->channel.fd;
		if (child->muted)
			monitor->fds[i].fd = -1;
	}
}

/* Waits until a descriptor is ready or the time is over, and handles what is ready. */
static void poll_once(struct monitor *monitor, uint64_t nanoseconds)
{
	const unsigned int count = TARGETS + monitor->targets;
	const int wait = (int)((nanoseconds + NS_PER_MS - 1) / NS_PER_MS);

	watch_children(monitor);
	if (poll(monitor->fds, count, wait) < 0)
		return;
	for (unsigned int i = 0; i < count && monitor->result == MONITOR_RUNNING; i++)
		if (monitor->fds[i].revents)
			on_ready(monitor, i);
}

enum monitor_result monitor_run(struct monitor *monitor, enum monitor_goal goal, uint64_t until)
{
	monitor->goal = goal;
	if (monitor->unaudited)
		monitor->result = MONITOR_FAILED;
	else if (goal == GOAL_WRITTEN && is_written(monitor))
		monitor->result = MONITOR_REACHED;
	else
		monitor->result = MONITOR_RUNNING;
	while (monitor->result == MONITOR_RUNNING) {
		uint64_t now = time_now();

		if (now >= until)
			return MONITOR_TIMEOUT;
		poll_once(monitor, until - now);
	}
	return monitor->result;
}

/* ---- why a child ended --------------------------------------------------------------------- */

/* The end of one child, as far as it is known. ROLE_LOADER stands for no child. */
struct ending {
	int child; /* in children[] */
	enum child_end how;
	bool seen;  /* its channel ended */
	int number; /* of the exit status or of the signal */
};

static int milliseconds_until(uint64_t deadline)
{
	uint64_t now = time_now();

	if (now >= deadline)
		return 0;
	return (int)((deadline - now) / NS_PER_MS);
}

int monitor_await_end(struct monitor *monitor, struct child *child, int milliseconds)
{
	struct message message;
	int r;

	if (child->told)
		return 0;
	r = channel_expect(&child->spawner.channel, MESSAGE_EXITED, milliseconds, &message);
	if (r)
		return r;
	child->told = true;
	child->status = message.EXITED.status;
	monitor_audit(monitor, AUDIT_exited, child->channel.peer, (uint64_t)child->status, 0);
	return 0;
}

static struct ending describe(const struct child *child, int index)
{
	struct ending ending = {.child = index, .seen = child->ended};

	if (!child->told && child->ended) {
		ending.how = CHILD_CLOSED;
	} else if (child->told && WIFSIGNALED(child->status)) {
		ending.how = CHILD_KILLED;
		ending.number = WTERMSIG(child->status);
	} else if (child->told) {
		ending.how = CHILD_ENDED;
		ending.number = WEXITSTATUS(child->status);
	}
	return ending;
}

/*
 * Returns whether the ending may explain the recording's end. A child that ended well and whose
 * channel is not known to have ended counts only beside another one.
 */
static bool may_explain(const struct ending *ending, const struct ending *other)
{
	if (ending->seen || ending->number)
		return true;
	return ending->how == CHILD_ENDED && other->child != ROLE_LOADER;
}

/*
 * When the worker ends, the other children follow by themselves, and the monitor may see their ends
 * first. So the worker comes last here, and the loop waits for the worker if any child has ended. A
 * signal or an error is the cause at once. A child whose channel the loader closed is no cause,
 * and a child explains the end once.
 */
static struct ending collect_cause(struct monitor *monitor)
{
	const uint64_t deadline = time_now() + EXIT_WAIT_MS * NS_PER_MS;
	struct ending cause = {.child = ROLE_LOADER};

	for (int i = CHILDREN - 1; i >= ROLE_WORKER; i--) {
		struct child *child = &monitor->children[i];
		struct ending ending;
		int wait = 0;

		if (child->channel.fd < 0 || child->explained)
			continue;
		if (child->ended || cause.child != ROLE_LOADER)
			wait = milliseconds_until(deadline);
		monitor_await_end(monitor, child, wait);
		ending = describe(child, i);
		child->ended = false;
		if (may_explain(&ending, &cause))
			cause = ending;
		if (cause.child == ending.child && ending.number)
			break;
	}
	return cause;
}

#define END_BIT(name) (1u << CHILD_##name)
#define BROKER_FATES                                                                   \
	{                                                                              \
		[GOAL_STOP] = {END_BIT(KILLED) | END_BIT(HANGS), FATE_REPLACE},        \
		[GOAL_WRITTEN] = {END_BIT(CLOSED) | END_BIT(ENDED) | END_BIT(KILLED) | \
					  END_BIT(HANGS),                              \
				  FATE_WITHOUT},                                       \
	}

/*
 * The fate of the ends that a row names; any other end is FATE_FAIL. A child other than the worker
 * ends by itself only when something is wrong, or with the worker. After STOP the exporter has a
 * draft of the worker's, and nobody needs the broker, however the broker ended.
 */
static const struct {
	unsigned int ends; /* END_BIT() of each */
	enum monitor_fate fate;
} fates[CHILDREN][GOALS] = {
	[ROLE_WORKER] = {[GOAL_STOP] = {END_BIT(ENDED) | END_BIT(KILLED), FATE_REPLACE},
			 [GOAL_WRITTEN] = {END_BIT(ENDED) | END_BIT(KILLED), FATE_DRAFT}},
	[ROLE_EXPORTER] = {[GOAL_STOP] = {END_BIT(KILLED), FATE_REPLACE},
			   [GOAL_WRITTEN] = {END_BIT(KILLED), FATE_REPLACE}},
	[ROLE_BROKER] = BROKER_FATES,
	[CHILD_PENAL] = BROKER_FATES,
};

enum monitor_fate monitor_decide(int child, enum child_end end, enum monitor_goal goal)
{
	if (!(fates[child][goal].ends >> end & 1))
		return FATE_FAIL;
	return fates[child][goal].fate;
}

static void log_end(int child, enum child_end how, int number)
{
	const char *name = monitor_name(child);
	const char *hint = "";

	switch (how) {
	case CHILD_CLOSED:
		log_error("monitor: %s: closed its channel", name);
		break;
	case CHILD_ENDED:
		log_error("monitor: %s: ended by itself, status %d", name, number);
		break;
	case CHILD_KILLED:
		if (number == SIGSYS)
			hint = ", the filter of system calls";
		log_error("monitor: %s: ended by itself, signal %d%s", name, number, hint);
		break;
	default:
		break;
	}
}

struct monitor_verdict monitor_explain(struct monitor *monitor)
{
	const struct ending cause = collect_cause(monitor);

	if (cause.child != ROLE_LOADER)
		monitor->children[cause.child].explained = true;
	log_end(cause.child, cause.how, cause.number);
	return (struct monitor_verdict){cause.child, cause.how,
					monitor_decide(cause.child, cause.how, monitor->goal)};
}

struct monitor_verdict monitor_explain_hang(const struct monitor *monitor)
{
	const int child = monitor_child_of(monitor->stuck);

	return (struct monitor_verdict){child, CHILD_HANGS,
					monitor_decide(child, CHILD_HANGS, monitor->goal)};
}

void monitor_stop_children(struct monitor *monitor)
{
	for (int i = ROLE_WORKER; i < CHILDREN; i++) {
		channel_release(&monitor->children[i].channel);
		spawner_stop(&monitor->children[i].spawner);
	}
}
