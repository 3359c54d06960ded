/* SPDX-License-Identifier: Apache-2.0 */
/* The page of metrics of the real exporter, and clients that mean it no good. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "bpf/abi.h"
#include "ipc/destination.h"
#include "ipc/time.h"
#include "tests/privsep/child.h"
#include "tests/privsep/privsep.h"

#define PAGE_BYTES (2 << 20)
#define WAIT_MS	   5000
#define LATE_MS	   20000 /* the exporter gives a client 5 s */
#define CLIENTS	   4	 /* at once */
#define HUGE_BYTES (4 << 20)
#define FLOOD	   200
#define ROWS_SENT  20000
#define ASK	   "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"

static struct child child;
static struct counters *rows;
static struct sockaddr_un address = {.sun_family = AF_UNIX};
static socklen_t address_size;

/* ---- the exporter ---------------------------------------------------------------------------- */

/* Listens at an address that the kernel chooses. */
static int make_listener(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(sa_family_t)), 0);
	address_size = sizeof(address);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &address_size), 0);
	assert_int_equal(listen(fd, 8), 0);
	return fd;
}

static int make_counters(void)
{
	int fd = memfd_create("counters", MFD_CLOEXEC);

	assert_int_equal(ftruncate(fd, sizeof(*rows)), 0);
	rows = mmap(NULL, sizeof(*rows), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(rows, MAP_FAILED);
	return fd;
}

static int start(void **state)
{
	const struct message_output output = {.phase = PHASE_RUN};
	const struct message_counters counters = {.begun = time_now(), .cpus = 1};
	const struct message_status status = {.broker_hangs = 3, .brokered = 1};
	int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC), listener = make_listener();
	int map = make_counters();

	(void)state;
	child_start(&child, ROLE_EXPORTER);
	channel_send(&child.loader, MESSAGE_OUTPUT, &output, sizeof(output), nothing);
	channel_send(&child.loader, MESSAGE_COUNTERS, &counters, sizeof(counters), map);
	channel_send(&child.loader, MESSAGE_STATUS, &status, sizeof(status), -1);
	child_give(&child, MESSAGE_PAGE_LISTENER, listener);
	child_give_peer(&child, MESSAGE_PROFILE_PEER);
	close(map);
	close(listener);
	close(nothing);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	child_stop(&child);
	munmap(rows, sizeof(*rows));
	return 0;
}

/* ---- clients --------------------------------------------------------------------------------- */

static int connect_client(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(connect(fd, (struct sockaddr *)&address, address_size), 0);
	return fd;
}

/* Reads what comes up to the end. Returns its size, or -1 when there is no end in that time. */
static ssize_t read_answer(int fd, char ret_text[PAGE_BYTES], int milliseconds)
{
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	size_t size = 0;

	while (poll(&ready, 1, milliseconds) > 0) {
		ssize_t r = read(fd, ret_text + size, PAGE_BYTES - 1 - size);

		if (r <= 0) {
			ret_text[size] = '\0';
			close(fd);
			return (ssize_t)size;
		}
		size += (size_t)r;
	}
	close(fd);
	return -1;
}

static const char *ask(const char *text)
{
	static char answer[PAGE_BYTES];
	int fd = connect_client();

	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
	assert_true(read_answer(fd, answer, WAIT_MS) >= 0);
	return answer;
}

