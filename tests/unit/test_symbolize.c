/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The system calls of the readers of keyhole-symbolize and keyhole-top, and the merge of answers.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "policy/policy.h"
#include "object/dwarf/merge.h"
#include "object/dwarf/answer.h"
#include "profile/place.h"
#include "profile/profile.h"

/* gcc and clang name a sanitizer differently. Such builds are not confined. */
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/* ---- confinement ---- */

static void open_a_file(void)
{
	_exit(open("/etc/passwd", O_RDONLY | O_CLOEXEC) < 0 ? errno : 0);
}

static void read_a_link(void)
{
	char text[64];

	_exit(readlink("/proc/self/exe", text, sizeof(text)) < 0 ? errno : 0);
}

static void make_a_socket(void)
{
	_exit(socket(AF_UNIX, SOCK_STREAM, 0) >= 0);
}

static void make_a_process(void)
{
	_exit(fork() >= 0);
}

static void become_a_program(void)
{
	_exit(execl("/bin/true", "true", NULL));
}

static void trace(void)
{
	_exit(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0);
}

static void map_code(void)
{
	_exit(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
	      MAP_FAILED);
}

static void send_a_signal(void)
{
	_exit(kill(getppid(), 0) == 0);
}

static void use_memory(void)
{
	_exit(malloc(64u << 20) ? 0 : ENOMEM);
}

static void use_time(void)
{
	for (volatile unsigned int i = 0;; i++)
		;
}

static int events = -1; /* of an epoll */

static void wait_and_measure(void)
{
	struct epoll_event event;
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && errno != ENOTTY && errno != EBADF)
		_exit(1);
	_exit(epoll_wait(events, &event, 1, 0) != 0);
}

/* TIOCSTI would type the next input of the person at the terminal. */
static void type_into_the_terminal(void)
{
	_exit(ioctl(STDOUT_FILENO, TIOCSTI, "x") == 0);
}

static void watch_more(void)
{
	struct epoll_event event = {.events = EPOLLIN};

	_exit(epoll_ctl(events, EPOLL_CTL_ADD, STDIN_FILENO, &event) == 0);
}

static const struct policy_budget budget = {.data = 16u << 20, .file = 4096, .cpu_seconds = 1};
static enum policy_role role = ROLE_DEBUG;

static int status_of(void (*act)(void))
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		if (policy_confine_self(role, role == ROLE_DEBUG ? &budget : NULL))
			_exit(99);
		act();
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void assert_exits(void (*act)(void), int with)
{
	int status = status_of(act);

	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), with);
}

static void assert_dies(void (*act)(void), int signal)
{
	int status = status_of(act);

	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), signal);
}

static void test_confine__leaves_nothing(void **state)
{
	(void)state;
	if (SANITIZED)
		skip();
	assert_exits(open_a_file, EACCES);
	assert_exits(read_a_link, EACCES);
	assert_exits(use_memory, ENOMEM);
	assert_dies(make_a_socket, SIGSYS);
	assert_dies(make_a_process, SIGSYS);
	assert_dies(become_a_program, SIGSYS);
	assert_dies(trace, SIGSYS);
	assert_dies(map_code, SIGSYS);
	assert_dies(send_a_signal, SIGSYS);
	assert_dies(use_time, SIGXCPU);
}

static void test_confine__leaves_a_terminal(void **state)
{
	(void)state;
	if (SANITIZED)
		skip();
	events = epoll_create1(EPOLL_CLOEXEC);
	role = ROLE_TERMINAL;
	assert_exits(wait_and_measure, 0);
	assert_dies(type_into_the_terminal, SIGSYS);
	assert_dies(watch_more, SIGSYS);
	assert_dies(open_a_file, SIGSYS);
	assert_dies(make_a_socket, SIGSYS);
	assert_dies(make_a_process, SIGSYS);
	assert_dies(become_a_program, SIGSYS);
	assert_dies(send_a_signal, SIGSYS);
	role = ROLE_DEBUG;
	close(events);
}

