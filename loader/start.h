/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps of a recording's start that need rights, in their order. Each returns an exit status
 * and explains any other than EXIT_DONE. EXIT_RIGHTS: keyhole lacks a right. EXIT_USAGE: the user
 * asked for something impossible. EXIT_FAILED: any other failure.
 */
#ifndef KEYHOLE_LOADER_START_H
#define KEYHOLE_LOADER_START_H

#include "ipc/exit_status.h"

struct recording;

/* Checks the rights, the rules, the user and the targets, and opens the audit stream. */
enum exit_status start_check(struct recording *rec);

/*
 * Starts what runs with the user's rights: keyhole-output and the command. Both inherit a process
 * in which keyhole has changed nothing yet.
 */
enum exit_status start_users_part(struct recording *rec);

/*
 * Starts the spawners and their children early: a child gets ready while start_kernel() runs. The
 * loader gives the children nothing of value, and reads nothing that they say, before the loader
 * has given up its privilege.
 */
enum exit_status start_children(struct recording *rec);

/* Loads the BPF programs and opens the events, which stay disabled. */
enum exit_status start_kernel(struct recording *rec);

/* Gives up all rights, as the last step that has any, and proves the loader's own layers. */
enum exit_status start_drop_privilege(struct recording *rec);

#endif
