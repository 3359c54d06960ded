/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the parts of the shells' completions that are made of rows. */
#ifndef KEYHOLE_CONTRIB_DOCUMENTS_COMPLETIONS_H
#define KEYHOLE_CONTRIB_DOCUMENTS_COMPLETIONS_H

#include <stdio.h>

/* Variables: _keyhole_verbs, and _keyhole_VERB with the options of each verb. */
void bash_words(FILE *out);

/* Branches of a case by "VERB OPTION", which set words, or kind and at. */
void bash_arguments(FILE *out);

/* Elements of an array: 'VERB:DESCRIPTION'. */
void zsh_verbs(FILE *out);

/* Arrays named after the verbs, with arguments of _arguments. */
void zsh_options(FILE *out);

void fish_verbs(FILE *out);   /* commands */
void fish_options(FILE *out); /* commands */

#endif
