/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker that was taken over, in a real recording. The real spawner starts it in place of
 * keyhole-worker and confines it alike. The worker is honest until its moment. violations.py writes
 * the attack into the file itself, as the worker has neither arguments nor environment nor files.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "generated/version.h"
#include "ipc/channel.h"
#include "ipc/time.h"
#include "policy/policy.h"
#include "tests/escape/malicious.h"

enum moment {
	MOMENT_FIRST, /* in place of READY */
	MOMENT_START, /* after READY */
	MOMENT_RUN,   /* a while after RUNNING */
	MOMENT_FINISH /* after STOP */
};

enum deed {
	DEED_MESSAGE,
	DEED_FLOOD, /* the same message, for ever */
	DEED_STALL, /* reads and sends nothing any more */
	DEED_EXIT,  /* status 0 */
	DEED_CRASH,
	DEED_HANG_UP,  /* closes the channel and stays */
	DEED_READY,    /* a lie in READY: variant says which */
	DEED_SUMMARY,  /* numbers that cannot be, with a profile */
	DEED_PROFILE,  /* variant: which profile */
	DEED_LOG,      /* variant: which text */
	DEED_SEGMENTS, /* asks brokers for memory; 0: all there is; 1: the same of three */
	DEED_HAND_IN,  /* gives the exporter a good file of the type, and exits after a while */
	DEED_DRAFTED   /* variant: what it says of drafts to the loader */
};

struct scenario {
	char marker[16];
	uint32_t moment, deed, target, type, variant;
};

/* Not const: the compiler must believe what the file says. */
static volatile struct scenario scenario = {"escape-scenario", 0, 0, 0, 0, 0};

static struct channel loader, peers[2]; /* broker, exporter */

/* Made before the filter, as the honest worker does. */
#define FILE_BYTES 4096
static int sealed, unsealed;
static const int nothing = STDIN_FILENO;

/* Title, clear screen, clipboard; the last one begins with CSI in UTF-8. */
static const char commands[] = "main;\033]0;pwned\007\033[2J\033]52;c;cHdu\007\302\2332J 5\n";

static int make_file(int seals)
{
	int fd = memfd_create("escape", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 || write(fd, commands, sizeof(commands) - 1) != sizeof(commands) - 1)
		_exit(1);
	if (ftruncate(fd, FILE_BYTES) || fcntl(fd, F_ADD_SEALS, seals))
		_exit(1);
	return fd;
}

static struct channel *target(void)
{
	return scenario.target == 0 ? &loader : &peers[scenario.target - 1];
}

/* With KEYHOLE_DEBUG_STDERR=1 standard error is the test's: when it happened. */
static void mark(void)
{
	char line[40];
	int length = snprintf(line, sizeof(line), "T %llu\n", (unsigned long long)time_now());

	if (write(STDERR_FILENO, line, (size_t)length) < 0)
		return;
}

static void wait_ms(int milliseconds)
{
	poll(NULL, 0, milliseconds);
}

static _Noreturn void stall(void)
{
	while (true)
		wait_ms(1000);
}

/* ---- lies ---- */

static void lie_ready(void)
{
	struct message_ready ready = {.role = PARTY_WORKER,
				      .proven = policy_layers_of(ROLE_WORKER),
				      .build = KEYHOLE_VERSION};

	switch (scenario.variant) {
	case 0:
		ready.role = PARTY_BROKER;
		break;
	case 1:
		memcpy(ready.build, "9.9.9", 6);
		break;
	case 2:
		memset(ready.build, 'x', sizeof(ready.build));
		break;
	case 3:
		ready.proven = 0;
		break;
	default:
		ready.proven &= ~LAYER_BIT(landlock);
	}
	channel_send(&loader, MESSAGE_READY, &ready, sizeof(ready), -1);
}

