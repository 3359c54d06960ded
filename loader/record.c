/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One recording in the order of its steps. A step returns an exit status: EXIT_DONE goes on,
 * anything else was explained on standard error.
 */
#include "loader/record.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ipc/log.h"
#include "ipc/time.h"
#include "loader/command.h"
#include "loader/events.h"
#include "loader/ksyms.h"
#include "loader/monitor.h"
#include "loader/output.h"
#include "loader/programs.h"
#include "loader/rights.h"
#include "loader/runtime.h"
#include "loader/summary.h"

#define CHILD_START_MS	     5000
#define FINISH_NS	     (30 * NS_PER_SECOND)
#define COMMAND_GRACE_NS     NS_PER_SECOND
#define FIRST_SAMPLE_STEP_NS (2 * NS_PER_MS)

struct recording {
	const struct options *options;
	struct identity identity;
	struct rights_targets targets;
	struct command command;
	struct output output;
	struct ksyms ksyms;
	struct programs programs;
	struct events events;
	struct runtime runtime;
	struct monitor monitor;
	uint64_t begun, started; /* monotonic */
	bool progress;		 /* is shown */
};

static int failed(const char *what, const char *object, int r)
{
	log_error("%s: %s: %s", what, object, strerror(-r));
	return EXIT_FAILED;
}

static int check(struct recording *rec)
{
	if (rights_check())
		return EXIT_RIGHTS;
	if (identity_read(&rec->identity)) {
		log_error("record: SUDO_UID: not what sudo sets; run: env -u SUDO_UID keyhole ...");
		return EXIT_USAGE;
	}
	return rights_open_targets(rec->options, &rec->targets) ? EXIT_USAGE : EXIT_DONE;
}

/* What runs with the user's rights, while nothing of ours has changed that it could inherit. */
static int start_users_part(struct recording *rec)
{
	const struct options *options = rec->options;
	const struct output_request request = {options->output, options->force, &rec->identity};
	int r = output_start(&rec->output, &request);

	if (r) {
		log_error("output: %s: %s; %s", options->output, strerror(-r),
			  r == -EEXIST ? "to replace it add: --force"
				       : "name another one: -o FILE");
		return EXIT_USAGE;
	}
	if (options->command)
		r = command_start(&rec->command, options->command, &rec->identity);
	rec->monitor.command = rec->command.pid;
	return r ? failed("record", options->command[0], r) : EXIT_DONE;
}

static int start_spawners(struct recording *rec)
{
	static const enum policy_role roles[CHILD_COUNT] = {ROLE_WORKER, ROLE_EXPORTER,
							    ROLE_BROKER};
	struct rlimit limit;

	umask(077);
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_DUMPABLE, 0);
	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
	setrlimit(RLIMIT_MEMLOCK, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY});
	if (!getrlimit(RLIMIT_NOFILE, &limit)) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	for (int i = 0; i < CHILD_COUNT; i++) {
		int r = spawner_start(&rec->monitor.children[i].spawner, roles[i]);

		if (r)
			return failed("spawner", policy_role_name(roles[i]), r);
	}
	return EXIT_DONE;
}

static int open_kernel(struct recording *rec)
{
	const struct options *options = rec->options;
	int r = ksyms_read(&rec->ksyms);

	if (r == -EACCES)
		log_warning("ksyms: /proc/kallsyms: addresses hidden, kernel frames have no names; "
			    "run: sudo sysctl kernel.kptr_restrict=1");
	else if (r)
		return failed("ksyms", "/proc/kallsyms", r);
	r = programs_load(&rec->programs, options, &rec->ksyms, rec->targets.cgroup,
			  rec->command.pid);
	if (r)
		return failed("programs", "load (-v says more)", r);
	r = events_open(rec->programs.cpus, options->frequency, rec->programs.sampler,
			&rec->events);
	if (r)
		return failed("events", "perf_event_open", r);
	r = runtime_open(&rec->runtime, rec->programs.task_iterator, rec->targets.cgroup);
	return r ? failed("runtime", "task iterator", r) : EXIT_DONE;
}

static int drop_privilege(struct recording *rec)
{
	int r = monitor_init(&rec->monitor);

	r = r ? r : policy_become(ROLE_LOADER);
	r = r ? r : policy_confine(ROLE_LOADER);
	return r ? failed("policy", "keyhole", r) : EXIT_DONE;
}

