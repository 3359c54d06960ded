/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of a connected, non-blocking socket, by TLS or not. */
#ifndef KEYHOLE_EXPORTER_NET_STREAM_H
#define KEYHOLE_EXPORTER_NET_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define STREAM_REASON_BYTES 128u

struct ssl_st;

struct stream {
	int fd;		    /* the stream's own */
	struct ssl_st *tls; /* the stream's own; NULL: none */
	bool want_write;    /* TLS waits for the socket to take bytes, else to give some */
	char reason[STREAM_REASON_BYTES]; /* of -EPROTO, in words; else "" */
};

/* Takes over both. Returns 0, or -ENOMEM and takes over nothing. */
int stream_begin(struct stream *ret_stream, int fd, struct ssl_st *tls);
void stream_release(struct stream *stream);

/*
 * All three return -EAGAIN to be called again when the socket is ready, and -EPROTO for an error of TLS.
 * Any other negative errno is the socket's.
 */
int stream_handshake(struct stream *stream);			      /* 0: done */
ssize_t stream_read(struct stream *stream, void *bytes, size_t size); /* 0: the end */
ssize_t stream_write(struct stream *stream, const void *bytes, size_t size);

/* Returns whether the server chose the protocol by ALPN. */
bool stream_speaks(const struct stream *stream, const char *protocol);

#endif
