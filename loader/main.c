/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keyhole command: one recording in the order of its steps; drop_privilege() is the last that
 * has rights. A step returns an exit status: EXIT_DONE goes on, anything else was explained on
 * standard error.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ipc/log.h"
#include "ipc/messages.h"
#include "ipc/time.h"
#include "loader/notify.h"
#include "loader/recording.h"
#include "loader/rights.h"
#include "loader/user.h"

#define CHILD_START_MS 5000
#define FINISH_NS      (30 * NS_PER_SECOND)
#define PROGRESS_NS    NS_PER_SECOND

int failed(const char *what, const char *object, int r)
{
	log_error("%s: %s: %s", what, object, strerror(-r));
	return EXIT_FAILED;
}

static int check(struct recording *rec)
{
	const struct options *options = rec->options;
	int r = notify_open();

	if (r)
		return failed("notify", "NOTIFY_SOCKET", r);
	if (rights_check())
		return EXIT_RIGHTS;
	if (policy_user_read(&rec->user)) {
		log_error("record: SUDO_UID: not what sudo sets; run: env -u SUDO_UID keyhole ...");
		return EXIT_USAGE;
	}
	for (unsigned int i = 0; i < options->pid_count; i++) {
		int fd = rights_open_pid(options->pids[i]);

		if (fd < 0)
			return EXIT_USAGE;
		monitor_watch(&rec->monitor, fd);
	}
	rec->cgroup = options->cgroup ? rights_open_cgroup(options->cgroup) : -1;
	return options->cgroup && rec->cgroup < 0 ? EXIT_USAGE : EXIT_DONE;
}

/* What runs with the user's rights, while nothing of ours has changed that it could inherit. */
static int start_users_part(struct recording *rec)
{
	const struct options *options = rec->options;
	int r = output_start(&rec->output, options->output, options->force, &rec->user);

	if (r) {
		log_error("output: %s: %s; %s", options->output, strerror(-r),
			  r == -EEXIST ? "to replace it add: --force"
				       : "name another one: -o FILE");
		return EXIT_USAGE;
	}
	if (!options->command)
		return EXIT_DONE;
	r = command_start(&rec->command, options->command, &rec->user);
	if (r)
		return failed("record", options->command[0], r);
	monitor_watch(&rec->monitor, rights_open_pid(rec->command.pid));
	return EXIT_DONE;
}

static void secure_ourselves(void)
{
	const struct rlimit none = {0, 0}, infinite = {RLIM_INFINITY, RLIM_INFINITY};
	struct rlimit files;

	umask(077);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* EFBIG says it, here and in the children */
	prctl(PR_SET_DUMPABLE, 0);
	setrlimit(RLIMIT_CORE, &none);
	setrlimit(RLIMIT_MEMLOCK, &infinite);
	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
}

/*
 * Early, because a child needs time to get ready that open_kernel() needs too. It gets nothing of
 * value, and nothing it says is read, before this process has given up its privilege.
 */
static int start_children(struct recording *rec)
{
	secure_ourselves();
	for (enum policy_role role = ROLE_WORKER; role < ROLE_COUNT; role++) {
		struct child *child = &rec->monitor.children[role];
		int r = spawner_start(&child->spawner, role);

		r = r ? r : spawner_spawn(&child->spawner, &child->channel);
		if (r)
			return failed("spawner", message_party_name((enum message_party)role), r);
	}
	return EXIT_DONE;
}

static int open_kernel(struct recording *rec)
{
	struct programs *programs = &rec->programs;
	int r = ksyms_start(&rec->ksyms, policy_proc());

	r = r ? r
	      : programs_load(programs, rec->options, &rec->ksyms, rec->cgroup, rec->command.pid);
	if (r)
		return failed("programs", "load (-v says more)", r);
	/* nobody needs to know any more where the kernel lies */
	explicit_bzero(rec->ksyms.ranges, sizeof(rec->ksyms.ranges));
	r = events_open(programs->cpus, rec->options->frequency, programs->sampler, &rec->events);
	return r ? failed("events", "perf_event_open", r) : EXIT_DONE;
}

/* A layer may be missing when it cannot be had and nobody insists; never without a word. */
static int check_layers(const struct recording *rec, const char *who, uint32_t missing,
			uint32_t lacking)
{
	const uint32_t allowed = lacking & LAYERS_THAT_MAY_LACK & ~rec->options->require;
	int r = EXIT_DONE;

	for (unsigned int layer = 0; layer < LAYER_COUNT; layer++) {
		if (!(missing >> layer & 1))
			continue;
		if (allowed >> layer & 1) {
			log_info("start: %s: without %s", who, policy_layer_name(layer));
			continue;
		}
		log_error("start: %s: not confined: %s; nothing is sampled", who,
			  policy_layer_name(layer));
		r = EXIT_FAILED;
	}
	return r;
}

