/* SPDX-License-Identifier: Apache-2.0 */
#include "view/symbolize/debug.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ipc/time.h"
#include "policy/policy.h"
#include "view/result.h"
#include "object/dwarf/answer.h"
#include "object/dwarf/lines.h"
#include "object/elf/image.h"
#include "object/symbol/cache.h"
#include "object/symbol/demangle.h"
#include "object/symbol/symtab.h"

/* ---- the child ---- */

struct debug {
	const struct ask *ask;
	uint64_t *addresses;
	struct answer *answer;
};

/* A name that is there stays. */
static int set_name(struct debug *debug, size_t index, const struct symbol_match *match)
{
	struct answer *answer = debug->answer;
	const struct answer_frame *frames;
	struct answer_frame frame = {0};
	struct answer_function function = {0};
	size_t count = answer_get(answer, index, &frames);
	char *readable;

	if (count > 1)
		return 0;
	if (count > 0) {
		frame = frames[0];
		function = *answer_function_get(answer, frame.function);
	}
	if (function.name)
		return 0;
	readable = demangle(match->name);
	function.system_name = answer_string(answer, match->name);
	function.name = readable ? answer_string(answer, readable) : function.system_name;
	function.start = match->start;
	free(readable);
	frame.function = answer_function_add(answer, &function);
	if (function.name == ANSWER_FAILED || function.system_name == ANSWER_FAILED ||
	    frame.function == ANSWER_FAILED)
		return -ENOMEM;
	return answer_set(answer, index, &frame, 1);
}

/* Where debug information says nothing, a symbol may. */
static int add_names(struct debug *debug, int fd)
{
	const size_t count = debug->ask->count;
	struct symbol_match *matches = calloc(count + 1, sizeof(*matches));
	struct symbol_cache *cache = symbol_cache_new(SYMBOL_BYTES_MAX);
	struct image *image = NULL;
	int r = matches && cache ? 0 : -ENOMEM;

	if (r == 0 && image_open(fd, &image) == 0)
		symtab_resolve(cache, image, debug->addresses, count, matches);
	for (size_t i = 0; i < count && r == 0; i++)
		if (matches[i].name)
			r = set_name(debug, i, &matches[i]);
	symbol_cache_forget(cache, image);
	image_close(image); /* the process ends: the names are not freed */
	symbol_cache_free(cache);
	free(matches);
	return r;
}

/* One that is damaged, or takes too long, has some: the next one would be taken for all. */
static bool has_none(struct answer *answer)
{
	const uint32_t status = answer_summary(answer)->status;

	return status == ANSWER_NONE || status == ANSWER_NO_ELF;
}

static int read_files(struct debug *debug, const struct debug_files *files,
		      const struct debug_limits *limits)
{
	const struct ask *ask = debug->ask;
	bool known[DEBUG_FILES_MAX], any = false;
	struct lines_input input = {.alternate = files->alternate,
				    .deadline = time_now() + limits->time};
	int r = 0;

	for (size_t i = 0; i < files->count; i++) {
		known[i] = ask->id_size == 0 ||
			   lines_has_build_id(files->fds[i], ask->id, ask->id_size);
		any |= known[i];
	}
	if (!any)
		return -ENOENT;
	answer_summary(debug->answer)->status = ANSWER_NONE;
	for (size_t i = 0; i < files->count && r == 0; i++) {
		input.file = files->fds[i];
		if (known[i] && has_none(debug->answer))
			r = lines_resolve(&input, debug->addresses, ask->count, debug->answer);
	}
	for (size_t i = 0; i < files->count && r == 0 && limits->symbols; i++)
		r = known[i] ? add_names(debug, files->fds[i]) : 0;
	return r;
}

int debug_answer(const struct exchange *exchange, const struct ask *ask,
		 const struct debug_files *files, const struct debug_limits *limits)
{
	const struct policy_budget budget = {
		.data = limits->memory, .file = limits->answer, .cpu_seconds = limits->cpu};
	struct debug debug = {.ask = ask};
	const size_t size = ask->count * sizeof(*debug.addresses);
	int r = policy_confine_self(ROLE_DEBUG, &budget);

	if (r)
		return r;
	debug.addresses = malloc(size);
	debug.answer = answer_new(ask->count);
	if (!debug.addresses || !debug.answer)
		return -ENOMEM;
	if (pread(exchange->addresses, debug.addresses, size, 0) != (ssize_t)size)
		return -EIO;
	r = read_files(&debug, files, limits);
	return r ? r : answer_write(debug.answer, exchange->answer);
}

/* ---- the parent ---- */

/* An errno is an exit status. */
static pid_t start(const struct exchange *exchange, const struct ask *ask,
		   const struct debug_files *files)
{
	static const struct debug_limits limits = {.time = DEBUG_SECONDS * NS_PER_SECOND,
						   .symbols = true};
	int fds[DEBUG_FILES_MAX + 3] = {exchange->addresses, exchange->answer, files->alternate};
	size_t count = 3;
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	result_disown();
	alarm(DEBUG_WALL_MAX);
	/* it has nothing to say but its answer, to nobody else */
	for (size_t i = 0; i < files->count; i++)
		fds[count++] = files->fds[i];
	policy_keep_descriptors(fds, count);
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		close(fd);
	_exit(-debug_answer(exchange, ask, files, &limits));
}

struct told debug_read(const struct exchange *exchange, const struct ask *ask,
		       const struct debug_files *files)
{
	int status;
	pid_t pid;

	if (ftruncate(exchange->answer, 0) || lseek(exchange->answer, 0, SEEK_SET))
		return (struct told){.error = -errno};
	pid = start(exchange, ask, files);
	if (pid < 0)
		return (struct told){.error = -errno};
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return (struct told){.error = -errno};
	if (WIFSIGNALED(status))
		return (struct told){.signal = WTERMSIG(status)};
	return (struct told){.error = -WEXITSTATUS(status)};
}
