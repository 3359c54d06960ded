/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worker's other channels, to the real broker and the real exporter behind real spawners. A
 * worker that was taken over sends both every message of the table in every way. The worker sends
 * them before and after both have the descriptors that they need. Broker and exporter must end
 * without an answer, and meanwhile hold exactly the descriptors of the table. Other cases show the
 * power of a worker that keeps to the protocol.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/bpf.h>

#include "bpf/abi.h"
#include "ipc/time.h"
#include "tests/escape/cell.h"
#include "tests/escape/malicious.h"

#define WAIT_MS 3000

struct peer {
	enum policy_role role;
	struct spawner spawner;
	struct channel loader, worker; /* our ends */
	int equipment;		       /* the map of segments, or the output */
	int processes, grants;	       /* the broker's: who is followed, and whose memory */
	bool equipped;
};

/* ---- an honest start ---- */

static int make_segments(void)
{
	union bpf_attr attr;
	int inner;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = BPF_MAP_TYPE_ARRAY;
	attr.key_size = 4;
	attr.value_size = SEGMENT_BYTES;
	attr.max_entries = 1;
	attr.map_flags = BPF_F_MMAPABLE;
	inner = (int)syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr));
	memset(&attr, 0, sizeof(attr));
	attr.map_type = BPF_MAP_TYPE_ARRAY_OF_MAPS;
	attr.key_size = 4;
	attr.value_size = 4;
	attr.max_entries = SEGMENT_MAX;
	attr.inner_map_fd = (uint32_t)inner;
	return (int)syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr));
}

/* The first process is, and may be asked for. */
static int make_processes(void)
{
	const struct generation generation = {.number = 1};
	const uint32_t pid = 1;
	union bpf_attr attr;
	int map;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = BPF_MAP_TYPE_HASH;
	attr.key_size = sizeof(pid);
	attr.value_size = sizeof(generation);
	attr.max_entries = 1;
	map = (int)syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr));
	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (uint32_t)map;
	attr.key = (uintptr_t)&pid;
	attr.value = (uintptr_t)&generation;
	return syscall(SYS_bpf, BPF_MAP_UPDATE_ELEM, &attr, sizeof(attr)) ? -1 : map;
}

static int make_grants(void)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = BPF_MAP_TYPE_HASH;
	attr.key_size = sizeof(uint64_t);
	attr.value_size = sizeof(struct grant);
	attr.max_entries = GRANTS_MAX;
	return (int)syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr));
}

static void give(struct peer *peer, enum message_type type, int fd)
{
	const struct message_segments none = {0, UINT32_MAX};
	/* the phase in which the exporter takes the most from its worker */
	const struct message_output output = {.phase = PHASE_FINISH};
	int r;

	if (type == MESSAGE_SEGMENT_MAP)
		r = channel_send(&peer->loader, type, &none, sizeof(none), fd);
	else if (type == MESSAGE_OUTPUT)
		r = channel_send(&peer->loader, type, &output, sizeof(output), fd);
	else
		r = channel_send_bare(&peer->loader, type, fd);
	if (r)
		give_up("equipment");
}

static void equip(struct peer *peer)
{
	bool broker = peer->role == ROLE_BROKER;
	int fds[2];

	give(peer, broker ? MESSAGE_SEGMENT_MAP : MESSAGE_OUTPUT, peer->equipment);
	if (broker)
		give(peer, MESSAGE_PROCESS_MAP, peer->processes);
	if (broker)
		give(peer, MESSAGE_GRANT_MAP, peer->grants);
	if (channel_pair(fds))
		give_up("socketpair");
	give(peer, broker ? MESSAGE_REQUEST_PEER : MESSAGE_PROFILE_PEER, fds[1]);
	close(fds[1]);
	channel_init(&peer->worker, fds[0], PARTY_WORKER, (enum message_party)peer->role);
	peer->loader.phase = peer->worker.phase = PHASE_RUN;
	peer->equipped = true;
}

