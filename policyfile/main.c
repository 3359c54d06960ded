/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keyhole-policy: reads the policy file from the descriptor that the loader opened, answers with
 * its rows, and ends. It looks nothing up: what a path leads to is for who has the rights.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ipc/channel.h"
#include "ipc/guard.h"
#include "ipc/log.h"
#include "policy/policy.h"
#include "policyfile/parser.h"

static int send_row(struct channel *loader, const struct message_policy_row *row)
{
	return channel_send(loader, MESSAGE_POLICY_ROW, row, sizeof(*row), -1);
}

static int send_error(struct channel *loader, uint32_t line, const char *reason)
{
	struct message_policy_row row = {.kind = ROW_ERROR, .line = line};

	snprintf(row.text, sizeof(row.text), "%s", reason);
	return send_row(loader, &row);
}

static int send_rows(struct channel *loader, const struct policy_rows *rows)
{
	struct message_policy_row end = {.kind = ROW_END, .value = (uint32_t)rows->count};
	int r = 0;

	for (size_t i = 0; i < rows->count && r == 0; i++)
		r = send_row(loader, &rows->row[i]);
	policy_hash(rows, end.text);
	return r ? r : send_row(loader, &end);
}

/* The whole file, and a byte more of one that is too large. */
static ssize_t read_file(int fd, char *ret_text, size_t size)
{
	size_t used = 0;
	ssize_t got;

	do {
		got = read(fd, ret_text + used, size - used);
		if (got < 0 && errno != EINTR)
			return -errno;
		used += got > 0 ? (size_t)got : 0;
	} while (got != 0 && used < size);
	return (ssize_t)used;
}

static int answer(struct channel *loader, int file)
{
	static char text[POLICY_FILE_BYTES + 1];
	static struct policy_rows rows;
	ssize_t size = read_file(file, text, sizeof(text));

	if (size < 0)
		return send_error(loader, 0, strerror((int)-size));
	return policy_parse(text, (size_t)size, &rows) ? send_error(loader, rows.line, rows.reason)
						       : send_rows(loader, &rows);
}

int main(void)
{
	struct policy_layers layers;
	struct channel loader;
	struct message message;
	int r;

	channel_init(&loader, CHANNEL_FD, PARTY_POLICY, PARTY_LOADER);
	log_init(message_party_name(PARTY_POLICY), LOG_LEVEL_INFO);
	log_to_channel(&loader);
	policy_confine(ROLE_POLICY, &layers);
	r = channel_send_ready(&loader, layers.lacking, layers.proven);
	r = r ? r : channel_expect(&loader, MESSAGE_POLICY_FILE, INT_MAX, &message);
	r = r ? r : answer(&loader, message.fd);
	if (r < 0 && r != -EPIPE)
		log_error("policy: %s", strerror(-r));
	return r < 0 && r != -EPIPE;
}
