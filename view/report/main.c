/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keyhole-report: shows or converts recorded profiles. A profile may come from anywhere. A child
 * reads the profile, and can only compute and write to descriptors that are open by then
 * (ROLE_REPORT). The parent opens files, waits, and gives the output its name.
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
#include "base/option.h"
#include "policy/policy.h"
#include "profile/format/format.h"
#include "profile/read/pprof_read.h"
#include "profile/read/unpack.h"
#include "profile/reachable.h"

#define STDOUT_BYTES 65536

struct run {
	struct options options;
	int files[2];
	struct result result; /* of a conversion */
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

static int usage(const char *object, const char *reason)
{
	option_refuse("report", object, reason);
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
		if (r == -EBADMSG)
			return "gzip is damaged or cut";
		return strerror(-r);
	}
}

static int read_file(int fd, const struct pprof_options *options, struct profile *profile,
		     struct pprof_info *info)
{
	guard_free unsigned char *bytes = NULL;
	size_t size = 0;
	int r = unpack_file(fd, &bytes, &size);

	if (r < 0)
		return r;
	return pprof_read(bytes, size, options, profile, info);
}

static int read_profile(const struct run *run, unsigned int index, struct filter *filter,
			struct report *report)
{
	const bool old = run->options.diff && index == 0;
	const char *path = run->options.files[index];
	struct pprof_options options = {
		.sample_type = run->options.sample_type, .base = old, .context = filter};
	struct pprof_info *info = old ? &report->old : &report->info;
	int r;

	if (filter_needed(&run->options))
		options.keep = filter_keep;
	r = read_file(run->files[index], &options, report->profile, info);
	if (r == 0 && filter->failed)
		r = -ENOMEM;
	if (r == -ENOENT)
		return usage(path, info->problem);
	if (r < 0)
		return unreadable(path, read_problem(r, info));
	return EXIT_DONE;
}

static bool have_same_values(const struct pprof_info *a, const struct pprof_info *b)
{
	if (strcmp(a->type, b->type) != 0 || a->is_time != b->is_time)
		return false;
	return a->is_time || !strcmp(a->unit, b->unit);
}

/* Refuses profiles of different values, and for --per time those without a duration. */
static int check_difference(const struct run *run, const struct report *report)
{
	if (!have_same_values(&report->info, &report->old))
		return usage(run->options.files[1],
			     "not of the same type and unit of values as the first");
	if (!run->options.by_time)
		return EXIT_DONE;
	if (report->old.times.duration_ns == 0)
		return usage(run->options.files[0], "has no duration, which --per time needs");
	if (report->info.times.duration_ns == 0)
		return usage(run->options.files[1], "has no duration, which --per time needs");
	return EXIT_DONE;
}

static int read_profiles(const struct run *run, struct report *report)
{
	struct filter filter;
	int r = EXIT_DONE;

	filter_init(&filter, &run->options, &report->patterns);
	for (unsigned int i = 0; i < run->options.file_count && r == EXIT_DONE; i++)
		r = read_profile(run, i, &filter, report);
	if (r == EXIT_DONE && report->info.kept + report->old.kept == 0)
		report->unmatched = filter_explain(&filter, report->profile);
	filter_release(&filter);
	if (r != EXIT_DONE || !run->options.diff)
		return r;
	return check_difference(run, report);
}

/* Writes the profile. With a filter, nothing but the part that is shown leaves with the file. */
static int convert(const struct run *run, struct report *report)
{
	struct format_options options = {.by_thread = run->options.by_thread};
	int r = 0;

	if (run->options.diff)
		options.base = &report->old.times;
	if (filter_needed(&run->options))
		r = profile_reachable(report->profile, &report->profile);
	if (r == 0)
		r = format_find(run->options.format)
			    ->render(report->profile, &report->info.times, &options,
				     run->result.fd);
	if (r < 0)
		return failed(run->options.output, strerror(-r));
	return EXIT_DONE;
}

static int run_view(const struct report *report)
{
	const struct options *options = report->options;

	if (options->tree)
		return view_tree(report);
	if (options->callers || options->callees)
		return view_callers(report);
	return view_table(report);
}

/* Shows what the file holds, where a pattern of the filters matches nothing of it. */
static int show_unmatched(const struct report *report)
{
	const struct options *options = report->options;

	if (!options->json && !options->diff && !options->output)
		header_print(report);
	fflush(report->screen.out);
	return EXIT_FAILED;
}

static int show_report(const struct report *report)
{
	const struct options *options = report->options;
	int r = 0;

	if (!report->info.kept && report->info.total && !options->json && !options->diff)
		header_print(report);
	else
		r = run_view(report);
	if (r == -ENOENT) /* said already */
		return EXIT_FAILED;
	if (r == -ENOMEM)
		return failed("view", strerror(-r));
	if (r < 0)
		return failed("standard output", strerror(-r));
	if (fflush(report->screen.out) || ferror(report->screen.out))
		return failed("standard output", strerror(errno));
	return EXIT_DONE;
}

static int run_child(const struct run *run, struct screen *screen)
{
	struct report report = {.options = &run->options, .screen = *screen};
	const char *bad;
	int r = policy_confine_self(ROLE_REPORT, NULL);

	if (r)
		return failed("confinement", strerror(-r));
	if (patterns_init(&report.patterns, &run->options, &bad))
		return refuse_expression(bad);
	report.profile = profile_new();
	if (!report.profile)
		return failed("profile", strerror(ENOMEM));
	r = read_profiles(run, &report); /* the end of the process frees what report holds */
	if (r != EXIT_DONE)
		return r;
	if (report.unmatched)
		return show_unmatched(&report);
	if (run->options.output)
		return convert(run, &report);
	return show_report(&report);
}

/* ---- the parent ---- */

static int open_files(struct run *run)
{
	struct stat status;

	for (unsigned int i = 0; i < run->options.file_count; i++) {
		const char *path = run->options.files[i];

		run->files[i] = STDIN_FILENO;
		if (strcmp(path, "-") != 0)
			run->files[i] = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
		if (run->files[i] < 0)
			return name_another(path, errno);
		if (!fstat(run->files[i], &status) && S_ISDIR(status.st_mode))
			return name_another(path, EISDIR);
	}
	return EXIT_DONE;
}

static int start_child(struct run *run)
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
		_exit(run_child(run, &screen));
	}
	return result_await("report", child, policy_cpu_seconds(ROLE_REPORT));
}

int main(int argc, char **argv)
{
	static struct run run;
	int r;

	signal(SIGPIPE, SIG_DFL); /* systemd ignores it: `| head` is no error even so */
	log_init("keyhole", LOG_LEVEL_WARNING);
	if (report_options_parse(argc, argv, &run.options))
		return EXIT_USAGE;
	if (run.options.help) {
		report_options_usage(stdout);
		if (fflush(stdout) || ferror(stdout))
			return failed("standard output", strerror(errno));
		return EXIT_DONE;
	}
	r = open_files(&run);
	if (r == EXIT_DONE && run.options.output &&
	    result_open(&run.result, "report", run.options.output, run.options.force))
		r = EXIT_USAGE;
	if (r)
		return r;
	r = start_child(&run);
	if (result_close(&run.result, r == EXIT_DONE) < 0)
		return EXIT_FAILED;
	return r;
}
