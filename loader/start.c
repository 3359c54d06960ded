/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/start.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
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
#include "loader/failed.h"
#include "loader/helper.h"
#include "loader/priority.h"
#include "loader/recording.h"

#define SPILL_FOLDER "/var/tmp"
#define ACCOUNTS_HZ  1u /* so often an agent charges a thread that never leaves its CPU */

/* ---- rights, rules, targets ---------------------------------------------------------------- */

/*
 * Returns whether the loader can become another user. Otherwise policy_become() fails, and a helper
 * would belong to the user with all that the helper is given. keyhole-options has named the other
 * missing rights; the kernel refuses what needs them.
 */
static bool can_become(void)
{
	const uint32_t needed =
		CAP_TO_MASK(CAP_SETUID) | CAP_TO_MASK(CAP_SETGID) | CAP_TO_MASK(CAP_SETPCAP);
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct held[_LINUX_CAPABILITY_U32S_3];

	if (capget(&header, held))
		return false;
	return (held[0].effective & needed) == needed;
}

static void lower_frequency(struct recording *rec)
{
	const uint32_t max = rec->rules.said.frequency_max;
	struct message_sampling *sampling = &rec->options->given.sampling;

	if (max == 0 || sampling->frequency <= max)
		return;
	log_warning("policy: %u samples a second: lowered to %u", sampling->frequency, max);
	sampling->frequency = max;
}

static enum exit_status add_target(struct recording *rec, pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (fd < 0)
		return failed("record", "pidfd_open", -errno);
	monitor_add_target(&rec->monitor, fd);
	return EXIT_DONE;
}

static enum exit_status open_targets(struct recording *rec)
{
	const struct options *options = rec->options;

