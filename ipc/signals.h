/* SPDX-License-Identifier: Apache-2.0 */
/* The signals that end a process which does not handle them, and that a process can wait for. */
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

#endif
