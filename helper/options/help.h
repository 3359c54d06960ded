/* SPDX-License-Identifier: Apache-2.0 */
/* Prints `keyhole help`, and the help of the verbs that keyhole-options reads, 80 columns wide. */
#ifndef KEYHOLE_HELPER_OPTIONS_HELP_H
#define KEYHOLE_HELPER_OPTIONS_HELP_H

#include <stdio.h>

void help_print(FILE *out); /* the commands, then the options of record */
void help_print_check_config(FILE *out);
void help_print_agent(FILE *out);
void help_print_stat(FILE *out);
void help_print_why(FILE *out);

#endif
