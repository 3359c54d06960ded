/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Accounts: who had the CPUs, exactly. The hooks see each switch, softirq and interrupt of a CPU.
 * They charge the time between two of them to whom the CPU has worked for (account/account.bpf.h).
 * Only these programs write accounts; the worker maps them and can only read.
 *
 * The loader attaches this object after the sampler's, whose hooks run first. So a verdict that a
 * hook of life.bpf.h has just given is there when a hook of this file looks.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "bpf/base.bpf.h"
#include "bpf/config.bpf.h"
#include "bpf/kernel.h"
#include "bpf/shared_maps.bpf.h"

/* The offer of Linux 5.10, which is enough here; kernel_for.bpf.h has the same for the sampler. */
INLINE struct task_struct *task_now(void)
{
	return (void *)bpf_get_current_task();
}

INLINE int has_outer_helper(void)
{
	return 0;
}

INLINE int reads_outer(void)
{
	return 0;
}

#include "bpf/account/account.bpf.h"
#include "bpf/cgroup.bpf.h"
#include "bpf/deny.bpf.h"
#include "bpf/filter.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/* CLOCK_MONOTONIC, ns: when accounting began. 0: not yet. The loader alone writes it. */
volatile u64 counting_from;
/* Bit of each counter that some CPU has. The loader alone writes it, before the attachment. */
volatile u32 counters_there;
/* Counts changes of verdicts: a thread whose verdict is older gets another one. */
volatile u32 verdicts;

/* ---- maps ---- */

/* Frozen by the loader: only BPF can write, and the worker maps both. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, ACCOUNTS);
	__type(key, u32);
	__type(value, struct account);
} accounts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct account_cpu);
} account_cpus SEC(".maps");

/* A thread's stint. BPF alone reaches it, because it holds addresses of the kernel. */
struct account_task {
	u64 task, cgroups, creds; /* the structures of the kernel, to be compared */
	u32 place;		  /* where kind is ACCOUNT_THREAD */
	u32 kind;		  /* enum account_kind */
	u32 verdicts;		  /* as they were when the thread was judged */
	u32 pad;
};
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, ACCOUNTS);
	__type(key, u32); /* thread id */
	__type(value, struct account_task);
} account_tasks SEC(".maps");

/*
 * A switch has this of its CPU at hand. A look-up in account_tasks takes a sixth of the time that a
 * switch takes, and reading CLOCK_MONOTONIC a third in some virtual machines.
 */
#define ACCOUNT_NEAR 16u /* a power of two */
struct near_thread {
	u64 task, cgroups, creds; /* as in struct account_task */
	u64 number;		  /* of the stint */
	u32 place, verdicts;
};
struct account_near {
	struct account_clock clock;
	/* that came to the CPU lately, at the lowest bits of their ids */
	struct near_thread thread[ACCOUNT_NEAR];
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* a CPU; the loader sets it */
	__type(key, u32);
	__type(value, struct account_near);
} account_near SEC(".maps");

/*
 * Places that no stint has. The loader fills it. The place that has been free longest is taken
 * first, so that the worker has time to read the end of a stint.
 */
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, ACCOUNTS);
	__uint(value_size, sizeof(u32));
} account_places SEC(".maps");

const volatile u32 counted = 0; /* flag: counters are read */

/* Counters of each CPU, at ACCOUNT_COUNTERS * CPU + counter. The loader puts in those there are. */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(max_entries, ACCOUNT_COUNTERS);
	__uint(key_size, sizeof(u32));
	__uint(value_size, sizeof(u32));
} account_counters SEC(".maps");

INLINE struct account_cpu *cpu_now(void)
{
	u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&account_cpus, &cpu);
}

INLINE struct account *account_at(u32 place)
{
	return bpf_map_lookup_elem(&accounts, &place);
}

/*
 * Begins a change of a CPU's account, or returns NULL. Softirq hooks run with interrupts on: an
 * interrupt within such a hook leaves the account alone, and is charged as what it interrupted.
 */
INLINE struct account_cpu *begin_change(void)
{
	struct account_cpu *cpu;

	if (!counting_from)
		return NULL;
	cpu = cpu_now();
	if (!cpu)
		return NULL;
	if (*(volatile u32 *)&cpu->busy) {
		cpu->skipped++;
		return NULL;
	}
	*(volatile u32 *)&cpu->busy = 1;
	ACCOUNT_COMPILER_BARRIER();
	account_advance(cpu, counting_from, bpf_ktime_get_ns());
	return cpu;
}

