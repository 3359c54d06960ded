/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keyhole-audit: writes the audit stream to a file that the loader opened while it could. The
 * process has the loader's uid and no rights, and its filter lets it append to the file and nothing
 * else. The loader sends events and the broker its operations, both as numbers. The arguments are
 * those of keyhole, for the first record. The loader waits for the first and the last record:
 * AUDIT_WRITTEN.
 *
 * If keyhole-audit cannot go on, it ends without a last record, and so does the recording.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "helper/audit/event.h"
#include "helper/audit/record.h"
#include "helper/audit/tally.h"
#include "ipc/channel.h"
#include "ipc/log.h"
#include "ipc/signals.h"
#include "ipc/time.h"
#include "policy/policy.h"

#define USERS	      "/etc/passwd"
#define START_MS      10000
#define LAST_MS	      1000 /* for a broker whose worker is gone */
#define TURN_MESSAGES 256

struct auditor {
	struct channel loader;
	struct channel brokers[LANES]; /* by the number that came with each; fd -1: none */
	struct tally tally;
};

static int on_audit(struct auditor *auditor, const struct message_audit *audit)
{
	static const uint8_t known[MESSAGE_COUNT] = {[MESSAGE_MAPS] = 1 + OPERATION_MAPS,
						     [MESSAGE_OBJECT] = 1 + OPERATION_OBJECT,
						     [MESSAGE_SEGMENT] = 1 + OPERATION_SEGMENT,
						     [MESSAGE_GRANT] = 1 + OPERATION_GRANT,
						     [MESSAGE_CODE_FILE] = 1 + OPERATION_CODE_FILE,
						     [MESSAGE_CONTEXT] = 1 + OPERATION_CONTEXT,
						     [MESSAGE_CGROUPS] = 1 + OPERATION_CGROUPS};
	const struct message_object_reply *answer = &audit->answer;
	struct operations operation = {.device = answer->device,
				       .inode = answer->inode,
				       .count = 1,
				       .granted = audit->granted,
				       .pid = audit->pid,
				       .error = answer->error};

	if (audit->request >= MESSAGE_COUNT || !known[audit->request] || audit->granted > 1 ||
	    !strerrorname_np(-answer->error))
		return -EPROTO;
	operation.operation = known[audit->request] - 1u;
	tally_count(&auditor->tally, &operation, time_now());
	return 1;
}

/* r is what the channel returned. Returns 0, or -EPROTO for a recording that must end. */
static int on_end_of_broker(struct channel *broker, int r)
{
	struct record_value values[] = {{.text = message_party_name(PARTY_BROKER)},
					{.text = "violation of the protocol"}};

	channel_release(broker);
	if (r == -EPIPE)
		return 0;
	if (r == -EPROTO) {
		record_write(AUDIT_violation, values);
		return r;
	}
	values[1].text = strerror(-r);
	record_write(AUDIT_incomplete, values);
	return 0;
}

static int on_broker(struct auditor *auditor, struct channel *broker)
{
	struct message message;
	int r = 1;

	for (int i = 0; i < TURN_MESSAGES && r == 1; i++) {
		r = channel_receive(broker, &message);
		if (r == 1)
			r = on_audit(auditor, &message.AUDIT);
	}
	if (r < 0)
		return on_end_of_broker(broker, r);
	return 0;
}

/* Takes what the broker still says, for a while. */
static int await_end_of_broker(struct auditor *auditor, struct channel *broker)
{
	const uint64_t deadline = time_now() + LAST_MS * NS_PER_MS;
	struct message message;
	uint64_t now;
	int r = 1;

	if (broker->fd < 0)
		return 0;
	while (r == 1 && (now = time_now()) < deadline) {
		r = channel_wait(broker, (int)((deadline - now) / NS_PER_MS) + 1, &message);
		if (r == 1)
			r = on_audit(auditor, &message.AUDIT);
	}
	if (r == 1)
		r = -ETIMEDOUT;
	return on_end_of_broker(broker, r);
}

static int say_written(struct auditor *auditor, int error)
{
	const struct message_reply reply = {.error = error};

	return channel_send(&auditor->loader, MESSAGE_AUDIT_WRITTEN, &reply, sizeof(reply), -1);
}

/* Takes a broker, in the place of one that has ended or is about to. */
static int add_broker(struct auditor *auditor, const struct message *message)
{
	const uint32_t index = message->AUDIT_BROKER.index;
	int r;

	if (index >= LANES)
		return -EPROTO;
	r = await_end_of_broker(auditor, &auditor->brokers[index]);
	channel_init(&auditor->brokers[index], message->fd, PARTY_AUDITOR, PARTY_BROKER);
	return r;
}

/* Returns 1, or a negative errno. */
static int end(struct auditor *auditor, const struct message_audit_event *event)
{
	int r = 0;

	for (int i = 0; i < LANES && r == 0; i++)
		r = await_end_of_broker(auditor, &auditor->brokers[i]);
	if (r)
		return r;
	tally_turn(&auditor->tally, time_now(), true);
	record_end(event->value[0]);
	r = say_written(auditor, 0);
	if (r < 0)
		return r;
	return 1;
}