static int drop_privilege(struct recording *rec)
{
	const enum policy_role role = ROLE_LOADER;
	struct policy_layers layers;
	int r = monitor_start(&rec->monitor), checked;

	r = r ? r : policy_become(role);
	policy_confine(role, &layers);
	checked = check_layers(rec, "keyhole", policy_layers_of(role) & ~layers.proven,
			       layers.lacking);
	return checked == EXIT_DONE && r ? failed("policy", "keyhole", r) : checked;
}

/* Spawner and child from outside, and what they saw themselves. */
static int check_child(const struct recording *rec, const struct child *child, pid_t pid,
		       const struct message_ready *ready)
{
	const struct spawner *spawner = &child->spawner;
	const enum policy_role role = spawner->role;
	uint32_t lacking = spawner->layers.lacking | ready->lacking;
	uint32_t proven = (spawner->layers.proven | ready->proven) & ~policy_verify(role, pid, 1);
	uint32_t missing = policy_verify(role, spawner->pid, 0) & ~lacking;
	int r = check_layers(rec, "spawner", missing, 0);

	return r ? r
		 : check_layers(rec, message_party_name(child->channel.peer),
				policy_layers_of(role) & ~proven, lacking);
}

int expect_ready(const struct recording *rec, struct child *child)
{
	const char *name = message_party_name(child->channel.peer), *reason;
	pid_t pid = spawner_started(&child->spawner);
	struct message message;
	int r = pid < 0 ? pid
			: channel_expect(&child->channel, MESSAGE_READY, CHILD_START_MS, &message);

	if (r < 0)
		return failed("start", name, r);
	if (message.READY.role != (uint32_t)child->channel.peer)
		reason = "is of another role";
	else if (strncmp(message.READY.build, KEYHOLE_VERSION, sizeof(message.READY.build)))
		reason = "of another build; install all programs together";
	else
		return check_child(rec, child, pid, &message.READY);
	log_error("start: %s: %s", name, reason);
	return EXIT_FAILED;
}

static int expect_children(struct recording *rec)
{
	int r = EXIT_DONE;

	for (int role = ROLE_WORKER; r == EXIT_DONE && role < ROLE_COUNT; role++)
		r = expect_ready(rec, &rec->monitor.children[role]);
	return r;
}

static int give(struct child *worker, enum descriptor_kind kind, uint32_t index, int fd)
{
	struct message_descriptor descriptor = {.kind = kind, .index = index};

	return channel_send(&worker->channel, MESSAGE_DESCRIPTOR, &descriptor, sizeof(descriptor),
			    fd);
}

/* A socket of their own between the worker and another child. */
static int connect_child(struct child *worker, enum descriptor_kind kind, struct child *child,
			 enum message_type type)
{
	int pair[2], r = channel_pair(pair);

	if (r)
		return r;
	r = give(worker, kind, 0, pair[0]);
	r = r ? r : channel_send_bare(&child->channel, type, pair[1]);
	close(pair[0]);
	close(pair[1]);
	return r;
}

static int send_config(const struct recording *rec, struct child *worker)
{
	const struct options *options = rec->options;
	const struct message_config config = {
		.period = NS_PER_SECOND / options->frequency,
		.epoch = rec->epoch,
		.cpus = rec->programs.cpus,
		.ring_bytes = rec->programs.ring_bytes,
		.sideband_bytes = EVENTS_SIDEBAND_BYTES,
		.segments = PROGRAMS_SEGMENTS,
		.flags = (options->by_thread ? CONFIG_BY_THREAD : 0) |
			 (options->verbose ? CONFIG_VERBOSE : 0),
		.format = options->format,
	};

	return channel_send(&worker->channel, MESSAGE_CONFIG, &config, sizeof(config), -1);
}

static int give_descriptors(const struct recording *rec, struct child *worker)
{
	const struct programs *programs = &rec->programs;
	int r = give(worker, DESCRIPTOR_KERNEL_SYMBOLS, 0, rec->ksyms.fd);

	for (uint32_t kind = DESCRIPTOR_RINGS; !r && kind <= DESCRIPTOR_EVENTS; kind++)
		r = give(worker, (enum descriptor_kind)kind, 0, programs->maps[kind]);
	for (uint32_t i = 0; !r && i < PROGRAMS_SEGMENTS; i++)
		r = give(worker, DESCRIPTOR_SEGMENT, i, programs->segments[i]);
	for (uint32_t i = 0; !r && i < rec->events.cpus; i++)
		if (rec->events.sideband[i] >= 0)
			r = give(worker, DESCRIPTOR_SIDEBAND, i, rec->events.sideband[i]);
	return r;
}

