/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Time off the CPU. on_switch sees each thread that leaves a CPU, and draws whether its stack is
 * taken. Where it is, the program goes on as on_leave of the sampler, which takes the stack. When
 * the thread runs again, EVENT_WAIT tells for how long it was away.
 *
 * The draw: a stack is taken with a probability of passed / interval, and always where that is 1
 * or more. `passed` ns ago the thread left for the last time in the same system call, or was
 * preempted for the last time. So each thread has about one stack an interval and call. Where it
 * rarely waits in a call, each such wait has one. The probability depends on what was before
 * alone. So a duration divided by its probability sums up to the true time. An interval is at
 * first the time between two samples of the clock, and grows while stacks take more time than the
 * budget allows.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "bpf/base.bpf.h"
#include "bpf/config.bpf.h"
#include "bpf/events.bpf.h"
#include "bpf/filter.bpf.h"
#include "bpf/kernel.h"
#include "bpf/off_cpu/draw.bpf.h"
#include "bpf/off_cpu/wait.bpf.h"
#include "bpf/shared_maps.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/* Flag: threads are drawn. The loader alone writes it. */
volatile u32 drawing;
/* CLOCK_MONOTONIC, ns: when an EVENT_WAIT found no room, last. BPF alone writes it. */
volatile u64 lost_at;

const volatile struct off_limits off_limits = {.interval = 1, .window = 1, .budget = 1};

/* ---- maps ---- */

/* By the lower bits of a thread's id. */
struct off_thread {
	u64 waits; /* how many of these threads are in off_waits */
};
#define OFF_THREADS 16384u
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, OFF_THREADS);
	__type(key, u32);
	__type(value, struct off_thread);
} off_threads SEC(".maps");

/*
 * CLOCK_MONOTONIC, ns, as time_of() has it: when a thread last left a CPU in a system call, at a
 * place made from both. Threads that share a place are drawn as one would be.
 */
#define OFF_LEFT_BITS 15
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1 << OFF_LEFT_BITS);
	__type(key, u32);
	__type(value, u64);
} off_left SEC(".maps");

/*
 * on_leave of the sampler. The loader sets it, and keeps the map: the kernel empties an array of
 * programs with its last descriptor.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u32);
} sampler SEC(".maps");

INLINE struct off_thread *thread_of(u32 id)
{
	u32 place = id & (OFF_THREADS - 1);

	return bpf_map_lookup_elem(&off_threads, &place);
}

/* ---- a thread runs again ---- */

/* A quarter of the ring is less than the worker may leave unread until it looks by itself. */
INLINE u64 wake_flags(struct off_cpu *cpu, u64 now)
{
	if (bpf_ringbuf_query(&events, BPF_RB_AVAIL_DATA) < EVENT_RING_BYTES / 4 ||
	    now - cpu->woke < WAKE_EVERY_NS)
		return BPF_RB_NO_WAKEUP;
	cpu->woke = now;
	return BPF_RB_FORCE_WAKEUP;
}

INLINE void lose_wait(u64 now)
{
	struct counters *count = counters_now();

	lost_at = now;
	if (count)
		__sync_fetch_and_add(&count->off_events_lost, 1);
}

INLINE void tell_wait(struct off_cpu *cpu, struct task_struct *task, const struct off_wait *wait,
		      u64 now)
{
	struct event_wait *event = NULL;

	if (!events_half_full())
		event = bpf_ringbuf_reserve(&events, sizeof(*event), 0);
	if (!event) {
		lose_wait(now);
		return;
	}
	__builtin_memset(event, 0, sizeof(*event));
	event->event.time = now;
	event->event.kind = EVENT_WAIT;
	event->event.pid = task->tgid;
	event->tid = task->pid;
	event->lost_at = lost_at;
	event->began = wait->began;
	event->left = wait_counts_from(wait);
	event->woken = wait->woken;
	event->waker = wait->waker;
	event->waker_pid = wait->waker_pid;
	event->waker_tid = wait->waker_tid;
	__builtin_memcpy(event->waker_name, wait->waker_name, sizeof(event->waker_name));
	bpf_ringbuf_submit(event, wake_flags(cpu, now));
}

/* ran: ns for which the thread has run since the wait ended. */
static __attribute__((noinline)) void end_wait(struct off_cpu *cpu, struct off_thread *thread,
					       struct task_struct *task, u64 ran)
{
	u64 now = bpf_ktime_get_ns(); /* the look-up takes long where caches are cold */
	u32 id = BPF_CORE_READ(task, pid);
	struct off_wait *wait = bpf_map_lookup_elem(&off_waits, &id);

	if (!wait)
		return;
	if (wait->left && wait->epoch == worker_epoch)
		tell_wait(cpu, task, wait, wait_ended(wait, now, ran));
	bpf_map_delete_elem(&off_waits, &id);
	__sync_fetch_and_add(&thread->waits, -1ll);
}

