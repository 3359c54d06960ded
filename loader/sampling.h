/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps of a recording that need no rights. Each explains a failure, and returns an exit status
 * as recording_take_step() has it.
 */
#ifndef KEYHOLE_LOADER_SAMPLING_H
#define KEYHOLE_LOADER_SAMPLING_H

#include "ipc/exit_status.h"

struct recording;

/* Enables the events, and supervises the children until something ends the recording. */
enum exit_status sampling_run(struct recording *rec);

/*
 * Disables the events, and then has the children finish, within 30 s, and keyhole-output commit the
 * profile.
 */
enum exit_status sampling_finish(struct recording *rec);

#endif