static void enter_phase(struct recording *rec, enum message_phase phase)
{
	for (int role = ROLE_WORKER; role < ROLE_COUNT; role++)
		rec->monitor.children[role].channel.phase = phase;
}

int equip_broker(struct recording *rec, uint32_t segments)
{
	struct child *children = rec->monitor.children;
	const struct message_segment first = {segments};
	int r = channel_send(&children[ROLE_BROKER].channel, MESSAGE_SEGMENT_MAP, &first,
			     sizeof(first), rec->programs.segment_map);

	return r ? r
		 : connect_child(&children[ROLE_WORKER], DESCRIPTOR_BROKER, &children[ROLE_BROKER],
				 MESSAGE_REQUEST_PEER);
}

int equip_exporter(struct recording *rec)
{
	struct child *children = rec->monitor.children;
	int r = channel_send_bare(&children[ROLE_EXPORTER].channel, MESSAGE_OUTPUT, rec->output.fd);

	return r ? r
		 : connect_child(&children[ROLE_WORKER], DESCRIPTOR_EXPORTER,
				 &children[ROLE_EXPORTER], MESSAGE_PROFILE_PEER);
}

int equip_children(struct recording *rec)
{
	struct child *worker = &rec->monitor.children[ROLE_WORKER];
	struct message message;
	int r = send_config(rec, worker);

	r = r ? r : give_descriptors(rec, worker);
	r = r ? r : equip_exporter(rec);
	r = r ? r : equip_broker(rec, PROGRAMS_SEGMENTS);
	r = r ? r : channel_send_bare(&worker->channel, MESSAGE_START, -1);
	r = r ? r : channel_expect(&worker->channel, MESSAGE_RUNNING, CHILD_START_MS, &message);
	enter_phase(rec, PHASE_RUN);
	return r ? failed("start", "equipping the children", r) : EXIT_DONE;
}

/* What BPF counted until now, and how much of it the worker has seen. */
static struct message_counted count(const struct recording *rec)
{
	const struct counters counters = programs_counters(&rec->programs);
	struct message_counted counted = {.seen = rec->monitor.progress.samples,
					  .complete = rec->monitor.progress.complete,
					  .samples = counters.samples,
					  .events_lost = counters.events_lost,
					  .processes_lost = counters.processes_lost};

	_Static_assert(sizeof(counters.reason) <= sizeof(counted.reason), "a place for each");
	memcpy(counted.reason, counters.reason, sizeof(counters.reason));
	for (unsigned int i = 0; i < REASON_lost_ring_full; i++) { /* of which there were records */
		counted.reason[i] -= rec->before.reason[i];
		counted.restarted += rec->before.reason[i];
	}
	return counted;
}

/* -EPIPE: who would make the file appear has ended. */
static int show_progress(struct recording *rec)
{
	struct message_counted counted = count(rec);

	counted.elapsed = time_now() - rec->started;
	return channel_send(&rec->output.channel, MESSAGE_COUNTED, &counted, sizeof(counted), -1);
}

static enum monitor_result await_end(struct recording *rec)
{
	uint64_t end = rec->options->duration ? rec->started + rec->options->duration : UINT64_MAX;
	enum monitor_result result = MONITOR_TIMEOUT;

	while (result == MONITOR_TIMEOUT && time_now() < end) {
		uint64_t next;

		/* this may take a second, when the helper does not read */
		if (show_progress(rec) == -EPIPE && failed("output", "keyhole-output", -EPIPE))
			return MONITOR_FAILED;
		next = time_now() + PROGRESS_NS;
		rec->monitor.progressed = false;
		result = replace_watch(rec, GOAL_STOP, next < end ? next : end);
		if (rec->monitor.progressed)
			notify_send("WATCHDOG=1");
	}
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
	return result;
}

static int sample(struct recording *rec)
{
	enum monitor_result result;
	int r = programs_runtime(&rec->programs, 0, &rec->runtime);

	rec->started = time_now();
	r = r ? r : events_enable(&rec->events);
	if (r)
		return failed("record", "start of sampling", r);
	notify_send("READY=1");
	log_info("mode: brokered; event: %s, enabled %.0f ms after the start of keyhole",
		 rec->events.name, (double)(time_now() - rec->begun) / NS_PER_MS);
	if (rec->command.pid)
		command_release(&rec->command);
	result = await_end(rec);
	/* Now: a zombie would be counted among the living and the dead. */
	command_reap(&rec->command);
	return result == MONITOR_FAILED ? EXIT_FAILED : EXIT_DONE;
}

