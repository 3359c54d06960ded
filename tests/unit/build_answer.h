/* SPDX-License-Identifier: Apache-2.0 */
/* Answers on one address, of one function, as a reader of debug information writes them. */
#ifndef KEYHOLE_TESTS_UNIT_BUILD_ANSWER_H
#define KEYHOLE_TESTS_UNIT_BUILD_ANSWER_H

#include <stdbool.h>

#include "object/dwarf/answer.h"

/* wants: parts are in dwz's file, whose build id is abcd. Returns 0 or a negative errno. */
int build_answer(int fd, const char *function, enum answer_status status, bool wants);

/* Fails the test unless the file holds such an answer. */
void build_answer_check(int fd, const char *function);

#endif
