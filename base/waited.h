/* SPDX-License-Identifier: Apache-2.0 */
/* The note about a recording of chosen processes that mostly waited: waiting is not sampled. */
#ifndef KEYHOLE_BASE_WAITED_H
#define KEYHOLE_BASE_WAITED_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A recording below this share of one CPU gets the note. In a shorter recording, starting a command
 * and seeing its end take most of the time.
 */
#define WAITED_PERCENT 10u
#define WAITED_WALL_MS 500u

struct message_waited;

#define WAITED_NOTE_START "waited: "
#define WAITED_NOTE_BYTES 256

/* Returns whether the processes used less than WAITED_PERCENT in WAITED_WALL_MS or more. */
bool waited_is_noted(const struct message_waited *waited);

/*
 * Writes "400 ms of CPU time in 10.0 s, 4 % of one CPU (7 threads)", or "no CPU time in 10.0 s (7
 * threads)". wall is not 0.
 */
void waited_use(char ret_text[static WAITED_NOTE_BYTES], const struct message_waited *waited);

/* Writes "waited: the recorded processes used 400 ms of CPU time ...". wall is not 0. */
void waited_note(char ret_text[static WAITED_NOTE_BYTES], const struct message_waited *waited);

#endif
