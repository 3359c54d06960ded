/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/process/journal.h"

#include <string.h>

#include "bpf/abi.h"

static const struct journal_object none;

static bool equal(const struct journal_object *a, const struct journal_object *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

static struct journal_object journal_object(const struct target_identity *identity)
{
	return (struct journal_object){identity->device, identity->inode, identity->size,
				       identity->change_time};
}

void journal_take_over(struct journal *journal)
{
	if (!journal || equal(&journal->parsing, &none))
		return;
	memmove(journal->quarantined + 1, journal->quarantined,
		sizeof(journal->quarantined) - sizeof(*journal->quarantined));
	journal->quarantined[0] = journal->parsing;
	journal->parsing = none;
}

/* Writes in order with the parse: the next worker reads the page after this one has ended. */
static void set(struct journal *journal, struct journal_object object)
{
	if (!journal)
		return;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	*(volatile struct journal_object *)&journal->parsing = object;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

void journal_begin(struct journal *journal, const struct target_identity *identity)
{
	set(journal, journal_object(identity));
}

void journal_end(struct journal *journal)
{
	set(journal, none);
}

bool journal_has(const struct journal *journal, const struct target_identity *identity)
{
	const struct journal_object object = journal_object(identity);

	if (!journal || equal(&object, &none))
		return false;
	for (size_t i = 0; i < JOURNAL_QUARANTINED; i++)
		if (equal(&journal->quarantined[i], &object))
			return true;
	return false;
}
