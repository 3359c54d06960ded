/* SPDX-License-Identifier: Apache-2.0 */
/* The CPU time that was used on this machine, as the kernel tells it in /proc/stat (proc(5)). */
#ifndef KEYHOLE_EXPORTER_METRICS_CPU_TIME_H
#define KEYHOLE_EXPORTER_METRICS_CPU_TIME_H

#include <stddef.h>
#include <stdint.h>

/*
 * Reads the ticks, of sysconf(_SC_CLK_TCK) a second, that tasks of all CPUs have used: user, nice
 * and system of the first line. Returns 0 or -EBADMSG.
 */
int cpu_time_parse(const char *text, size_t size, uint64_t *ret_ticks);

/* Reads the same from the start of the open file. Returns 0, -EBADMSG or the errno of the read. */
int cpu_time_read(int fd, uint64_t *ret_ticks);

#endif
