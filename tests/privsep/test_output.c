/* SPDX-License-Identifier: Apache-2.0 */
/* keyhole-output: the owner of the file, which appears whole or not at all. */
#include "loader/user.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "bpf/abi.h"
#include "ipc/destination.h"
#include "tests/privsep/privsep.h"

static const struct policy_user root = {0, 0, NULL};
static const struct policy_user user = {USER_ID, GROUP_ID, "no-such-user"};

struct folder {
	char path[64];
	char file[80];
};

static int set_up(void **state)
{
	static const char template[] = "/tmp/keyhole-output-XXXXXX";
	static struct folder folder;

	memcpy(folder.path, template, sizeof(template));
	if (!mkdtemp(folder.path) || chown(folder.path, USER_ID, GROUP_ID))
		return -1;
	snprintf(folder.file, sizeof(folder.file), "%s/out.folded", folder.path);
	*state = &folder;
	return 0;
}

static unsigned int count_files(const struct folder *folder)
{
	DIR *dir = opendir(folder->path);
	unsigned int count = 0;

	for (struct dirent *entry; (entry = readdir(dir));)
		count += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
	closedir(dir);
	return count;
}

/* Returns whether there is a temporary file, and its path. */
static bool find_temporary(const struct folder *folder, char ret_path[PATH_MAX])
{
	DIR *dir = opendir(folder->path);
	bool found = false;

	for (struct dirent *entry; !found && (entry = readdir(dir));) {
		found = !strncmp(entry->d_name, ".keyhole-", strlen(".keyhole-"));
		snprintf(ret_path, PATH_MAX, "%s/%s", folder->path, entry->d_name);
	}
	closedir(dir);
	return found;
}

static void remove_windows(const struct folder *folder)
{
	DIR *dir = opendir(folder->path);

	for (struct dirent *entry; (entry = readdir(dir));)
		unlinkat(dirfd(dir), entry->d_name, 0);
	closedir(dir);
}

static void remove_temporary(const struct folder *folder)
{
	char path[PATH_MAX];

	assert_true(find_temporary(folder, path));
	unlink(path);
}

static int tear_down(void **state)
{
	const struct folder *folder = *state;

	unlink(folder->file);
	return rmdir(folder->path); /* fails where something stayed behind */
}

static int start(struct output *output, const char *path, bool force, const struct policy_user *who)
{
	const char *verb = force ? OUTPUT_VERB_REPLACE : OUTPUT_VERB_WRITE;

	return output_start(output, verb, path, NULL, who);
}

static int step(struct output *output, enum output_step what)
{
	const struct message_step request = {.step = what, .bytes = 7};
	struct message message;
	int r = channel_send(&output->channel, MESSAGE_STEP, &request, sizeof(request), -1);

	r = r ? r : channel_expect(&output->channel, MESSAGE_STEPPED, 5000, &message);
	return r ? r : message.STEPPED.error;
}

static void give(struct output *output, int fd)
{
	const struct message_counts counts = {.cpus = 1, .sampling.frequency = 99};

	assert_int_equal(
		channel_send(&output->channel, MESSAGE_COUNTS, &counts, sizeof(counts), fd), 0);
	close(fd);
}

static void give_runtime(struct output *output)
{
	const struct task_runtime runtime = {0};
	int fd = memfd_create("runtime", MFD_CLOEXEC);

	assert_int_equal(pwrite(fd, &runtime, sizeof(runtime), 0), sizeof(runtime));
	give(output, fd);
}

static int make_array(const char *name, uint32_t bytes, uint32_t entries)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, name, sizeof(uint32_t), bytes, entries,
				&options);

	assert_true(fd >= 0);
	return fd;
}

/* Makes the map of counters as the loader does, with BPF's counts. */
static int make_map(uint64_t samples)
{
	const struct counters counters = {.samples = samples,
					  .reason = {[REASON_end_root] = samples}};
	const uint32_t zero = 0;
	int fd = make_array("counters", sizeof(counters), 1);

	assert_int_equal(bpf_map_update_elem(fd, &zero, &counters, BPF_ANY), 0);
	assert_int_equal(bpf_map_freeze(fd), 0);
	return fd;
}

