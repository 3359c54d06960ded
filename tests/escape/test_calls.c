/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_calls ROLE: a confined process makes every system call for good, by number and by each of
 * the three entries. Calls that are filtered by argument are made with every interesting argument.
 * A process that dies is replaced. The calls that are allowed stand here again, on purpose.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/futex.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "policy/procmap.h"
#include "tests/escape/cell.h"

#define ONES	   (~0ull)
#define LAST_CALL  (547 + 64) /* 469 is Linux 6.18's last, 547 the last that x32 has */
#define LAST_I386  (469 + 64)
#define X32_BIT	   0x40000000u
#define URETPROBE  335 /* no filter sees these two since Linux 6.12 and 6.18 */
#define UPROBE	   336
#define NO_CALL	   (-1)
#define CALLS_MOST 48

#define W (1u << ROLE_WORKER)
#define E (1u << ROLE_EXPORTER)
#define B (1u << ROLE_BROKER)
#define L (1u << ROLE_LOADER)

/* ---- every number ---- */

/* The calls without a condition. With other arguments than ones they may do more. */
static const struct {
	int number;
	unsigned int roles;
} golden[] = {
	{SYS_exit, W | E | B | L},
	{SYS_exit_group, W | E | B | L},
	{SYS_rt_sigreturn, W | E | B | L},
	{SYS_restart_syscall, W | E | B | L},
	{SYS_close, W | E | B | L},
	{SYS_recvmsg, W | E | B | L},
	{SYS_sendmsg, W | E | B | L},
	{SYS_poll, W | E | B | L},
	{SYS_clock_gettime, W | E | B | L},
	{SYS_gettimeofday, W | E | B | L},
	{SYS_getrandom, W | E | B | L},
	{SYS_sysinfo, W | E | B | L},
	{SYS_sched_getaffinity, W | E | B | L},
	{SYS_rt_sigprocmask, W | E | B | L},
	{SYS_brk, W | E | L},
	{SYS_munmap, W | E | L},
	{SYS_mremap, W | E | L},
	{SYS_read, W | E | B | L},
	{SYS_write, W | E | B | L},
	{SYS_pread64, W | E | B | L},
	{SYS_lseek, W | L},
	{SYS_fstat, W | E | L},
	{SYS_sched_yield, W | L},
	{SYS_clock_nanosleep, W | L},
	{SYS_membarrier, W | L},
	{SYS_set_robust_list, W | L},
	{SYS_rseq, W | L},
	{SYS_epoll_wait, W | E},
	{SYS_epoll_ctl, W | E},
	{SYS_timerfd_settime, W},
	{SYS_fsync, E},
	{SYS_statx, B},
	{SYS_readlinkat, B},
	{SYS_wait4, L},
	{SYS_waitid, L},
	{SYS_tgkill, L},
	{SYS_getpid, E | L},
	{SYS_gettid, L},
	{SYS_rt_sigaction, L},
	{SYS_writev, L},
};

static bool may_call(enum policy_role role, unsigned int number)
{
	for (size_t i = 0; i < sizeof(golden) / sizeof(*golden); i++)
		if ((unsigned int)golden[i].number == number)
			return golden[i].roles >> role & 1;
	return false;
}

static unsigned int count_golden(enum policy_role role)
{
	unsigned int count = 0;

	for (size_t i = 0; i < sizeof(golden) / sizeof(*golden); i++)
		count += golden[i].roles >> role & 1;
	return count;
}

struct score {
	unsigned int killed, allowed, wrong;
};

static void count(struct score *score, bool killed, bool may, const char *what, uint64_t value)
{
	score->killed += killed;
	score->allowed += !killed;
	if (killed != !may) {
		score->wrong++;
		printf("# %s %#llx: %s\n", what, (unsigned long long)value,
		       killed ? "killed" : "NOT killed");
	}
}

static void test_numbers(struct cell *cell)
{
	const char *name = policy_role(cell->role)->program;
	struct score score = {0};
	int64_t result;

	for (unsigned int number = 0; number <= LAST_CALL; number++) {
		struct order order = {.kind = ORDER_CALL,
				      .number = number,
				      .argument = {ONES, ONES, ONES, ONES, ONES, ONES}};
		bool killed = cell_do(cell, &order, -1, &result) == OUTCOME_KILLED;

		if (number != URETPROBE && number != UPROBE)
			count(&score, killed, may_call(cell->role, number), "call", number);
	}
	tap(!score.wrong && score.allowed == count_golden(cell->role),
	    "%s: %u system calls killed, %u allowed as listed", name, score.killed, score.allowed);
}

static void test_entry(struct cell *cell, enum order_kind kind, uint32_t bit, uint32_t last,
		       const char *entry)
{
	struct score score = {0};
	int64_t result;

	for (unsigned int number = 0; number <= last; number++) {
		struct order order = {.kind = kind,
				      .number = number | bit,
				      .argument = {ONES, ONES, ONES, ONES, ONES, ONES}};
		bool killed = cell_do(cell, &order, -1, &result) == OUTCOME_KILLED;
		/* int 0x80 is a fault where the kernel was built without it */
		bool none = kind == ORDER_INT80 && !killed && !cell->alive;

		count(&score, killed || none, false, entry, number);
	}
	tap(!score.wrong, "%s: %u calls by %s killed, %u allowed", policy_role(cell->role)->program,
	    score.killed, entry, score.allowed);
}

