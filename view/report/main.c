/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keyhole-report: shows or converts recorded profiles. They may come from anywhere, so what reads
 * them is a child that can do nothing but compute and write to what is open by then (ROLE_REPORT).
 * The parent opens, waits and gives the output its name; it reads nothing of what is in them.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ipc/guard.h"
#include "ipc/log.h"
#include "view/report/filter.h"
#include "view/report/options.h"
#include "view/result.h"
#include "view/report/view.h"
#include "base/expression.h"
#include "policy/policy.h"
#include "profile/format/format.h"
#include "profile/read/pprof_read.h"
#include "profile/read/unpack.h"
#include "profile/reachable.h"

#define STDOUT_BYTES 65536

/* The file unpacked (profile/read/unpack.h), the model of it, and what a view needs. */

struct run {
	struct options options;
	int files[2];
	struct result result; /* not of a report */
};

static int failed(const char *object, const char *reason)
{
	log_error("report: %s: %s", object, reason);
	return EXIT_FAILED;
}

static int unreadable(const char *file, const char *reason)
{
	log_error("report: %s: %s; name another, of pprof (.pb.gz)", file, reason);
	return EXIT_FAILED;
}

/* A reason that does not say what to do is followed by who does. */
static int usage(const char *object, const char *reason)
{
	log_error("report: %s: %s%s", object, reason,
		  strchr(reason, ';') ? "" : "; see: keyhole report --help");
	return EXIT_USAGE;
}

static int refuse_expression(const char *expression)
{
	char reason[192];

	snprintf(reason, sizeof(reason), "regular expression: %s", expression_problem(expression));
	return usage(expression, reason);
}

static int name_another(const char *file, int error)
{
	log_error("report: %s: %s; name another", file, strerror(error));
	return EXIT_USAGE;
}

/* ---- the child ---- */

static const char *read_problem(int r, const struct pprof_info *info)
{
	switch (r) {
	case -ENODATA:
		return "is empty";
	case -EFBIG:
		return "larger than 1 GiB unpacked";
	case -ENOMEM:
		return "needs more memory than 4 GiB, or than there is";
	default:
		if (info->problem[0])
			return info->problem;
		return r == -EBADMSG ? "gzip is damaged or cut" : strerror(-r);
	}
}

static int read_profile(const struct run *run, unsigned int index, struct filter *filter,
			struct report *report)
{
	const bool old = run->options.diff && index == 0;
	const struct pprof_options options = {.sample_type = run->options.sample_type,
					      .base = old,
					      .keep = filter_needed(&run->options) ? filter_keep
										   : NULL,
					      .context = filter};
	struct pprof_info *info = old ? &report->old : &report->info;
	unsigned char *bytes = NULL;
	size_t size = 0;
	int r = unpack_file(run->files[index], &bytes, &size);

	r = r ? r : pprof_read(bytes, size, &options, report->profile, info);
	free(bytes);
	if (r == 0 && filter->failed)
		r = -ENOMEM;
	if (r == -ENOENT)
		return usage(run->options.files[index], info->problem);
	return r ? unreadable(run->options.files[index], read_problem(r, info)) : EXIT_DONE;
}

static int read_profiles(const struct run *run, struct report *report)
{
	struct filter filter;
	const char *bad;
	int r = EXIT_DONE;

	if (filter_init(&filter, &run->options, &bad))
		return refuse_expression(bad);
	for (unsigned int i = 0; i < run->options.file_count && r == EXIT_DONE; i++)
		r = read_profile(run, i, &filter, report);
	filter_release(&filter);
	if (r == EXIT_DONE && run->options.diff &&
	    (strcmp(report->info.type, report->old.type) != 0 ||
	     report->info.is_time != report->old.is_time ||
	     (!report->info.is_time && strcmp(report->info.unit, report->old.unit) != 0)))
		return usage(run->options.files[1],
			     "not of the same type and unit of values as the first");
	return r;
}