/* Plays a recording of so many complete samples, up to its end. */
static int count(struct output *output, uint64_t samples)
{
	give(output, make_map(samples));
	give_runtime(output);
	give_runtime(output);
	give(output, make_array("denied", sizeof(uint64_t), DENY_KEYS_MAX + 1));
	assert_int_equal(step(output, STEP_BEGIN), 0);
	return step(output, STEP_END);
}

static int commit(struct output *output, uint64_t samples)
{
	const struct message_summary named = {.reason = {[REASON_end_root] = samples}};

	assert_int_equal(count(output, samples), 0);
	assert_int_equal(channel_send(&output->channel, MESSAGE_NAMED, &named, sizeof(named), -1),
			 0);
	return step(output, STEP_COMMIT);
}

static void put(const char *path, const char *text)
{
	int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0644);

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void check_content(const char *path, const char *text)
{
	char got[64] = "";
	int fd = open(path, O_RDONLY);

	assert_true(fd >= 0);
	assert_true(read(fd, got, sizeof(got) - 1) >= 0);
	assert_string_equal(got, text);
	close(fd);
}

static void test_output__appears_whole_and_private(void **state)
{
	const struct folder *folder = *state;
	struct output output;
	struct stat status;

	assert_int_equal(start(&output, folder->file, false, &user), 0);
	assert_int_equal(write(output.fd, "profile", 7), 7);
	assert_int_equal(fcntl(output.fd, F_GETFL) & O_ACCMODE, O_WRONLY);
	assert_int_equal(access(folder->file, F_OK), -1);
	assert_int_equal(commit(&output, 1), 0);
	output_abandon(&output);
	assert_int_equal(stat(folder->file, &status), 0);
	assert_int_equal(status.st_mode, S_IFREG | 0600);
	assert_int_equal(status.st_uid, USER_ID);
	assert_int_equal(status.st_gid, GROUP_ID);
	assert_int_equal(count_files(folder), 1);
	check_content(folder->file, "profile");
}

static void test_output__without_commit_nothing_stays(void **state)
{
	const struct folder *folder = *state;
	struct output output;

	assert_int_equal(start(&output, folder->file, false, &user), 0);
	assert_int_equal(write(output.fd, "profile", 7), 7);
	output_abandon(&output);
	assert_int_equal(count_files(folder), 0);
}

static void test_output__without_samples_nothing_stays(void **state)
{
	const struct folder *folder = *state;
	struct output output;

	assert_int_equal(start(&output, folder->file, false, &user), 0);
	assert_int_equal(count(&output, 0), -ENODATA);
	output_abandon(&output);
	assert_int_equal(count_files(folder), 0);
}

/* The worker has lost all samples. */
static void test_output__without_samples_in_it_nothing_stays(void **state)
{
	const struct folder *folder = *state;
	struct output output;

	assert_int_equal(start(&output, folder->file, false, &user), 0);
	assert_int_equal(count(&output, 3), 0);
	assert_int_equal(step(&output, STEP_COMMIT), -ENODATA);
	output_abandon(&output);
	assert_int_equal(count_files(folder), 0);
}

/* A user's keyhole-output can only read the map, by its own rights and even with ours. */
static void try_map(const void *argument)
{
	const int fd = *(const int *)argument;
	const struct counters counters = {.samples = 1};
	const uint32_t zero = 0;
	void *rows = mmap(NULL, sizeof(counters), PROT_READ, MAP_SHARED, fd, 0);

	for (int pass = 0; pass < 2; pass++) {
		if (rows == MAP_FAILED || ((const struct counters *)rows)->samples != 42)
			_exit(1);
		if (mmap(NULL, sizeof(counters), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) !=
			    MAP_FAILED ||
		    !mprotect(rows, sizeof(counters), PROT_READ | PROT_WRITE))
			_exit(2);
		if (!bpf_map_update_elem(fd, &zero, &counters, BPF_ANY) || !ftruncate(fd, 0))
			_exit(3);
		if (setgid(GROUP_ID) || setuid(USER_ID))
			_exit(4);
	}
	_exit(0);
}