/* ---- arguments ---- */

typedef bool may_function(enum policy_role role, uint64_t first, uint64_t second);

static bool may_protect(enum policy_role role, uint64_t protection, uint64_t unused)
{
	(void)role;
	(void)unused;
	return !(protection & ~(uint64_t)(PROT_READ | PROT_WRITE));
}

/* Nothing locked, no huge pages, and no shared memory without a file. */
static bool may_map(enum policy_role role, uint64_t protection, uint64_t flags)
{
	const uint64_t shared = MAP_SHARED | MAP_ANONYMOUS;

	if (!may_protect(role, protection, 0))
		return false;
	if (flags & (MAP_LOCKED | MAP_HUGETLB | MAP_GROWSDOWN))
		return false;
	return (flags & shared) != shared;
}

static bool may_advise(enum policy_role role, uint64_t advice, uint64_t unused)
{
	(void)role;
	(void)unused;
	return advice == MADV_DONTNEED || advice == MADV_FREE || advice == MADV_DONTDUMP;
}

static bool may_futex(enum policy_role role, uint64_t operation, uint64_t unused)
{
	(void)role;
	(void)unused;
	switch (operation) {
	case FUTEX_WAIT_PRIVATE:
	case FUTEX_WAKE_PRIVATE:
	case FUTEX_REQUEUE_PRIVATE:
	case FUTEX_CMP_REQUEUE_PRIVATE:
	case FUTEX_WAIT_BITSET_PRIVATE:
	case FUTEX_WAIT_BITSET_PRIVATE | FUTEX_CLOCK_REALTIME:
	case FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME:
		return true;
	default:
		return false;
	}
}

static bool may_fcntl(enum policy_role role, uint64_t command, uint64_t argument)
{
	switch (command) {
	case F_SETFD:
		return argument == FD_CLOEXEC;
	case F_GETFL:
		return role == ROLE_WORKER || role == ROLE_LOADER;
	case F_GETFD:
		return role == ROLE_WORKER;
	case F_GET_SEALS:
		return role == ROLE_EXPORTER;
	case F_GETOWN_EX: /* of a pidfd, the number of a child in another pid namespace */
		return role == ROLE_LOADER;
	default:
		return false;
	}
}

static bool may_set_option(enum policy_role role, uint64_t level, uint64_t option)
{
	(void)role;
	return level == SOL_SOCKET && option == 83; /* SO_PASSRIGHTS */
}

static bool may_stat(enum policy_role role, uint64_t flags, uint64_t unused)
{
	(void)role;
	(void)unused;
	return flags == AT_EMPTY_PATH;
}

/* All that creates, truncates or writes; the kernel looks at the lower half alone. */
static bool may_open(enum policy_role role, uint64_t flags, uint64_t unused)
{
	(void)role;
	(void)unused;
	return !(flags & (O_ACCMODE | O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY)));
}

static bool may_bpf(enum policy_role role, uint64_t command, uint64_t unused)
{
	(void)role;
	(void)unused;
	return command == BPF_MAP_CREATE || command == BPF_MAP_UPDATE_ELEM ||
	       command == BPF_MAP_LOOKUP_ELEM || command == BPF_MAP_DELETE_ELEM ||
	       command == BPF_MAP_GET_NEXT_KEY;
}

static bool may_control(enum policy_role role, uint64_t request, uint64_t unused)
{
	(void)unused;
	if (role == ROLE_BROKER)
		return request == PROCMAP_QUERY;
	return request == PERF_EVENT_IOC_ENABLE || request == PERF_EVENT_IOC_DISABLE;
}

static bool may_pair(enum policy_role role, uint64_t domain, uint64_t type)
{
	(void)role;
	return domain == AF_UNIX && type == (SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK);
}

struct range {
	uint64_t first, last;
};

#define RANGES 5

struct matrix {
	const char *name;
	long number;
	unsigned int roles;
	may_function *may;
	int at[2]; /* arguments that vary, the second may be -1 */
	struct range values[2][RANGES];
	bool bits, high; /* also: each single bit; the values with a bit above the 32nd */
	uint64_t argument[6];
};

#define EACH(first, last)   \
	{                   \
		first, last \
	}
