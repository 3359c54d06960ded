/* SPDX-License-Identifier: Apache-2.0 */
/* The process that has the profile: it reads it, asks about each object, and writes it again. */
#ifndef KEYHOLE_VIEW_SYMBOLIZE_MODEL_H
#define KEYHOLE_VIEW_SYMBOLIZE_MODEL_H

#include "view/symbolize/exchange.h"

struct model_files {
	const char *name; /* of the input, for messages */
	int input, output;
};

/* Confines the process first. An exit status; what went wrong was said. */
int model_run(const struct model_files *files, const struct exchange *exchange);

#endif
