/* SPDX-License-Identifier: Apache-2.0 */
/* Where the page of metrics is: which addresses are taken, and the sockets made of them. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "helper/options/page.h"
#include "helper/output/listener.h"

static void test_listener__addresses(void **state)
{
	static const struct {
		const char *text;
		uint32_t family, port;
		uint8_t first, last;
	} rows[] = {
		{"127.0.0.1:9464", AF_INET, 9464, 127, 0},
		{"localhost:1", AF_INET, 1, 127, 0},
		{"127.255.0.3:65535", AF_INET, 65535, 127, 0},
		{"[::1]:9464", AF_INET6, 9464, 0, 1},
	};
	struct listener listener;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_null(page_read_address(rows[i].text, &listener));
		assert_int_equal(listener.family, rows[i].family);
		assert_int_equal(listener.port, rows[i].port);
		assert_int_equal(listener.address[0], rows[i].first);
		assert_int_equal(listener.address[15], rows[i].last);
	}
	assert_null(page_read_address("unix:/run/a.sock", &listener));
	assert_int_equal(listener.family, AF_UNIX);
	assert_string_equal(listener.path, "/run/a.sock");
	assert_null(page_read_address("unix:///run/a.sock", &listener));
	assert_string_equal(listener.path, "/run/a.sock");
}

static void test_listener__no_addresses(void **state)
{
	static const char *const texts[] = {
		"",
		"9464",
		":9464",
		"0.0.0.0:9464",
		"127.0.0.1",
		"127.0.0.1:",
		"127.0.0.1:0",
		"127.0.0.1:65536",
		"10.0.0.1:9464",
		"[::]:9464",
		"::1:9464",
		"[::ffff:127.0.0.1]:9464",
		"[fe80::1]:1",
		"example.org:9464",
		"unix:",
		"unix:run/a",
		"unix:@a",
		"[127.0.0.1]:9464",
		"127.0.0.1:94 64",
		"[]:1",
		"http://127.0.0.1:9464",
	};
	struct listener listener;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (!page_read_address(texts[i], &listener))
			fail_msg("taken: %s", texts[i]);
}

static int file_of(const struct listener *listener)
{
	int fd = memfd_create("listener", MFD_CLOEXEC);

	assert_int_equal(write(fd, listener, sizeof(*listener)), sizeof(*listener));
	return fd;
}

/* keyhole-options may have been taken over. */
static void test_listener__foreign_addresses_are_refused(void **state)
{
	static const struct listener rows[] = {
		{.family = AF_INET, .port = 1, .address = {0, 0, 0, 0}},
		{.family = AF_INET, .port = 65536, .address = {127, 0, 0, 1}},
		{.family = AF_INET6, .port = 1, .address = {0}},
		{.family = AF_UNIX, .path = "relative"},
		{.family = AF_NETLINK},
		{.family = 0},
	};
	struct listener listener;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		int fd = file_of(&rows[i]);

		assert_int_equal(listener_read(fd, &listener), -EBADMSG);
		close(fd);
	}
	listener = (struct listener){.family = AF_UNIX};
	memset(listener.path, '/', sizeof(listener.path));
	int fd = file_of(&listener);

	assert_int_equal(listener_read(fd, &listener), -EBADMSG);
	assert_int_equal(ftruncate(fd, 4), 0);
	assert_int_equal(listener_read(fd, &listener), -EBADMSG);
	close(fd);
}

static void test_listener__a_path_belongs_to_one(void **state)
{
	struct listener listener = {.family = AF_UNIX};
	char folder[] = "/tmp/keyhole-test-XXXXXX";
	struct stat status;
	int fd;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(listener.path, sizeof(listener.path), "%s/socket", folder);
	fd = listener_open(&listener);
	assert_true(fd >= 0);
	assert_int_equal(stat(listener.path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0660);
	assert_int_equal(listener_open(&listener), -EADDRINUSE);
	close(fd);
	fd = listener_open(&listener); /* in place of the one that nobody listens at */
	assert_true(fd >= 0);
	close(fd);
	listener_remove(&listener);
	assert_int_equal(stat(listener.path, &status), -1);
	assert_int_equal(mkdir(listener.path, 0700), 0);
	assert_int_equal(listener_open(&listener), -EADDRINUSE);
	listener_remove(&listener);
	assert_int_equal(rmdir(listener.path), 0);
	rmdir(folder);
}

static void test_listener__loopback(void **state)
{
	struct listener listener = {.family = AF_INET, .address = {127, 0, 0, 1}};
	struct sockaddr_in address;
	socklen_t size = sizeof(address);
	int fd = listener_open(&listener); /* at any port */

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
	listener.port = ntohs(address.sin_port);
	assert_int_equal(listener_open(&listener), -EADDRINUSE);
	listener_remove(&listener);
	close(fd);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_listener__addresses),
		cmocka_unit_test(test_listener__no_addresses),
		cmocka_unit_test(test_listener__foreign_addresses_are_refused),
		cmocka_unit_test(test_listener__a_path_belongs_to_one),
		cmocka_unit_test(test_listener__loopback),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
