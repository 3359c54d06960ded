/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The life of processes. Only this code gives generations: at fork, exec and first
 * sight. The worker learns generations from the events ring and cannot write them.
 *
 * The includer supplies what its kernels offer (kernel_*.bpf.h).
 */
#ifndef KEYHOLE_BPF_LIFE_BPF_H
#define KEYHOLE_BPF_LIFE_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "bpf/cgroup.bpf.h"
#include "bpf/config.bpf.h"
#include "bpf/deny.bpf.h"
#include "bpf/env.bpf.h"
#include "bpf/events.bpf.h"
#include "bpf/filter.bpf.h"
#include "bpf/kernel.h"

/* ---- generations ---- */

/*
 * The givers of generations. On a CPU the sampler may interrupt a hook, and a hook may interrupt
 * the iterator, which gives generations to targets. No giver interrupts its like, and one iterator
 * is read at a time.
 */
enum giver {
	GIVEN_BY_HOOK,
	GIVEN_BY_SAMPLER,
	GIVEN_BY_ITERATOR,
	GIVERS
};

/*
 * Returns a number that was never given and that the worker does not know beforehand, or 0 after an
 * error. Each giver has a count of its own: before 5.12 no atomic operation of BPF returns a value.
 */
INLINE u64 next_generation(enum giver giver)
{
	struct scratch *scratch = scratch_state();

	if (!scratch)
		return 0;
	u64 count = next_count(&scratch->generations[giver]) * GIVERS + giver;

	return (count * cpu_count + bpf_get_smp_processor_id()) &
	       ((1ull << (64 - PROCESS_PID_BITS)) - 1);
}

INLINE void lose_event(void)
{
	struct counters *count = counters_now();

	if (count)
		__sync_fetch_and_add(&count->events_lost, 1);
}

/* Returns whether the worker looks soon without being woken. A wrong answer only delays events. */
INLINE int worker_looks_soon(u64 now)
{
	u32 zero = 0;
	struct ring_tails *tail = bpf_map_lookup_elem(&tails, &zero);

	return tail && now < *(volatile u64 *)&tail->next_look;
}

INLINE int wakes_worker(u32 kind, u64 now)
{
	if ((kind == EVENT_SEEN || kind == EVENT_EXEC || kind == EVENT_WAKE ||
	     kind == EVENT_WAITS) &&
	    !worker_looks_soon(now))
		return 1;
	return events_half_full();
}

INLINE u32 session_of(struct task_struct *task)
{
	return BPF_CORE_READ(task, signal, pids[PIDTYPE_SID], numbers[0].nr);
}

/*
 * Tells the worker by a short event. An event without a wake-up leaves the ring unread; after that
 * only a forced wake-up wakes. So events of processes that are about to be sampled force a wake-up.
 * Each event in a half-full ring forces a wake-up too, because a full ring has no room for an event
 * that wakes.
 * The function is global, because each program calls it several times.
 */
