/* SPDX-License-Identifier: Apache-2.0 */
/* Shows which deny rules hid how many samples. Anybody can get under a rule by intent. */
#ifndef KEYHOLE_HELPER_DENIALS_H
#define KEYHOLE_HELPER_DENIALS_H

#include <stdio.h>

struct counts;

/* Prints a line for each of the rules that hid most samples, after counts_begin(). */
void denials_print(const struct counts *counts, FILE *stream);

#endif
