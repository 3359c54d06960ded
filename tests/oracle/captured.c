/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/oracle/captured.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/oracle/snapshot.h"
#include "base/array.h"

#define POLL_US 4000

/* ---- the map ---- */

static u32 last_map(void)
{
	u32 id = 0;

	while (bpf_map_get_next_id(id, &id) == 0)
		continue;
	return id;
}

/* Returns the map of this name that is younger than `after`; -1: not there yet. */
static int find_map(u32 after)
{
	for (u32 id = after; bpf_map_get_next_id(id, &id) == 0;) {
		struct bpf_map_info info = {0};
		u32 size = sizeof(info);
		int fd = bpf_map_get_fd_by_id(id);

		if (fd < 0)
			continue;
		if (bpf_obj_get_info_by_fd(fd, &info, &size) == 0 &&
		    strcmp(info.name, CAPTURE_MAP) == 0 &&
		    info.value_size == sizeof(struct capture))
			return fd;
		close(fd);
	}
	return -1;
}

static const struct capture *map_captures(u32 after)
{
	int fd = find_map(after);
	void *slots;

	if (fd < 0)
		return NULL;
	slots = mmap(NULL, CAPTURE_SLOTS * sizeof(struct capture), PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	return slots == MAP_FAILED ? NULL : slots;
}

/* ---- slots ---- */

static int take_part(struct stack_bytes *part, u64 start, const u8 (*page)[CAPTURE_PAGE],
		     u32 present)
{
	u32 first = present ? (u32)__builtin_ctz(present) : 0, count = 0;

	while (present >> (first + count) & 1)
		count++;
	*part = (struct stack_bytes){start + first * CAPTURE_PAGE, count * (u64)CAPTURE_PAGE, NULL};
	if (!count)
		return 0;
	part->data = malloc(part->bytes);
	if (!part->data)
		return -ENOMEM;
	memcpy(part->data, page[first], part->bytes);
	return 0;
}

/* Joins the two parts where they touch. */
static int join_parts(struct stack_bytes part[2])
{
	u64 end = part[0].start + part[0].bytes, more;

	if (!part[1].bytes || part[1].start > end || part[1].start < part[0].start)
		return 0;
	more = part[1].start + part[1].bytes - end;
	if (part[1].start + part[1].bytes > end) {
		u8 *data = realloc(part[0].data, part[0].bytes + more);

		if (!data)
			return -ENOMEM;
		memcpy(data + part[0].bytes, part[1].data + part[1].bytes - more, more);
		part[0].data = data;
		part[0].bytes += more;
	}
	free(part[1].data);
	part[1] = (struct stack_bytes){0};
	return 0;
}

static void stack_release(struct stack *stack)
{
	free(stack->frame);
	free(stack->part[0].data);
	free(stack->part[1].data);
}

static int stack_copy(struct stack *stack, const struct capture *slot)
{
	int r;

	*stack = (struct stack){.time = slot->time,
				.pid = slot->pid,
				.tid = slot->tid,
				.reason = slot->reason,
				.in_sigreturn = slot->in_sigreturn,
				.frames = slot->frames};
	if (stack->frames > RECORD_FRAMES_MAX)
		return -EBADMSG;
	memcpy(stack->reg, slot->reg, sizeof(stack->reg));
	stack->frame = malloc(stack->frames * sizeof(u64) + 1);
	if (!stack->frame)
		return -ENOMEM;
	memcpy(stack->frame, slot->frame, stack->frames * sizeof(u64));
	r = take_part(&stack->part[0], slot->near_start, slot->near_page, slot->near_read);
	if (r == 0)
		r = take_part(&stack->part[1], slot->far_start, slot->far_page, slot->far_read);
	return r ? r : join_parts(stack->part);
}

/* Takes a whole slot that is newer than the last take. Returns 1 with a stack. */
static int take_slot(struct captured *captured, const struct capture *slot, u64 *taken)
{
	u64 number = *(const volatile u64 *)&slot->ended;
	struct stack stack = {0};
	int r;

	if (number <= *taken || *(const volatile u64 *)&slot->begun != number)
		return 0;
	r = stack_copy(&stack, slot);
	__asm__ volatile("" ::: "memory");
	if (r < 0 || *(const volatile u64 *)&slot->begun != number) {
		captured->torn++;
		stack_release(&stack);
		return r == -ENOMEM ? r : 0;
	}
	*taken = number;
	r = ARRAY_RESERVE(captured->stack, captured->capacity, captured->count + 1);
	if (r < 0)
		return r;
	captured->stack[captured->count++] = stack;
	return 1;
}

/* Looks at each process once for all new stacks, and drops stacks of unknown processes. */
static void find_homes(struct captured *captured, size_t from)
{
	size_t kept = from;

	for (size_t i = from; i < captured->count; i++) {
		struct stack *stack = &captured->stack[i];

		for (size_t j = from; j < kept && !stack->snapshot; j++)
			if (captured->stack[j].pid == stack->pid)
				stack->snapshot = captured->stack[j].snapshot;
		if (!stack->snapshot)
			stack->snapshot = snapshot_take(stack->pid);
		if (stack->snapshot) {
			captured->stack[kept++] = *stack;
		} else {
			captured->homeless++;
			stack_release(stack);
		}
	}
	captured->count = kept;
}

static int take_slots(struct captured *captured, const struct capture *slots, u64 *taken,
		      size_t limit)
{
	size_t from = captured->count;
	int r = 0;

	for (u32 i = 0; r >= 0 && i < CAPTURE_SLOTS && captured->count < limit; i++)
		r = take_slot(captured, &slots[i], &taken[i]);
	find_homes(captured, from);
	return r < 0 ? r : 0;
}

int captured_run(struct captured *captured, char *const *argv, size_t limit)
{
	static u64 taken[CAPTURE_SLOTS];
	const struct capture *slots = NULL;
	u32 after = last_map();
	pid_t pid = fork(), ended = 0;
	int r = 0;

	if (pid == 0) {
		dup2(STDERR_FILENO, STDOUT_FILENO);
		execv(argv[0], argv);
		_exit(127);
	}
	if (pid < 0)
		return -errno;
	while (!ended) {
		usleep(POLL_US);
		ended = waitpid(pid, &captured->status, WNOHANG);
		if (!slots)
			slots = map_captures(after);
		if (slots && r == 0)
			r = take_slots(captured, slots, taken, limit);
	}
	if (r == 0 && !slots)
		r = -ENOENT;
	if (slots)
		munmap((void *)slots, CAPTURE_SLOTS * sizeof(struct capture));
	return ended < 0 ? -errno : r;
}

void captured_release(struct captured *captured)
{
	for (size_t i = 0; i < captured->count; i++)
		stack_release(&captured->stack[i]);
	free(captured->stack);
	*captured = (struct captured){0};
}

int captured_read(const struct stack *stack, u64 address, u64 bytes, void *to)
{
	for (int i = 0; i < 2; i++) {
		const struct stack_bytes *part = &stack->part[i];
		u64 at = address - part->start;

		if (address < part->start || at > part->bytes || part->bytes - at < bytes)
			continue;
		memcpy(to, part->data + at, bytes);
		return 0;
	}
	return -1;
}