static void keep_two_files(void)
{
	int fds[] = {-1, dup2(STDIN_FILENO, 40), STDOUT_FILENO, dup2(STDIN_FILENO, 9), -1};

	for (int fd = 3; fd < 9; fd++)
		dup2(STDIN_FILENO, fd);
	dup2(STDIN_FILENO, 300);
	policy_keep_descriptors(fds, sizeof(fds) / sizeof(fds[0]));
	for (int fd = 0; fd < 400; fd++)
		if ((fcntl(fd, F_GETFD) >= 0) != (fd <= STDERR_FILENO || fd == 9 || fd == 40))
			_exit(fd + 1);
	_exit(0);
}

static void test_confine__keeps_files_that_are_named(void **state)
{
	int status;
	pid_t child = fork();

	(void)state;
	if (child == 0)
		keep_two_files();
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* ---- merging ---- */

struct rig {
	struct profile *profile;
	struct answer *answer;
	uint32_t location;
	struct merge_counts counts;
};

static void rig_init(struct rig *rig, const char *name, bool named)
{
	struct profile_object object = {.kind = KIND_NATIVE};
	struct profile_function function = {.named = named, .start = 0x1000};

	*rig = (struct rig){.profile = profile_new(), .answer = answer_new(2)};
	object.name = profile_string(rig->profile, "/bin/x");
	function.object = profile_object_add(rig->profile, &object);
	rig->location = profile_location_add(rig->profile, function.object, 0x1001);
	function.name = function.system_name = profile_string(rig->profile, name);
	profile_location_get(rig->profile, rig->location)->function =
		profile_function_add(rig->profile, &function);
}

static void rig_merge(struct rig *rig)
{
	const struct place place = {0x1001, rig->location};

	assert_int_equal(merge_places(rig->profile, &place, 1, rig->answer, &rig->counts), 0);
}

static int rig_answer(struct rig *rig, const char *const *names, size_t count)
{
	struct answer_frame frames[ANSWER_CHAIN_MAX];

	for (size_t i = 0; i < count; i++) {
		struct answer_function function = {.line = 5};

		function.name = function.system_name = answer_string(rig->answer, names[i]);
		function.file = answer_string(rig->answer, "/src/a.c");
		frames[i] = (struct answer_frame){answer_function_add(rig->answer, &function),
						  (uint32_t)i + 10};
	}
	return answer_set(rig->answer, 0, frames, count);
}

static void rig_say(struct rig *rig, const char *const *names, size_t count)
{
	assert_int_equal(rig_answer(rig, names, count), 0);
	rig_merge(rig);
}

static void assert_line(struct rig *rig, size_t index, size_t of, const char *name, uint32_t line)
{
	struct profile_line lines[PROFILE_LINES_MAX];
	const struct profile_function *function;

	assert_int_equal(profile_location_lines(rig->profile, rig->location, lines), of);
	function = profile_function_get(rig->profile, lines[index].function);
	assert_string_equal(profile_string_get(rig->profile, function->name), name);
	assert_string_equal(profile_string_get(rig->profile, function->file), "/src/a.c");
	assert_int_equal(function->line, 5);
	assert_int_equal(lines[index].line, line);
}

static void rig_release(struct rig *rig)
{
	profile_free(rig->profile);
	answer_free(rig->answer);
}

static void test_merge__names_what_has_no_name(void **state)
{
	const char *const names[] = {"inner", "outer"};
	struct rig rig;

	(void)state;
	rig_init(&rig, "x+0x1000", false);
	rig_say(&rig, names, 2);
	assert_line(&rig, 0, 2, "inner", 10);
	assert_line(&rig, 1, 2, "outer", 11);
	assert_int_equal(rig.counts.named, 1);
	assert_int_equal(rig.counts.inlined, 1);
	assert_int_equal(rig.counts.lines, 1);
	rig_release(&rig);
}

static void test_merge__keeps_a_name(void **state)
{
	const char *const names[] = {"inner", "outer"};
	struct rig rig;

	(void)state;
	rig_init(&rig, "outer.cold", true);
	rig_say(&rig, names, 2);
	assert_line(&rig, 0, 2, "inner", 10);
	assert_line(&rig, 1, 2, "outer.cold", 11);
	assert_int_equal(rig.counts.named, 0);
	rig_say(&rig, names + 1, 1); /* in place of what was inlined */
	assert_line(&rig, 0, 1, "outer.cold", 10);
	rig_release(&rig);
}

/* The profile is of a Go program without DWARF, whose own tables have been read. */
static void test_merge__keeps_lines_where_there_is_a_symbol_alone(void **state)
{
	const char *const names[] = {"inner", "outer"};
	struct answer_function function = {.start = 0x1000};
	struct answer_frame frame = {0};
	struct rig rig;

	(void)state;
	rig_init(&rig, "x+0x1000", false);
	rig_say(&rig, names, 2);
	function.name = function.system_name = answer_string(rig.answer, "outer");
	frame.function = answer_function_add(rig.answer, &function);
	assert_int_equal(answer_set(rig.answer, 0, &frame, 1), 0);
	rig_merge(&rig);
	assert_line(&rig, 0, 2, "inner", 10);
	assert_line(&rig, 1, 2, "outer", 11);
	rig_release(&rig);
}

/* Locations of one address make one question, and share the answer. */
static void test_merge__places_of_one_address(void **state)
{
	const char *const names[] = {"inner", "outer"};
	struct place places[3] = {{0x1005, 0}, {0x1001, 0}, {0x1001, 0}};
	uint64_t addresses[3];
	uint32_t object;
	struct rig rig;

	(void)state;
	rig_init(&rig, "x+0x1000", false);
	object = profile_location_get(rig.profile, rig.location)->object;
	places[0].location = profile_location_add(rig.profile, object, 0x1005);
	places[1].location = profile_location_add_variant(rig.profile, object, 0x1001, 7);
	places[2].location = rig.location;
	qsort(places, 3, sizeof(places[0]), place_compare);
	assert_int_equal(place_addresses(places, 3, addresses), 2);
	assert_int_equal(addresses[0], 0x1001);
	assert_int_equal(addresses[1], 0x1005);
	assert_int_equal(rig_answer(&rig, names, 2), 0);
	assert_int_equal(merge_places(rig.profile, places, 3, rig.answer, &rig.counts), 0);
	for (size_t i = 0; i < 2; i++) {
		rig.location = places[i].location;
		assert_line(&rig, 0, 2, "inner", 10);
	}
	assert_int_equal(rig.counts.lines, 2);
	assert_int_equal(profile_location_get(rig.profile, places[2].location)->line, 0);
	rig_release(&rig);
}

static void test_merge__of_nothing_changes_nothing(void **state)
{
	struct profile_line lines[PROFILE_LINES_MAX];
	struct rig rig;

	(void)state;
	rig_init(&rig, "x+0x1000", false);
	rig_say(&rig, NULL, 0);
	assert_int_equal(profile_location_lines(rig.profile, rig.location, lines), 1);
	assert_int_equal(profile_functions(rig.profile), 1);
	rig_release(&rig);
}

static void test_merge__takes_the_longest_chain(void **state)
{
	const char *names[ANSWER_CHAIN_MAX];
	struct profile_line lines[PROFILE_LINES_MAX];
	struct rig rig;

	(void)state;
	for (size_t i = 0; i < ANSWER_CHAIN_MAX; i++)
		names[i] = i % 2 ? "odd" : "even";
	rig_init(&rig, "x+0x1000", false);
	rig_say(&rig, names, ANSWER_CHAIN_MAX);
	assert_int_equal(profile_location_lines(rig.profile, rig.location, lines),
			 ANSWER_CHAIN_MAX);
	rig_release(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_confine__leaves_nothing),
		cmocka_unit_test(test_confine__leaves_a_terminal),
		cmocka_unit_test(test_confine__keeps_files_that_are_named),
		cmocka_unit_test(test_merge__names_what_has_no_name),
		cmocka_unit_test(test_merge__keeps_a_name),
		cmocka_unit_test(test_merge__keeps_lines_where_there_is_a_symbol_alone),
		cmocka_unit_test(test_merge__places_of_one_address),
		cmocka_unit_test(test_merge__of_nothing_changes_nothing),
		cmocka_unit_test(test_merge__takes_the_longest_chain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
