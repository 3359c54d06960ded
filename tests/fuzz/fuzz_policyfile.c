/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "helper/rules/parser.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Accepted rules are as the loader wants them, and mean the same when written down again. */
static void check(const struct policy_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++) {
		const struct policy_row *row = &rows->row[i];

		if (row->kind >= ROW_KINDS || !row->line || row->text[POLICY_PATH_BYTES - 1] ||
		    !row->text[0])
			abort();
		for (const char *c = row->text; *c; c++)
			if (*c < ' ' || *c > '~')
				abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct policy_rows rows, again;
	static char text[POLICY_ROWS_MAX * (POLICY_PATH_BYTES + 32)];
	char first[POLICY_HASH_BYTES], second[POLICY_HASH_BYTES];
	size_t used = 0;

	if (policy_parse((const char *)data, size, &rows)) {
		if (!rows.reason)
			abort();
		return 0;
	}
	check(&rows);
	for (size_t i = 0; i < rows.count; i++) {
		used = (size_t)(stpcpy(text + used, policy_words[rows.row[i].kind]) - text);
		used = (size_t)(stpcpy(text + used, rows.row[i].text) - text);
		text[used++] = '\n';
	}
	policy_hash(&rows, first);
	if (used <= POLICY_FILE_BYTES) {
		if (policy_parse(text, used, &again) || again.count != rows.count)
			abort();
		policy_hash(&again, second);
		if (strcmp(first, second))
			abort();
	}
	return 0;
}