static void start(struct peer *peer)
{
	struct message message;
	int r = spawner_spawn(&peer->spawner, &peer->loader);

	peer->worker.fd = -1;
	peer->equipped = false;
	if (r || spawner_started(&peer->spawner) < 0 ||
	    channel_expect(&peer->loader, MESSAGE_READY, WAIT_MS, &message))
		give_up("a peer's start");
}

/* Its status, or -1: it is still there. */
static int end_of(struct peer *peer, int milliseconds)
{
	int status;

	return cell_await_exit(&peer->spawner, milliseconds, &status) ? -1 : status;
}

static void forget(struct peer *peer)
{
	channel_release(&peer->loader);
	channel_release(&peer->worker);
}

static void open_peer(struct peer *peer, enum policy_role role)
{
	*peer = (struct peer){.role = role, .worker = {.fd = -1}, .loader = {.fd = -1}};
	peer->equipment = role == ROLE_BROKER ? make_segments() : memfd_create("output", 0);
	peer->processes = make_processes();
	peer->grants = make_grants();
	if (peer->equipment < 0 || peer->processes < 0 || peer->grants < 0 ||
	    spawner_start(&peer->spawner, role))
		give_up("a peer's spawner");
}

/* ---- wrong messages ---- */

struct sum {
	unsigned int ended, refused, wrong;
};

static bool is_request(enum policy_role role, unsigned int type)
{
	const struct message_rule *rule = message_rule(type);

	return rule->from == PARTY_WORKER && rule->to == (uint8_t)role;
}

/* Nothing but LOG may come back; what else would be an answer to a violation. */
static bool answers(struct channel *channel)
{
	struct message message;
	int r;

	while ((r = channel_receive(channel, &message)) == 1) {
		bool log = message.head.type == MESSAGE_LOG;

		message_release(&message);
		if (!log)
			return true;
	}
	return false;
}

static bool ends_badly(struct peer *peer)
{
	int status = end_of(peer, WAIT_MS);

	return WIFEXITED(status) && WEXITSTATUS(status) == 1 && !answers(&peer->worker) &&
	       !answers(&peer->loader);
}

static void try_wrong(struct peer *peer, unsigned int type, enum variant variant, struct sum *sum)
{
	struct channel *channel = peer->equipped ? &peer->worker : &peer->loader;
	int r;

	if (variant == VARIANT_TWICE)
		malicious_send(channel, type, VARIANT_GOOD);
	r = malicious_send(channel, type, variant);
	if (r == -EPERM) {
		sum->refused++; /* SO_PASSRIGHTS: it never came */
		return;
	}
	if (ends_badly(peer)) {
		sum->ended++;
	} else {
		sum->wrong++;
		printf("# %s, variant %d: did not end as it should (send: %d)\n",
		       message_rule(type)->name, variant, r);
	}
	forget(peer);
	start(peer);
}

/* A well-formed request is none of these, and noise in it is a refusal, no violation. */
static bool is_wrong(const struct peer *peer, unsigned int type, enum variant variant, bool run)
{
	bool request = is_request(peer->role, type) && run;
	const struct message_rule *rule = message_rule(type);
	bool due = !run && rule->from == PARTY_LOADER && rule->to == (uint8_t)peer->role;

	if (variant == VARIANT_GOOD)
		return !request && !due;
	if (variant == VARIANT_NOISE)
		return !request && variant_applies(variant, type);
	/* the profile's answer goes out before the second comes */
	if (variant == VARIANT_TWICE && request)
		return false;
	return variant_applies(variant, type);
}

