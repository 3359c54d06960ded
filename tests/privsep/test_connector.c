/* SPDX-License-Identifier: Apache-2.0 */
/* The real keyhole-connector. The test plays loader and exporter, the server and the proxy. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ipc/destination.h"
#include "ipc/guard.h"
#include "loader/helper.h"
#include "policy/policy_impl.h"
#include "tests/privsep/privsep.h"

#define WAIT_MS	   10000
#define TIMEOUT_MS 500

struct connector {
	struct channel channel, exporter;
	pid_t pid;
};

/* ---- the process ----------------------------------------------------------------------------- */

static int make_file(const void *bytes, size_t size)
{
	int fd = memfd_create("address", MFD_CLOEXEC);

	assert_true(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
	return fd;
}

/* Returns the answer about the address. */
static int start(struct connector *connector, const void *address, size_t size)
{
	const char *const argv[] = {"keyhole-connector", NULL};
	guard_fd int file = make_file(address, size);
	struct message message;
	int r;

	connector->pid = helper_start(PARTY_CONNECTOR, argv, NULL, &connector->channel);
	assert_true(connector->pid > 0);
	assert_int_equal(channel_send_bare(&connector->channel, MESSAGE_ADDRESS, file), 0);
	r = channel_expect(&connector->channel, MESSAGE_CONNECTOR_READY, WAIT_MS, &message);
	return r ? r : message.CONNECTOR_READY.error;
}

static void give_exporter(struct connector *connector)
{
	int pair[2];

	assert_int_equal(channel_pair(pair), 0);
	assert_int_equal(channel_send_bare(&connector->channel, MESSAGE_EXPORTER_PEER, pair[0]), 0);
	close(pair[0]);
	channel_init(&connector->exporter, pair[1], PARTY_EXPORTER, PARTY_CONNECTOR);
	connector->exporter.phase = PHASE_RUN;
}

static void begin(struct connector *connector, const struct address *address)
{
	assert_int_equal(start(connector, address, sizeof(*address)), 0);
	give_exporter(connector);
}

/* Returns the exit status, or 128 and the signal. */
static int end(struct connector *connector)
{
	int status = 0;

	channel_release(&connector->channel);
	assert_int_equal(waitpid(connector->pid, &status, 0), connector->pid);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void finish(struct connector *connector)
{
	assert_int_equal(end(connector), 0);
	channel_release(&connector->exporter);
}

/* ---- servers --------------------------------------------------------------------------------- */

static int listen_at(const struct sockaddr *at, socklen_t size)
{
	int fd = socket(at->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, at, size), 0);
	assert_int_equal(listen(fd, 4), 0);
	return fd;
}

static uint32_t port_of(int fd)
{
	struct sockaddr_in at;
	socklen_t size = sizeof(at);

	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &size), 0);
	return ntohs(at.sin_port);
}

static int listen_at_loopback(void)
{
	const struct sockaddr_in at = {.sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	return listen_at((const struct sockaddr *)&at, sizeof(at));
}

static void ask(struct connector *connector)
{
	assert_int_equal(channel_send_bare(&connector->exporter, MESSAGE_CONNECT, -1), 0);
}

/* Returns the socket, or the error. */
static int await(struct connector *connector)
{
	struct message message;

	assert_int_equal(channel_expect(&connector->exporter, MESSAGE_CONNECTED, WAIT_MS, &message),
			 0);
	return message.CONNECTED.error ? message.CONNECTED.error : message.fd;
}

/* Proves that what was handed over is connected to the server. */
static void assert_connected(int fd, int server)
{
	char text[8] = "";

	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
	assert_int_equal(write(server, "hello", 5), 5);
	assert_int_equal(poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, WAIT_MS), 1);
	assert_int_equal(read(fd, text, sizeof(text)), 5);
	assert_string_equal(text, "hello");
	close(fd);
	close(server);
}

static struct address at_port(const char *host, uint32_t port)
{
	struct address address = {.port = port, .timeout_ms = TIMEOUT_MS};

	snprintf(address.host, sizeof(address.host), "%s", host);
	return address;
}