static int expect_ready(struct child *child)
{
	const char *name = policy_role_name(child->spawner.role), *reason = NULL;
	struct message message;
	int r = channel_expect(&child->channel, MESSAGE_READY, CHILD_START_MS, &message);

	if (r < 0)
		return failed("start", name, r);
	if (message.READY.failed || message.READY.role != (uint32_t)child->channel.peer)
		reason = "its self-test failed: not confined";
	else if (strncmp(message.READY.build, KEYHOLE_VERSION, sizeof(message.READY.build)))
		reason = "of another build; install all programs together";
	else
		policy_verify(child->spawner.role, child->pid, &reason);
	message_release(&message);
	if (reason)
		log_error("start: %s: %s", name, reason);
	log_info("%s: pid %d uid %u", name, child->pid, policy_role_uid(child->spawner.role));
	return reason ? EXIT_FAILED : EXIT_DONE;
}

static int start_children(struct recording *rec)
{
	struct child *children = rec->monitor.children;
	int r;

	for (int i = 0; i < CHILD_COUNT; i++) {
		r = spawner_spawn(&children[i].spawner, &children[i].channel, &children[i].pid);
		if (r)
			return failed("start", policy_role_name(children[i].spawner.role), r);
	}
	for (int i = r = 0; !r && i < CHILD_COUNT; i++)
		r = expect_ready(&children[i]);
	return r;
}

static int give(struct child *worker, enum descriptor_kind kind, uint32_t index, int fd)
{
	struct message_descriptor descriptor = {.kind = kind, .index = index};

	return channel_send(&worker->channel, MESSAGE_DESCRIPTOR, &descriptor, sizeof(descriptor),
			    fd);
}

static int send_bare(struct child *child, enum message_type type, int fd)
{
	const struct message_none none = {0};

	return channel_send(&child->channel, type, &none, sizeof(none), fd);
}

/* A socket of their own between the worker and another child. */
static int connect_child(struct child *worker, enum descriptor_kind kind, struct child *child,
			 enum message_type type)
{
	int pair[2], r = channel_pair(pair);

	if (r)
		return r;
	r = give(worker, kind, 0, pair[0]);
	r = r ? r : send_bare(child, type, pair[1]);
	close(pair[0]);
	close(pair[1]);
	return r;
}