	for (unsigned int i = 0; i < options->given.pid_count; i++) {
		enum exit_status status = add_target(rec, options->given.pids[i]);

		if (status != EXIT_DONE)
			return status;
	}
	if (!options->cgroup)
		return EXIT_DONE;
	rec->cgroup = open(options->cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (rec->cgroup < 0)
		return failed("record", options->cgroup, -errno);
	return EXIT_DONE;
}

/*
 * Opens a file for samples that the worker's memory has no room for. The file has no name, so that
 * no other process can open it. A stream's windows are short and need none. A recording goes on
 * without the file.
 */
static void open_spill(struct recording *rec)
{
	if (rec->options->given.every)
		return;
	rec->spill = open(SPILL_FOLDER, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
	if (rec->spill < 0)
		log_info("start: %s: no file for many samples: %s", SPILL_FOLDER, strerror(errno));
}

/* Hands the file of the audit stream to keyhole-audit, and writes the first record. */
static int begin_audit(struct recording *rec, int fd)
{
	const struct message_policy_keys *rules = &rec->rules.said;
	int r = channel_send(&rec->monitor.audit, MESSAGE_AUDIT_FILE, rules, sizeof(*rules), fd);

	if (r)
		return r;
	return recording_audit(rec, AUDIT_start, rec->user.uid, geteuid());
}

/* Explains why the audit stream did not begin. A file that keyhole-audit refuses is the user's. */
static enum exit_status report_audit(const struct options *options, int r)
{
	if (r == -EPIPE || r == -EPROTO || r == -ETIMEDOUT || r == -EAGAIN)
		return failed("audit", options->audit, r);
	log_error("audit: %s: %s; name a regular file of keyhole's user, with mode 0600, or a new "
		  "one: --audit FILE",
		  options->audit, strerror(-r));
	return EXIT_USAGE;
}

/* Looks before the open, because the open alone may have an effect on a device. */
static bool is_no_file(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

/* Opens the file while the loader has rights; keyhole-audit, which has none, examines the file. */
static enum exit_status open_audit(struct recording *rec)
{
	const int flags = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
	const struct options *options = rec->options;
	struct channel *channel = &rec->monitor.audit;
	guard_fd int fd = -1;
	int r;

	if (is_no_file(options->audit))
		return report_audit(options, -EPERM);
	fd = open(options->audit, flags | O_CLOEXEC, 0600);
	if (fd < 0)
		return report_audit(options, -errno);
	if (helper_start(PARTY_AUDITOR, options->arguments, NULL, channel) < 0) {
		channel_release(channel);
		return EXIT_FAILED; /* which was logged */
	}
	r = begin_audit(rec, fd);
	if (r == 0)
		return EXIT_DONE;
	channel_release(channel);
	return report_audit(options, r);
}

enum exit_status start_check(struct recording *rec)
{
	const struct options *options = rec->options;
	enum exit_status status;

	if (!can_become()) {
		failed("rights", "setuid, setgid, setpcap", -EPERM);
		return EXIT_RIGHTS;
	}
	status = rules_read(options->policy, options_rules_verb(options), &rec->rules);
	if (status != EXIT_DONE)
		return status;
	lower_frequency(rec);
	if (policy_user_read(&rec->user)) {
		log_error("record: SUDO_UID: not what sudo sets; run: env -u SUDO_UID keyhole ...");
		return EXIT_USAGE;
	}
	status = open_targets(rec);
	if (status != EXIT_DONE)
		return status;
	open_spill(rec);
	if (!options->audit)
		return EXIT_DONE;
	return open_audit(rec);
}

/* ---- processes ----------------------------------------------------------------------------- */

static const char *output_verb(const struct options *options)
{
	const struct message_options *given = &options->given;

	if (export_has_server(&options->export) && given->spool)
		return OUTPUT_VERB_SPOOL;
	if (export_has_server(&options->export))
		return OUTPUT_VERB_DELIVER;
	if (given->flags & OPTIONS_AGENT)
		return OUTPUT_VERB_ROTATE;
	if (given->every)
		return OUTPUT_VERB_STREAM;
	if (given->flags & OPTIONS_FORCE)
		return OUTPUT_VERB_REPLACE;
	return OUTPUT_VERB_WRITE;
}

/* The helper has explained a failure, unless the helper gave no valid answer in time. */
static enum exit_status start_output(struct recording *rec)
{
	const struct options *options = rec->options;
	int r = output_start(&rec->output, output_verb(options), options->output,
			     options->debug_dirs, &rec->user);

	if (rec->output.pid < 0 || r == -EPIPE)
		return EXIT_FAILED;
	if (r == -ETIMEDOUT || r == -EPROTO)
		return failed("output", options->output, r);
	if (r)
		return EXIT_USAGE;
	return EXIT_DONE;
}

enum exit_status start_users_part(struct recording *rec)
{
	char **command = rec->options->command;
	enum exit_status status = start_output(rec);

	if (status == EXIT_DONE)
		status = export_listen(&rec->options->export, &rec->output.channel);
	if (status != EXIT_DONE || !command)
		return status;
	if (command_start(&rec->command, command, &rec->user))
		return EXIT_FAILED; /* which was logged */
	return add_target(rec, rec->command.pid);
}

static void secure_ourselves(void)
{
	const struct rlimit none = {0, 0};
	const struct rlimit infinite = {RLIM_INFINITY, RLIM_INFINITY};
	struct rlimit files;

	umask(077);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* EFBIG takes its place, here and in the children */
	prctl(PR_SET_DUMPABLE, 0);
	setrlimit(RLIMIT_CORE, &none);
	setrlimit(RLIMIT_MEMLOCK, &infinite);
	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
}

static int start_child(struct child *child, enum policy_role role)
{
	int r = spawner_start(&child->spawner, role);

	if (r)
		return r;
	return spawner_spawn(&child->spawner, &child->channel);
}

/* Starts the spawner of the penal broker, which is to start when a broker hangs. */
static enum exit_status start_penal_spawner(struct recording *rec)
{
	int r = spawner_start(&rec->monitor.children[CHILD_PENAL].spawner, ROLE_BROKER);

	if (r)
		return failed("spawner", monitor_name(CHILD_PENAL), r);
	return EXIT_DONE;
}

enum exit_status start_children(struct recording *rec)
{
	secure_ourselves();
	for (enum policy_role role = ROLE_WORKER; role < ROLE_SUPERVISED; role++) {
		int r = start_child(&rec->monitor.children[role], role);

		if (r)
			return failed("spawner", message_party_name((enum message_party)role), r);
	}
	if (export_has_server(&rec->options->export) &&
	    export_connect(&rec->options->export, &rec->monitor.connector) != EXIT_DONE)
		return EXIT_FAILED;
	return start_penal_spawner(rec);
}

/* ---- the kernel ---------------------------------------------------------------------------- */

static enum exit_status open_events(struct recording *rec)
{
	struct message_sampling *sampling = &rec->options->given.sampling;
	struct events *events = &rec->events;
	uint32_t watermark = EVENTS_WAKE_AT_ONCE;
	int r;

	/* a command maps its libraries while it is sampled */
	if (rec->options->given.flags & OPTIONS_FEW && !rec->options->command)
		watermark = EVENTS_WAKE_AT_HALF;
	if (rec->options->given.flags & OPTIONS_STAT)
		watermark = EVENTS_NO_SIDEBAND;
	r = cpus_open(&rec->cpus);
	if (r)
		log_info("events: CPUs that come online: not noticed: %s", strerror(-r));
	r = events_open(rec->programs.cpus, sampling, rec->programs.sampler, watermark, events);
	if (r == -ENOENT || r == -EOPNOTSUPP) {
		log_error("events: %s: no PMU on this machine; use -e cpu-clock", events->name);
		return EXIT_USAGE;
	}
	if (r == 0 && rec->options->given.flags & OPTIONS_ACCOUNTS)
		r = events_open_clock(rec->programs.cpus, ACCOUNTS_HZ, rec->programs.accounts.tick,
				      &rec->ticks);
	if (r)
		return failed("events", "perf_event_open", r);
	return EXIT_DONE;
}

enum exit_status start_kernel(struct recording *rec)
{
	int r = ksyms_start(&rec->ksyms, policy_proc());

	if (rec->ksyms.pid < 0)
		return EXIT_FAILED; /* which was logged */
	if (r)
		return failed("start", message_party_name(PARTY_KERNEL_SYMBOLS), r);
	r = programs_load(&rec->programs, rec->options, &rec->rules, &rec->ksyms, rec->cgroup,
			  rec->command.pid);
	if (r)
		return failed("programs", "load (keyhole check and -v say more)", r);
	if (rec->options->given.flags & OPTIONS_STAT)
		zones_open(&rec->zones);
	/* nobody needs to know any more where the kernel lies */
	explicit_bzero(rec->ksyms.ranges, sizeof(rec->ksyms.ranges));
	explicit_bzero(&rec->ksyms.orc, sizeof(rec->ksyms.orc));
	return open_events(rec);
}

/* ---- the end of all rights ----------------------------------------------------------------- */

enum exit_status start_drop_privilege(struct recording *rec)
{
	const enum policy_role role = ROLE_LOADER;
	struct policy_layers layers;
	uint32_t missing;
	enum exit_status checked;
	int r = monitor_start(&rec->monitor);

	if (r)
		return failed("monitor", "signalfd", r);
	priority_restore();
	r = policy_become(role);
	if (r)
		failed("policy", "keyhole", r); /* the audit stream still gets the layers */
	policy_confine(role, &layers);
	missing = policy_layers_of(role) & ~layers.proven;
	checked = recording_check_layers(rec, PARTY_LOADER, getpid(), missing, layers.lacking);
	if (checked != EXIT_DONE)
		return checked;
	if (r)
		return EXIT_FAILED;
	return EXIT_DONE;
}