static void connect_once(const struct address *address, int listener)
{
	struct connector connector;
	int fd;

	begin(&connector, address);
	ask(&connector);
	fd = await(&connector);
	assert_connected(fd, accept(listener, NULL, NULL));
	finish(&connector);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void test_connector__connects_by_address_and_by_name(void **state)
{
	static const char *const hosts[] = {"127.0.0.1", "localhost"};
	guard_fd int listener = listen_at_loopback();

	(void)state;
	for (size_t i = 0; i < sizeof(hosts) / sizeof(*hosts); i++) {
		const struct address address = at_port(hosts[i], port_of(listener));

		connect_once(&address, listener);
	}
}

static void test_connector__connects_to_ipv6(void **state)
{
	const struct sockaddr_in6 at = {.sin6_family = AF_INET6,
					.sin6_addr = IN6ADDR_LOOPBACK_INIT};
	guard_fd int probe = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	guard_fd int listener = -1;
	struct address address;

	(void)state;
	if (probe < 0 || bind(probe, (const struct sockaddr *)&at, sizeof(at)))
		skip(); /* no IPv6 here */
	listener = listen_at((const struct sockaddr *)&at, sizeof(at));
	address = at_port("::1", port_of(listener));
	connect_once(&address, listener);
}

static void test_connector__connects_to_a_unix_socket(void **state)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	struct address address;
	guard_fd int listener = -1;

	(void)state;
	snprintf(at.sun_path, sizeof(at.sun_path), "/tmp/keyhole-connector-%d", (int)getpid());
	listener = listen_at((const struct sockaddr *)&at, sizeof(at));
	assert_int_equal(chmod(at.sun_path, 0666), 0);
	address = at_port(at.sun_path, 0);
	connect_once(&address, listener);
	unlink(at.sun_path);
}

static int refusal(const struct address *address)
{
	struct connector connector;
	int r;

	begin(&connector, address);
	ask(&connector);
	r = await(&connector);
	finish(&connector);
	return r;
}

static void test_connector__says_why_not(void **state)
{
	guard_fd int listener = listen_at_loopback();
	struct address address = at_port("127.0.0.1", port_of(listener));

	(void)state;
	close_fd(&listener);
	assert_int_equal(refusal(&address), -ECONNREFUSED);
	address = at_port("/nowhere/at/all", 0);
	assert_int_equal(refusal(&address), -ENOENT);
	/* RFC 6761, 6.4: no host has such a name. There may be no name server either. */
	address = at_port("keyhole.invalid", 4318);
	assert_in_set((unsigned long)-refusal(&address),
		      ((const unsigned long[]){EHOSTUNREACH, EAGAIN}), 2);
}

/* The kernel accepts the connection, and the proxy says nothing. */
static void test_connector__waits_for_a_proxy_so_long(void **state)
{
	guard_fd int listener = listen_at_loopback();
	struct address address = at_port("collector.example", 4318);

	(void)state;
	snprintf(address.proxy_host, sizeof(address.proxy_host), "127.0.0.1");
	address.proxy_port = port_of(listener);
	assert_int_equal(refusal(&address), -ETIMEDOUT);
}

/* Plays a proxy: expects a request that begins so, and answers. */
static void serve_proxy(int server, const char *request, const char *answer)
{
	char text[1024] = "";
	size_t size = 0;

	while (!strstr(text, "\r\n\r\n")) {
		ssize_t got = read(server, text + size, sizeof(text) - 1 - size);

		assert_true(got > 0);
		size += (size_t)got;
	}
	assert_memory_equal(text, request, strlen(request));
	assert_int_equal(write(server, answer, strlen(answer)), strlen(answer));
}

static int connect_by_proxy(const char *answer, int *ret_server)
{
	guard_fd int listener = listen_at_loopback();
	struct address address = at_port("collector.example", 4318);
	struct connector connector;
	int fd;

	snprintf(address.proxy_host, sizeof(address.proxy_host), "127.0.0.1");
	/* RFC 7617, 2 */
	snprintf(address.proxy_credentials, sizeof(address.proxy_credentials),
		 "Aladdin:open sesame");
	address.proxy_port = port_of(listener);
	address.timeout_ms = WAIT_MS;
	begin(&connector, &address);
	ask(&connector);
	*ret_server = accept(listener, NULL, NULL);
	serve_proxy(*ret_server,
		    "CONNECT collector.example:4318 HTTP/1.1\r\nHost: collector.example:4318\r\n"
		    "Proxy-Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n\r\n",
		    answer);
	if (strchr(answer, '!')) /* the proxy ends in the middle of its answer */
		close_fd(ret_server);
	fd = await(&connector);
	finish(&connector);
	return fd;
}