static void test_output__counters_cannot_be_written(void **state)
{
	int fd = make_map(42);

	(void)state;
	assert_int_equal(privsep_run(try_map, &fd), 0);
	close(fd);
}

static void test_output__steps_out_of_order(void **state)
{
	const struct folder *folder = *state;
	struct output output;

	assert_int_equal(start(&output, folder->file, false, &user), 0);
	assert_int_equal(step(&output, STEP_BEGIN), -EPROTO);
	assert_int_equal(step(&output, STEP_END), -EPROTO);
	assert_int_equal(step(&output, (enum output_step)99), -EPROTO);
	assert_int_equal(count(&output, 1), 0);
	give_runtime(&output); /* one too many: it ends */
	assert_true(privsep_gone(output.pid));
	output_abandon(&output);
	assert_int_equal(count_files(folder), 0);
}

static void start_and_die(const void *path)
{
	struct output output;

	if (start(&output, path, false, &user))
		_exit(1);
	raise(SIGKILL);
}

static void test_output__a_killed_loader_leaves_nothing(void **state)
{
	const struct folder *folder = *state;

	privsep_run(start_and_die, folder->file);
	for (int i = 0; i < 100 && count_files(folder); i++)
		usleep(10000);
	assert_int_equal(count_files(folder), 0);
}

static void test_output__existing_files_are_kept(void **state)
{
	const struct folder *folder = *state;
	struct output output;

	put(folder->file, "precious");
	assert_int_equal(start(&output, folder->file, false, &user), -EEXIST);
	check_content(folder->file, "precious");
	assert_int_equal(count_files(folder), 1);
}

static void test_output__a_file_that_came_meanwhile_is_kept(void **state)
{
	const struct folder *folder = *state;
	struct output output;

	char kept[PATH_MAX];

	assert_int_equal(start(&output, folder->file, false, &user), 0);
	assert_int_equal(write(output.fd, "profile", 7), 7);
	put(folder->file, "precious");
	assert_int_equal(commit(&output, 1), -EEXIST);
	output_abandon(&output);
	check_content(folder->file, "precious");
	/* the profile keeps its temporary name: nothing recorded is thrown away */
	assert_true(find_temporary(folder, kept));
	check_content(kept, "profile");
	unlink(kept);
	assert_int_equal(count_files(folder), 1);
}

