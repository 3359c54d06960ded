/* SPDX-License-Identifier: Apache-2.0 */
/* Exit statuses of the commands. `keyhole check` has its own (view/check/report.c). */
#ifndef KEYHOLE_IPC_EXIT_STATUS_H
#define KEYHOLE_IPC_EXIT_STATUS_H

enum exit_status {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_RIGHTS = 3, /* more rights are needed */
	EXIT_EMPTY = 4,	 /* no sample was taken */
	EXIT_AGAIN = 5,	 /* an agent, on SIGHUP or for a new CPU: to be started again */
	EXIT_NO_COMMAND = 127,
	EXIT_PIPE = 141, /* nobody reads standard output any more, as shells show SIGPIPE */
};

#endif
