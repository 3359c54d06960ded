/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells the exporter what has been used: for each kind of row, those that used most of late, and
 * one of all others. The rest counts what a row used while the row was not told. A row that is told
 * has all that it has used since the accounts began.
 */
#ifndef KEYHOLE_WORKER_ACCOUNT_TELLER_H
#define KEYHOLE_WORKER_ACCOUNT_TELLER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "ipc/messages.h"
#include "worker/account/reader.h"
#include "worker/account/table.h"
#include "worker/account/texts.h"

struct teller {
	uint32_t top; /* rows of a kind, at most ACCOUNTS_TOP_MAX */
	uint64_t epoch;
	bool has_told;
	struct rows containers;
	struct row other_containers; /* without a row of their own */
	struct hash_key key;
	struct amount rest[ACCOUNT_ROWS];
	struct amount unseen;	     /* that the rest has */
	struct accounts_sums before; /* that were told last */
};

/* Where messages go. send returns 0 or a negative errno. */
struct teller_channel {
	int (*send)(void *context, enum message_type type, const void *payload, uint32_t size);
	void *context;
};

int teller_init(struct teller *teller, uint32_t top, uint64_t epoch); /* 0 or a negative errno */
void teller_release(struct teller *teller);			      /* zeros are fine */

/*
 * Tells all. Marks the rows of the table, and has it forget those that have ended and are not told.
 * sums: since the accounts began, of this moment. rate: of reference cycles, Hz. Returns 0, -ENOMEM
 * or the first error of the channel.
 */
int teller_tell(struct teller *teller, struct table *table, const struct texts *texts,
		const struct accounts_sums *sums, uint64_t rate,
		const struct teller_channel *channel);

#endif