/* Returns 0, 1 at the end of the stream, or a negative errno. */
static int on_loader(struct auditor *auditor)
{
	struct message message;
	int r = channel_receive(&auditor->loader, &message);

	if (r <= 0)
		return r;
	if (message.head.type == MESSAGE_AUDIT_BROKER)
		return add_broker(auditor, &message);
	if (message.head.type == MESSAGE_AUDIT_EVENT && message.AUDIT_EVENT.event != AUDIT_end)
		return event_record(&message.AUDIT_EVENT);
	return end(auditor, &message.AUDIT_EVENT);
}

static int serve(struct auditor *auditor)
{
	int r = 0;

	while (r == 0) {
		struct pollfd fds[LANES + 1] = {
			[LANES] = {.fd = auditor->loader.fd, .events = POLLIN}};

		for (int i = 0; i < LANES; i++)
			fds[i] = (struct pollfd){.fd = auditor->brokers[i].fd, .events = POLLIN};
		if (poll(fds, LANES + 1, tally_turn(&auditor->tally, time_now(), false)) < 0)
			continue;
		for (int i = 0; i < LANES && r == 0; i++)
			if (fds[i].revents)
				r = on_broker(auditor, &auditor->brokers[i]);
		if (fds[LANES].revents && r == 0)
			r = on_loader(auditor);
	}
	return r;
}

/* The loader followed no link: the name is the one that was asked for. */
static bool is_json(int fd)
{
	char link[32], name[PATH_MAX] = "";
	const char *end;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (readlink(link, name, sizeof(name) - 1) < 0)
		return false;
	end = strrchr(name, '.');
	return end && strcmp(end, ".json") == 0;
}

/* Returns 0 where nobody else can read the file, take it away or write to it; else -EPERM. */
static int check_file(int fd, uint64_t owner)
{
	struct stat status;

	if (fstat(fd, &status))
		return -errno;
	if (!S_ISREG(status.st_mode) || status.st_mode & 077 || status.st_nlink != 1 ||
	    status.st_uid != owner)
		return -EPERM;
	return 0;
}

/* Looks in the file alone: the library's own look-up loads what is configured there. */
static bool find_user(uid_t uid)
{
	FILE *users = fopen(USERS, "re");
	const struct passwd *user = NULL;

	if (!users)
		return false;
	do
		user = fgetpwent(users);
	while (user && user->pw_uid != uid);
	if (user)
		event_user(user->pw_name);
	fclose(users);
	return user;
}

/* A loader of root's has another user's uid from sudo alone, and with it that user's name. */
static void name_user(uid_t uid, uid_t loader)
{
	const char *name = getenv("SUDO_USER");

	if (!find_user(uid) && name && uid != 0 && loader == 0)
		event_user(name);
}

/* The first record is written when the loader is told that all is well. */
static int start(struct auditor *auditor, const char *const *arguments)
{
	struct message file, first;
	int r = channel_expect(&auditor->loader, MESSAGE_AUDIT_FILE, START_MS, &file);
	bool json;

	if (r < 0)
		return r;
	r = channel_expect(&auditor->loader, MESSAGE_AUDIT_EVENT, START_MS, &first);
	if (r < 0)
		return r;
	if (first.AUDIT_EVENT.event != AUDIT_start ||
	    !memchr(file.AUDIT_FILE.hash, '\0', sizeof(file.AUDIT_FILE.hash)))
		return -EPROTO;
	event_policy(file.AUDIT_FILE.hash);
	r = check_file(file.fd, first.AUDIT_EVENT.value[1]);
	json = is_json(file.fd);
	name_user((uid_t)first.AUDIT_EVENT.value[0], (uid_t)first.AUDIT_EVENT.value[1]);
	if (r == 0)
		r = policy_confine_self(ROLE_AUDIT, NULL); /* what was written stays */
	if (r == 0) {
		record_start(file.fd, json, arguments);
		tally_start(&auditor->tally, record_operations, time_now());
		r = event_record(&first.AUDIT_EVENT);
	}
	say_written(auditor, r);
	return r;
}

int main(int argc, char **argv)
{
	static struct auditor auditor; /* zero */
	int r;

	(void)argc;
	if (close_range(CHANNEL_FD + 1, ~0u, 0))
		return 1;
	signals_leave_to_loader();
	signal(SIGXFSZ, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_NAME, message_party_name(PARTY_AUDITOR));
	prctl(PR_SET_DUMPABLE, 0);
	log_init("keyhole", LOG_LEVEL_INFO);
	setenv("TZ", "UTC0", 1); /* else the C library looks for a file */
	tzset();
	for (int i = 0; i < LANES; i++)
		auditor.brokers[i].fd = -1;
	channel_init(&auditor.loader, CHANNEL_FD, PARTY_AUDITOR, PARTY_LOADER);
	if (start(&auditor, (const char *const *)argv))
		return 1;
	r = serve(&auditor);
	if (r == -EPROTO)
		log_error("audit: violation of the protocol; ended");
	return r != 1;
}