static void test_connector__connects_through_a_proxy(void **state)
{
	int server, fd;

	(void)state;
	fd = connect_by_proxy("HTTP/1.1 200 Connection established\r\nVia: x\r\n\r\n", &server);
	assert_connected(fd, server);
}

/* The bytes behind the answer are the server's, and stay in the socket. */
static void test_connector__takes_no_byte_of_the_server(void **state)
{
	char text[4] = "";
	int server, fd;

	(void)state;
	fd = connect_by_proxy("HTTP/1.0 200 OK\r\n\r\nxyz", &server);
	assert_true(fd >= 0);
	assert_int_equal(read(fd, text, sizeof(text)), 3);
	assert_string_equal(text, "xyz");
	close(fd);
	close(server);
}

static void test_connector__believes_no_other_answer_of_a_proxy(void **state)
{
	static const struct {
		const char *answer;
		int error;
	} rows[] = {
		{"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", -EACCES},
		{"HTTP/1.1 502 Bad Gateway\r\n\r\n", -ECONNREFUSED},
		{"SSH-2.0-OpenSSH_9.2\r\n\r\n", -EPROTO},
		{"HTTP/1.1 200 half of it!", -ECONNRESET},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		int server;

		assert_int_equal(connect_by_proxy(rows[i].answer, &server), rows[i].error);
		close_fd(&server);
	}
}

static void test_connector__refuses_a_broken_address(void **state)
{
	struct address address = at_port("127.0.0.1", 1);
	struct connector connector;

	(void)state;
	assert_int_equal(start(&connector, &address, sizeof(address) - 1), -EBADMSG);
	assert_int_equal(end(&connector), 1);
	memset(address.host, 'x', sizeof(address.host));
	assert_int_equal(start(&connector, &address, sizeof(address)), -EBADMSG);
	assert_int_equal(end(&connector), 1);
}

/* One exporter after another. One that breaks the rules loses its channel. */
static void test_connector__serves_the_exporter_that_came_last(void **state)
{
	guard_fd int listener = listen_at_loopback();
	const struct address address = at_port("127.0.0.1", port_of(listener));
	struct connector connector;
	struct message message;

	(void)state;
	begin(&connector, &address);
	assert_int_equal(write(connector.exporter.fd, "junk", 4), 4);
	assert_int_equal(channel_wait(&connector.exporter, WAIT_MS, &message), -EPIPE);
	channel_release(&connector.exporter);
	give_exporter(&connector);
	ask(&connector);
	assert_connected(await(&connector), accept(listener, NULL, NULL));
	finish(&connector);
}

/* The bytes of the network reach a process of a user of its own, without rights. */
static void test_connector__is_confined(void **state)
{
	const struct address address = at_port("127.0.0.1", 1);
	struct connector connector;

	(void)state;
	begin(&connector, &address);
	ask(&connector);
	assert_int_equal(await(&connector), -ECONNREFUSED);
	assert_int_equal(policy_verify(ROLE_CONNECTOR, connector.pid, 1), 0);
	assert_int_equal(privsep_status(connector.pid, "Uid", 10), 65435);
	assert_int_equal(privsep_status(connector.pid, "NoNewPrivs", 10), 1);
	assert_int_equal(privsep_status(connector.pid, "CapBnd", 16), 0);
	assert_int_equal(privsep_status(connector.pid, "CapPrm", 16), 0);
	assert_int_equal(privsep_count_fds(connector.pid),
			 5); /* 0 to 2, the loader, the exporter */
	finish(&connector);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_connector__connects_by_address_and_by_name),
		cmocka_unit_test(test_connector__connects_to_ipv6),
		cmocka_unit_test(test_connector__connects_to_a_unix_socket),
		cmocka_unit_test(test_connector__says_why_not),
		cmocka_unit_test(test_connector__waits_for_a_proxy_so_long),
		cmocka_unit_test(test_connector__connects_through_a_proxy),
		cmocka_unit_test(test_connector__takes_no_byte_of_the_server),
		cmocka_unit_test(test_connector__believes_no_other_answer_of_a_proxy),
		cmocka_unit_test(test_connector__refuses_a_broken_address),
		cmocka_unit_test(test_connector__serves_the_exporter_that_came_last),
		cmocka_unit_test(test_connector__is_confined),
	};

	privsep_need_root();
	return cmocka_run_group_tests(tests, privsep_link_programs, NULL);
}