GLOBAL int tell(u32 kind, u32 pid, u64 generation, u32 parent_pid, u64 parent_generation)
{
	struct event *event = bpf_ringbuf_reserve(&events, EVENT_SHORT_BYTES, 0);
	u64 now = bpf_ktime_get_ns();

	if (!event) {
		lose_event();
		return 0;
	}
	event->time = now;
	event->generation = generation;
	event->parent_generation = parent_generation;
	event->kind = kind;
	event->pid = pid;
	event->parent_pid = parent_pid;
	event->uid = 0;
	bpf_ringbuf_submit(event, wakes_worker(kind, now) ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
	return 0;
}

/* Tells the worker of the current task's process, and whose it is. */
GLOBAL int tell_owner(u32 kind, u32 pid, u64 generation, u64 family)
{
	struct event *event = bpf_ringbuf_reserve(&events, sizeof(*event), 0);
	u64 now = bpf_ktime_get_ns();

	if (!event) {
		lose_event();
		return 0;
	}
	*event = (struct event){.time = now, .generation = generation, .kind = kind, .pid = pid};
	event->parent_generation = family;
	event->uid = bpf_get_current_uid_gid();
	event->cgroup = bpf_get_current_cgroup_id();
	if (event->cgroup > CGROUP_ROOT)
		note_outer_now(event);
	else
		event->session = session_of(task_now());
	bpf_ringbuf_submit(event, wakes_worker(kind, now) ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
	return 0;
}

/* Tells the worker that a process was moved. The current task is the one that moved it. */
INLINE void tell_moved(struct task_struct *task, struct generation *known)
{
	struct event *event = bpf_ringbuf_reserve(&events, sizeof(*event), 0);

	known->located = 0;
	if (!event) {
		lose_event();
		return;
	}
	*event = (struct event){.time = bpf_ktime_get_ns(),
				.generation = known->number,
				.cgroup = BPF_CORE_READ(cgroup_node(task), id),
				.kind = EVENT_MOVED,
				.pid = task->tgid};
	bpf_ringbuf_submit(event, BPF_RB_NO_WAKEUP);
}

/*
 * Counts a process that gets no generation. Its samples are lost_generation, or are not taken where
 * only some processes are wanted.
 */
INLINE void lose_process(void)
{
	struct counters *count = counters_now();

	if (count)
		__sync_fetch_and_add(&count->processes_lost, 1);
}

/* Enters a new generation. Returns whether the worker is to know. */
INLINE int born(u32 pid, const struct generation *fresh)
{
	if (!fresh->number || bpf_map_update_elem(&generations, &pid, fresh, BPF_ANY)) {
		lose_process();
		return 0;
	}
	return !fresh->denied;
}

/*
 * Makes the entry of a process without one. Returns whether the entry is new and the worker is to
 * know. A global function: its stack would be too much for 5.10.
 */
GLOBAL int enter_process(u32 pid, u64 mm, u32 denied, u32 counted, u32 giver)
{
	struct generation fresh = {
		.number = next_generation(BOUND((u64)giver, GIVERS)),
		.mm = mm,
		.born = bpf_ktime_get_ns(),
		.epoch = worker_epoch,
		.denied = denied,
		.counted = counted,
	};

	fresh.family = fresh.number;
	if (!fresh.number)
		return 0;
	/* at this moment another CPU may sample another thread of the process */
	return !bpf_map_update_elem(&generations, &pid, &fresh, BPF_NOEXIST) && !denied;
}

/*
 * Gives a generation to a process from before the start, or whose fork was not wanted. denied,
 * counted: as in struct generation. Returns NULL when the table is full.
 */
INLINE struct generation *first_sight(u32 pid, u64 mm, u32 denied, u32 counted, enum giver giver)
{
	int is_new = enter_process(pid, mm, denied, counted, giver);
	struct generation *entry = bpf_map_lookup_elem(&generations, &pid);

	if (is_new && entry)
		tell_owner(EVENT_SEEN, pid, entry->number, entry->family);
	return entry;
}

/* Announces a process again to a new worker. Two CPUs may both do so, which does no harm. */
INLINE void meet_again(u32 pid, struct generation *generation, u32 epoch)
{
	if (generation->epoch == epoch)
		return;
	generation->epoch = epoch;
	tell_owner(EVENT_SEEN, pid, generation->number, generation->family);
}

/* Makes the mark of a worker, never 0. It has 16 bits, because the stack of a sample is full. */
INLINE u16 located_by(u32 epoch)
{
	return epoch << 1 | 1;
}

/* Tells a worker the path of the process's cgroup, which costs a look at the entry later on. */
INLINE void locate(struct generation *generation, u32 epoch)
{
	if (generation->located != located_by(epoch) && tell_path())
		generation->located = located_by(epoch);
}

/*
 * Announces a process that the command line names, whether the process runs or not: so the worker
 * knows the mappings before the first sample. The first sample announces the process again, because
 * the reader of the iterator is in another cgroup.
 */
INLINE void meet_target(struct task_struct *task, u32 pid)
{
	u64 mm = task_mm(task);
	struct generation *target = mm ? first_sight(pid, mm, 0, 0, GIVEN_BY_ITERATOR) : NULL;

	if (target)
		target->epoch = ~worker_epoch;
}

/* The worker lists so many processes before their first sample. Slots remain for newer ones. */
#ifndef FOUND_MAX
#define FOUND_MAX (PROCESS_SLOTS / 4 * 3)
#endif
#define FOUND_BATCH 64 /* processes for which the worker is woken once */

/*
 * Announces a process from before the start, so that the worker knows its mappings before the first
 * sample. A process without room in the ring is announced by its first sample, as are those beyond
 * FOUND_MAX.
 */
INLINE void find_process(struct task_struct *task, u32 pid, struct runtimes *sum)
{
	struct generation fresh = {
		.number = next_generation(GIVEN_BY_ITERATOR),
		.mm = task_mm(task),
		.born = bpf_ktime_get_ns(),
		.epoch = worker_epoch,
	};
	struct event *event;

	fresh.family = fresh.number;
	if (!fresh.number || !fresh.mm || sum->found >= FOUND_MAX)
		return;
	event = bpf_ringbuf_reserve(&events, sizeof(*event), 0);
	if (!event)
		return;
	*event = (struct event){
		.time = fresh.born,
		.generation = fresh.number,
		.parent_generation =
			task->se.sum_exec_runtime + BPF_CORE_READ(task, signal, sum_sched_runtime),
		.kind = EVENT_FOUND,
		.pid = pid,
	};
	note_cgroups(event, task);
	event->uid = BPF_CORE_READ(task, real_cred, uid.val);
	event->session = session_of(task);
	/* at this moment another CPU may meet the process */
	if (bpf_map_update_elem(&generations, &pid, &fresh, BPF_NOEXIST)) {
		bpf_ringbuf_discard(event, BPF_RB_NO_WAKEUP);
		return;
	}
	sum->found++;
	bpf_ringbuf_submit(event,
			   sum->found % FOUND_BATCH ? BPF_RB_NO_WAKEUP : BPF_RB_FORCE_WAKEUP);
}

/* ---- CPU time ---- */

INLINE struct runtimes *runtimes_now(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&runtimes, &zero);
}

/* Returns whether readings count the tasks of a process. known: its entry, or NULL. */
INLINE int is_counted(u32 pid, const struct generation *known)
{
	if (known)
		return !known->denied || known->counted;
	return filter_mode == FILTER_ALL || is_target(pid);
}

/* Adds to the CPU time of tasks that are gone. readings: as they were at that moment. */
INLINE void add_exited(struct runtimes *sum, u64 readings, u64 nanoseconds)
{
	__sync_fetch_and_add(&sum->exited[readings & 1], nanoseconds);
}

/* Adds the CPU time of a process's last task. No reading will count the task from now on. */
INLINE void count_until_now(struct task_struct *task)
{
	struct runtimes *sum = runtimes_now();

	if (sum)
		add_exited(sum, sum->readings, task->se.sum_exec_runtime);
}

/* Takes back the CPU time that a process's last task used while it was denied: the readings will
 * count the task. */
INLINE void count_from_now(struct task_struct *task)
{
	struct runtimes *sum = runtimes_now();

	if (sum)
		add_exited(sum, sum->readings, -task->se.sum_exec_runtime);
}

#define ENDED_FACTOR 0x9e3779b97f4a7c15ull

INLINE struct ended_task *ended_place(u64 task)
{
	u32 place = task * ENDED_FACTOR >> (64 - ENDED_BITS);

	return bpf_map_lookup_elem(&ended_tasks, &place);
}

/* Returns what tells the task's entry from another task's, and from one of two tasks. */
INLINE u64 ended_check(u64 task, const struct ended_task *ended)
{
	return task ^ ended->nanoseconds << 16 ^ ended->readings << 40;
}

/* Returns the entry of a task that was counted at its exit, or NULL. */
INLINE struct ended_task *find_ended(u64 task)
{
	struct ended_task *ended = ended_place(task);

	return ended && ended->check == ended_check(task, ended) ? ended : NULL;
}

INLINE void keep_ended(u64 task, u64 nanoseconds, u64 readings)
{
	struct ended_task *ended = ended_place(task);

	if (!ended)
		return;
	ended->nanoseconds = nanoseconds;
	ended->readings = readings;
	ended->check = ended_check(task, ended);
}

/*
 * Counts the current task at its exit. The scheduler has not counted its last milliseconds yet, and
 * giving up the memory takes time as well: on_free() adds this rest.
 */
INLINE void count_exited(struct task_struct *task)
{
	struct runtimes *sum = runtimes_now();
	u64 nanoseconds = task->se.sum_exec_runtime, readings;

	if (!sum)
		return;
	readings = sum->readings;
	keep_ended(bpf_get_current_task(), nanoseconds, readings);
	add_exited(sum, readings, nanoseconds);
	__sync_fetch_and_add(&sum->exits, 1);
}

/* Returns what a reading adds for a task that was counted at its exit. */
INLINE u64 runtime_of_ended(struct task_struct *task, const struct ended_task *ended,
			    const struct runtimes *sum)
{
	/* the reading began before the exit */
	if (ended->readings == sum->readings)
		return task->se.sum_exec_runtime;
	return task->se.sum_exec_runtime - ended->nanoseconds;
}

/* Called when nobody can find the task any more, some milliseconds after its last instruction. */
SEC("tp_btf/sched_process_free")
int BPF_PROG(on_free, struct task_struct *task)
{
	struct ended_task *ended = find_ended(number_of(task));
	struct runtimes *sum = runtimes_now();

	if (!ended || !sum)
		return 0;
	add_exited(sum, sum->readings, task->se.sum_exec_runtime - ended->nanoseconds);
	ended->check = 0;
	return 0;
}

/* Returns whether the current task is past its exit, and readings counted it until then. */
GLOBAL int has_ended(void)
{
	return find_ended(bpf_get_current_task()) != NULL;
}

/* ---- denied processes ---- */

/* Returns whether a process is wanted in any cgroup: then it has an entry although it is denied. */
INLINE int is_followed(u32 pid)
{
	return filter_mode == FILTER_ALL || (filter_mode == FILTER_TARGETS && is_target(pid));
}

/*
 * Denies a process from now on. denied: the verdict. may_exec: the process may
 * be starting a program. Then the worker must learn of the verdict before the records of mappings,
 * which the worker would keep otherwise. Any other process that the worker knows is over for the
 * worker. counted: readings may have counted the process; for a process that was denied before, the
 * first verdict holds.
 */
GLOBAL int deny(u32 pid, u64 mm, u32 may_exec, u32 denied, u32 counted)
{
	struct generation *known = bpf_map_lookup_elem(&generations, &pid);
	u64 number = ~0ull >> PROCESS_PID_BITS;
	u32 kind = EVENT_DENIED;

	if (known) {
		number = known->number;
		if (!may_exec || known->mm == mm)
			kind = known->denied ? 0 : EVENT_EXIT;
		if (!known->denied)
			known->counted = counted;
		known->denied = join_denials(known->denied, denied);
	} else {
		if (!is_followed(pid))
			return 0;
		enter_process(pid, mm, denied, counted, GIVEN_BY_HOOK);
		if (!bpf_map_lookup_elem(&generations, &pid))
			lose_process();
		kind = may_exec ? EVENT_DENIED : 0;
	}
	return kind ? tell(kind, pid, number, 0, 0) : 0;
}

/*
 * Marks a process with the memory of a program that on_exec() has not told of yet. The kernel gives
 * the new name before it maps the first file of the new program. So whoever has found a mapping,
 * and then sees no mark and the same generation, has found that generation's mapping.
 */
INLINE void mark_exec(struct task_struct *task)
{
	u32 pid = task->tgid;
	struct generation *known = bpf_map_lookup_elem(&generations, &pid);

	if (known && known->mm != task_mm(task))
		*(volatile u64 *)&known->mm = MM_OF_EXEC;
}

/*
 * Called by prctl(PR_SET_NAME), /proc/<pid>/comm, and exec, whose new program is in place by then.
 */
SEC("tp_btf/task_rename")
int BPF_PROG(on_rename, struct task_struct *task, const char *name)
{
	u64 comm[2] = {0, 0};

	if (task->flags & PF_KTHREAD)
		return 0;
	mark_exec(task);
	if (!deny_kinds)
		return 0;
	bpf_probe_read_kernel_str(comm, sizeof(comm), name);
	u32 denied = denies_task(number_of(task), comm[0], comm[1], ~0u);

	if (!denied)
		return 0;
	deny(task->tgid, task_mm(task), 1, denied, 1);
	return 0;
}

/* Called after a process or a thread has moved, in a hierarchy of either version. */
SEC("tp_btf/cgroup_attach_task")
int BPF_PROG(on_move, struct cgroup *to, const char *path, struct task_struct *task)
{
	u32 pid = task->tgid, denied = 0;
	struct generation *known;

	if (deny_kinds & DENY_BIT(DENY_CGROUP))
		denied = denies_cgroup(task, DENY_CGROUP);
	if (denied) {
		deny(pid, task_mm(task), 0, denied, 1);
		return 0;
	}
	known = bpf_map_lookup_elem(&generations, &pid);
	if (known && !known->denied && task->pid == task->tgid)
		tell_moved(task, known);
	return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	u32 parent_pid = parent->tgid, pid = child->tgid;

	if (pid == parent_pid)
		return 0;
	struct generation *from = bpf_map_lookup_elem(&generations, &parent_pid);

	u32 denied = denies_now(child) | excludes_process(parent_pid);

	/* a target without samples: a server that sleeps while its children work */
	if (!from && filter_mode == FILTER_TARGETS && is_target(parent_pid)) {
		from = first_sight(parent_pid, task_mm(parent), denied, 1, GIVEN_BY_HOOK);
		if (!from)
			lose_process();
	}
	/* a child has a denied parent's memory, so it is denied under any name */
	if (from)
		denied = join_denials(from->denied, denied);
	if (!from && !(denied && filter_mode == FILTER_ALL) &&
	    !(denied & DENIED_BY_PROCESS && filter_mode == FILTER_CGROUP))
		return 0;
	struct generation fresh = {.number = next_generation(GIVEN_BY_HOOK),
				   .mm = task_mm(child),
				   .born = bpf_ktime_get_ns(),
				   .family = from ? from->family : 0,
				   .base_number = from ? from->number : 0,
				   .base_pid = parent_pid,
				   .epoch = worker_epoch,
				   .denied = denied};

	/* the worker takes the child's mappings and owner from the parent */
	if (from && !from->denied)
		meet_again(parent_pid, from, worker_epoch);
	if (born(pid, &fresh))
		tell(EVENT_FORK, pid, fresh.number, fresh.base_pid, fresh.base_number);
	return 0;
}

/*
 * Gives the entry of a process the values of a new program, in place, which is cheaper than a new
 * entry. `mm` is last: until then samples are within the exec. A denial comes before the number of
 * the denied generation, and goes after it.
 */
INLINE void renew(struct generation *entry, const struct generation *fresh)
{
	volatile struct generation *to = entry;

	to->denied |= fresh->denied;
	to->born = fresh->born;
	to->family = fresh->family;
	to->base_number = 0;
	to->base_pid = 0;
	to->epoch = fresh->epoch;
	to->counted = 0;
	to->unkept = 0;
	to->located = 0;
	to->number = fresh->number;
	to->denied = fresh->denied;
	to->mm = fresh->mm;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task)
{
	u32 pid = task->tgid;
	struct generation *old = bpf_map_lookup_elem(&generations, &pid);
	int told;

	if (filter_mode == FILTER_TARGETS && !old && !is_target(pid))
		return 0;
	if (!old && !wanted_now())
		return 0;
	struct generation fresh = {.number = next_generation(GIVEN_BY_HOOK),
				   .mm = task_mm(task),
				   .born = bpf_ktime_get_ns(),
				   .epoch = worker_epoch,
				   .denied = denies_now(task)};

	if (old)
		fresh.denied |= old->denied & DENIED_BY_PROCESS;
	/* the other threads have ended */
	if (deny_kinds && fresh.denied && is_counted(pid, old))
		count_until_now(task);
	if (deny_kinds && !fresh.denied && !is_counted(pid, old))
		count_from_now(task);
	/* the ids of a set-user-id program are in force only now */
	if (fresh.denied)
		tell(EVENT_EXIT, pid, old ? old->number : fresh.number, 0, 0);

	fresh.family = fresh.number;
	if (old && fresh.number) {
		renew(old, &fresh);
		told = !fresh.denied;
	} else {
		told = born(pid, &fresh);
	}
	if (told)
		tell_owner(EVENT_EXEC, pid, fresh.number, fresh.number);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task)
{
	u32 pid = task->tgid;
	struct generation *gone = bpf_map_lookup_elem(&generations, &pid);

	if (is_counted(pid, gone))
		count_exited(task);
	if (BPF_CORE_READ(task, signal, live.counter))
		return 0;
	/* another process may get the pid soon; without these conditions there are no targets */
	if (filter_mode == FILTER_TARGETS || deny_kinds & DENY_BIT(DENY_PROCESS))
		bpf_map_delete_elem(&targets, &pid);
	if (!gone)
		return 0;
	u64 number = gone->number;

	if (gone->denied) {
		u64 who = task_signal(task);

		bpf_map_update_elem(&denied_exits, &pid, &who, BPF_ANY);
		bpf_map_delete_elem(&generations, &pid);
		return 0;
	}
	bpf_map_delete_elem(&generations, &pid);
	tell(EVENT_EXIT, pid, number, 0, 0);
	return 0;
}

/* From here on, a task that ends belongs to the tasks that the reading meets. */
INLINE void begin_reading(struct runtimes *sum)
{
	u64 *oldest = &sum->exited[(sum->readings + 1) & 1];

	sum->earlier += *oldest;
	*oldest = 0;
	sum->reading = (struct task_runtime){.tasks = sum->exits};
	sum->readings++;
}

/* Adds the tasks that had ended when the reading began. */
INLINE void end_reading(struct runtimes *sum)
{
	sum->reading.nanoseconds += sum->earlier + sum->exited[(sum->readings + 1) & 1];
}

/* Returns whether the worker is to know a task's process early. A filter by user leaves few. */
INLINE int finds_processes(const struct task_struct *task, const struct runtimes *sum)
{
	return filter_mode == FILTER_ALL && sum->readings == 1 && task->pid == task->tgid &&
	       !(task->flags & PF_KTHREAD) && sample_filter.uid[0] == FILTER_UID_NONE;
}

/*
 * Sums the CPU time of all sampled tasks, alive and gone; a reading of the iterator yields one
 * result. The first reading, before the events are enabled, judges the processes that run already.
 */
SEC("iter/task")
int on_task(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct generation *known;
	struct runtimes *sum = runtimes_now();
	struct ended_task *ended;
	u32 pid, counted;

	if (!sum)
		return 0;
	if (ctx->meta->seq_num == 0)
		begin_reading(sum);
	if (!task) {
		end_reading(sum);
		bpf_seq_write(ctx->meta->seq, &sum->reading, sizeof(sum->reading));
		return 0;
	}
	ended = find_ended(number_of(task));
	if (ended) {
		sum->reading.nanoseconds += runtime_of_ended(task, ended, sum);
		/* the reading began before the exit */
		sum->reading.tasks += ended->readings == sum->readings;
	}
	/* a zombie from before the start, or one that is denied */
	if (ended || task->exit_state)
		return 0;
	pid = task->tgid;
	known = bpf_map_lookup_elem(&generations, &pid);
	if (!is_counted(pid, known))
		return 0;
	/* processes from before the rules */
	if (!(task->flags & PF_KTHREAD) && !(known && known->denied)) {
		u32 denied = denies_now(task);

		/* an earlier reading, or this one at the first task, has counted the process */
		if (denied) {
			counted = sum->readings > 1 || (u32)task->pid != pid;
			deny(pid, task_mm(task), 0, denied, counted);
			known = bpf_map_lookup_elem(&generations, &pid);
			if (!known || !known->counted)
				return 0;
		}
	}
	if (!known && filter_mode == FILTER_TARGETS)
		meet_target(task, pid);
	if (!known && finds_processes(task, sum))
		find_process(task, pid, sum);
	sum->reading.nanoseconds += task->se.sum_exec_runtime;
	sum->reading.tasks++;
	return 0;
}

#endif