static const struct matrix matrices[] = {
	{"mmap",
	 SYS_mmap,
	 W | E | L,
	 may_map,
	 {2, 3},
	 {{EACH(1, 15)}, {EACH(0x20, 0x23), EACH(0x2021, 0x2022), EACH(0x40021, 0x40022)}},
	 true,
	 true,
	 {0, 4096, 0, 0, ONES, 0}},
	{"mprotect",
	 SYS_mprotect,
	 W | E | L,
	 may_protect,
	 {2, -1},
	 {{EACH(0, 15)}},
	 true,
	 true,
	 {0}},
	{"madvise",
	 SYS_madvise,
	 W | E | L,
	 may_advise,
	 {2, -1},
	 {{EACH(0, 26), EACH(100, 105)}},
	 true,
	 true,
	 {0}},
	{"futex",
	 SYS_futex,
	 W | L,
	 may_futex,
	 {1, -1},
	 {{EACH(0, 15), EACH(128, 143), EACH(256, 271), EACH(384, 399)}},
	 true,
	 true,
	 {0}},
	{"fcntl",
	 SYS_fcntl,
	 W | E | B | L,
	 may_fcntl,
	 {1, 2},
	 {{EACH(0, 17), EACH(1024, 1042)}, {EACH(0, 3)}},
	 true,
	 true,
	 {ORDER_FD}},
	{"setsockopt",
	 SYS_setsockopt,
	 W | E | B | L,
	 may_set_option,
	 {1, 2},
	 {{EACH(0, 1), EACH(6, 6), EACH(41, 41)}, {EACH(1, 90)}},
	 false,
	 false,
	 {ORDER_FD}},
	{"newfstatat",
	 SYS_newfstatat,
	 W | E | L,
	 may_stat,
	 {3, -1},
	 {{EACH(0, 0), EACH(0x1100, 0x1100), EACH(0x1800, 0x1801), EACH(0x5000, 0x5000)}},
	 true,
	 true,
	 {ONES, ORDER_EMPTY_PATH, 0}},
	{"openat",
	 SYS_openat,
	 B | L,
	 may_open,
	 {2, -1},
	 {{EACH(0, 3), EACH(0x10000, 0x10003), EACH(0x200000, 0x200003), EACH(0x410000, 0x410003)}},
	 true,
	 false,
	 {(uint64_t)AT_FDCWD, ORDER_ROOT_PATH}},
	{"bpf", SYS_bpf, B, may_bpf, {0, -1}, {{EACH(0, 48)}}, true, true, {0}},
	{"ioctl",
	 SYS_ioctl,
	 B | L,
	 may_control,
	 {1, -1},
	 {{EACH(0x2400, 0x240f), EACH(0x5400, 0x5460), EACH(0x40042406, 0x4004240b),
	   EACH(0x40082400, 0x4008240f), EACH(0xc0686600, 0xc068661f)}},
	 true,
	 true,
	 {ORDER_FD}},
	{"socketpair",
	 SYS_socketpair,
	 L,
	 may_pair,
	 {0, 1},
	 {{EACH(0, 46)}, {EACH(1, 6), EACH(0x80801, 0x80806)}},
	 true,
	 true,
	 {0}},
};

static void try_pair(struct cell *cell, const struct matrix *matrix, uint64_t first,
		     uint64_t second, struct score *score)
{
	struct order order = {.kind = ORDER_CALL, .number = (uint32_t)matrix->number};
	int64_t result;
	bool killed;

	memcpy(order.argument, matrix->argument, sizeof(order.argument));
	order.argument[matrix->at[0]] = first;
	if (matrix->at[1] >= 0)
		order.argument[matrix->at[1]] = second;
	killed = cell_do(cell, &order, -1, &result) == OUTCOME_KILLED;
	count(score, killed, matrix->may(cell->role, first, second), matrix->name, first);
}

static void try_ranges(struct cell *cell, const struct matrix *matrix, uint64_t bit,
		       struct score *score)
{
	for (int i = 0; i < RANGES; i++) {
		const struct range *range = &matrix->values[0][i];

		if (i && !range->last)
			break;
		for (uint64_t first = range->first; first <= range->last; first++) {
			const struct range *other = &matrix->values[1][0];

			for (uint64_t second = other->first; second <= other->last; second++)
				try_pair(cell, matrix, first | bit, second, score);
		}
	}
}

static void test_matrix(struct cell *cell, const struct matrix *matrix)
{
	struct score score = {0};

	try_ranges(cell, matrix, 0, &score);
	for (unsigned int bit = 0; matrix->bits && bit < 64; bit++)
		try_pair(cell, matrix, 1ull << bit, matrix->values[1][0].first, &score);
	if (matrix->high)
		try_ranges(cell, matrix, 1ull << 40, &score);
	tap(!score.wrong, "%s: %s: %u combinations killed, %u allowed",
	    policy_role(cell->role)->program, matrix->name, score.killed, score.allowed);
}

/* ---- all ---- */

int main(int argc, char **argv)
{
	enum policy_role role = argc == 2 ? cell_role(argv[1]) : ROLE_SUPERVISED;
	struct cell cell;

	if (role == ROLE_SUPERVISED)
		return 2;
	cell_setup();
	cell_open(&cell, role, 0);
	test_numbers(&cell);
	test_entry(&cell, ORDER_CALL, X32_BIT, LAST_CALL, "x32");
	test_entry(&cell, ORDER_INT80, 0, LAST_I386, "int 0x80");
	for (size_t i = 0; i < sizeof(matrices) / sizeof(*matrices); i++)
		if (matrices[i].roles >> role & 1)
			test_matrix(&cell, &matrices[i]);
	printf("# %u processes\n", cell.started);
	cell_close(&cell);
	return tap_end();
}