static void test_output__force_replaces(void **state)
{
	const struct folder *folder = *state;
	struct output output;
	struct stat status;

	put(folder->file, "old");
	assert_int_equal(start(&output, folder->file, true, &user), 0);
	assert_int_equal(write(output.fd, "new", 3), 3);
	check_content(folder->file, "old");
	assert_int_equal(commit(&output, 1), 0);
	output_abandon(&output);
	check_content(folder->file, "new");
	assert_int_equal(stat(folder->file, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0600);
	assert_int_equal(count_files(folder), 1);
}

static mode_t type_of(const char *path)
{
	struct stat status;

	assert_int_equal(lstat(path, &status), 0);
	return status.st_mode & S_IFMT;
}

static void test_output__a_link_is_neither_replaced_nor_followed(void **state)
{
	const struct folder *folder = *state;
	struct output output;

	assert_int_equal(symlink("/etc/passwd", folder->file), 0);
	assert_int_equal(start(&output, folder->file, false, &user), -ELOOP);
	assert_int_equal(start(&output, folder->file, true, &user), -ELOOP);
	assert_int_equal(type_of(folder->file), S_IFLNK);
	unlink(folder->file);
	/* a link that comes meanwhile */
	assert_int_equal(start(&output, folder->file, true, &user), 0);
	assert_int_equal(symlink("/etc/passwd", folder->file), 0);
	assert_int_equal(commit(&output, 1), -ELOOP);
	output_abandon(&output);
	assert_int_equal(type_of(folder->file), S_IFLNK);
	remove_temporary(folder);
}

static void test_output__a_device_or_socket_is_not_replaced(void **state)
{
	const struct folder *folder = *state;
	struct output output;

	assert_int_equal(mknod(folder->file, S_IFCHR | 0666, makedev(1, 3)), 0);
	assert_int_equal(start(&output, folder->file, true, &user), -EINVAL);
	assert_int_equal(type_of(folder->file), S_IFCHR);
	unlink(folder->file);
	assert_int_equal(mknod(folder->file, S_IFSOCK | 0666, 0), 0);
	assert_int_equal(start(&output, folder->file, true, &user), -EINVAL);
	assert_int_equal(type_of(folder->file), S_IFSOCK);
	assert_int_equal(start(&output, "/dev/stdout", true, &user), -EINVAL);
	assert_int_equal(start(&output, "/dev/fd/7", true, &user), -EINVAL);
	assert_int_equal(start(&output, "/proc/self/fd/2", true, &user), -EINVAL);
}

static void test_output__writes_to_a_fifo(void **state)
{
	const struct folder *folder = *state;
	struct output output;
	char got[16] = "";
	int reader;

	assert_int_equal(mkfifo(folder->file, 0666), 0);
	assert_int_equal(chown(folder->file, USER_ID, GROUP_ID), 0);
	reader = open(folder->file, O_RDONLY | O_NONBLOCK);
	for (int force = 0; force < 2; force++) {
		assert_int_equal(start(&output, folder->file, force, &user), 0);
		assert_int_equal(write(output.fd, "profile", 7), 7);
		assert_int_equal(commit(&output, 1), 0);
		output_abandon(&output);
		assert_int_equal(read(reader, got, sizeof(got)), 7);
		assert_int_equal(read(reader, got, sizeof(got)), 0); /* nobody else holds it */
		assert_int_equal(type_of(folder->file), S_IFIFO);
		assert_int_equal(count_files(folder), 1);
	}
	close(reader);
}

static void test_output__a_fifo_that_nobody_reads(void **state)
{
	const struct folder *folder = *state;
	struct output output;

	assert_int_equal(mkfifo(folder->file, 0666), 0);
	assert_int_equal(start(&output, folder->file, false, &user), -EACCES);
	assert_int_equal(chown(folder->file, USER_ID, GROUP_ID), 0);
	assert_int_equal(start(&output, folder->file, false, &user), -ENXIO);
	assert_int_equal(type_of(folder->file), S_IFIFO);
}

static void test_output__a_stream_makes_no_file(void **state)
{
	const struct folder *folder = *state;
	struct output output;

	assert_int_equal(output_start(&output, OUTPUT_VERB_STREAM, folder->file, NULL, &user),
			 -EINVAL);
	assert_int_equal(count_files(folder), 0);
	assert_int_equal(output_start(&output, OUTPUT_VERB_STREAM, "-", NULL, &user), 0);
	output_abandon(&output);
}

/* An agent's folder: the exporter asks for a file, and gets no other way to the disk. */
static void test_output__a_window_gets_a_file(void **state)
{
	const struct message_keeper keeper = {.format = FORMAT_pprof};
	const struct message_profile window = {.bytes = 6};
	const struct folder *folder = *state;
	struct output output;
	struct channel exporter;
	struct message message;
	int pair[2], memfd = memfd_create("window", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_int_equal(write(memfd, "window", 6), 6);
	assert_int_equal(output_start(&output, OUTPUT_VERB_ROTATE, folder->path, NULL, &user), 0);
	assert_int_equal(channel_pair(pair), 0);
	assert_int_equal(channel_send(&output.channel, MESSAGE_WINDOWS_PEER, &keeper,
				      sizeof(keeper), pair[0]),
			 0);
	close(pair[0]);
	channel_init(&exporter, pair[1], PARTY_EXPORTER, PARTY_COMMITTER);
	exporter.phase = PHASE_RUN;
	/* a window that can still shrink is refused, */
	assert_int_equal(channel_send(&exporter, MESSAGE_KEEP, &window, sizeof(window), memfd), 0);
	assert_int_equal(channel_expect(&exporter, MESSAGE_KEPT, 5000, &message), 0);
	assert_int_equal(message.KEPT.error, -EPERM);
	assert_int_equal(count_files(folder), 0);
	/* a sealed one gets a file, */
	assert_int_equal(fcntl(memfd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
	assert_int_equal(channel_send(&exporter, MESSAGE_KEEP, &window, sizeof(window), memfd), 0);
	assert_int_equal(channel_expect(&exporter, MESSAGE_KEPT, 5000, &message), 0);
	assert_int_equal(message.KEPT.error, 0);
	assert_int_equal(count_files(folder), 1);
	/* and anything else costs the exporter its channel */
	assert_int_equal(channel_send_bare(&exporter, MESSAGE_WINDOW_WRITTEN, -1), -EINVAL);
	assert_int_equal(write(exporter.fd, "junk", 4), 4);
	assert_int_equal(channel_wait(&exporter, 5000, &message), -EPIPE);
	channel_release(&exporter);
	close(memfd);
	output_abandon(&output);
	remove_windows(folder);
}

/* The loader that gives an exporter to a file's keyhole-output is not ours. */
static void test_output__no_file_takes_windows(void **state)
{
	const struct message_keeper keeper = {.format = FORMAT_pprof};
	const struct folder *folder = *state;
	struct output output;
	struct message message;
	int pair[2];

	assert_int_equal(start(&output, folder->file, false, &user), 0);
	assert_int_equal(channel_pair(pair), 0);
	assert_int_equal(channel_send(&output.channel, MESSAGE_WINDOWS_PEER, &keeper,
				      sizeof(keeper), pair[0]),
			 0);
	assert_int_equal(channel_wait(&output.channel, 5000, &message), -EPIPE);
	close(pair[0]);
	close(pair[1]);
	output_abandon(&output);
}

/* ---- the page of an agent ---- */

/* Returns what keyhole-output answers, with the socket in *ret_message. */
static int ask_listener(struct output *output, const struct listener *listener,
			struct message *ret_message)
{
	int file = memfd_create("listener", MFD_CLOEXEC), r;

	assert_int_equal(write(file, listener, sizeof(*listener)), sizeof(*listener));
	r = channel_send_bare(&output->channel, MESSAGE_LISTEN, file);
	close(file);
	if (r == 0)
		r = channel_expect(&output->channel, MESSAGE_LISTENING, 5000, ret_message);
	return r;
}

/* The socket is the user's, listens, and goes with keyhole-output. */
static void test_output__makes_the_listener_of_a_page(void **state)
{
	const struct folder *folder = *state;
	struct listener listener = {.family = AF_UNIX};
	struct message message;
	struct output output;
	struct stat status;
	int listens = 0;
	socklen_t size = sizeof(listens);

	snprintf(listener.path, sizeof(listener.path), "%s/socket", folder->path);
	assert_int_equal(output_start(&output, OUTPUT_VERB_DELIVER, "the server", NULL, &user), 0);
	assert_int_equal(ask_listener(&output, &listener, &message), 0);
	assert_int_equal(message.LISTENING.error, 0);
	assert_int_equal(getsockopt(message.fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size), 0);
	assert_int_equal(listens, 1);
	assert_true(fcntl(message.fd, F_GETFL) & O_NONBLOCK);
	assert_int_equal(stat(listener.path, &status), 0);
	assert_int_equal(status.st_uid, USER_ID);
	close(message.fd);
	output_abandon(&output);
	assert_int_equal(stat(listener.path, &status), -1);
}

static void test_output__listens_nowhere_else(void **state)
{
	static const struct listener everywhere = {.family = AF_INET, .port = 9464};
	struct message message;
	struct output output;

	(void)state;
	assert_int_equal(output_start(&output, OUTPUT_VERB_DELIVER, "the server", NULL, &user), 0);
	assert_int_equal(ask_listener(&output, &everywhere, &message), -EPIPE);
	output_abandon(&output);
}

/* The rights are the user's: no socket comes where the user may not make one. */
static void test_output__listens_with_the_users_rights(void **state)
{
	static const struct listener forbidden = {.family = AF_UNIX,
						  .path = "/etc/keyhole-test-socket"};
	struct message message;
	struct output output;

	(void)state;
	assert_int_equal(output_start(&output, OUTPUT_VERB_DELIVER, "the server", NULL, &user), 0);
	assert_int_equal(ask_listener(&output, &forbidden, &message), 0);
	assert_int_equal(message.LISTENING.error, -EACCES);
	assert_int_equal(message.fd, -1);
	output_abandon(&output);
}

static void test_output__reasons(void **state)
{
	const struct folder *folder = *state;
	struct output output;
	char path[128];

	assert_int_equal(start(&output, folder->path, true, &user), -EISDIR);
	snprintf(path, sizeof(path), "%s/", folder->path);
	assert_int_equal(start(&output, path, true, &user), -EISDIR);
	snprintf(path, sizeof(path), "%s/none/out", folder->path);
	assert_int_equal(start(&output, path, false, &user), -ENOENT);
	assert_int_equal(start(&output, "/root/out.folded", false, &user), -EACCES);
	assert_int_equal(start(&output, "/etc/out.folded", false, &user), -EACCES);
	assert_int_equal(start(&output, "/dev/null", true, &root), -EINVAL);
	assert_int_equal(start(&output, "/etc/passwd/x", false, &user), -ENOTDIR);
}

static void test_output__root_without_sudo(void **state)
{
	const struct folder *folder = *state;
	struct output output;
	struct stat status;

	assert_int_equal(chdir(folder->path), 0);
	assert_int_equal(start(&output, "out.folded", false, &root), 0);
	assert_int_equal(commit(&output, 1), 0);
	output_abandon(&output);
	assert_int_equal(stat(folder->file, &status), 0);
	assert_int_equal(status.st_uid, 0);
	assert_int_equal(chdir("/"), 0);
}

static void test_output__standard_output_is_not_a_file(void **state)
{
	struct output output;

	(void)state;
	assert_int_equal(start(&output, "-", false, &user), 0);
	assert_true(output.fd > 2);
	assert_int_equal(commit(&output, 1), 0);
	output_abandon(&output);
	assert_int_equal(fcntl(STDOUT_FILENO, F_GETFD), 0);
}

#define output_test(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		output_test(test_output__appears_whole_and_private),
		output_test(test_output__without_commit_nothing_stays),
		output_test(test_output__without_samples_nothing_stays),
		output_test(test_output__without_samples_in_it_nothing_stays),
		output_test(test_output__counters_cannot_be_written),
		output_test(test_output__steps_out_of_order),
		output_test(test_output__a_killed_loader_leaves_nothing),
		output_test(test_output__existing_files_are_kept),
		output_test(test_output__a_file_that_came_meanwhile_is_kept),
		output_test(test_output__force_replaces),
		output_test(test_output__a_link_is_neither_replaced_nor_followed),
		output_test(test_output__a_device_or_socket_is_not_replaced),
		output_test(test_output__writes_to_a_fifo),
		output_test(test_output__a_fifo_that_nobody_reads),
		output_test(test_output__a_stream_makes_no_file),
		output_test(test_output__a_window_gets_a_file),
		output_test(test_output__no_file_takes_windows),
		output_test(test_output__makes_the_listener_of_a_page),
		output_test(test_output__listens_nowhere_else),
		output_test(test_output__listens_with_the_users_rights),
		output_test(test_output__reasons),
		output_test(test_output__root_without_sudo),
		output_test(test_output__standard_output_is_not_a_file),
	};

	privsep_need_root();
	return cmocka_run_group_tests(tests, privsep_link_programs, NULL);
}