static void test_messages(struct peer *peer, bool run)
{
	struct sum sum = {0};

	start(peer);
	for (unsigned int type = MESSAGE_NONE + 1; type < MESSAGE_COUNT; type++)
		for (enum variant variant = 0; variant < VARIANT_COUNT; variant++) {
			if (!is_wrong(peer, type, variant, run))
				continue;
			if (run && !peer->equipped)
				equip(peer);
			try_wrong(peer, type, variant, &sum);
		}
	forget(peer);
	tap(!sum.wrong && sum.ended,
	    "%s: %u violations %s end it without an answer, %u refused "
	    "by the kernel",
	    policy_role(peer->role)->program, sum.ended,
	    run ? "by the worker" : "before it has a worker", sum.refused);
	end_of(peer, WAIT_MS);
}

/* ---- a worker that keeps to the protocol, and means harm ---- */

static uint64_t flood(struct peer *peer, unsigned int type)
{
	uint64_t begun = time_now();

	start(peer);
	equip(peer);
	while (time_now() < begun + NS_PER_SECOND / 2 &&
	       malicious_send(&peer->worker, type, VARIANT_GOOD) != -EPIPE)
		;
	return begun;
}

/* The worker never reads. Its peers must not wait for it for long. */
static void test_flood(struct peer *peer, unsigned int type)
{
	uint64_t begun = flood(peer, type);
	int status = end_of(peer, WAIT_MS);

	tap(status >= 0 && WIFEXITED(status),
	    "%s: a flood of %s that nobody reads ends it, after %llu ms",
	    policy_role(peer->role)->program, message_rule(type)->name,
	    (unsigned long long)((time_now() - begun) / NS_PER_MS));
	forget(peer);
}

/* After the first one it listens to its loader alone: what else comes stays in the socket. */
static void test_many_profiles(struct peer *peer)
{
	struct message message;
	bool written, more;
	int status;

	flood(peer, MESSAGE_PROFILE);
	written = channel_expect(&peer->loader, MESSAGE_WRITTEN, WAIT_MS, &message) == 0;
	more = answers(&peer->loader);
	channel_release(&peer->loader);
	status = end_of(peer, WAIT_MS);
	tap(written && !more && status == 0,
	    "keyhole-exporter: a flood of PROFILE is answered once, and it ends with its loader");
	forget(peer);
}

/* Stopped in the middle, it still must go when its loader goes. */
static void test_deaf(struct peer *peer)
{
	int status;

	start(peer);
	equip(peer);
	channel_release(&peer->loader);
	status = end_of(peer, WAIT_MS);
	tap(status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0,
	    "%s: ends with its loader while the worker's channel is open",
	    policy_role(peer->role)->program);
	forget(peer);
}

static int ask_segment(struct peer *peer, uint32_t index)
{
	const struct message_segment request = {.index = index};
	struct message reply;
	int r;

	r = channel_send(&peer->worker, MESSAGE_SEGMENT, &request, sizeof(request), -1);
	r = r ? r : channel_wait(&peer->worker, WAIT_MS, &reply);
	if (r != 1)
		return r < 0 ? r : -EPROTO;
	r = reply.SEGMENT_REPLY.error;
	message_release(&reply);
	/* the loader reads what it is told of each */
	if (r == 0 &&
	    (channel_receive(&peer->loader, &reply) != 1 ||
	     reply.head.type != MESSAGE_SEGMENT_GIVEN || reply.SEGMENT_GIVEN.index != index))
		return -EPROTO;
	return r;
}

static void test_segments(struct peer *peer)
{
	uint32_t index = 0;
	int r = 0;

	start(peer);
	equip(peer);
	for (; r == 0 && index < 2 * SEGMENT_MAX; index++)
		r = ask_segment(peer, index);
	tap(r == -EINVAL && index == SEGMENT_MAX + 1,
	    "keyhole-broker: gives %u segments and no more (%s)", index - 1, strerror(-r));
	forget(peer);
	end_of(peer, WAIT_MS);
}