/* Ends the wait of a thread that runs again, if it has one. ran: as in end_wait(). */
INLINE void end_wait_of(struct off_cpu *cpu, struct task_struct *task, u64 ran)
{
	struct off_thread *thread = task->pid ? thread_of(task->pid) : NULL;

	if (thread && thread->waits)
		end_wait(cpu, thread, task, ran);
}

INLINE void arrive(struct off_cpu *cpu, struct task_struct *next)
{
	cpu->thread = next->pid;
	end_wait_of(cpu, next, 0);
}

/*
 * Ends the wait of a thread whose coming no hook has seen: a kernel may leave the hook out. The
 * scheduler knows for how long the thread has run since (set_next_entity(), kernel/sched/fair.c).
 */
INLINE void arrive_unseen(struct off_cpu *cpu, struct task_struct *prev)
{
	end_wait_of(cpu, prev, prev->se.sum_exec_runtime - prev->se.prev_sum_exec_runtime);
}

/* ---- a thread leaves ---- */

/* Returns the registers that the entry to the kernel saved, as kernel_for.bpf.h has it. */
INLINE void *entry_registers(struct task_struct *task)
{
	if (newer_helpers & NEWER_TASK_PT_REGS)
		return (void *)bpf_task_pt_regs((void *)bpf_get_current_task_btf());
	return (char *)BPF_CORE_READ(task, stack) + KERNEL_STACK_BYTES - PT_WORDS * 8;
}

/* Returns the number of the system call that the current task is in; negative: it is in none. */
INLINE s64 call_of(struct task_struct *task)
{
	s64 call = -1;

	bpf_probe_read_kernel(&call, sizeof(call), (char *)entry_registers(task) + PT_ORIG_RAX * 8);
	return call;
}

/* Returns the same for the task that leaves the CPU, which is the current one. */
INLINE s64 call_left(struct task_struct *prev)
{
	if (newer_helpers & NEWER_TASK_PT_REGS)
		return ((struct pt_regs *)bpf_task_pt_regs(prev))->orig_ax;
	return call_of((void *)bpf_get_current_task());
}

/* Returns whether the current task is a 32-bit program, whose calls have other numbers. */
INLINE int is_compat(void)
{
	void *registers = entry_registers((void *)bpf_get_current_task());
	u64 cs = 0;

	bpf_probe_read_kernel(&cs, sizeof(cs), (char *)registers + PT_CS * 8);
	return cs == CS_USER32;
}

INLINE u32 state_bits(struct task_struct *task)
{
	if (bpf_core_field_exists(task->__state))
		return task->__state;
	return task->state;
}

/* state: of state_bits(), as it was read once; 0: the task can run. */
INLINE enum off_state state_of(struct task_struct *task, u32 state)
{
	if (!state)
		return OFF_PREEMPTED;
	if (state & TASK_STOPS)
		return OFF_STOPPED;
	if (BPF_CORE_READ_BITFIELD(task, in_iowait))
		return OFF_IO;
	return state & TASK_INTERRUPTIBLE ? OFF_SLEEPS : OFF_WAITS;
}

INLINE void count_skipped(void)
{
	struct counters *count = counters_now();

	if (count)
		count->off_skipped++;
}

/*
 * Prepares the sampler for the stack of the thread that leaves. word: with its system call. Returns
 * whether the thread has a place.
 */
static __attribute__((noinline)) int prepare(struct off_cpu *cpu, struct task_struct *task,
					     u64 word, u32 idle)
{
	u64 now = bpf_ktime_get_ns();
	struct off_wait fresh = {.began = now, .epoch = worker_epoch, .idle = idle};
	u32 id = BPF_CORE_READ(task, pid);
	struct off_thread *thread = thread_of(id);
	struct counters *count = counters_now();

	if (!count || !thread)
		return 0;
	if (!bpf_map_update_elem(&off_waits, &id, &fresh, BPF_NOEXIST)) {
		__sync_fetch_and_add(&thread->waits, 1);
	} else if (bpf_map_update_elem(&off_waits, &id, &fresh, BPF_EXIST)) {
		count->off_no_room++;
		return 0;
	}
	if (is_compat())
		word |= (u64)OFF_NO_CALL << 32;
	cpu->word = word;
	cpu->taken = now;
	return 1;
}

/* The sampler would leave the sample out. */
INLINE int is_unwanted(u32 pid)
{
	if (filter_mode == FILTER_TARGETS && !bpf_map_lookup_elem(&generations, &pid))
		return !is_target(pid);
	return !wanted_now();
}

INLINE u64 *left_of(u32 id, u32 call)
{
	u32 place = (id * 2654435761u ^ call * 2246822519u) >> (32 - OFF_LEFT_BITS);

	return bpf_map_lookup_elem(&off_left, &place);
}

/*
 * Returns the time of this switch, and lets the interval follow the cost. To read the clock costs
 * 20 ns, and 80 in some virtual machines. So that is done once a window, or where the budget is
 * spent. In between, the scheduler's clock of this CPU goes on, by which it has just charged the
 * thread (update_curr(), kernel/sched/fair.c). Interrupts and what the host keeps may be no part of
 * that clock.
 */
