/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open_events: opens each row of ipc/events.def as the loader does (loader/events.c), at its
 * frequency or with its period. This process then makes all of the events, and counts how often
 * each calls a BPF program. Prints "EVENT PERIOD MS CALLS" or "EVENT PERIOD refused ERRNO" for
 * each, then "end". As process 1 the program powers the machine off when done.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/reboot.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ipc/time.h"
#include "loader/events.h"

#define HZ	 99u
#define BURN_NS	 300000000ull
#define HAPPENED 200u /* page faults, and switches */
#define PAGE	 4096u

static const struct {
	const char *name;
	uint64_t period, least;
} rows[] = {
#define E(name, kind, what, counted, period, least) {name, period, least},
#include "ipc/events.def"
#undef E
};

static int bpf(enum bpf_cmd command, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static int new_map(void)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 8, .max_entries = 1};

	return bpf(BPF_MAP_CREATE, &attr);
}

/* Adds 1 to the map's value. */
static int new_program(int map)
{
	const struct bpf_insn program[] = {
		{BPF_ST | BPF_MEM | BPF_W, 10, 0, -4, 0},
		{BPF_ALU64 | BPF_MOV | BPF_X, 2, 10, 0, 0},
		{BPF_ALU64 | BPF_ADD | BPF_K, 2, 0, 0, -4},
		{BPF_LD | BPF_IMM | BPF_DW, 1, BPF_PSEUDO_MAP_FD, 0, map},
		{0, 0, 0, 0, 0},
		{BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_map_lookup_elem},
		{BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 2, 0},
		{BPF_ALU64 | BPF_MOV | BPF_K, 1, 0, 0, 1},
		{BPF_STX | BPF_ATOMIC | BPF_DW, 0, 1, 0, BPF_ADD},
		{BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0},
		{BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
	};
	union bpf_attr attr = {.prog_type = BPF_PROG_TYPE_PERF_EVENT,
			       .insns = (uint64_t)(uintptr_t)program,
			       .insn_cnt = sizeof(program) / sizeof(program[0]),
			       .license = (uint64_t)(uintptr_t) "Apache-2.0"};

	return bpf(BPF_PROG_LOAD, &attr);
}

static uint64_t value_of(int map)
{
	uint64_t value = 0;
	const uint32_t key = 0;
	union bpf_attr attr = {.map_fd = (uint32_t)map,
			       .key = (uint64_t)(uintptr_t)&key,
			       .value = (uint64_t)(uintptr_t)&value};

	return bpf(BPF_MAP_LOOKUP_ELEM, &attr) ? 0 : value;
}

static void happen(void)
{
	volatile char *pages = mmap(NULL, HAPPENED * PAGE, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const uint64_t end = time_now() + BURN_NS;

	madvise((void *)pages, HAPPENED * PAGE, MADV_NOHUGEPAGE);
	for (unsigned int i = 0; i < HAPPENED; i++) {
		pages[i * PAGE] = 1;
		usleep(1);
	}
	munmap((void *)pages, HAPPENED * PAGE);
	while (time_now() < end)
		;
}

static void stop(struct events *events)
{
	for (uint32_t i = 0; i < events->cpus; i++) {
		close(events->sample[i]);
		close(events->sideband[i]);
	}
}

static void run(uint32_t row, uint64_t period)
{
	static struct events events;
	struct message_sampling sampling = {period, row + 1, period ? OPTIONS_FREQUENCY_MAX : HZ};
	const int map = new_map(), program = new_program(map);
	uint64_t began;
	int r;

	memset(&events, -1, sizeof(events));
	r = program < 0 ? -errno
			: events_open((uint32_t)sysconf(_SC_NPROCESSORS_CONF), &sampling, program,
				      EVENTS_WAKE_AT_ONCE, &events);
	printf("%s %llu ", rows[row].name, (unsigned long long)period);
	began = time_now();
	r = r ? r : events_enable(&events);
	if (r) {
		printf("refused %d\n", -r);
	} else {
		happen();
		events_disable(&events);
		printf("%llu %llu\n", (unsigned long long)(time_now() - began) / 1000000,
		       (unsigned long long)value_of(map));
	}
	stop(&events);
	close(program);
	close(map);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
	for (uint32_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) {
		run(row, rows[row].period);
		if (!rows[row].period)
			run(row, rows[row].least);
	}
	puts("end");
	if (getpid() == 1)
		reboot(RB_POWER_OFF);
	return 0;
}