static int send_config(const struct recording *rec, struct child *worker)
{
	const struct options *options = rec->options;
	struct message_config config = {
		.period = NS_PER_SECOND / options->frequency,
		.cpus = rec->programs.cpus,
		.ring_bytes = rec->programs.ring_bytes,
		.sideband_bytes = EVENTS_SIDEBAND_BYTES,
		.segments = PROGRAMS_SEGMENTS,
		.segments_max = SEGMENT_MAX,
		.flags = (options->by_thread ? CONFIG_BY_THREAD : 0) |
			 (options->verbose ? CONFIG_VERBOSE : 0),
		.format = options->format,
	};
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	config.realtime_offset =
		(uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec - time_now();
	return channel_send(&worker->channel, MESSAGE_CONFIG, &config, sizeof(config), -1);
}

static int give_descriptors(const struct recording *rec, struct child *worker)
{
	const struct programs *maps = &rec->programs;
	int r = give(worker, DESCRIPTOR_RINGS, 0, maps->rings);

	r = r ? r : give(worker, DESCRIPTOR_TAILS, 0, maps->tails);
	r = r ? r : give(worker, DESCRIPTOR_PROCESSES, 0, maps->processes);
	r = r ? r : give(worker, DESCRIPTOR_EVENTS, 0, maps->events);
	r = r ? r : give(worker, DESCRIPTOR_KERNEL_SYMBOLS, 0, rec->ksyms.fd);
	for (uint32_t i = 0; !r && i < PROGRAMS_SEGMENTS; i++)
		r = give(worker, DESCRIPTOR_SEGMENT, i, maps->segments[i]);
	for (uint32_t i = 0; !r && i < rec->events.cpus; i++)
		if (rec->events.sideband[i] >= 0)
			r = give(worker, DESCRIPTOR_SIDEBAND, i, rec->events.sideband[i]);
	return r;
}

static int equip_children(struct recording *rec)
{
	struct child *worker = &rec->monitor.children[CHILD_WORKER];
	struct child *exporter = &rec->monitor.children[CHILD_EXPORTER];
	struct child *broker = &rec->monitor.children[CHILD_BROKER];
	struct message message;
	int r = send_config(rec, worker);

	r = r ? r : give_descriptors(rec, worker);
	r = r ? r : send_bare(exporter, MESSAGE_OUTPUT, rec->output.fd);
	r = r ? r : connect_child(worker, DESCRIPTOR_EXPORTER, exporter, MESSAGE_PROFILE_PEER);
	r = r ? r : send_bare(broker, MESSAGE_SEGMENT_MAP, rec->programs.segment_map);
	r = r ? r : connect_child(worker, DESCRIPTOR_BROKER, broker, MESSAGE_REQUEST_PEER);
	r = r ? r : send_bare(worker, MESSAGE_START, -1);
	r = r ? r : channel_expect(&worker->channel, MESSAGE_RUNNING, CHILD_START_MS, &message);
	if (r < 0)
		return failed("start", "equipping the children", r);
	message_release(&message);
	for (int i = 0; i < CHILD_COUNT; i++)
		rec->monitor.children[i].channel.phase = PHASE_RUN;
	return EXIT_DONE;
}

static void show_progress(void *context)
{
	const struct recording *rec = context;
	const struct message_progress *progress = &rec->monitor.progress;
	struct counters counters;
	struct summary sum;
	uint64_t share;

	if (!rec->progress)
		return;
	counters = programs_counters(&rec->programs);
	summary_make(&counters, &(struct message_summary){0}, 0, &sum);
	share = progress->samples ? progress->complete * 100 / progress->samples : 0;
	fprintf(stderr,
		"\r%.0f s: %" PRIu64 " samples, %" PRIu64 " %% complete, %" PRIu64 " lost\033[K",
		(double)(time_now() - rec->started) / NS_PER_SECOND, sum.taken, share,
		sum.lost - sum.discarded);
}

/* With -v until the first sample in small steps, to tell when it came. */
static enum monitor_result wait_for_end(struct recording *rec)
{
	uint64_t now, end = rec->options->duration ? rec->started + rec->options->duration : 0;
	enum monitor_result result = MONITOR_TIMEOUT;
	bool first = !rec->options->verbose;

	while (!first && result == MONITOR_TIMEOUT && (!end || time_now() < end)) {
		result = monitor_run(&rec->monitor, GOAL_STOP, FIRST_SAMPLE_STEP_NS);
		first = programs_counters(&rec->programs).samples;
	}
	now = time_now();
	if (rec->options->verbose && first)
		log_info("first sample: %.0f ms after the start of keyhole",
			 (double)(now - rec->begun) / NS_PER_MS);
	if (result != MONITOR_TIMEOUT || (end && now >= end))
		return result;
	return monitor_run(&rec->monitor, GOAL_STOP, end ? end - now : 0);
}

static int sample(struct recording *rec)
{
	const struct options *options = rec->options;
	struct monitor *monitor = &rec->monitor;
	int r = monitor_watch_children(monitor);

	for (unsigned int i = 0; !r && i < options->pid_count; i++)
		r = monitor_watch_process(monitor, rec->targets.pidfds[i]);
	monitor->tick = show_progress;
	monitor->context = rec;
	rec->started = time_now();
	r = r ? r : runtime_begin(&rec->runtime, programs_counters(&rec->programs).exited_runtime);
	r = r ? r : events_enable(&rec->events);
	if (r)
		return failed("record", "start of sampling", r);
	log_info("mode: brokered; event: %s on %u CPUs", rec->events.name, rec->events.online);
	r = options->command ? command_release(&rec->command) : 0;
	if (r) {
		failed("record", options->command[0], r);
		return EXIT_NO_COMMAND;
	}
	return wait_for_end(rec) == MONITOR_FAILED ? EXIT_FAILED : EXIT_DONE;
}

static int empty(const struct summary *sum)
{
	log_error("record: no samples: CPU time for %" PRIu64 " was used, %" PRIu64
		  " were lost; record longer (-d) or at another rate (-F)",
		  sum->expected, sum->lost);
	return EXIT_EMPTY;
}

/* Events off, then everything that is read after them. */
static int stop_sampling(struct recording *rec, struct counters *ret_counters,
			 uint64_t *ret_expected)
{
	struct child *children = rec->monitor.children;
	struct message_stop stop = {.started = rec->started};
	const struct message_summary none = {0};
	struct summary sum;
	int r;

	events_disable(&rec->events);
	stop.stopped = time_now();
	if (rec->progress)
		fputs("\r\033[K", stderr);
	*ret_counters = programs_counters(&rec->programs);
	r = runtime_end(&rec->runtime, ret_counters->exited_runtime, ret_expected);
	if (r)
		return failed("runtime", "task iterator", r);
	*ret_expected = *ret_expected * rec->options->frequency / NS_PER_SECOND;
	summary_make(ret_counters, &none, *ret_expected, &sum);
	if (!sum.taken)
		return empty(&sum);
	stop.samples_lost = sum.lost - sum.discarded;
	r = channel_send(&children[CHILD_WORKER].channel, MESSAGE_STOP, &stop, sizeof(stop), -1);
	for (int i = 0; i < CHILD_COUNT; i++)
		children[i].channel.phase = PHASE_FINISH;
	return r ? failed("record", "keyhole-worker", r) : EXIT_DONE;
}

static int await_profile(struct recording *rec)
{
	struct monitor *monitor = &rec->monitor;
	enum monitor_result result = monitor_run(monitor, GOAL_WRITTEN, FINISH_NS);

	if (result == MONITOR_ABORTED)
		log_error("record: %s: aborted, nothing written", rec->options->output);
	else if (result == MONITOR_TIMEOUT)
		log_error("record: %s: not finished within 30 s", rec->options->output);
	if (result != MONITOR_REACHED)
		return EXIT_FAILED;
	return monitor->written.error
		       ? failed("output", rec->options->output, monitor->written.error)
		       : EXIT_DONE;
}

static void report(const struct recording *rec, const struct summary *sum)
{
	const struct message_summary *worker = &rec->monitor.summary;

	if (rec->options->quiet)
		return;
	summary_print(sum, rec->options->verbose, stderr);
	if (worker->sideband_lost)
		fprintf(stderr, "  side-band records lost: %" PRIu64 "\n", worker->sideband_lost);
	log_info("tables: %" PRIu64 " bytes, %" PRIu64 " rows of %" PRIu64 " objects (%" PRIu64
		 " failed), %" PRIu64 " processes, listed again %" PRIu64 " times",
		 worker->table_bytes, worker->table_rows, worker->objects, worker->objects_failed,
		 worker->processes, worker->relists);
	fprintf(stderr, "wrote %s (%" PRIu64 " bytes, %s)\n", rec->options->output,
		rec->monitor.written.bytes, options_format_name(rec->options->format));
}

static int finish(struct recording *rec)
{
	struct counters counters;
	struct summary sum;
	uint64_t expected;
	int r = stop_sampling(rec, &counters, &expected);

	r = r ? r : await_profile(rec);
	if (r)
		return r;
	summary_make(&counters, &rec->monitor.summary, expected, &sum);
	if (sum.taken == sum.lost)
		return empty(&sum);
	r = output_commit(&rec->output);
	if (r)
		return failed("output", rec->options->output, r);
	report(rec, &sum);
	return EXIT_DONE;
}

/* A command that outlives the recording is waited for, but not when a signal ended that. */
static int command_status(struct recording *rec)
{
	struct monitor *monitor = &rec->monitor;
	int status;

	monitor_stop_children(monitor);
	if (monitor->command)
		monitor_run(monitor, GOAL_COMMAND, monitor->signals ? COMMAND_GRACE_NS : 0);
	if (monitor->command)
		return EXIT_SIGNAL + SIGINT;
	status = monitor->command_status;
	return WIFSIGNALED(status) ? EXIT_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

int record_run(const struct options *options, uint64_t begun)
{
	static int (*const steps[])(struct recording * rec) = {
		check,		start_users_part, start_spawners, open_kernel, drop_privilege,
		start_children, equip_children,	  sample,	  finish,
	};
	/* Of what it holds, only what others wait for is released: the process ends. */
	static struct recording recording;
	struct recording *rec = &recording;
	int r = EXIT_DONE;

	rec->options = options;
	rec->begun = begun;
	rec->progress = !options->quiet && isatty(STDERR_FILENO);
	rec->command.socket = rec->output.fd = rec->output.channel.fd = -1;
	for (size_t i = 0; r == EXIT_DONE && i < sizeof(steps) / sizeof(steps[0]); i++)
		r = steps[i](rec);
	if (r == EXIT_DONE && options->command)
		r = command_status(rec);
	monitor_stop_children(&rec->monitor);
	command_abandon(&rec->command);
	output_abandon(&rec->output);
	return r;
}