INLINE u64 time_of(struct off_cpu *cpu, struct task_struct *prev, const struct off_limits *limits)
{
	u64 charged = prev->se.exec_start, now = charged + cpu->ahead;

	if (!draw_is_due(cpu, limits, now))
		return now;
	now = bpf_ktime_get_ns();
	cpu->ahead = now - charged;
	draw_adapt(cpu, limits, now);
	return now;
}

/* idle: flag, no thread comes. Returns whether the sampler is to take the stack. */
INLINE int leave(struct off_cpu *cpu, struct task_struct *prev, int preempted, u32 idle)
{
	const struct off_limits limits = {off_limits.interval, off_limits.window,
					  off_limits.budget};
	u32 id = prev->pid, call = OFF_NO_CALL, state = 0;
	u64 *left, passed, now;

	if (!id || prev->flags & (PF_KTHREAD | PF_EXITING))
		return 0;
	/* another CPU may wake the thread just now */
	if (!preempted)
		state = state_bits(prev);
	if (state)
		call = call_left(prev);
	left = left_of(id, call);
	if (!left)
		return 0;
	now = time_of(cpu, prev, &limits);
	passed = draw_passed(*left, now, limits.interval);
	*left = now;
	if (!draw_takes(passed, cpu->interval, draw_random(cpu, id)) || is_unwanted(prev->tgid))
		return 0;
	return prepare(
		cpu, prev,
		OFF_WORD(draw_probability(passed, cpu->interval), call, state_of(prev, state)),
		idle);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, _Bool preempted, struct task_struct *prev, struct task_struct *next)
{
	u32 number = bpf_get_smp_processor_id();
	struct off_cpu *cpu = drawing ? bpf_map_lookup_elem(&off_cpus, &number) : NULL;

	if (!cpu)
		return 0;
	if (cpu->thread != (u32)prev->pid)
		arrive_unseen(cpu, prev);
	arrive(cpu, next);
	/* the sampler takes no stack now, but waits end all the same */
	if (resting)
		return 0;
	if (leave(cpu, prev, preempted, !next->pid)) {
		bpf_tail_call(ctx, &sampler, 0);
		count_skipped(); /* a call that succeeds does not return */
	}
	return 0;
}

/* ---- a thread is woken ---- */

/*
 * Returns whether an interrupt woke the thread, and not the current task. The kernel handles
 * interrupts on stacks of their own, but for those of user mode. Then the task's registers have the
 * number of no system call (orig_rax). The arguments of the tracepoint are on the stack in use.
 */
INLINE int is_in_interrupt(struct off_cpu *cpu, void *arguments, struct task_struct *task)
{
	u64 at;

	/* memory makes a number of the pointer */
	*(volatile u64 *)&cpu->arguments = (u64)arguments;
	at = *(volatile u64 *)&cpu->arguments;
	if (at - (u64)BPF_CORE_READ(task, stack) >= KERNEL_STACK_BYTES)
		return 1;
	if (BPF_CORE_READ(task, flags) & PF_KTHREAD)
		return 0;
	return call_of(task) < 0;
}

/* A process that no hook has judged yet is hidden, too. */
INLINE int is_hidden(struct task_struct *task, u32 pid)
{
	struct generation *known;

	if (!deny_kinds || BPF_CORE_READ(task, flags) & PF_KTHREAD)
		return 0;
	known = bpf_map_lookup_elem(&generations, &pid);
	if (!known || known->denied)
		return 1;
	/* setuid() has no hook */
	return deny_kinds & DENY_BIT(DENY_UID) &&
	       denies_task(number_of(task), 0, 0, DENY_BIT(DENY_UID));
}

INLINE void note_waker(struct off_wait *wait, struct off_cpu *cpu, void *arguments)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	u64 id = bpf_get_current_pid_tgid();

	if (!id || is_in_interrupt(cpu, arguments, task)) {
		wait->waker = WAKER_INTERRUPT;
		return;
	}
	if (is_hidden(task, id >> 32)) {
		wait->waker = WAKER_HIDDEN;
		return;
	}
	wait->waker_pid = id >> 32;
	wait->waker_tid = (u32)id;
	bpf_get_current_comm(wait->waker_name, sizeof(wait->waker_name));
	wait->waker = WAKER_THREAD;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *task)
{
	u32 id = task->pid, number = bpf_get_smp_processor_id();
	struct off_thread *thread = drawing ? thread_of(id) : NULL;
	struct off_wait *wait;
	struct off_cpu *cpu;

	if (!thread || !thread->waits)
		return 0;
	wait = bpf_map_lookup_elem(&off_waits, &id);
	cpu = bpf_map_lookup_elem(&off_cpus, &number);
	if (!wait || !cpu || wait->woken)
		return 0;
	wait->woken = bpf_ktime_get_ns();
	note_waker(wait, cpu, ctx);
	return 0;
}
