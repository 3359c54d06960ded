/* SPDX-License-Identifier: Apache-2.0 */
/* bpfspin NAME SECONDS: loads a BPF program of that name and runs it for so long. */
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "work.h"

#define ROUNDS 4096
#define REPEAT 2000

static long bpf(int command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

/* r0 = 0; r1 = ROUNDS; do { r0 += r1; r0 ^= r1; } while (--r1); return r0 */
static int load(const char *name)
{
	static const struct bpf_insn code[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 1, .imm = ROUNDS},
		{.code = BPF_ALU64 | BPF_ADD | BPF_X, .dst_reg = 0, .src_reg = 1},
		{.code = BPF_ALU64 | BPF_XOR | BPF_X, .dst_reg = 0, .src_reg = 1},
		{.code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = 1, .imm = -1},
		{.code = BPF_JMP | BPF_JNE | BPF_K, .dst_reg = 1, .off = -4},
		{.code = BPF_JMP | BPF_EXIT},
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_SOCKET_FILTER,
		.insn_cnt = sizeof(code) / sizeof(*code),
		.insns = (unsigned long)code,
		.license = (unsigned long)"GPL",
	};

	strncpy(attr.prog_name, name, sizeof(attr.prog_name) - 1);
	return (int)bpf(BPF_PROG_LOAD, &attr);
}

int main(int argc, char **argv)
{
	static const unsigned char packet[64];
	struct work_time time;
	union bpf_attr attr = {0};

	if (argc != 3)
		return 2;
	attr.test.prog_fd = (unsigned int)load(argv[1]);
	attr.test.data_in = (unsigned long)packet;
	attr.test.data_size_in = sizeof(packet);
	attr.test.repeat = REPEAT;
	if ((int)attr.test.prog_fd < 0) {
		perror("load");
		return 1;
	}
	time = work_for(seconds_argument(argc, argv, 2, 0));
	while (is_left(&time))
		if (bpf(BPF_PROG_TEST_RUN, &attr) && errno != EINTR) {
			perror("run");
			return 1;
		}
	return 0;
}
