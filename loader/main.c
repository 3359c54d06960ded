/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keyhole command. One recording is a table of steps in their order; start_drop_privilege() is
 * the last step that has rights.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "generated/version.h"
#include "ipc/log.h"
#include "ipc/time.h"
#include "loader/equip.h"
#include "loader/failed.h"
#include "loader/priority.h"
#include "loader/recording.h"
#include "loader/replace.h"
#include "loader/sampling.h"
#include "loader/start.h"

static enum exit_status (*const steps[])(struct recording *rec) = {
	/* with rights */
	start_check,
	start_users_part,
	start_children,
	start_kernel,
	start_drop_privilege,
	/* without */
	equip_expect_all,
	equip_children,
	sampling_run,
	sampling_finish,
};

/* Returns the exit status of the first step that fails, or EXIT_DONE. */
static enum exit_status take_steps(struct recording *rec)
{
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		enum exit_status status = steps[i](rec);

		if (status != EXIT_DONE)
			return status;
	}
	return EXIT_DONE;
}

/*
 * Returns the status of the recording, or the status of its command where the recording is fine. A
 * command that failed also keeps its status where the command gave no sample.
 */
static int find_status(const struct recording *rec, int taken)
{
	if (taken == EXIT_EMPTY && rec->command.status)
		return rec->command.status;
	if (taken != EXIT_DONE)
		return taken;
	if (rec->status != EXIT_DONE)
		return rec->status;
	if (rec->outgrown)
		return EXIT_AGAIN;
	if (rec->monitor.hung_up && rec->options->given.flags & OPTIONS_AGENT)
		return EXIT_AGAIN;
	return rec->command.status;
}

static int run(struct options *options, uint64_t begun)
{
	static struct recording recording; /* zero */
	struct recording *rec = &recording;
	int r, error;

	recording_init(rec, options, begun);
	r = take_steps(rec);
	if (r != EXIT_DONE) {
		/* sampling stops before anything that may have to wait */
		off_cpu_end(&rec->programs.off_cpu);
		events_disable(&rec->events);
		events_disable(&rec->ticks);
		monitor_explain(&rec->monitor);
		replace_flush(rec);
	}
	monitor_stop_children(&rec->monitor);
	command_reap(&rec->command);
	output_abandon(&rec->output);
	r = find_status(rec, r);
	if (rec->monitor.audit.fd < 0)
		return r;
	error = recording_audit(rec, AUDIT_end, (uint64_t)r, 0);
	if (error == 0)
		return r;
	if (!rec->monitor.unaudited)
		failed("audit", "keyhole-audit", error);
	return EXIT_FAILED;
}

/*
 * Opens descriptors 0 to 2 where they are closed, so that no file of ours takes the place of one of
 * them. Lets waitpid() work where the process that started keyhole ignores SIGCHLD.
 */
static int sanitise(void)
{
	int fd;

	signal(SIGCHLD, SIG_DFL);
	do {
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
		if (fd < 0)
			return fd;
	} while (fd <= STDERR_FILENO && !fcntl(fd, F_SETFD, 0));
	return close(fd);
}

/* Returns whether the command is `keyhole check-config`, for which the loader opens the rules. */
static bool is_check_config(int argc, char **argv)
{
	if (argc < 2 || strcmp(argv[1], RULES_VERB_CHECK))
		return false;
	return argc < 3 || argv[2][0] != '-';
}

int main(int argc, char **argv)
{
	uint64_t begun = time_now();
	struct options options;
	int r;

	unsetenv(LOG_VARIABLE);
	log_init("keyhole", LOG_LEVEL_WARNING);
	log_find_journal();
	if (sanitise())
		return failed("start", "standard descriptors", -errno);
	setenv("KEYHOLE_BUILD", KEYHOLE_VERSION, 1); /* ipc/same_build.c */
	if (is_check_config(argc, argv))
		return rules_read(argv[2], argv[1], &(struct rules){.keys = -1});
	if (argc > 1) {
		r = options_exec_verb(argv + 1);
		if (r != EXIT_DONE)
			return r;
	}
	/* A recording uses no inherited descriptor. */
	close_range(STDERR_FILENO + 1, ~0u, 0);
	priority_raise();
	r = options_read(argc, argv, &options);
	if (r == OPTIONS_CHECK)
		return rules_read(options.policy, options_rules_verb(&options),
				  &(struct rules){.keys = -1});
	if (r != OPTIONS_RECORD)
		return r;
	log_init("keyhole", (enum log_level)options.given.level);
	if (options.given.flags & OPTIONS_LOG_JSON)
		log_choose(LOG_JSON);
	return run(&options, begun);
}
