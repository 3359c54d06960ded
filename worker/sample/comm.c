/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/sample/comm.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/expression.h"

#define VERDICTS 256 /* names that are remembered; two may share a place, and then take turns */

struct verdict {
	char name[ABI_COMM_BYTES];
	bool known, matches;
};

struct comm_filter {
	regex_t regex;
	struct verdict verdicts[VERDICTS];
};

int comm_filter_new(const char *expression, struct comm_filter **ret_filter)
{
	struct comm_filter *filter = calloc(1, sizeof(*filter));
	int r;

	if (!filter)
		return -ENOMEM;
	r = expression_compile(&filter->regex, expression, 0);
	if (r) {
		free(filter);
		return r;
	}
	*ret_filter = filter;
	return 0;
}

void comm_filter_free(struct comm_filter *filter)
{
	if (!filter)
		return;
	regfree(&filter->regex);
	free(filter);
}

static struct verdict *place_of(struct comm_filter *filter, const char *name)
{
	uint64_t words[2];

	memcpy(words, name, sizeof(words));
	return &filter->verdicts[((words[0] ^ words[1]) * 0x9e3779b97f4a7c15ull >> 32) % VERDICTS];
}

bool comm_filter_matches(struct comm_filter *filter, const char name[ABI_COMM_BYTES])
{
	struct verdict *verdict = place_of(filter, name);
	char text[ABI_COMM_BYTES + 1] = "";
	int r;

	if (verdict->known && !memcmp(verdict->name, name, ABI_COMM_BYTES))
		return verdict->matches;
	memcpy(text, name, ABI_COMM_BYTES);
	r = regexec(&filter->regex, text, 0, NULL, 0);
	if (r && r != REG_NOMATCH)
		return true;
	*verdict = (struct verdict){.known = true, .matches = r == 0};
	memcpy(verdict->name, name, ABI_COMM_BYTES);
	return verdict->matches;
}