INLINE void end_change(struct account_cpu *cpu)
{
	ACCOUNT_COMPILER_BARRIER();
	*(volatile u32 *)&cpu->busy = 0;
}

/* ---- verdicts ---- */

/*
 * Says whose time a thread's is. is_current: the task is the current one, which alone can be
 * compared with the cgroup of the command line.
 */
static __attribute__((noinline)) u32 judge(struct task_struct *task, u32 is_current)
{
	u32 pid = BPF_CORE_READ(task, tgid);
	struct generation *known = bpf_map_lookup_elem(&generations, &pid);

	if (filter_mode == FILTER_TARGETS && !known && !is_target(pid))
		return ACCOUNT_OTHERS;
	if (is_current && !wanted_now())
		return ACCOUNT_OTHERS;
	if (sample_filter.uid[0] != FILTER_UID_NONE && !is_of_wanted_user(task))
		return ACCOUNT_OTHERS;
	if (!deny_kinds || BPF_CORE_READ(task, flags) & PF_KTHREAD)
		return ACCOUNT_THREAD;
	if ((known && known->denied) || denies_number(number_of(task)) || is_denied_exit(task, pid))
		return ACCOUNT_DENIED;
	return ACCOUNT_THREAD;
}

/* ---- places ---- */

/*
 * Copies the kernel's figures of the thread that leaves the CPU. A kernel may be built without one
 * of them (CONFIG_SCHED_INFO), which stays 0 then.
 */