/* The other formats know CPU time and what is counted. */
static bool is_for(const struct format *format, const struct pprof_info *info)
{
	return info->is_time || info->times.event || format == &format_folded;
}

/* Who gives a part away gives nothing of the rest. */
static int convert(const struct run *run, struct report *report)
{
	const struct format_options options = {.by_thread = run->options.by_thread,
					       .base = run->options.diff ? &report->old.times
									 : NULL};
	struct profile *part = NULL;
	int r = 0;

	if (!is_for(run->options.format, &report->info))
		return usage(run->options.files[0],
			     "its values are no time or count; write them with -f folded");
	if (filter_needed(&run->options))
		r = profile_reachable(report->profile, &part);
	r = r ? r
	      : run->options.format->render(part ? part : report->profile, &report->info.times,
					    &options, run->result.fd);
	return r ? failed(run->options.output, strerror(-r)) : EXIT_DONE;
}

static int show(const struct report *report)
{
	const struct options *options = report->options;
	int r = 0;

	if (!report->info.kept && report->info.total && !options->json && !options->diff)
		header_print(report);
	else
		r = options->tree			   ? view_tree(report)
		    : options->callers || options->callees ? view_callers(report)
							   : view_table(report);
	if (r == -EINVAL)
		return refuse_expression(options->callers && expression_problem(options->callers)
						 ? options->callers
						 : options->callees);
	if (r)
		return failed("view", strerror(-r));
	if (fflush(report->screen.out) || ferror(report->screen.out))
		return failed("standard output", strerror(errno));
	return EXIT_DONE;
}

static int work(const struct run *run, struct screen *screen)
{
	struct report report = {.options = &run->options, .screen = *screen};
	int r = policy_confine_self(ROLE_REPORT, NULL);

	if (r)
		return failed("confinement", strerror(-r));
	report.profile = profile_new();
	if (!report.profile)
		return failed("profile", strerror(ENOMEM));
	r = read_profiles(run, &report);
	if (r == EXIT_DONE)
		r = run->options.output ? convert(run, &report) : show(&report);
	return r; /* the process ends: nothing is freed */
}

/* ---- the parent ---- */

static int open_files(struct run *run)
{
	struct stat status;

	for (unsigned int i = 0; i < run->options.file_count; i++) {
		const char *path = run->options.files[i];

		run->files[i] = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
						  : STDIN_FILENO;
		if (run->files[i] < 0)
			return name_another(path, errno);
		if (!fstat(run->files[i], &status) && S_ISDIR(status.st_mode))
			return name_another(path, EISDIR);
	}
	return EXIT_DONE;
}

static int start(struct run *run)
{
	static char buffer[STDOUT_BYTES];
	int fds[] = {run->files[0], run->files[1], run->result.fd};
	struct screen screen;
	pid_t child;

	screen_init(&screen, stdout);
	signal(SIGCHLD, SIG_DFL);
	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	child = fork();
	if (child < 0)
		return failed("keyhole-report", strerror(errno));
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		result_disown();
		policy_keep_descriptors(fds, sizeof(fds) / sizeof(fds[0]));
		_exit(work(run, &screen));
	}
	return result_await("report", child, policy_cpu_seconds(ROLE_REPORT));
}

int main(int argc, char **argv)
{
	static struct run run;
	int r;

	log_init("keyhole", LOG_LEVEL_WARNING);
	if (report_options_parse(argc, argv, &run.options))
		return EXIT_USAGE;
	if (run.options.help) {
		report_options_usage(stdout);
		return EXIT_DONE;
	}
	r = open_files(&run);
	if (r == EXIT_DONE && run.options.output &&
	    result_open(&run.result, "report", run.options.output, run.options.force))
		r = EXIT_USAGE;
	if (r)
		return r;
	r = start(&run);
	return result_close(&run.result, r == EXIT_DONE) ? EXIT_FAILED : r;
}