static int ask_object(struct peer *peer, uint32_t pid, uint64_t from, uint64_t to, uint32_t flags)
{
	const struct message_object request = {
		.start = from, .end = to, .pid = pid, .thread = pid, .flags = flags};
	struct message reply;
	int r;

	r = channel_send(&peer->worker, MESSAGE_OBJECT, &request, sizeof(request), -1);
	r = r ? r : channel_wait(&peer->worker, WAIT_MS, &reply);
	if (r != 1)
		return r < 0 ? r : -EPROTO;
	r = reply.OBJECT_REPLY.error;
	message_release(&reply);
	return r;
}

/* Numbers that mean no process, no mapping, or something else than they seem. */
static void test_odd_objects(struct peer *peer)
{
	static const struct {
		uint32_t pid;
		uint64_t from, to;
		uint32_t flags;
	} odd[] = {
		{0, 4096, 8192, 1},
		{1u << 22, 4096, 8192, 1},
		{~0u, 4096, 8192, 1},
		{1, 8192, 4096, 1},
		{1, 4096, 4096, 1},
		{1, 4097, 8192, 1},
		{1, 4096, 8193, 1},
		{1, 4096, 8192, 2},
		{1, 4096, 8192, ~0u},
		{1, 0, ~0ull & ~4095ull, 1},
		{1, 0, 0, 1},
		{1, ~4095ull, ~0ull, 1},
		{4194303, 4096, 8192, 1},
	};
	unsigned int granted = 0;

	start(peer);
	equip(peer);
	for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++)
		granted += ask_object(peer, odd[i].pid, odd[i].from, odd[i].to, odd[i].flags) >= 0;
	tap(granted == 0 && end_of(peer, 50) == -1,
	    "keyhole-broker: refuses %zu odd requests for objects and goes on",
	    sizeof(odd) / sizeof(*odd));
	forget(peer);
	end_of(peer, WAIT_MS);
}

static int ask_grant(struct peer *peer, const struct message_grant *request)
{
	struct message reply;
	int r;

	r = channel_send(&peer->worker, MESSAGE_GRANT, request, sizeof(*request), -1);
	r = r ? r : channel_wait(&peer->worker, WAIT_MS, &reply);
	if (r != 1)
		return r < 0 ? r : -EPROTO;
	return reply.GRANT_REPLY.error;
}

/* The first process has generation 1, and runs no file that is a runtime's. */
static void test_odd_grants(struct peer *peer)
{
	static const struct message_grant odd[] = {
		{1, 4096, 8192, 0, 0},	   {1, 4096, 8192, 1u << 22, 1},
		{1, 4096, 8192, ~0u, 1},   {1, 8192, 4096, 1, 1},
		{1, 4096, 4096, 1, 1},	   {1, 4097, 8192, 1, 1},
		{1, 4096, 8193, 1, 1},	   {1, 0, ~0ull & ~4095ull, 1, 1},
		{1, 0, 0, 1, 1},	   {1, ~4095ull, ~0ull, 1, 1},
		{1, 4096, 8192, 1, 0},	   {1, 4096, 8192, 1, ~0u},
		{0, 4096, 8192, 1, 1},	   {2, 4096, 8192, 1, 1},
		{~0ull, 4096, 8192, 1, 1}, {1, 4096, 8192, 4194303, 1},
	};
	unsigned int granted = 0;

	start(peer);
	equip(peer);
	for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++)
		granted += ask_grant(peer, &odd[i]) >= 0;
	tap(granted == 0 && end_of(peer, 50) == -1,
	    "keyhole-broker: refuses %zu odd requests for memory and goes on",
	    sizeof(odd) / sizeof(*odd));
	forget(peer);
	end_of(peer, WAIT_MS);
}

static int ask_code_file(struct peer *peer, const struct message_code_file *request)
{
	struct message reply;
	int r;

	r = channel_send(&peer->worker, MESSAGE_CODE_FILE, request, sizeof(*request), -1);
	r = r ? r : channel_wait(&peer->worker, WAIT_MS, &reply);
	if (r != 1)
		return r < 0 ? r : -EPROTO;
	r = reply.CODE_FILE_REPLY.error;
	message_release(&reply);
	return r;
}

