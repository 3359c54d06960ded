/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolve FILE [ALTERNATE] < ADDRESSES: what addr2line -a -i -f says, by object/dwarf/. Addresses
 * are hexadecimal and ascending. On standard error: what it cost.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "ipc/time.h"
#include "object/dwarf/answer.h"
#include "object/dwarf/read.h"

#define ADDRESSES_MAX 1000000u
#define MOST_NS	      (600 * NS_PER_SECOND)

static const char *shown(const struct answer *answer, uint32_t string)
{
	return string ? answer_string_get(answer, string) : "??";
}

static void print(const struct answer *answer, uint64_t address, size_t index)
{
	const struct answer_frame *frames;
	size_t count = answer_get(answer, index, &frames);

	printf("0x%" PRIx64 "\n", address);
	for (size_t i = 0; i < count; i++) {
		const struct answer_function *function =
			answer_function_get(answer, frames[i].function);

		printf("%s\n%s:%" PRIu32 "\n", shown(answer, function->system_name),
		       shown(answer, function->file), frames[i].line);
	}
	if (count == 0)
		printf("??\n??:0\n");
}

int main(int argc, char **argv)
{
	static uint64_t addresses[ADDRESSES_MAX];
	struct dwarf_input input = {.file = -1, .alternate = -1, .deadline = time_now() + MOST_NS};
	struct answer *answer;
	struct rusage usage;
	size_t count = 0;
	int r;

	while (count < ADDRESSES_MAX && scanf("%" SCNx64, &addresses[count]) == 1)
		count++;
	input.file = argc > 1 ? open(argv[1], O_RDONLY) : -1;
	if (argc > 2)
		input.alternate = open(argv[2], O_RDONLY);
	answer = answer_new(count);
	if (!answer || input.file < 0)
		return 2;
	r = dwarf_read(&input, addresses, count, answer);
	getrusage(RUSAGE_SELF, &usage);
	for (size_t i = 0; i < count; i++)
		print(answer, addresses[i], i);
	fprintf(stderr,
		"r=%d status=%" PRIu32 " damaged=%" PRIu32 " split=%" PRIu32 " cut=%" PRIu32
		" alternate=%" PRIu32 " addresses=%zu cpu_ms=%.0f rss_mb=%.1f\n",
		r, answer_summary(answer)->status, answer_summary(answer)->damaged,
		answer_summary(answer)->split, answer_summary(answer)->cut,
		answer_summary(answer)->alt_id_size, count,
		(double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e3 +
			(double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e3,
		(double)usage.ru_maxrss / 1024);
	answer_free(answer);
	return r < 0;
}
