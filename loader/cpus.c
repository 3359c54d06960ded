/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/cpus.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ipc/guard.h"

#define ONLINE	   "/sys/devices/system/cpu/online"
#define TEXT_BYTES 4096 /* a page, the most that the kernel writes */
#define WORDS	   (ABI_MAX_CPUS / 64)

static bool is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

/* Reads "3" or "3-5" at *text, which begins with a digit. */
static int parse_range(const char **text, unsigned long *ret_first, unsigned long *ret_last)
{
	char *end;

	*ret_first = *ret_last = strtoul(*text, &end, 10);
	if (*end == '-' && !is_digit(end[1]))
		return -EBADMSG;
	if (*end == '-')
		*ret_last = strtoul(end + 1, &end, 10);
	*text = end + (*end == ',');
	if (*ret_last < *ret_first || *ret_last >= ABI_MAX_CPUS)
		return -EBADMSG;
	return 0;
}

/* Documentation/admin-guide/cputopology.rst: ranges and numbers, separated by commas. */
int cpus_parse(const char *text, uint64_t ret_online[static WORDS])
{
	unsigned long first, last;

	memset(ret_online, 0, WORDS * sizeof(*ret_online));
	while (is_digit(*text)) {
		if (parse_range(&text, &first, &last) < 0)
			return -EBADMSG;
		for (unsigned long cpu = first; cpu <= last; cpu++)
			ret_online[cpu / 64] |= 1ull << cpu % 64;
	}
	if (*text && *text != '\n')
		return -EBADMSG;
	return 0;
}

static int read_list(int fd, uint64_t ret_online[static WORDS])
{
	char text[TEXT_BYTES + 1];
	const ssize_t size = pread(fd, text, TEXT_BYTES, 0);

	if (size < 0)
		return -errno;
	text[size] = '\0';
	return cpus_parse(text, ret_online);
}

int cpus_open(struct cpus *ret_cpus)
{
	guard_fd int fd = open(ONLINE, O_RDONLY | O_CLOEXEC);
	int r;

	*ret_cpus = (struct cpus){.fd = -1};
	if (fd < 0)
		return -errno;
	r = read_list(fd, ret_cpus->online);
	if (r < 0)
		return r;
	ret_cpus->fd = take_fd(&fd);
	return 0;
}

uint32_t cpus_look(struct cpus *cpus)
{
	uint64_t online[WORDS];
	uint32_t appeared = 0;

	if (cpus->fd < 0 || read_list(cpus->fd, online) < 0)
		return 0;
	for (size_t i = 0; i < WORDS; i++)
		appeared += (uint32_t)__builtin_popcountll(online[i] & ~cpus->online[i]);
	memcpy(cpus->online, online, sizeof(online));
	cpus->appeared += appeared;
	return appeared;
}
