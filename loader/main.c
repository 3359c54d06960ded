/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keyhole command: one recording in the order of its steps; drop_privilege() is the last that
 * has rights. A step returns an exit status: EXIT_DONE goes on, anything else was explained on
 * standard error.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ipc/guard.h"
#include "ipc/log.h"
#include "ipc/messages.h"
#include "ipc/time.h"
#include "loader/helper.h"
#include "loader/recording.h"

#define AUDIT_MS       10000 /* a write of some records can be slow */
#define CHILD_START_MS 5000
#define FINISH_NS      (30 * NS_PER_SECOND)
#define STEP_MS	       60000 /* the file systems of homes can be slow */
#define PROGRESS_NS    NS_PER_SECOND

int failed(const char *what, const char *object, int r)
{
	log_error("%s: %s: %s", what, object, strerror(-r));
	return EXIT_FAILED;
}

/* The first and the last record are waited for. */
static int audit(struct monitor *monitor, enum audit_event event, uint64_t first, uint64_t second)
{
	struct message message;
	int r;

	monitor_audit(monitor, event, PARTY_LOADER, first, second);
	r = channel_expect(&monitor->audit, MESSAGE_AUDIT_WRITTEN, AUDIT_MS, &message);
	return r ? r : message.AUDIT_WRITTEN.error;
}

/* The file is opened while there are rights to; keyhole-audit, which has none, looks at it. */
static int start_audit(struct recording *rec)
{
	const int flags = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
	const struct options *options = rec->options;
	struct channel *channel = &rec->monitor.audit;
	guard_fd int fd = open(options->audit, flags | O_CLOEXEC, 0600);
	int r = fd < 0 ? -errno : helper_start(PARTY_AUDITOR, options->arguments, NULL, channel);

	r = r < 0 ? r
		  : channel_send(channel, MESSAGE_AUDIT_FILE, &rec->rules.said,
				 sizeof(rec->rules.said), fd);
	r = r ? r : audit(&rec->monitor, AUDIT_start, rec->user.uid, geteuid());
	if (r)
		channel_release(channel);
	return r;
}

/*
 * Without these policy_become() fails, and a helper is the user's with all that it is given. Which
 * others are missing keyhole-options has said; what those are for the kernel refuses.
 */
static bool can_become(void)
{
	const uint32_t needed =
		CAP_TO_MASK(CAP_SETUID) | CAP_TO_MASK(CAP_SETGID) | CAP_TO_MASK(CAP_SETPCAP);
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct held[_LINUX_CAPABILITY_U32S_3];

	return !capget(&header, held) && (held[0].effective & needed) == needed;
}

static int watch(struct recording *rec, pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (fd < 0)
		return failed("record", "pidfd_open", -errno);
	monitor_watch(&rec->monitor, fd);
	return EXIT_DONE;
}