INLINE void copy_figures(struct task_struct *task, struct account *account)
{
	u64 *last = account->last;

#define F(name, member, help)                    \
	if (bpf_core_field_exists(task->member)) \
		last[FIGURE_##name] = task->member;
#include "bpf/figures.def"
#undef F
}

/* Does the same for a task that the verifier does not know as one. */
INLINE void read_figures(struct task_struct *task, struct account *account)
{
	u64 *last = account->last;

#define F(name, member, help)                    \
	if (bpf_core_field_exists(task->member)) \
		last[FIGURE_##name] = BPF_CORE_READ(task, member);
#include "bpf/figures.def"
#undef F
}

INLINE void end_stint(u32 place)
{
	struct account *account = account_at(place);

	if (!account || account->ended)
		return;
	account->ended = 1;
	bpf_map_push_elem(&account_places, &place, BPF_ANY);
}

/* Fills in a place for a stint. before: the stint that the thread had, or NULL. */
INLINE void begin_stint(struct account_cpu *cpu, struct task_struct *task, struct account *account,
			struct account *before)
{
	struct task_struct *leader = BPF_CORE_READ(task, group_leader);

	account_take_over(cpu, account);
	account->start = BPF_CORE_READ(leader, start_time);
	account->cgroup = BPF_CORE_READ(cgroup_node(task), id);
	account->pid = BPF_CORE_READ(task, tgid);
	account->thread = BPF_CORE_READ(task, pid);
	account->kernel = !!(BPF_CORE_READ(task, flags) & PF_KTHREAD);
	bpf_probe_read_kernel(account->name, sizeof(account->name), &leader->comm);
	bpf_probe_read_kernel(account->thread_name, sizeof(account->thread_name), &task->comm);
	if (before) {
#pragma unroll
		for (u32 i = 0; i < FIGURES; i++)
			account->first[i] = account->last[i] = before->last[i];
	} else if (BPF_CORE_READ(task, start_time) < counting_from) {
		read_figures(task, account);
#pragma unroll
		for (u32 i = 0; i < FIGURES; i++)
			account->first[i] = account->last[i];
	}
	account_show(cpu, bpf_get_smp_processor_id(), cpu_count, account);
}

INLINE u32 place_of_kind(u32 kind)
{
	return ACCOUNT_PLACE(bpf_get_smp_processor_id(), kind);
}

/* Gives a thread a place of its own. Returns ACCOUNT_NO_PLACE where there is none. */
INLINE u32 new_place(struct account_cpu *cpu, struct task_struct *task, struct account *before)
{
	u32 place = ACCOUNT_NO_PLACE;
	struct account *account;

	if (bpf_map_pop_elem(&account_places, &place)) {
		cpu->lost_places++;
		return ACCOUNT_NO_PLACE;
	}
	account = account_at(place);
	if (!account)
		return ACCOUNT_NO_PLACE;
	begin_stint(cpu, task, account, before);
	account_tell(cpu, place);
	return place;
}

/* Returns whether a stint goes on: the thread was judged anew, with the same verdict. */
INLINE int goes_on(struct task_struct *task, const struct account_task *entry, u32 kind)
{
	struct account *account;

	if (entry->kind != kind)
		return 0;
	if (kind != ACCOUNT_THREAD)
		return 1;
	account = account_at(entry->place);
	return account && account->cgroup == BPF_CORE_READ(cgroup_node(task), id);
}

INLINE int is_exiting(struct task_struct *task)
{
	return BPF_CORE_READ(task, flags) & PF_EXITING;
}

/* Finds or makes the place of a thread whose entry is missing or no longer true. */
static __attribute__((noinline)) u32 find_place(struct account_cpu *cpu, struct task_struct *task,
						u32 is_current)
{
	struct account_task fresh = {.task = number_of(task),
				     .cgroups = (u64)BPF_CORE_READ(task, cgroups),
				     .creds = (u64)BPF_CORE_READ(task, real_cred),
				     .place = ACCOUNT_NO_PLACE,
				     .verdicts = verdicts};
	u32 thread = BPF_CORE_READ(task, pid);
	struct account *before = NULL;
	struct account_task *entry;

	if (!thread)
		return place_of_kind(ACCOUNT_IDLE);
	fresh.kind = judge(task, is_current);
	entry = bpf_map_lookup_elem(&account_tasks, &thread);
	if (entry && entry->task == fresh.task) {
		/* the hooks of an exit have forgotten the process by now */
		if (goes_on(task, entry, fresh.kind) || is_exiting(task)) {
			entry->cgroups = fresh.cgroups;
			entry->creds = fresh.creds;
			entry->verdicts = fresh.verdicts;
			return entry->kind ? place_of_kind(entry->kind) : entry->place;
		}
		if (entry->kind == ACCOUNT_THREAD)
			before = account_at(entry->place);
	}
	if (is_current)
		tell_path();
	if (fresh.kind == ACCOUNT_THREAD) {
		fresh.place = new_place(cpu, task, before);
		if (fresh.place == ACCOUNT_NO_PLACE)
			fresh.kind = ACCOUNT_UNLISTED;
	}
	if (entry && entry->kind == ACCOUNT_THREAD)
		end_stint(entry->place);
	if (bpf_map_update_elem(&account_tasks, &thread, &fresh, BPF_ANY)) {
		cpu->lost_tasks++;
		if (fresh.kind == ACCOUNT_THREAD)
			end_stint(fresh.place);
		return place_of_kind(ACCOUNT_UNLISTED);
	}
	return fresh.kind ? place_of_kind(fresh.kind) : fresh.place;
}

/* Returns the place of the thread that comes, where a look is enough to find it. */
INLINE u32 known_place(struct task_struct *next)
{
	u32 thread = next->pid;
	struct account_task *entry;

	if (!thread)
		return place_of_kind(ACCOUNT_IDLE);
	entry = bpf_map_lookup_elem(&account_tasks, &thread);
	if (!entry || entry->task != (u64)next || entry->cgroups != (u64)next->cgroups ||
	    entry->creds != (u64)next->real_cred || entry->verdicts != verdicts)
		return ACCOUNT_NO_PLACE;
	return entry->kind ? place_of_kind(entry->kind) : entry->place;
}

/* Returns whether a thread is still that of an entry, in its stint. */
INLINE int is_near(const struct near_thread *near, struct task_struct *task)
{
	struct account *account;

	if (near->task != (u64)task || near->cgroups != (u64)task->cgroups ||
	    near->creds != (u64)task->real_cred || near->verdicts != verdicts)
		return 0;
	account = account_at(near->place);
	return account && account->number == near->number && !account->ended;
}

/* Returns what known_place() does, without the look if the thread came to this CPU lately. */
INLINE u32 near_place(struct task_struct *next, struct account_near *all)
{
	struct near_thread *near = &all->thread[next->pid & (ACCOUNT_NEAR - 1)];
	struct account *account;
	u32 place;

	if (is_near(near, next))
		return near->place;
	place = known_place(next);
	account = place == ACCOUNT_NO_PLACE ? NULL : account_at(place);
	if (!account || !account->thread)
		return place;
	near->task = (u64)next;
	near->cgroups = (u64)next->cgroups;
	near->creds = (u64)next->real_cred;
	near->number = account->number;
	near->place = place;
	near->verdicts = verdicts;
	return place;
}

/*
 * Takes a thread whose coming no hook has seen. A kernel may leave a program out, as when one
 * interrupts itself. The kernel knows how long the thread ran since it last left a CPU. The rest of
 * the time is of threads that nobody has seen.
 */
static __attribute__((noinline)) void meet_unseen(struct account_cpu *cpu, struct task_struct *task)
{
	u64 ran = BPF_CORE_READ(task, se.sum_exec_runtime);
	struct account *account, *others = account_at(place_of_kind(ACCOUNT_UNLISTED));

	cpu->missed++;
	cpu->thread = BPF_CORE_READ(task, pid);
	cpu->kernel = cpu->thread && BPF_CORE_READ(task, flags) & PF_KTHREAD;
	cpu->place = find_place(cpu, task, 1);
	account = account_at(cpu->place);
	if (!account || !others || !account->thread)
		return;
	ran -= account->last[FIGURE_runtime];
	if (ran >= cpu->pending)
		return;
	others->ns += cpu->pending - ran;
	cpu->pending = ran;
}

INLINE void check_thread(struct account_cpu *cpu, struct task_struct *task, u32 thread)
{
	if (cpu->thread != thread && cpu->thread != ACCOUNT_NO_THREAD)
		meet_unseen(cpu, task);
}

/* Gives a place what the CPU's counters have counted. A counter that cannot be read is absent. */
static __attribute__((noinline)) void count(struct account_cpu *cpu, struct account *account)
{
	u32 first = bpf_get_smp_processor_id() * ACCOUNT_COUNTERS;

	NOT_UNROLLED
	for (u32 i = 0; i < ACCOUNT_COUNTERS; i++) {
		struct bpf_perf_event_value value;
		struct account_reading now;

		if (!(counters_there >> i & 1))
			continue;
		if (bpf_perf_event_read_value(&account_counters, first + i, &value, sizeof(value)))
			continue;
		now = (struct account_reading){value.counter, value.enabled, value.running};
		cpu->counters |= 1u << i;
		account_count(&cpu->reading[i], &now, &account->counter[i]);
	}
}

/* Charges what waits to the current task. */
INLINE void settle(struct account_cpu *cpu, struct task_struct *task)
{
	struct account *account;

	check_thread(cpu, task, (u32)bpf_get_current_pid_tgid());
	if (cpu->place == ACCOUNT_NO_PLACE)
		cpu->place = find_place(cpu, task, 1);
	account = account_at(cpu->place);
	if (!account)
		return;
	account_commit(cpu, account);
	if (counted)
		count(cpu, account);
	if (account->thread)
		read_figures(task, account);
	account_tell(cpu, cpu->place);
}

/* ---- switches ---- */

INLINE u32 is_dead(struct task_struct *task)
{
	if (bpf_core_field_exists(task->__state))
		return task->__state & TASK_DEAD;
	return task->state & TASK_DEAD;
}

/* The thread will never run again. */
static __attribute__((noinline)) void bury(struct task_struct *task)
{
	u32 thread = BPF_CORE_READ(task, pid);
	struct account_task *entry = bpf_map_lookup_elem(&account_tasks, &thread);

	if (entry && entry->kind == ACCOUNT_THREAD)
		end_stint(entry->place);
	bpf_map_delete_elem(&account_tasks, &thread);
}

INLINE void leave_cpu(struct account_cpu *cpu, struct task_struct *prev)
{
	struct account *account;

	check_thread(cpu, prev, prev->pid);
	if (cpu->place == ACCOUNT_NO_PLACE)
		cpu->place = find_place(cpu, prev, 1);
	account = account_at(cpu->place);
	if (account) {
		account_switch(cpu, account);
		if (counted)
			count(cpu, account);
		if (account->thread)
			copy_figures(prev, account);
		account_tell(cpu, cpu->place);
	}
	if (is_dead(prev))
		bury(prev);
}

INLINE void enter_cpu(struct account_cpu *cpu, struct task_struct *next, struct account_near *near)
{
	cpu->place = near_place(next, near);
	cpu->thread = next->pid;
	cpu->pid = next->tgid;
	cpu->kernel = next->pid && next->flags & PF_KTHREAD;
}

/*
 * Returns the time of a switch. The scheduler reads its own clock as a switch begins, and charges
 * the threads by it (update_rq_clock() in __schedule(), kernel/sched/core.c).
 */
INLINE u64 switch_time(struct account_clock *clock, struct task_struct *prev)
{
	u64 scheduler, now;

	if (!bpf_core_field_exists(prev->se.cfs_rq) ||
	    !bpf_core_field_exists(((struct cfs_rq *)0)->rq))
		return bpf_ktime_get_ns();
	scheduler = prev->se.cfs_rq->rq->clock;
	if (!account_clock_is_due(clock, scheduler))
		return account_clock_now(clock, scheduler);
	now = bpf_ktime_get_ns();
	account_clock_set(clock, scheduler, now);
	return now;
}

/*
 * No interrupt comes here. Where hooks can be preempted, a switch may come within a change. Then at
 * most the stint under way is wrong, while a switch that was left out would be worse. Stacks of
 * threads that wait are to be taken here, behind leave_cpu() and behind enter_cpu().
 */
SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, _Bool preempt, struct task_struct *prev, struct task_struct *next)
{
	u32 number = bpf_get_smp_processor_id();
	struct account_cpu *cpu;
	struct account_near *near;

	if (!counting_from)
		return 0;
	cpu = bpf_map_lookup_elem(&account_cpus, &number);
	near = bpf_map_lookup_elem(&account_near, &number);
	if (!cpu || !near)
		return 0;
	account_advance(cpu, counting_from, switch_time(&near->clock, prev));
	leave_cpu(cpu, prev);
	enter_cpu(cpu, next, near);
	return 0;
}

/* Charges the running thread now and then, so that one that never leaves the CPU counts as well. */
SEC("perf_event")
int on_tick(void *ctx)
{
	struct account_cpu *cpu = begin_change();

	if (!cpu)
		return 0;
	settle(cpu, task_now());
	end_change(cpu);
	return 0;
}

/* ---- interrupts ---- */

SEC("tp_btf/softirq_entry")
int BPF_PROG(on_softirq, unsigned int vector)
{
	struct account_cpu *cpu = begin_change();

	if (!cpu)
		return 0;
	account_enter_softirq(cpu, vector);
	end_change(cpu);
	return 0;
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(on_softirq_end, unsigned int vector)
{
	struct account_cpu *cpu = begin_change();

	if (!cpu)
		return 0;
	account_leave_softirq(cpu);
	end_change(cpu);
	return 0;
}

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(on_hardirq, int number)
{
	struct account_cpu *cpu = begin_change();

	if (!cpu)
		return 0;
	account_enter_hardirq(cpu, (u32)number);
	end_change(cpu);
	return 0;
}

SEC("tp_btf/irq_handler_exit")
int BPF_PROG(on_hardirq_end, int number)
{
	struct account_cpu *cpu = begin_change();

	if (!cpu)
		return 0;
	account_leave_hardirq(cpu);
	end_change(cpu);
	return 0;
}

/* ---- the life of threads ---- */

/* Another cgroup than its parent's can be a child's at once; then its first switch judges it. */
SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_begin, struct task_struct *parent, struct task_struct *child)
{
	struct account_cpu *cpu;

	if (filter_mode == FILTER_CGROUP)
		return 0;
	cpu = begin_change();
	if (!cpu)
		return 0;
	find_place(cpu, child, 0);
	end_change(cpu);
	return 0;
}

/* Has all threads judged anew where that changes something for this one. */
INLINE void judge_again(struct task_struct *task, u32 is_current)
{
	u32 thread = task->pid;
	struct account_task *entry = bpf_map_lookup_elem(&account_tasks, &thread);

	if (!entry || (!is_current && entry->kind == ACCOUNT_OTHERS))
		return;
	if (entry->kind != judge(task, is_current))
		__sync_fetch_and_add(&verdicts, 1);
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_program, struct task_struct *task)
{
	struct account_cpu *cpu = begin_change();

	if (!cpu)
		return 0;
	settle(cpu, task);
	judge_again(task, 1);
	cpu->place = known_place(task);
	tell_path();
	end_change(cpu);
	return 0;
}

SEC("tp_btf/task_rename")
int BPF_PROG(on_name, struct task_struct *task, const char *name)
{
	u32 thread = task->pid;
	struct account_task *entry;
	struct account *account;

	if (!counting_from)
		return 0;
	if (deny_kinds)
		judge_again(task, 0);
	/* the new name may be one that denies the process */
	if (deny_kinds && judge(task, 0) != ACCOUNT_THREAD)
		return 0;
	entry = bpf_map_lookup_elem(&account_tasks, &thread);
	if (!entry)
		return 0;
	account = entry->kind == ACCOUNT_THREAD ? account_at(entry->place) : NULL;
	if (!account)
		return 0;
	bpf_probe_read_kernel_str(account->thread_name, sizeof(account->thread_name), name);
	if (task->pid == task->tgid)
		bpf_probe_read_kernel_str(account->name, sizeof(account->name), name);
	return 0;
}

/* Threads that move have another set of cgroups, by which known_place() sees that. */
SEC("tp_btf/cgroup_attach_task")
int BPF_PROG(on_cgroup, struct cgroup *to, const char *path, struct task_struct *task)
{
	if (counting_from && deny_kinds)
		judge_again(task, 0);
	return 0;
}