static void assert_page_has(const char *line)
{
	const char *page = ask(ASK);

	assert_memory_equal(page, "HTTP/1.1 200 OK\r\n", 17);
	if (!strstr(page, line))
		fail_msg("not in the page: %s", line);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void test_page__shows_the_numbers(void **state)
{
	const struct message_work work = {.samples_read = 5};

	(void)state;
	rows->samples = 7;
	assert_page_has("\nkeyhole_samples_taken_total 7\n");
	rows->samples = 8;
	assert_page_has("\nkeyhole_samples_taken_total 8\n");
	assert_page_has("\nkeyhole_broker_hangs_total 3\n");
	assert_page_has("\nkeyhole_samples_read_total 0\n");
	assert_int_equal(channel_send(&child.worker, MESSAGE_WORK, &work, sizeof(work), -1), 0);
	for (int i = 0; i < 100 && !strstr(ask(ASK), "keyhole_samples_read_total 5\n"); i++)
		poll(NULL, 0, 10);
	assert_page_has("\nkeyhole_samples_read_total 5\n");
}

static void test_page__takes_status_later(void **state)
{
	const struct message_status status = {.segments = 9};

	(void)state;
	assert_int_equal(channel_send(&child.loader, MESSAGE_STATUS, &status, sizeof(status), -1),
			 0);
	for (int i = 0; i < 100 && !strstr(ask(ASK), "keyhole_table_segments 9\n"); i++)
		poll(NULL, 0, 10);
	assert_page_has("\nkeyhole_table_segments 9\n");
}

static void send_row(uint32_t kind, uint32_t pid, uint64_t id, uint64_t ns)
{
	struct message_account row = {.kind = kind, .pid = pid, .id = id, .values.ns = ns};

	snprintf(row.name, sizeof(row.name), "a\"b\n");
	assert_int_equal(channel_send(&child.worker, MESSAGE_ACCOUNT, &row, sizeof(row), -1), 0);
}

static void end_set(uint64_t wall)
{
	const struct message_account_sums sums = {.wall = wall};
	const struct message_interrupts interrupts = {.ns = {[5] = wall}};

	assert_int_equal(channel_send(&child.worker, MESSAGE_INTERRUPTS, &interrupts,
				      sizeof(interrupts), -1),
			 0);
	assert_int_equal(channel_send(&child.worker, MESSAGE_ACCOUNT_SUMS, &sums, sizeof(sums), -1),
			 0);
}

static void await_line(const char *line)
{
	for (int i = 0; i < 500 && !strstr(ask(ASK), line); i++)
		poll(NULL, 0, 10);
	assert_page_has(line);
}

static void test_page__shows_accounts(void **state)
{
	(void)state;
	assert_null(strstr(ask(ASK), "keyhole_accounts"));
	send_row(ACCOUNT_PROCESS, 7, 1, NS_PER_SECOND);
	end_set(2 * NS_PER_SECOND);
	await_line("\nkeyhole_accounts_wall_seconds_total 2.000000000\n");
	assert_page_has("{pid=\"7\",comm=\"a\\\"b\\n\"} 1.000000000\n");
	assert_page_has("\nkeyhole_accounts_interrupt_seconds_total{irq=\"5\"} 2.000000000\n");
}

/* A worker that was taken over sends rows without end: the page stays small, and the exporter. */
static void test_page__rows_without_end(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < ROWS_SENT; i++) {
		send_row(i % (ACCOUNT_ROWS + 1), i, i, UINT64_MAX);
		if (i % 1000 == 0)
			end_set(i + 1);
	}
	end_set(UINT64_MAX);
	await_line("\nkeyhole_accounts_wall_seconds_total 9223372036.854775807\n");
}

static void test_page__refuses(void **state)
{
	const char *answer;

	(void)state;
	answer = ask("GET / HTTP/1.1\r\n\r\n");
	assert_memory_equal(answer, "HTTP/1.1 404 ", 13);
	answer = ask("POST /metrics HTTP/1.1\r\n\r\n");
	assert_memory_equal(answer, "HTTP/1.1 405 ", 13);
	assert_non_null(strstr(answer, "\r\nAllow: GET, HEAD\r\n"));
	answer = ask("\x16\x03\x01\x02\n\n");
	assert_memory_equal(answer, "HTTP/1.1 400 ", 13);
	answer = ask("HEAD /metrics HTTP/1.1\r\n\r\n");
	assert_memory_equal(answer, "HTTP/1.1 200 ", 13);
	assert_string_equal(strstr(answer, "\r\n\r\n"), "\r\n\r\n");
	assert_page_has("\nkeyhole_pages_total{result=\"refused\"} 3\n");
}