static int empty(const struct recording *rec, const struct message_counted *counted)
{
	if (rec->command.status == EXIT_NO_COMMAND)
		return EXIT_NO_COMMAND; /* it said why */
	log_error("record: no samples: CPU time for %" PRIu64 " was used, %" PRIu64
		  " were lost; record longer (-d) or at another rate (-F)",
		  counted->expected, counted->samples);
	return EXIT_EMPTY;
}

static int stop_worker(struct recording *rec, uint64_t stopped)
{
	struct child *worker = &rec->monitor.children[ROLE_WORKER];
	const struct message_stop stop = {.started = rec->started, .stopped = stopped};
	int r = channel_send(&worker->channel, MESSAGE_STOP, &stop, sizeof(stop), -1);

	enter_phase(rec, PHASE_FINISH);
	return r ? failed("record", "keyhole-worker", r) : EXIT_DONE;
}

static int await_profile(struct recording *rec)
{
	struct monitor *monitor = &rec->monitor;
	enum monitor_result result = replace_watch(rec, GOAL_WRITTEN, time_now() + FINISH_NS);

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

/* Events off, then everything that is read after them. */
static int finish(struct recording *rec)
{
	const struct monitor *monitor = &rec->monitor;
	struct message_commit commit = {.flags = rec->options->verbose ? COMMIT_VERBOSE : 0};
	struct message_counted counted;
	uint64_t stopped, runtime;
	int r;

	notify_send("STOPPING=1");
	events_disable(&rec->events);
	stopped = time_now();
	counted = count(rec);
	r = programs_runtime(&rec->programs, 1, &runtime);
	if (r)
		return failed("runtime", "task iterator", r);
	runtime = runtime > rec->runtime ? runtime - rec->runtime : 0;
	counted.expected = runtime * rec->options->frequency / NS_PER_SECOND;
	if (!counted.samples)
		return empty(rec, &counted);
	r = stop_worker(rec, stopped);
	r = r ? r : await_profile(rec);
	if (r)
		return r;
	commit.bytes = monitor->written.bytes;
	r = output_commit(&rec->output, &counted, &monitor->summary, &commit);
	if (r == -ENODATA)
		return empty(rec, &counted);
	return r ? failed("output", rec->options->output, r) : EXIT_DONE;
}

static int run(const struct options *options, uint64_t begun)
{
	static int (*const steps[])(struct recording * rec) = {
		check,		 start_users_part, start_children, open_kernel, drop_privilege,
		expect_children, equip_children,   sample,	   finish,
	};
	/* Of what it holds, only what others wait for is released: the process ends. */
	static struct recording recording;
	struct recording *rec = &recording;
	int r = EXIT_DONE;

	rec->options = options;
	rec->begun = begun;
	rec->output.fd = rec->output.channel.fd = -1;
	for (int role = 0; role < ROLE_COUNT; role++)
		rec->monitor.children[role] =
			(struct child){.spawner.channel.fd = -1, .channel.fd = -1};
	for (size_t i = 0; r == EXIT_DONE && i < sizeof(steps) / sizeof(steps[0]); i++)
		r = steps[i](rec);
	if (r != EXIT_DONE) {
		/* before anything that may have to wait */
		events_disable(&rec->events);
		monitor_explain(&rec->monitor);
	}
	monitor_stop_children(&rec->monitor);
	command_reap(&rec->command);
	output_abandon(&rec->output);
	r = r == EXIT_DONE ? rec->status : r;
	return r == EXIT_DONE ? rec->command.status : r;
}

/* Descriptors 0 to 2 exist from here on, so that no file of ours is mistaken for one of them. */
static int sanitise_descriptors(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO && !fcntl(fd, F_SETFD, 0));
	return fd < 0 ? fd : close(fd);
}

int main(int argc, char **argv)
{
	uint64_t begun = time_now();
	const char *verb = argc > 1 ? argv[1] : "";
	struct options options = {.help = !strcmp(verb, "help") || !strcmp(verb, "--help")};

	log_init("keyhole", LOG_LEVEL_WARNING);
	if (sanitise_descriptors())
		return EXIT_FAILED;
	if (!strcmp(verb, "--version"))
		return puts("keyhole " KEYHOLE_VERSION) < 0;
	if (!strcmp(verb, "record") && options_parse(argc - 1, argv + 1, &options))
		return EXIT_USAGE;
	if (options.help)
		return options_usage(stdout);
	if (!strcmp(verb, "report")) /* a program of its own, with the caller's rights */
		fexecve(spawner_open_program("keyhole-report"), argv + 1, environ);
	if (strcmp(verb, "record")) {
		log_error("%s: not a command; run: keyhole help", *verb ? verb : "(nothing)");
		return EXIT_USAGE;
	}
	log_init("keyhole", options.verbose ? LOG_LEVEL_DEBUG : LOG_LEVEL_WARNING);
	return run(&options, begun);
}
