/* SPDX-License-Identifier: Apache-2.0 */
/* The command lines of the verbs that record: record and why. */
#ifndef KEYHOLE_HELPER_OPTIONS_RECORD_H
#define KEYHOLE_HELPER_OPTIONS_RECORD_H

#include "helper/options/setters.h"
#include "ipc/messages.h"

/*
 * argv[0] is the verb. Both return OPTIONS_RECORD, EXIT_DONE when help is asked for, or EXIT_USAGE
 * after one line in the log. Only OPTIONS_RECORD leaves all of *ret_options meaningful.
 */
int record_read(int argc, char **argv, struct message_options *ret_options);
/* `keyhole stat`: as record_read(). */
int record_read_stat(int argc, char **argv, struct message_options *ret_options);
int record_read_why(int argc, char **argv, struct message_options *ret_options);

/*
 * Checks what can only be checked when every option is known, of targets, filters and events.
 * Returns 0, or -EINVAL after one line in the log.
 */
int record_finish(struct line *line, int argc);

#endif
