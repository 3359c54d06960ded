/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exporter SETTING... STEP...: sends windows by keyhole-exporter itself, confined as in the agent,
 * and plays loader, worker and connector, and keyhole-output where there is a spool. settings.h has
 * the settings. The steps are spool=FOLDER, which comes first, then ca=, certificate= and key=FILE,
 * which may come again later, window=FILE and sleep=MS. connector=gone ends the connector.
 * worker=new and exporter=new end the worker and the exporter, and another one follows. Prints how
 * long each window took to be acknowledged, and the end: "NAME VALUE".
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "helper/output/spool.h"
#include "ipc/log.h"
#include "ipc/time.h"
#include "tests/otlp/settings.h"
#include "tests/privsep/child.h"
#include "tests/privsep/privsep.h"

#define ALL_SEALS   (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
#define END_MS	    20000
#define SPOOL_BYTES (64u << 10)

struct driver {
	struct settings settings;
	struct child child;
	struct channel connector; /* fd -1: it is gone */
	struct channel output;	  /* fd -1: there is no spool */
	struct spool spool;
	bool acknowledged; /* the last window */
	bool ended;
};

static int make_file(const void *bytes, size_t size)
{
	int fd = memfd_create("file", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size ||
	    fcntl(fd, F_ADD_SEALS, ALL_SEALS) < 0)
		settings_die("memfd");
	return fd;
}

/* ---- what comes ---- */

static void on_connector(struct driver *driver)
{
	struct message_reply reply = {0};
	struct message message;
	int r = channel_receive(&driver->connector, &message), fd;

	if (r < 0)
		channel_release(&driver->connector);
	if (r <= 0)
		return;
	fd = settings_connect(&driver->settings);
	if (fd < 0)
		reply.error = fd;
	assert_int_equal(channel_reply(&driver->connector, &message, &reply, sizeof(reply), fd), 0);
	if (fd >= 0)
		close(fd);
}

/* Does as keyhole-output. */
static void on_output(struct driver *driver)
{
	struct message_spooled reply = {0};
	struct message message;
	int fd = -1;

	if (channel_receive(&driver->output, &message) <= 0)
		return;
	if (message.head.type == MESSAGE_FORGET) {
		spool_remove(message.FORGET.id);
		return;
	}
	if (message.head.type == MESSAGE_SPOOL) {
		reply.id = message.SPOOL.id;
		reply.error = spool_write(&driver->spool, message.fd, &message.SPOOL, time(NULL));
	} else {
		fd = spool_open_oldest(&driver->spool, time(NULL), &reply.id);
		if (fd < 0)
			reply.error = fd;
	}
	spool_take_pushed(&driver->spool, &reply);
	assert_int_equal(channel_reply(&driver->output, &message, &reply, sizeof(reply), fd), 0);
	message_release(&message);
	if (fd >= 0)
		close(fd);
}

static void on_worker(struct driver *driver)
{
	struct message message;

	if (channel_receive(&driver->child.worker, &message) > 0)
		driver->acknowledged = true;
	else
		channel_release(&driver->child.worker);
}

static void on_loader(struct driver *driver)
{
	struct message message;
	int r = channel_receive(&driver->child.loader, &message);

	if (r == 0)
		return;
	if (r < 0) {
		printf("lost %d\n", r);
		driver->ended = true;
	} else if (message.head.type == MESSAGE_LOG) {
		log_from_message("exporter", &message.LOG);
	} else {
		printf("written %d\nbytes %u\n", message.WRITTEN.error, message.WRITTEN.bytes);
		driver->ended = true;
	}
}

/* Serves the exporter until *done or for so long. */
static void serve(struct driver *driver, const bool *done, uint64_t milliseconds)
{
	const uint64_t until = time_now() + milliseconds * NS_PER_MS;

	while (!*done && time_now() < until) {
		struct pollfd fds[] = {{.fd = driver->connector.fd, .events = POLLIN},
				       {.fd = driver->child.worker.fd, .events = POLLIN},
				       {.fd = driver->child.loader.fd, .events = POLLIN},
				       {.fd = driver->output.fd, .events = POLLIN}};

		poll(fds, 4, (int)((until - time_now()) / NS_PER_MS) + 1);
		if (fds[0].revents)
			on_connector(driver);
		if (fds[1].revents)
			on_worker(driver);
		if (fds[2].revents)
			on_loader(driver);
		if (fds[3].revents)
			on_output(driver);
	}
}

/* ---- the loader's part ---- */

static void send_credential(struct driver *driver, uint32_t file, const char *path)
{
	const struct message_credential credential = {.file = file};
	uint64_t size;
	int fd = settings_open(path, &size);

	assert_int_equal(channel_send(&driver->child.loader, MESSAGE_CREDENTIAL, &credential,
				      sizeof(credential), fd),
			 0);
	close(fd);
}

/* Takes a step that is about a credential. Returns whether it is one. */
static bool take_credential(struct driver *driver, const char *step)
{
	static const struct {
		const char *name;
		uint32_t file;
	} rows[] = {{"ca", FILE_AUTHORITIES}, {"certificate", FILE_CERTIFICATE}, {"key", FILE_KEY}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *value = settings_value(step, rows[i].name);

		if (!value)
			continue;
		send_credential(driver, rows[i].file, value);
		return true;
	}
	return false;
}

