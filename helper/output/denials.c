/* SPDX-License-Identifier: Apache-2.0 */
#include "helper/output/denials.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "helper/output/counts.h"

#define DENIALS_SHOWN 8
#define OTHERWISE     "--exclude-*, or in a process that had ended"

struct denial {
	unsigned int rule; /* from 1 on */
	uint64_t samples;
};

/* Orders by samples, the most first, then by rule. */
static int compare(const void *a, const void *b)
{
	const struct denial *left = a, *right = b;

	if (left->samples != right->samples)
		return (left->samples < right->samples) - (left->samples > right->samples);
	return (left->rule > right->rule) - (left->rule < right->rule);
}

/* Returns how many rules hid samples. */
static size_t collect(const struct counts *counts, struct denial ret_denials[DENY_KEYS_MAX])
{
	size_t count = 0;

	for (unsigned int rule = 1; rule <= counts->source.rules; rule++)
		if (counts->denied[rule])
			ret_denials[count++] = (struct denial){rule, counts->denied[rule]};
	qsort(ret_denials, count, sizeof(*ret_denials), compare);
	return count;
}

static void print(const struct counts *counts, const struct denial *denial, FILE *stream)
{
	const off_t at = (off_t)((denial->rule - 1) * sizeof(struct policy_rule));
	struct policy_rule rule;

	if (pread(counts->fds[COUNTS_RULES], &rule, sizeof(rule), at) != sizeof(rule))
		return;
	rule.text[sizeof(rule.text) - 1] = '\0';
	fprintf(stream, "  note denied by: %" PRIu64 "  (%s)\n", denial->samples, rule.text);
}

void denials_print(const struct counts *counts, FILE *stream)
{
	struct denial denials[DENY_KEYS_MAX];
	size_t count;

	if (!counts->denied)
		return;
	count = collect(counts, denials);
	if (count > DENIALS_SHOWN)
		count = DENIALS_SHOWN;
	for (size_t i = 0; i < count; i++)
		print(counts, &denials[i], stream);
	if (counts->denied[0] && count > 0)
		fprintf(stream, "  note denied by: %" PRIu64 "  (%s)\n", counts->denied[0],
			OTHERWISE);
}