static void lie_log(void)
{
	struct message_log log = {1, 4, "fine"};

	switch (scenario.variant) {
	case 0:
		log.text[1] = '\033';
		break;
	case 1:
		log.text[2] = '\n';
		break;
	case 2:
		log.length = LOG_TEXT_BYTES + 1;
		break;
	case 3:
		log.length = 0;
		break;
	case 4:
		log.level = 77;
		break;
	case 5:
		log.text[100] = 'x'; /* behind its end */
		break;
	default:
		log.text[0] = (char)0xff;
	}
	channel_send(&loader, MESSAGE_LOG, &log, sizeof(log), -1);
}

/*
 * 0: right. 1: not sealed. 2: says more than it is. 3: empty. 4: no memfd at all. 5: text that
 * would command a terminal.
 */
static void send_profile(unsigned int kind)
{
	static const struct {
		uint64_t bytes;
		const int *fd;
	} lies[] = {{FILE_BYTES, &sealed},     {FILE_BYTES, &unsealed},
		    {FILE_BYTES + 1, &sealed}, {0, &sealed},
		    {FILE_BYTES, &nothing},    {sizeof(commands) - 1, &sealed}};
	const struct message_profile message = {.bytes = lies[kind].bytes};
	const int fd = *lies[kind].fd;

	peers[1].phase = PHASE_FINISH;
	channel_send(&peers[1], MESSAGE_PROFILE, &message, sizeof(message), fd);
}

/* The exporter may get some time, or see the end of the worker at once. */
static _Noreturn void hand_in(void)
{
	const struct message_profile message = {.bytes = FILE_BYTES};

	if (scenario.type != MESSAGE_WINDOW)
		peers[1].phase = PHASE_FINISH;
	channel_send(&peers[1], (enum message_type)scenario.type, &message, sizeof(message),
		     sealed);
	wait_ms((int)scenario.variant);
	_exit(0);
}

static void send_summary(void)
{
	struct message_summary summary;

	memset(&summary, 0xff, sizeof(summary));
	channel_send(&loader, MESSAGE_SUMMARY, &summary, sizeof(summary), -1);
}

/* 0: more drafts than there are. 1: a draft after the summary. */
static void lie_about_drafts(void)
{
	const struct message_summary summary = {.filtered = 1};

	if (scenario.variant == 1)
		channel_send(&loader, MESSAGE_SUMMARY, &summary, sizeof(summary), -1);
	for (int i = 0; i < 4; i++)
		channel_send(&loader, MESSAGE_DRAFTED, &summary, sizeof(summary), -1);
}

/* Asks for segments first to last. Returns how many came. Their descriptors are not kept. */
static unsigned int ask_segments(uint32_t first, uint32_t last)
{
	struct message_segment request = {0};
	unsigned int count = 0;
	struct message reply;

	for (request.index = first; request.index <= last; request.index++) {
		if (channel_send(&peers[0], MESSAGE_SEGMENT, &request, sizeof(request), -1) ||
		    channel_wait(&peers[0], 1000, &reply) != 1)
			return count;
		count += reply.SEGMENT_REPLY.error == 0;
		message_release(&reply);
	}
	return count;
}

/* Gives the broker up and takes another one. */
static void change_broker(uint32_t brokers)
{
	const struct message_stuck stuck = {LANE_ORDINARY, brokers};
	struct message message;

	channel_send(&loader, MESSAGE_BROKER_STUCK, &stuck, sizeof(stuck), -1);
	if (channel_wait(&loader, 10000, &message) != 1 || message.head.type != MESSAGE_DESCRIPTOR)
		stall();
	channel_init(&peers[0], message.fd, PARTY_WORKER, PARTY_BROKER);
	peers[0].phase = PHASE_RUN;
}

