/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides which log lines are written: five equal ones of a process in a minute, and 200 of all its
 * lines in ten seconds. The next line that is written has the number of those left out.
 */
#ifndef KEYHOLE_IPC_LOG_LIMIT_H
#define KEYHOLE_IPC_LOG_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#define LOG_LIMIT_EQUAL	     5u
#define LOG_LIMIT_EQUAL_NS   60000000000ull
#define LOG_LIMIT_LINES	     200u
#define LOG_LIMIT_LINES_NS   10000000000ull
#define LOG_LIMIT_SOURCES    16u
#define LOG_LIMIT_REMEMBERED 16u  /* lines; another one takes the place of the oldest */
#define LOG_LIMIT_TEXT_BYTES 256u /* of a line; the rest makes no difference */

struct log_count {
	bool is_used;
	uint64_t begun; /* of the time that counts, ns */
	uint64_t lines, left_out;
};

struct log_limit {
	struct {
		struct log_count count;
		char process[32];
	} sources[LOG_LIMIT_SOURCES];
	struct {
		struct log_count count;
		char process[32], text[LOG_LIMIT_TEXT_BYTES];
	} lines[LOG_LIMIT_REMEMBERED];
};

/* How many lines were left out before one that is written. */
struct log_left_out {
	uint64_t equal, others;
};

/* Returns whether to write the line. now: ns of a clock that never goes back. */
bool log_limit_take(struct log_limit *limit, const char *process, const char *text, uint64_t now,
		    struct log_left_out *ret_left_out);

#endif