static int check(struct recording *rec)
{
	const uint32_t *max = &rec->rules.said.frequency_max;
	struct options *options = rec->options;
	struct message_sampling *sampling = &options->given.sampling;
	int r;

	if (!can_become() && failed("rights", "setuid, setgid, setpcap", -EPERM))
		return EXIT_RIGHTS;
	r = rules_read(options->policy, options->comm ? "record --comm" : "record", &rec->rules);
	if (r)
		return r;
	if (*max && sampling->frequency > *max) {
		log_warning("policy: %u samples a second: lowered to %u", sampling->frequency,
			    *max);
		sampling->frequency = *max;
	}
	if (policy_user_read(&rec->user)) {
		log_error("record: SUDO_UID: not what sudo sets; run: env -u SUDO_UID keyhole ...");
		return EXIT_USAGE;
	}
	for (unsigned int i = 0; r == EXIT_DONE && i < options->given.pid_count; i++)
		r = watch(rec, options->given.pids[i]);
	if (r)
		return r;
	rec->cgroup =
		options->cgroup ? open(options->cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (options->cgroup && rec->cgroup < 0)
		return failed("record", options->cgroup, -errno);
	r = options->audit ? start_audit(rec) : 0;
	return r && failed("audit", options->audit, r) ? EXIT_USAGE : EXIT_DONE;
}

/* What runs with the user's rights, while nothing of ours has changed that it could inherit. */
static int start_users_part(struct recording *rec)
{
	const struct options *options = rec->options;
	int r = output_start(&rec->output, options->output, options->given.flags & OPTIONS_FORCE,
			     options->debug_dirs, &rec->user);

	if (rec->output.pid < 0 || r == -EPIPE)
		return EXIT_FAILED; /* it was said why: here and below */
	if (r)
		return r == -ETIMEDOUT ? failed("output", options->output, r) : EXIT_USAGE;
	if (!options->command)
		return EXIT_DONE;
	if (command_start(&rec->command, options->command, &rec->user))
		return EXIT_FAILED;
	return watch(rec, rec->command.pid);
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

	if (rec->ksyms.pid < 0)
		return EXIT_FAILED;
	r = r ? r
	      : programs_load(programs, rec->options, &rec->rules, &rec->ksyms, rec->cgroup,
			      rec->command.pid);
	if (r)
		return failed("programs", "load (keyhole check and -v say more)", r);
	/* nobody needs to know any more where the kernel lies */
	explicit_bzero(rec->ksyms.ranges, sizeof(rec->ksyms.ranges));
	r = events_open(programs->cpus, &rec->options->given.sampling, programs->sampler,
			&rec->events);
	if (r != -ENOENT && r != -EOPNOTSUPP)
		return r ? failed("events", "perf_event_open", r) : EXIT_DONE;
	log_error("events: %s: no PMU on this machine; use -e cpu-clock", rec->events.name);
	return EXIT_USAGE;
}

/* A layer may be missing when it cannot be had and nobody insists; never without a word. */
static int check_layers(struct recording *rec, enum message_party party, pid_t pid,
			uint32_t missing, uint32_t lacking)
{
	const uint32_t allowed = lacking & LAYERS_THAT_MAY_LACK & ~rec->options->given.require;
	const uint32_t refused = missing & ~allowed;
	const char *who = message_party_name(party);

	monitor_audit(&rec->monitor, refused ? AUDIT_refused : AUDIT_confined, party, (uint64_t)pid,
		      refused ? refused : missing);
	for (unsigned int layer = 0; layer < LAYER_COUNT; layer++) {
		if (!(missing >> layer & 1))
			continue;
		if (allowed >> layer & 1) {
			log_info("start: %s: without %s", who, policy_layer_name(layer));
			continue;
		}
		log_error("start: %s: not confined: %s; nothing is sampled", who,
			  policy_layer_name(layer));
	}
	return refused ? EXIT_FAILED : EXIT_DONE;
}

static int drop_privilege(struct recording *rec)
{
	const enum policy_role role = ROLE_LOADER;
	struct policy_layers layers;
	int r = monitor_start(&rec->monitor), checked;

	r = r ? r : policy_become(role);
	policy_confine(role, &layers);
	checked = check_layers(rec, PARTY_LOADER, getpid(), policy_layers_of(role) & ~layers.proven,
			       layers.lacking);
	return checked == EXIT_DONE && r ? failed("policy", "keyhole", r) : checked;
}

/* Spawner and child from outside, and what they saw themselves. */
static int check_child(struct recording *rec, const struct child *child, pid_t pid,
		       const struct message_ready *ready)
{
	const struct spawner *spawner = &child->spawner;
	const enum policy_role role = spawner->role;
	uint32_t lacking = spawner->layers.lacking | ready->lacking;
	uint32_t proven = (spawner->layers.proven | ready->proven) & ~policy_verify(role, pid, 1);
	uint32_t missing = policy_verify(role, spawner->pid, 0) & ~lacking;
	int r = check_layers(rec, PARTY_SPAWNER, spawner->pid, missing, 0);

	return r ? r
		 : check_layers(rec, child->channel.peer, pid, policy_layers_of(role) & ~proven,
				lacking);
}

int expect_ready(struct recording *rec, struct child *child)
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

/* A socket of their own between a child and another process, which is told what kind of child. */
static int connect_child(struct channel *child, enum message_type type, struct channel *other,
			 enum descriptor_kind kind)
{
	const struct message_descriptor descriptor = {.kind = kind};
	const bool worker = other->peer == PARTY_WORKER;
	int pair[2], r = channel_pair(pair);

	if (r)
		return r;
	r = channel_send(other, worker ? MESSAGE_DESCRIPTOR : MESSAGE_AUDIT_BROKER, &descriptor,
			 sizeof(descriptor), pair[0]);
	r = r ? r : channel_send_bare(child, type, pair[1]);
	close(pair[0]);
	close(pair[1]);
	return r;
}

static int send_config(const struct recording *rec, struct child *worker)
{
	const struct options *options = rec->options;
	struct message_config config = {
		.sampling = options->given.sampling,
		.epoch = rec->epoch,
		.cpus = rec->programs.cpus,
		.ring_bytes = rec->programs.ring_bytes,
		.sideband_bytes = EVENTS_SIDEBAND_BYTES,
		.segments = PROGRAMS_SEGMENTS,
		.flags = options->given.flags,
		.format = options->given.format,
		.every = options->given.every,
	};

	memcpy(config.names, rec->rules.said.names, sizeof(config.names));
	strncpy(config.comm, options->comm ?: "", sizeof(config.comm) - 1);
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
	struct monitor *monitor = &rec->monitor;
	struct child *broker = &monitor->children[ROLE_BROKER];
	const struct message_segment first = {segments};
	int r = channel_send(&broker->channel, MESSAGE_SEGMENT_MAP, &first, sizeof(first),
			     rec->programs.segment_map);

	r = r ? r
	      : channel_send_bare(&broker->channel, MESSAGE_PROCESS_MAP, rec->programs.process_map);
	if (r == 0 && monitor->audit.fd >= 0)
		r = connect_child(&broker->channel, MESSAGE_AUDIT_PEER, &monitor->audit,
				  DESCRIPTOR_BROKER);
	return r ? r
		 : connect_child(&broker->channel, MESSAGE_REQUEST_PEER,
				 &monitor->children[ROLE_WORKER].channel, DESCRIPTOR_BROKER);
}

int equip_exporter(struct recording *rec)
{
	struct child *children = rec->monitor.children;
	int r = channel_send_bare(&children[ROLE_EXPORTER].channel, MESSAGE_OUTPUT, rec->output.fd);

	return r ? r
		 : connect_child(&children[ROLE_EXPORTER].channel, MESSAGE_PROFILE_PEER,
				 &children[ROLE_WORKER].channel, DESCRIPTOR_EXPORTER);
}

int equip_children(struct recording *rec)
{
	struct child *worker = &rec->monitor.children[ROLE_WORKER];
	struct message message;
	int r = send_config(rec, worker);

	r = r ? r : give_descriptors(rec, worker);
	r = r ? r : equip_exporter(rec);
	r = r ? r : equip_broker(rec, PROGRAMS_SEGMENTS);
	r = r ? r
	      : connect_child(&rec->output.channel, MESSAGE_DEBUG_PEER, &worker->channel,
			      DESCRIPTOR_DEBUG_FILES);
	r = r ? r : channel_send_bare(&worker->channel, MESSAGE_START, -1);
	r = r ? r : channel_expect(&worker->channel, MESSAGE_RUNNING, CHILD_START_MS, &message);
	enter_phase(rec, PHASE_RUN);
	return r ? failed("start", "equipping the children", r) : EXIT_DONE;
}

int take_step(struct recording *rec, enum output_step step)
{
	struct channel *channel = &rec->output.channel;
	/* a command that could not be run has said so */
	const bool quiet = rec->command.status == EXIT_NO_COMMAND;
	const struct message_step request = {
		.step = step,
		.flags = (quiet ? STEP_QUIET : 0) | rec->options->given.flags,
		.every = rec->options->given.every,
		.bytes = rec->monitor.written.bytes,
	};
	struct message message;
	int r = channel_send(channel, MESSAGE_STEP, &request, sizeof(request), -1);

	r = r ? r : channel_expect(channel, MESSAGE_STEPPED, STEP_MS, &message);
	r = r ? r : message.STEPPED.error;
	if (r == -ENODATA)
		return quiet ? EXIT_NO_COMMAND : EXIT_EMPTY;
	return r ? failed("output", rec->options->output, r) : EXIT_DONE;
}

/* By descriptors with which keyhole-output can only read. */
static int begin_counting(struct recording *rec)
{
	const struct programs *programs = &rec->programs;
	const struct message_counts counts = {.sampling = rec->options->given.sampling,
					      .cpus = programs->cpus,
					      .cgroup = rec->cgroup >= 0};
	int r = 0;

	for (int i = 0; !r && i < COUNTS_DESCRIPTORS; i++)
		r = channel_send(&rec->output.channel, MESSAGE_COUNTS, &counts, sizeof(counts),
				 programs->counts[i]);
	return r ? failed("output", "keyhole-output", r) : take_step(rec, STEP_BEGIN);
}

static enum monitor_result await_end(struct recording *rec)
{
	uint64_t end = rec->options->given.duration ? rec->started + rec->options->given.duration
						    : UINT64_MAX;
	enum monitor_result result = MONITOR_TIMEOUT;

	while (result == MONITOR_TIMEOUT && time_now() < end) {
		const struct message_progress *progress = &rec->monitor.progress;
		uint64_t next;

		/* this may take a second, when keyhole-output does not read */
		if (channel_send(&rec->output.channel, MESSAGE_SEEN, progress, sizeof(*progress),
				 -1) == -EPIPE &&
		    failed("output", "keyhole-output", -EPIPE))
			return MONITOR_FAILED;
		next = time_now() + PROGRESS_NS;
		rec->monitor.progressed = false;
		result = replace_watch(rec, GOAL_STOP, next < end ? next : end);
		if (rec->monitor.progressed)
			output_notify(&rec->output, "WATCHDOG=1");
	}
	return result;
}

static int sample(struct recording *rec)
{
	const struct message_sampling *what = &rec->options->given.sampling;
	enum monitor_result result;
	int r = begin_counting(rec);

	if (r)
		return r;
	rec->started = time_now();
	r = events_enable(&rec->events);
	if (r)
		return failed("record", "start of sampling", r);
	output_notify(&rec->output, "READY=1");
	log_info("mode: brokered; event: %s, enabled %.0f ms after the start of keyhole",
		 rec->events.name, (double)(time_now() - rec->begun) / NS_PER_MS);
	monitor_audit(&rec->monitor, AUDIT_sampled, PARTY_LOADER, what->event, what->period);
	monitor_audit(&rec->monitor, AUDIT_sampling, PARTY_LOADER, what->frequency, 0);
	if (rec->command.pid)
		command_release(&rec->command);
	result = await_end(rec);
	/* Now: a zombie would be counted among the living and the dead. */
	command_reap(&rec->command);
	return result == MONITOR_FAILED ? EXIT_FAILED : EXIT_DONE;
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
	/* of an empty one keyhole-output says why */
	return monitor->written.error && monitor->written.error != -ENODATA
		       ? failed("output", rec->options->output, monitor->written.error)
		       : EXIT_DONE;
}

/* Events off, then everything that is read after them. */
static int finish(struct recording *rec)
{
	const struct message_summary *summary = &rec->monitor.summary;
	uint64_t stopped;
	int r;

	output_notify(&rec->output, "STOPPING=1");
	events_disable(&rec->events);
	stopped = time_now();
	r = take_step(rec, STEP_END);
	r = r ? r : stop_worker(rec, stopped);
	r = r ? r : await_profile(rec);
	if (r)
		return r;
	r = channel_send(&rec->output.channel, MESSAGE_NAMED, summary, sizeof(*summary), -1);
	return r ? failed("output", rec->options->output, r) : take_step(rec, STEP_COMMIT);
}

static int run(struct options *options, uint64_t begun)
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
	rec->rules.keys = rec->output.fd = rec->output.channel.fd = rec->monitor.audit.fd = -1;
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
	r = r == EXIT_DONE ? rec->command.status : r;
	if (rec->monitor.audit.fd >= 0 && audit(&rec->monitor, AUDIT_end, (uint64_t)r, 0))
		return failed("audit", "keyhole-audit", -EPIPE);
	return r;
}

