/* SPDX-License-Identifier: Apache-2.0 */
/* Signals that end a process: the loader waits for them, and its children ignore some. */
#ifndef KEYHOLE_IPC_SIGNALS_H
#define KEYHOLE_IPC_SIGNALS_H

#include <signal.h>

/*
 * Makes the set of all these signals, except those that the process ignores by now: nohup(1) and
 * the shell have ignored them on purpose. SIGINT and SIGTERM are in the set in any case, because
 * a shell ignores SIGINT in every process that it starts in the background. SIGPIPE and SIGXFSZ
 * are not in the set, nor are the signals of a fault such as SIGSEGV.
 */
void signals_that_end(sigset_t *ret_set);

/*
 * Leaves the end of keyhole to the loader, which ends its children when all is written. The process
 * has a session of its own, without the terminal's Ctrl-C. It ignores the signals with which users
 * and engines of containers end a program. An engine may send them to all processes.
 */
void signals_leave_to_loader(void);

#endif
