/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of a connected, non-blocking socket, by TLS or not. */
#ifndef KEYHOLE_EXPORTER_NET_TRANSPORT_H
#define KEYHOLE_EXPORTER_NET_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define TRANSPORT_REASON_BYTES 128u

struct ssl_st;

struct transport {
	int fd;		    /* the transport's own */
	struct ssl_st *tls; /* the transport's own; NULL: none */
	bool want_write;    /* TLS waits for the socket to take bytes, else to give some */
	char reason[TRANSPORT_REASON_BYTES]; /* of -EPROTO, in words; else "" */
};

/* Takes over both. Returns 0, or -ENOMEM and takes over nothing. */
int transport_begin(struct transport *ret_transport, int fd, struct ssl_st *tls);
void transport_release(struct transport *transport);

/*
 * All three return -EAGAIN to be called again when the socket is ready, and -EPROTO for an error
 * of TLS. Any other negative errno is the socket's.
 */
int transport_handshake(struct transport *transport);			       /* 0: done */
ssize_t transport_read(struct transport *transport, void *bytes, size_t size); /* 0: the end */
ssize_t transport_write(struct transport *transport, const void *bytes, size_t size);

/* Returns whether the server chose the protocol by ALPN. */
bool transport_speaks(const struct transport *transport, const char *protocol);

#endif
