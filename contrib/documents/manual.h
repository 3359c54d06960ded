/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the parts of manual pages that are made of rows, as mdoc(7). */
#ifndef KEYHOLE_CONTRIB_DOCUMENTS_MANUAL_H
#define KEYHOLE_CONTRIB_DOCUMENTS_MANUAL_H

#include <stdio.h>

#include "contrib/documents/rows.h"

/* Writes the items of a list: the verb's own options, without those that it hands on. */
void manual_options(FILE *out, const struct verb *verb);

void manual_verbs(FILE *out);	  /* the items of a list */
void manual_handed_on(FILE *out); /* the names of the options that top hands on to record */
void manual_formats(FILE *out);	  /* the items of a list */
void manual_events(FILE *out);	  /* names, on one line */

#endif
