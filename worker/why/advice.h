/* SPDX-License-Identifier: Apache-2.0 */
/* The advice of `keyhole why`: what a user can do about each finding. */
#ifndef KEYHOLE_WORKER_WHY_ADVICE_H
#define KEYHOLE_WORKER_WHY_ADVICE_H

struct findings;

/* Calls add for each piece of advice, the most useful one first; a text is one paragraph. */
void advice_give(const struct findings *findings, void (*add)(void *context, const char *text),
		 void *context);

#endif
