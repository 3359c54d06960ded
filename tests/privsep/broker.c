/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/privsep/broker.h"

#include <linux/bpf.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf/abi.h"
#include "tests/privsep/privsep.h"

int bpf_array(uint32_t type, uint32_t value_size, uint32_t entries, int inner)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = type;
	attr.key_size = 4;
	attr.value_size = value_size;
	attr.max_entries = entries;
	if (inner < 0)
		attr.map_flags = BPF_F_MMAPABLE;
	else
		attr.inner_map_fd = (uint32_t)inner;
	return (int)syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr));
}

int segment_map(void)
{
	int inner = bpf_array(BPF_MAP_TYPE_ARRAY, SEGMENT_BYTES, 1, -1);
	int outer = bpf_array(BPF_MAP_TYPE_ARRAY_OF_MAPS, 4, SEGMENT_MAX, inner);

	assert_true(inner >= 0 && outer >= 0);
	close(inner);
	return outer;
}

static int processes = -1; /* those that BPF would follow; it alone writes the real one */

void follow(pid_t pid, uint32_t denied)
{
	const struct generation generation = {.number = 1, .family = 1, .denied = denied};

	follow_as(pid, &generation);
}

void follow_as(pid_t pid, const struct generation *generation)
{
	union bpf_attr attr;

	if (processes < 0) {
		memset(&attr, 0, sizeof(attr));
		attr.map_type = BPF_MAP_TYPE_HASH;
		attr.key_size = 4;
		attr.value_size = sizeof(*generation);
		attr.max_entries = 512;
		processes = (int)syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr));
	}
	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (uint32_t)processes;
	attr.key = (uintptr_t)&pid;
	attr.value = (uintptr_t)generation;
	assert_int_equal(syscall(SYS_bpf, BPF_MAP_UPDATE_ELEM, &attr, sizeof(attr)), 0);
}

/* Returns the map of grants that every broker here gets; they are of nobody. */
int grant_map(void)
{
	static int map = -1;
	union bpf_attr attr;

	if (map >= 0)
		return map;
	memset(&attr, 0, sizeof(attr));
	attr.map_type = BPF_MAP_TYPE_HASH;
	attr.key_size = sizeof(uint64_t);
	attr.value_size = sizeof(struct grant);
	attr.max_entries = GRANTS_MAX;
	map = (int)syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr));
	assert_true(map >= 0);
	return map;
}

void give_map(struct child *child, int map, uint32_t index)
{
	const struct message_segments first = {index, UINT32_MAX};

	assert_int_equal(
		channel_send(&child->loader, MESSAGE_SEGMENT_MAP, &first, sizeof(first), map), 0);
}

void start_broker_at(struct child *child, int map, uint32_t first)
{
	start_ruled_broker(child, map, first, NULL);
}

void begin_ruled_broker(struct child *child, int map, uint32_t first,
			const struct message_grant_rule *rule)
{
	follow(getpid(), 0);
	child_start(child, ROLE_BROKER);
	give_map(child, map, first);
	child_give(child, MESSAGE_PROCESS_MAP, processes);
	child_give(child, MESSAGE_GRANT_MAP, grant_map());
	if (rule)
		assert_int_equal(
			channel_send(&child->loader, MESSAGE_GRANT_RULE, rule, sizeof(*rule), -1),
			0);
}

void start_ruled_broker(struct child *child, int map, uint32_t first,
			const struct message_grant_rule *rule)
{
	begin_ruled_broker(child, map, first, rule);
	child_give_peer(child, MESSAGE_REQUEST_PEER);
}

void start_broker(struct child *child, int map)
{
	start_broker_at(child, map, 0);
}

void start_audited_broker(struct child *child, int map, struct channel *ret_auditor)
{
	int pair[2];

	follow(getpid(), 0);
	child_start(child, ROLE_BROKER);
	give_map(child, map, 0);
	child_give(child, MESSAGE_PROCESS_MAP, processes);
	child_give(child, MESSAGE_GRANT_MAP, grant_map());
	assert_int_equal(channel_pair(pair), 0);
	channel_init(ret_auditor, pair[0], PARTY_AUDITOR, PARTY_BROKER);
	child_give(child, MESSAGE_AUDIT_PEER, pair[1]);
	close(pair[1]);
	child_give_peer(child, MESSAGE_REQUEST_PEER);
}

static int receive_reply(struct child *child, enum message_type type, struct message *ret_message)
{
	assert_int_equal(channel_wait(&child->worker, CHILD_WAIT_MS, ret_message), 1);
	assert_int_equal(ret_message->head.type, type);
	assert_int_equal(ret_message->head.reply_to, child->worker.sent);
	return ret_message->MAPS_REPLY.error; /* the same place in every reply */
}

int ask_maps(struct child *child, uint32_t pid, int *ret_fd)
{
	return ask_thread(child, pid, pid, ret_fd);
}

int ask_thread(struct child *child, uint32_t pid, uint32_t thread, int *ret_fd)
{
	const struct message_maps maps = {.pid = pid, .thread = thread};
	struct message message;
	int r;

	assert_int_equal(channel_send(&child->worker, MESSAGE_MAPS, &maps, sizeof(maps), -1), 0);
	r = receive_reply(child, MESSAGE_MAPS_REPLY, &message);
	*ret_fd = message.fd;
	return r;
}

int ask_object(struct child *child, const struct message_object *object,
	       struct message *ret_message)
{
	assert_int_equal(channel_send(&child->worker, MESSAGE_OBJECT, object, sizeof(*object), -1),
			 0);
	return receive_reply(child, MESSAGE_OBJECT_REPLY, ret_message);
}

int ask_grant(struct child *child, const struct message_grant *grant)
{
	struct message message;

	assert_int_equal(channel_send(&child->worker, MESSAGE_GRANT, grant, sizeof(*grant), -1), 0);
	return receive_reply(child, MESSAGE_GRANT_REPLY, &message);
}

int ask_segment(struct child *child, uint32_t index, int *ret_fd)
{
	const struct message_segment segment = {.index = index};
	struct message message;
	struct message given;
	int r;

	assert_int_equal(
		channel_send(&child->worker, MESSAGE_SEGMENT, &segment, sizeof(segment), -1), 0);
	r = receive_reply(child, MESSAGE_SEGMENT_REPLY, &message);
	*ret_fd = message.fd;
	/* the loader was told before */
	assert_int_equal(channel_receive(&child->loader, &given), r == 0);
	if (r < 0)
		return r;
	assert_int_equal(given.head.type, MESSAGE_SEGMENT_GIVEN);
	assert_int_equal(given.SEGMENT_GIVEN.index, index);
	return 0;
}