/* Clients that say nothing, or no more, hold nobody: the oldest gives its place up. */
static void test_page__silent_clients(void **state)
{
	int fds[3 * CLIENTS];

	(void)state;
	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++) {
		fds[i] = connect_client();
		send(fds[i], "GET /m", i % 2 * 6, MSG_NOSIGNAL);
	}
	assert_page_has("keyhole_pages_total");
	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++)
		close(fds[i]);
}

/* A client that sends a byte now and then has no more time than others. */
static void test_page__slow_client(void **state)
{
	const uint64_t until = time_now() + LATE_MS * NS_PER_MS;
	int fd = connect_client();
	bool is_over = false;

	(void)state;
	while (!is_over && time_now() < until) {
		struct pollfd ready = {.fd = fd, .events = POLLIN};

		is_over = send(fd, "a", 1, MSG_NOSIGNAL) < 0 || poll(&ready, 1, 100) > 0;
	}
	assert_true(is_over);
	close(fd);
	assert_page_has("keyhole_pages_total{result=\"dropped\"} 1\n");
}

/* A client that sends without end gets an answer and is closed, and costs no memory. */
static void test_page__huge_query(void **state)
{
	static char text[HUGE_BYTES];
	const struct timeval late = {.tv_sec = WAIT_MS / 1000};
	int fd = connect_client();

	(void)state;
	memset(text, 'x', sizeof(text));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &late, sizeof(late));
	assert_true(send(fd, text, sizeof(text), MSG_NOSIGNAL) < (ssize_t)sizeof(text));
	close(fd);
	assert_page_has("\nkeyhole_pages_total{result=\"refused\"} 1\n");
}

/* A client that never reads its answer. */
static void test_page__deaf_client(void **state)
{
	int fd = connect_client(), small = 1;

	(void)state;
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	assert_int_equal(send(fd, ASK, strlen(ASK), MSG_NOSIGNAL), strlen(ASK));
	assert_page_has("keyhole_pages_total");
	close(fd);
	assert_page_has("keyhole_pages_total");
}

/* Windows go on however many clients come. */
static void test_page__flood(void **state)
{
	const struct message_profile window = {.bytes = 100};
	int memory = memfd_create("window", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct message message;

	(void)state;
	assert_int_equal(ftruncate(memory, 100), 0);
	assert_int_equal(fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
	for (int i = 0; i < FLOOD; i++) {
		int fd = connect_client();

		send(fd, ASK, (size_t)i % sizeof(ASK), MSG_NOSIGNAL);
		close(fd);
		if (i % 20)
			continue;
		assert_int_equal(channel_send(&child.worker, MESSAGE_WINDOW, &window,
					      sizeof(window), memory),
				 0);
		assert_int_equal(
			channel_expect(&child.worker, MESSAGE_WINDOW_WRITTEN, WAIT_MS, &message),
			0);
	}
	close(memory);
	assert_page_has("keyhole_pages_total");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_page__shows_the_numbers, start, stop),
		cmocka_unit_test_setup_teardown(test_page__takes_status_later, start, stop),
		cmocka_unit_test_setup_teardown(test_page__shows_accounts, start, stop),
		cmocka_unit_test_setup_teardown(test_page__rows_without_end, start, stop),
		cmocka_unit_test_setup_teardown(test_page__refuses, start, stop),
		cmocka_unit_test_setup_teardown(test_page__silent_clients, start, stop),
		cmocka_unit_test_setup_teardown(test_page__slow_client, start, stop),
		cmocka_unit_test_setup_teardown(test_page__huge_query, start, stop),
		cmocka_unit_test_setup_teardown(test_page__deaf_client, start, stop),
		cmocka_unit_test_setup_teardown(test_page__flood, start, stop),
	};

	privsep_need_root();
	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, privsep_link_programs, NULL);
}