/*
 * Descriptors 0 to 2 exist from here on, so that no file of ours is mistaken for one of them.
 * Children are waited for, also where whoever started us ignores its own.
 */
static int sanitise(void)
{
	int fd;

	signal(SIGCHLD, SIG_DFL);
	do
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO && !fcntl(fd, F_SETFD, 0));
	return fd < 0 ? fd : close(fd);
}

int main(int argc, char **argv)
{
	uint64_t begun = time_now();
	struct options options;
	int r;

	log_init("keyhole", LOG_LEVEL_WARNING);
	if (sanitise())
		return EXIT_FAILED;
	setenv("KEYHOLE_BUILD", KEYHOLE_VERSION, 1); /* ipc/same_build.c */
	if (argc > 1 && !strcmp(argv[1], "check-config") && (argc < 3 || argv[2][0] != '-'))
		return rules_read(argv[2], argv[1], &(struct rules){.keys = -1});
	r = argc > 1 ? options_exec_verb(argv + 1) : EXIT_DONE;
	close_range(STDERR_FILENO + 1, ~0u, 0); /* inherited: not what a recording holds */
	r = r ? r : options_read(argc, argv, &options);
	if (r != OPTIONS_RECORD)
		return r;
	log_init("keyhole", (enum log_level)options.given.level);
	return run(&options, begun);
}