static void test_odd_code_files(struct peer *peer)
{
	static const struct message_code_file odd[] = {
		{1, 0, 0, 0, 0},       {1, 0, 0, 1u << 22, 1},	   {1, 0, 0, ~0u, 1},
		{1, 0, 0, 1, 0},       {1, 0, 0, 1, ~0u},	   {0, 0, 0, 1, 1},
		{2, 0, 0, 1, 1},       {~0ull, 0, 0, 1, 1},	   {1, 0, 0, 4194303, 1},
		{1, 8192, 4096, 1, 1}, {1, 4096, 4096, 1, 1},	   {1, 4097, 8192, 1, 1},
		{1, 4096, 8192, 1, 1}, {1, ~4095ull, ~0ull, 1, 1}, {1, 0, ~0ull & ~4095ull, 1, 1},
	};
	unsigned int granted = 0;

	start(peer);
	equip(peer);
	for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++)
		granted += ask_code_file(peer, &odd[i]) >= 0;
	tap(granted == 0 && end_of(peer, 50) == -1,
	    "keyhole-broker: refuses %zu odd requests for names of code and goes on",
	    sizeof(odd) / sizeof(*odd));
	forget(peer);
	end_of(peer, WAIT_MS);
}

static int ask_context(struct peer *peer, const struct message_context *request)
{
	struct message reply;
	int r;

	r = channel_send(&peer->worker, MESSAGE_CONTEXT, request, sizeof(*request), -1);
	r = r ? r : channel_wait(&peer->worker, WAIT_MS, &reply);
	if (r != 1)
		return r < 0 ? r : -EPROTO;
	r = reply.CONTEXT_REPLY.error;
	message_release(&reply);
	return r;
}

static void test_odd_contexts(struct peer *peer)
{
	static const struct message_context odd[] = {
		{1, 0, 0, 0, 0},       {1, 0, 0, 1u << 22, 1},	   {1, 0, 0, ~0u, 1},
		{1, 0, 0, 1, 0},       {1, 0, 0, 1, ~0u},	   {0, 0, 0, 1, 1},
		{2, 0, 0, 1, 1},       {~0ull, 0, 0, 1, 1},	   {1, 0, 0, 4194303, 1},
		{1, 8192, 4096, 1, 1}, {1, 4096, 4096, 1, 1},	   {1, 4097, 8192, 1, 1},
		{1, 4096, 8192, 1, 1}, {1, ~4095ull, ~0ull, 1, 1}, {1, 0, ~0ull & ~4095ull, 1, 1},
		{1, 0, 4096, 1, 1},    {1, 4096, 8192, 0, 0},
	};
	unsigned int granted = 0;

	start(peer);
	equip(peer);
	for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++)
		granted += ask_context(peer, &odd[i]) >= 0;
	tap(granted == 0 && end_of(peer, 50) == -1,
	    "keyhole-broker: refuses %zu odd requests for contexts and goes on",
	    sizeof(odd) / sizeof(*odd));
	forget(peer);
	end_of(peer, WAIT_MS);
}

int main(void)
{
	static struct peer broker, exporter;

	cell_setup();
	open_peer(&broker, ROLE_BROKER);
	open_peer(&exporter, ROLE_EXPORTER);
	test_messages(&broker, false);
	test_messages(&broker, true);
	test_messages(&exporter, false);
	test_messages(&exporter, true);
	test_segments(&broker);
	test_flood(&broker, MESSAGE_MAPS);
	test_flood(&broker, MESSAGE_SEGMENT);
	test_many_profiles(&exporter);
	test_deaf(&broker);
	test_deaf(&exporter);
	test_odd_objects(&broker);
	test_odd_grants(&broker);
	test_odd_code_files(&broker);
	test_odd_contexts(&broker);
	spawner_stop(&broker.spawner);
	spawner_stop(&exporter.spawner);
	return tap_end();
}
