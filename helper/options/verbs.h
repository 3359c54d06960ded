/* SPDX-License-Identifier: Apache-2.0 */
/* The verbs that a row of options.def names. keyhole-top reads the rows too. */
#ifndef KEYHOLE_HELPER_OPTIONS_VERBS_H
#define KEYHOLE_HELPER_OPTIONS_VERBS_H

enum {
	RECORD = 1,
	WHY = 2,
	TOP = 4, /* top hands the option on to record */
	CHECK_CONFIG = 8,
	AGENT = 16,
	CONFIG = 32, /* the agent's configuration file, no verb */
	STAT = 64
};

#endif
