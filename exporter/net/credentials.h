/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The authorities by which TLS trusts a server, and the certificate and key by which it names
 * itself. They come as descriptors of PEM files; no file is ever opened here. Certificates can be
 * replaced while others are in use: a connection keeps those with which it began.
 */
#ifndef KEYHOLE_EXPORTER_NET_CREDENTIALS_H
#define KEYHOLE_EXPORTER_NET_CREDENTIALS_H

#include <stdbool.h>
#include <stddef.h>

#include "exporter/http/receiver.h"

#define CREDENTIAL_BYTES_MAX (2u << 20) /* of a file: bundles of authorities have 250 KB */

enum credential_kind {
	CREDENTIAL_CA,
	CREDENTIAL_CERTIFICATE, /* and those between it and an authority */
	CREDENTIAL_KEY,
	CREDENTIAL_KINDS
};

struct credentials;
struct ssl_st;

/* Reads what OpenSSL would read from files. Is called before the process confines itself. */
void credentials_prepare(void);

/* NULL: no memory, or OpenSSL does not start. OpenSSL takes 0.5 MB, and opens no file. */
struct credentials *credentials_new(void);
void credentials_free(struct credentials *credentials);

/*
 * Reads a file and keeps what it says in place of an earlier one of its kind. The descriptor stays
 * the caller's. The bytes of a key are wiped. Returns 0 or an error, which changes nothing:
 * -EFBIG, -ENODATA (no such thing in the file), -EBADMSG, -ENOMEM or that of a read.
 */
int credentials_read(struct credentials *credentials, enum credential_kind kind, int fd);

/*
 * Makes one side of a TLS connection to the receiver: at least TLS 1.2, the server's name checked,
 * and h2 offered, of HTTP also http/1.1. A certificate whose key is not there yet leaves the pair
 * before in place. The caller owns *ret_tls. Returns 0, -ENOKEY (no authority, or a certificate
 * and a key that do not belong together, and no pair before) or -ENOMEM.
 */
int credentials_connect(struct credentials *credentials, const struct receiver *receiver,
			struct ssl_st **ret_tls);

#endif
