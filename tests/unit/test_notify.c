/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "ipc/guard.h"
#include "ipc/time.h"
#include "helper/output/notify.h"
#include "loader/user.h"

/* A service manager's socket; "@name" is abstract. */
static int listen_at(const char *name)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	size_t length = strlen(name);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	memcpy(address.sun_path, name, length);
	if (*name == '@')
		address.sun_path[0] = '\0';
	length += offsetof(struct sockaddr_un, sun_path);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, (socklen_t)length), 0);
	return fd;
}

static struct output output = {.manager = -1};

static int open_at(const char *name)
{
	assert_int_equal(setenv("NOTIFY_SOCKET", name, 1), 0);
	output.manager = notify_open();
	return output.manager < 0 ? output.manager : 0;
}

static void expect_line(int fd, const char *expected)
{
	char line[32] = "";

	assert_int_equal(recv(fd, line, sizeof(line) - 1, 0), strlen(expected));
	assert_string_equal(line, expected);
	assert_int_equal(recv(fd, line, sizeof(line), 0), -1);
}

static void test_notify__without_a_manager(void **state)
{
	(void)state;
	unsetenv("NOTIFY_SOCKET");
	assert_int_equal(notify_open(), -ENODATA);
	assert_int_equal(open_at(""), -ENODATA);
	output_notify(&output, "READY=1");
}

static void test_notify__path(void **state)
{
	char folder[] = "/tmp/keyhole-notify.XXXXXX", name[64];
	guard_fd int fd = -1;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(name, sizeof(name), "%s/manager", folder);
	fd = listen_at(name);
	assert_int_equal(open_at(name), 0);
	unlink(name); /* connected: nobody needs the name any more */
	rmdir(folder);
	output_notify(&output, "READY=1");
	expect_line(fd, "READY=1");
}

static void test_notify__abstract(void **state)
{
	char name[64];
	guard_fd int fd = -1;

	(void)state;
	snprintf(name, sizeof(name), "@keyhole-notify-%d", (int)getpid());
	fd = listen_at(name);
	assert_int_equal(open_at(name), 0);
	output_notify(&output, "STOPPING=1");
	expect_line(fd, "STOPPING=1");
}

static void test_notify__never_waits(void **state)
{
	char name[64];
	guard_fd int fd = -1;
	uint64_t began;

	(void)state;
	snprintf(name, sizeof(name), "@keyhole-notify-full-%d", (int)getpid());
	fd = listen_at(name);
	assert_int_equal(open_at(name), 0);
	began = time_now();
	for (int i = 0; i < 10000; i++)
		output_notify(&output, "WATCHDOG=1");
	assert_true(time_now() - began < 5 * NS_PER_SECOND);
}

static void test_notify__names_that_cannot_be(void **state)
{
	char name[128];

	(void)state;
	assert_int_equal(open_at("manager"), -EINVAL);
	assert_int_equal(open_at("vsock:2:1234"), -EINVAL);
	memset(name, 'x', sizeof(name) - 1);
	name[0] = '/';
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(open_at(name), -EINVAL);
	assert_int_equal(open_at("/nobody/listens"), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_notify__without_a_manager),
		cmocka_unit_test(test_notify__path),
		cmocka_unit_test(test_notify__abstract),
		cmocka_unit_test(test_notify__never_waits),
		cmocka_unit_test(test_notify__names_that_cannot_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