/* Asks each of three brokers for the same segments, and for as many behind them. */
static void ask_brokers(void)
{
	unsigned int count = 0;
	char line[40];
	int length;

	for (uint32_t brokers = 1; brokers < 4; brokers++) {
		if (brokers > 1)
			change_broker(brokers - 1);
		count += ask_segments(64, 64 + 8 * brokers - 1);
	}
	length = snprintf(line, sizeof(line), "G %u\n", count);
	if (write(STDERR_FILENO, line, (size_t)length) < 0)
		return;
}

/* ---- deeds ---- */

static void flood(void)
{
	while (true) {
		int r = malicious_send(target(), scenario.type, VARIANT_GOOD);

		if (r == -EAGAIN)
			wait_ms(0);
		else if (r < 0)
			stall();
	}
}

/* Refused by the kernel itself (SO_PASSRIGHTS): say so, and be wrong in another way. */
static void send_message(void)
{
	enum variant variant = (enum variant)scenario.variant;

	if (variant == VARIANT_TWICE && malicious_send(target(), scenario.type, VARIANT_GOOD))
		return;
	if (malicious_send(target(), scenario.type, variant) != -EPERM)
		return;
	if (write(STDERR_FILENO, "R\n", 2) == 2)
		malicious_send(target(), MESSAGE_LOG, VARIANT_UNKNOWN_TYPE);
}

static void act(void)
{
	mark();
	switch (scenario.deed) {
	case DEED_MESSAGE:
		send_message();
		break;
	case DEED_FLOOD:
		flood();
		break;
	case DEED_EXIT:
		_exit(0);
	case DEED_CRASH:
		__builtin_trap();
		break;
	case DEED_HANG_UP:
		close(loader.fd);
		break;
	case DEED_READY:
		lie_ready();
		break;
	case DEED_SUMMARY:
		send_profile(0);
		send_summary();
		break;
	case DEED_PROFILE:
		send_profile(scenario.variant);
		send_summary();
		break;
	case DEED_LOG:
		lie_log();
		break;
	case DEED_SEGMENTS:
		if (scenario.variant == 0)
			ask_segments(64, 2047);
		else
			ask_brokers();
		break;
	case DEED_HAND_IN:
		hand_in();
	case DEED_DRAFTED:
		lie_about_drafts();
		break;
	default:
		break;
	}
	stall();
}

static void at(enum moment moment)
{
	if (scenario.moment == (uint32_t)moment)
		act();
}

/* ---- the honest part ---- */

static void keep(const struct message *message)
{
	if (message->DESCRIPTOR.kind == DESCRIPTOR_BROKER)
		channel_init(&peers[0], message->fd, PARTY_WORKER, PARTY_BROKER);
	if (message->DESCRIPTOR.kind == DESCRIPTOR_EXPORTER)
		channel_init(&peers[1], message->fd, PARTY_WORKER, PARTY_EXPORTER);
}

static void be_equipped(void)
{
	struct message message = {.fd = -1};

	do {
		if (channel_wait(&loader, 10000, &message) != 1)
			_exit(1);
		if (message.head.type == MESSAGE_DESCRIPTOR)
			keep(&message);
	} while (message.head.type != MESSAGE_START);
	peers[0].phase = peers[1].phase = PHASE_RUN;
}

int main(void)
{
	struct policy_layers layers;
	struct message message;

	channel_init(&loader, 3, PARTY_WORKER, PARTY_LOADER);
	sealed = make_file(F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW);
	unsealed = make_file(0);
	policy_confine(ROLE_WORKER, &layers);
	at(MOMENT_FIRST);
	if (channel_send_ready(&loader, layers.lacking, layers.proven))
		return 1;
	at(MOMENT_START);
	be_equipped();
	if (channel_send_bare(&loader, MESSAGE_RUNNING, -1))
		return 1;
	loader.phase = PHASE_RUN;
	wait_ms(100);
	at(MOMENT_RUN);
	if (channel_wait(&loader, 60000, &message) != 1)
		return 1;
	loader.phase = PHASE_FINISH;
	at(MOMENT_FINISH);
	return 0;
}
