/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The messages about where an agent's profiles go. The loader's part meets a keyhole-options that
 * was taken over. The real keyhole-options and the real exporter meet a loader that errs.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ipc/destination.h"
#include "ipc/guard.h"
#include "ipc/log.h"
#include "loader/export.h"
#include "loader/helper.h"
#include "tests/privsep/child.h"
#include "tests/privsep/privsep.h"

#define WAIT_MS 5000

static char folder[] = "/tmp/keyhole-export-XXXXXX";

static int make_folder(void **state)
{
	if (!mkdtemp(folder) || chmod(folder, 0700))
		return -1;
	return privsep_link_programs(state);
}

static int remove_folder(void **state)
{
	(void)state;
	return rmdir(folder);
}

/* Makes a file that root alone may read. */
static void make_file(char ret_path[static 128], const char *name, const char *text)
{
	guard_fd int fd = -1;

	snprintf(ret_path, 128, "%s/%s", folder, name);
	fd = open(ret_path, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

/* ---- WANTED_FILE and DESTINATION: what keyhole-options makes the loader do ---- */

struct rig {
	struct export export;
	struct channel loader, options;
};

static void begin(struct rig *rig)
{
	int pair[2];

	memset(rig, 0, sizeof(*rig));
	export_init(&rig->export);
	assert_int_equal(channel_pair(pair), 0);
	channel_init(&rig->loader, pair[0], PARTY_LOADER, PARTY_OPTIONS);
	channel_init(&rig->options, pair[1], PARTY_OPTIONS, PARTY_LOADER);
}

static void finish(struct rig *rig)
{
	for (int i = 0; i < WANTED_FILES; i++)
		close_fd(&rig->export.files[i]);
	for (int i = 0; i < DESTINATION_PARTS; i++)
		close_fd(&rig->export.parts[i]);
	channel_release(&rig->loader);
	channel_release(&rig->options);
}

/* Has the loader handle the message that is there. Returns what the loader thinks of it. */
static int handle(struct rig *rig)
{
	struct message message;
	int r = channel_receive(&rig->loader, &message);

	if (r < 0)
		return r;
	assert_int_equal(r, 1);
	r = export_take(&rig->export, &rig->loader, &message);
	message_release(&message);
	return r;
}

static int want(struct rig *rig, uint32_t file, const char *path)
{
	struct message_wanted_file wanted = {.file = file};

	snprintf(wanted.path, sizeof(wanted.path), "%s", path);
	assert_int_equal(
		channel_send(&rig->options, MESSAGE_WANTED_FILE, &wanted, sizeof(wanted), -1), 0);
	return handle(rig);
}

static void expect_opened(struct rig *rig, int error, bool shown)
{
	struct message message;

	assert_int_equal(channel_expect(&rig->options, MESSAGE_FILE_OPENED, WAIT_MS, &message), 0);
	assert_int_equal(message.FILE_OPENED.error, error);
	assert_int_equal(message.fd >= 0, shown);
	if (shown)
		assert_int_equal(fcntl(message.fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	message_release(&message);
}

/* The configuration alone comes back; a key stays with the loader, and no file is written. */
static void test_export__a_key_is_not_shown(void **state)
{
	char path[128];
	struct rig rig;

	(void)state;
	make_file(path, "key", "secret");
	begin(&rig);
	for (uint32_t file = FILE_AUTHORITIES; file < WANTED_FILES; file++) {
		assert_int_equal(want(&rig, file, path), 0);
		expect_opened(&rig, 0, false);
		assert_int_equal(fcntl(rig.export.files[file], F_GETFL) & O_ACCMODE, O_RDONLY);
	}
	assert_int_equal(want(&rig, FILE_CONFIG, path), 0);
	expect_opened(&rig, 0, true);
	assert_int_equal(rig.export.files[FILE_CONFIG], -1);
	unlink(path);
	assert_int_equal(want(&rig, FILE_CONFIG, path), 0);
	expect_opened(&rig, -ENOENT, false);
	assert_int_equal(want(&rig, FILE_KEY, path), 0);
	expect_opened(&rig, -ENOENT, false);
	assert_int_equal(rig.export.files[FILE_KEY], -1);
	finish(&rig);
}

/* A FIFO or a terminal makes nobody wait, and a path that does not end is not looked at. */
static void test_export__no_path_makes_the_loader_wait(void **state)
{
	struct message_wanted_file endless = {.file = FILE_KEY};
	char path[128];
	struct rig rig;

	(void)state;
	snprintf(path, sizeof(path), "%s/fifo", folder);
	assert_int_equal(mkfifo(path, 0600), 0);
	begin(&rig);
	assert_int_equal(want(&rig, FILE_KEY, path), 0);
	expect_opened(&rig, 0, false);
	unlink(path);
	memset(endless.path, 'x', sizeof(endless.path));
	assert_int_equal(
		channel_send(&rig.options, MESSAGE_WANTED_FILE, &endless, sizeof(endless), -1), 0);
	assert_int_equal(handle(&rig), -EPROTO);
	assert_int_equal(want(&rig, WANTED_FILES, "/etc/passwd"), -EPROTO);
	assert_int_equal(want(&rig, UINT32_MAX, "/etc/passwd"), -EPROTO);
	finish(&rig);
}

static void test_export__a_destination_has_two_parts(void **state)
{
	struct message_destination destination = {.part = DESTINATION_ENDPOINT};
	guard_fd int fd = memfd_create("part", MFD_CLOEXEC);
	struct rig rig;

	(void)state;
	begin(&rig);
	assert_false(export_has_server(&rig.export));
	for (int i = 0; i < 3; i++) { /* a later one takes the place of the one before */
		assert_int_equal(channel_send(&rig.options, MESSAGE_DESTINATION, &destination,
					      sizeof(destination), fd),
				 0);
		assert_int_equal(handle(&rig), 0);
	}
	assert_true(export_has_server(&rig.export));
	assert_int_equal(rig.export.parts[DESTINATION_ADDRESS], -1);
	destination.part = DESTINATION_PARTS;
	assert_int_equal(channel_send(&rig.options, MESSAGE_DESTINATION, &destination,
				      sizeof(destination), fd),
			 0);
	assert_int_equal(handle(&rig), -EPROTO);
	/* without its file, it is no message */
	assert_int_equal(channel_send(&rig.options, MESSAGE_DESTINATION, &destination,
				      sizeof(destination), -1),
			 -EINVAL);
	finish(&rig);
}

/* keyhole-options gets the configuration by the loader's rights, and has no others. */
static void test_export__options_read_a_file_of_roots(void **state)
{
	const int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
	struct message_reply reply = {0};
	char path[128];
	const char *const argv[] = {"keyhole", "agent", "--check", "--config", path, NULL};
	struct channel channel;
	struct message message;
	guard_fd int fd = -1;
	pid_t pid;

	(void)state;
	make_file(path, "agent.conf", "version 1\nendpoint http://localhost:1\n");
	pid = helper_start(PARTY_OPTIONS, argv, NULL, &channel);
	assert_true(pid > 0);
	assert_int_equal(channel_expect(&channel, MESSAGE_WANTED_FILE, WAIT_MS, &message), 0);
	assert_int_equal(message.WANTED_FILE.file, FILE_CONFIG);
	assert_string_equal(message.WANTED_FILE.path, path);
	privsep_assert_no_rights(pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(channel_reply(&channel, &message, &reply, sizeof(reply), fd), 0);
	for (int part = DESTINATION_ENDPOINT; part <= DESTINATION_ADDRESS; part++) {
		assert_int_equal(channel_expect(&channel, MESSAGE_DESTINATION, WAIT_MS, &message),
				 0);
		assert_int_equal(message.DESTINATION.part, part);
		assert_int_equal(fcntl(message.fd, F_GET_SEALS) & seals, seals);
		message_release(&message);
	}
	channel_release(&channel);
	assert_true(privsep_gone(pid));
	unlink(path);
}

/* ---- ENDPOINT and CREDENTIAL: what the exporter takes ---- */

static struct endpoint good_endpoint(void)
{
	return (struct endpoint){.protocol = ENDPOINT_GRPC,
				 .is_tls = 1,
				 .timeout_ms = 1000,
				 .request_bytes = 1 << 20,
				 .queue_bytes = 1 << 20,
				 .queue_ns = 1000000000,
				 .host = "localhost",
				 .authority = "localhost:1",
				 .path = "/x"};
}

static int file_of(const void *bytes, size_t size)
{
	int fd = memfd_create("file", MFD_CLOEXEC);

	assert_int_equal(pwrite(fd, bytes, size, 0), size);
	return fd;
}

static void start(struct child *child)
{
	const struct message_output output = {.phase = PHASE_RUN};
	guard_fd int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);

	child_start(child, ROLE_EXPORTER);
	assert_int_equal(
		channel_send(&child->loader, MESSAGE_OUTPUT, &output, sizeof(output), nothing), 0);
}

static void give_endpoint(struct child *child, const void *bytes, size_t size)
{
	guard_fd int fd = file_of(bytes, size);

	child_give(child, MESSAGE_ENDPOINT, fd);
}

static void give_credential(struct child *child, uint32_t file, int fd)
{
	const struct message_credential credential = {.file = file};

	assert_int_equal(channel_send(&child->loader, MESSAGE_CREDENTIAL, &credential,
				      sizeof(credential), fd),
			 0);
}

/* Waits for the exporter's end, which is not that of a crash or of the filter. */
static void expect_refusal(struct child *child)
{
	assert_int_equal(child_wait_exit(child), 1 << 8);
	child_stop(child);
}

static void refuse_endpoint(const struct endpoint *endpoint, size_t size)
{
	struct child child;

	start(&child);
	give_endpoint(&child, endpoint, size);
	expect_refusal(&child);
}

static void test_export__an_endpoint_is_checked(void **state)
{
	struct endpoint endpoint = good_endpoint();

	(void)state;
	refuse_endpoint(&endpoint, sizeof(endpoint) - 1);
	endpoint.protocol = 2;
	refuse_endpoint(&endpoint, sizeof(endpoint));
	endpoint = good_endpoint();
	endpoint.compression = 3;
	refuse_endpoint(&endpoint, sizeof(endpoint));
	endpoint = good_endpoint();
	memset(endpoint.host, 'x', sizeof(endpoint.host));
	refuse_endpoint(&endpoint, sizeof(endpoint));
	endpoint = good_endpoint();
	memset(endpoint.headers, 'x', sizeof(endpoint.headers));
	refuse_endpoint(&endpoint, sizeof(endpoint));
	endpoint = good_endpoint();
	memcpy(endpoint.path, "/x\r\nHost: y", 12);
	refuse_endpoint(&endpoint, sizeof(endpoint));
	endpoint = good_endpoint();
	memcpy(endpoint.headers, "host\0y", 7);
	refuse_endpoint(&endpoint, sizeof(endpoint));
}

/* A file without a certificate costs connections, and not the exporter. */
static void test_export__a_credential_may_be_anything(void **state)
{
	const struct endpoint endpoint = good_endpoint();
	guard_fd int garbage = file_of("-----BEGIN CERTIFICATE-----\nx\n", 30), pipe_end = -1;
	guard_fd int nothing = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct message message;
	struct child child;
	int ends[2];

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pipe_end = ends[0];
	close(ends[1]);
	start(&child);
	give_endpoint(&child, &endpoint, sizeof(endpoint));
	give_credential(&child, FILE_AUTHORITIES, garbage);
	give_credential(&child, FILE_CERTIFICATE, nothing);
	child_give_peer(&child, MESSAGE_PROFILE_PEER);
	give_credential(&child, FILE_KEY, pipe_end);
	give_credential(&child, FILE_AUTHORITIES, garbage);
	assert_int_equal(channel_send_bare(&child.loader, MESSAGE_FINISH, -1), 0);
	channel_release(&child.worker);
	/* one line a minute, and an end that is none of an error */
	assert_int_equal(channel_wait(&child.loader, WAIT_MS, &message), 1);
	assert_int_equal(message.head.type, MESSAGE_LOG);
	assert_int_equal(message.LOG.level, LOG_LEVEL_ERROR);
	assert_int_equal(channel_wait(&child.loader, WAIT_MS, &message), -EPIPE);
	assert_int_equal(child_wait_exit(&child), 0);
	child_stop(&child);
}

static void test_export__no_credential_without_an_endpoint(void **state)
{
	const struct endpoint endpoint = good_endpoint();
	guard_fd int fd = file_of("x", 1);
	struct child child;

	(void)state;
	start(&child);
	give_credential(&child, FILE_KEY, fd);
	expect_refusal(&child);
	start(&child);
	child_give_peer(&child, MESSAGE_PROFILE_PEER);
	give_credential(&child, FILE_KEY, fd);
	expect_refusal(&child);
	start(&child);
	give_endpoint(&child, &endpoint, sizeof(endpoint));
	give_credential(&child, FILE_CONFIG, fd);
	expect_refusal(&child);
	start(&child);
	give_endpoint(&child, &endpoint, sizeof(endpoint));
	give_credential(&child, WANTED_FILES, fd);
	expect_refusal(&child);
}

/* An exporter that writes a file has one worker: the next one must not write behind it. */
static void test_export__no_second_worker_without_an_endpoint(void **state)
{
	struct child child;

	(void)state;
	start(&child);
	child_give_peer(&child, MESSAGE_PROFILE_PEER);
	channel_release(&child.worker);
	child_wait_exit(&child);
	child_stop(&child);
	start(&child);
	child_give_peer(&child, MESSAGE_PROFILE_PEER);
	child_give(&child, MESSAGE_PROFILE_PEER, child.worker.fd);
	expect_refusal(&child);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_export__a_key_is_not_shown),
		cmocka_unit_test(test_export__no_path_makes_the_loader_wait),
		cmocka_unit_test(test_export__a_destination_has_two_parts),
		cmocka_unit_test(test_export__options_read_a_file_of_roots),
		cmocka_unit_test(test_export__an_endpoint_is_checked),
		cmocka_unit_test(test_export__a_credential_may_be_anything),
		cmocka_unit_test(test_export__no_credential_without_an_endpoint),
		cmocka_unit_test(test_export__no_second_worker_without_an_endpoint),
	};

	privsep_need_root();
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