static void begin_spool(struct driver *driver)
{
	const char *folder = settings_value(*driver->settings.steps, "spool");

	if (!folder)
		return;
	if (chdir(folder))
		settings_die(folder);
	driver->spool.most = SPOOL_BYTES;
	driver->settings.steps++;
}

/* Gives the exporter one end of a channel, and keeps the other. */
static void give_link(struct driver *driver, enum message_type type, enum message_party self,
		      struct channel *ret_channel)
{
	int pair[2];

	assert_int_equal(channel_pair(pair), 0);
	child_give(&driver->child, type, pair[1]);
	channel_release(ret_channel);
	channel_init(ret_channel, pair[0], self, PARTY_EXPORTER);
	ret_channel->phase = PHASE_RUN;
	close(pair[1]);
}

static void equip(struct driver *driver)
{
	const struct message_output output = {.phase = PHASE_RUN};
	int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
	int endpoint = make_file(&driver->settings.endpoint, sizeof(driver->settings.endpoint));

	assert_int_equal(channel_send(&driver->child.loader, MESSAGE_OUTPUT, &output,
				      sizeof(output), nothing),
			 0);
	child_give(&driver->child, MESSAGE_ENDPOINT, endpoint);
	while (*driver->settings.steps && take_credential(driver, *driver->settings.steps))
		driver->settings.steps++;
	give_link(driver, MESSAGE_CONNECTOR_PEER, PARTY_CONNECTOR, &driver->connector);
	if (driver->spool.most > 0)
		give_link(driver, MESSAGE_KEEPER_PEER, PARTY_COMMITTER, &driver->output);
	child_give_peer(&driver->child, MESSAGE_PROFILE_PEER);
	close(endpoint);
	close(nothing);
}

static void start(struct driver *driver)
{
	driver->connector.fd = driver->output.fd = -1;
	begin_spool(driver);
	child_start(&driver->child, ROLE_EXPORTER);
	equip(driver);
}

static void start_again(struct driver *driver)
{
	kill(driver->child.pid, SIGKILL);
	child_wait_exit(&driver->child);
	channel_release(&driver->child.loader);
	channel_release(&driver->child.worker);
	child_spawn(&driver->child);
	equip(driver);
}

/* ---- the worker's part ---- */

static void send_window(struct driver *driver, const char *path)
{
	static unsigned char bytes[16 << 20];
	struct message_profile window;
	int file = settings_open(path, &window.bytes), memory;
	uint64_t begin = time_now();

	assert_true(window.bytes <= sizeof(bytes));
	assert_int_equal(read(file, bytes, sizeof(bytes)), window.bytes);
	memory = make_file(bytes, window.bytes);
	driver->acknowledged = false;
	assert_int_equal(channel_send(&driver->child.worker, MESSAGE_WINDOW, &window,
				      sizeof(window), memory),
			 0);
	close(memory);
	close(file);
	serve(driver, &driver->acknowledged, END_MS);
	if (!driver->acknowledged)
		settings_die("no acknowledgement");
	printf("window %llu\n", (time_now() - begin) / NS_PER_MS);
}

static void take_step(struct driver *driver, const char *step)
{
	const char *value;
	bool never = false;

	if ((value = settings_value(step, "window")))
		send_window(driver, value);
	else if ((value = settings_value(step, "sleep")))
		serve(driver, &never, strtoull(value, NULL, 10));
	else if (settings_value(step, "connector"))
		channel_release(&driver->connector);
	else if (settings_value(step, "exporter"))
		start_again(driver);
	else if (settings_value(step, "worker")) {
		channel_release(&driver->child.worker);
		child_give_peer(&driver->child, MESSAGE_PROFILE_PEER);
	} else if (take_credential(driver, step))
		return;
	else
		settings_die(step);
}

/* Says that the recording is over, with a last window of nothing. */
static void finish(struct driver *driver)
{
	const struct message_profile none = {0};
	int memory = make_file("", 0);

	assert_int_equal(channel_send_bare(&driver->child.loader, MESSAGE_FINISH, -1), 0);
	driver->child.loader.phase = driver->child.worker.phase = PHASE_FINISH;
	assert_int_equal(
		channel_send(&driver->child.worker, MESSAGE_PROFILE, &none, sizeof(none), memory),
		0);
	close(memory);
	serve(driver, &driver->ended, END_MS);
}

int main(int argc, char **argv)
{
	static struct driver driver;

	(void)argc;
	privsep_need_root();
	signal(SIGPIPE, SIG_IGN);
	log_init("exporter", LOG_LEVEL_DEBUG);
	if (privsep_link_programs(NULL) < 0)
		settings_die("links");
	settings_read(&driver.settings, argv + 1);
	start(&driver);
	while (*driver.settings.steps && !driver.ended)
		take_step(&driver, *driver.settings.steps++);
	if (!driver.ended)
		finish(&driver);
	if (driver.ended && driver.child.loader.fd >= 0) {
		channel_release(&driver.child.loader);
		printf("status %d\n", child_wait_exit(&driver.child));
	}
	child_stop(&driver.child);
	return 0;
}
