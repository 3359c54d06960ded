/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/net/stream.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int stream_begin(struct stream *ret_stream, int fd, struct ssl_st *tls)
{
	*ret_stream = (struct stream){.fd = -1};
	if (tls && SSL_set_fd(tls, fd) != 1)
		return -ENOMEM;
	ret_stream->fd = fd;
	ret_stream->tls = tls;
	return 0;
}

void stream_release(struct stream *stream)
{
	SSL_free(stream->tls);
	stream->tls = NULL;
	if (stream->fd >= 0)
		close(stream->fd);
	stream->fd = -1;
}

static void keep_reason(struct stream *stream)
{
	long verified = SSL_get_verify_result(stream->tls);
	const char *text = ERR_reason_error_string(ERR_peek_last_error());

	if (verified != X509_V_OK)
		snprintf(stream->reason, sizeof(stream->reason), "certificate: %s",
			 X509_verify_cert_error_string(verified));
	else if (text)
		snprintf(stream->reason, sizeof(stream->reason), "TLS: %s", text);
	else
		snprintf(stream->reason, sizeof(stream->reason), "TLS: failed");
}

/* Says what became of a call of OpenSSL that returned `result` <= 0. */
static int failure(struct stream *stream, int result, int socket_error)
{
	switch (SSL_get_error(stream->tls, result)) {
	case SSL_ERROR_WANT_READ:
		stream->want_write = false;
		return -EAGAIN;
	case SSL_ERROR_WANT_WRITE:
		stream->want_write = true;
		return -EAGAIN;
	case SSL_ERROR_ZERO_RETURN:
		return 0;
	case SSL_ERROR_SYSCALL:
		if (socket_error)
			return -socket_error;
		return -ECONNRESET;
	default:
		keep_reason(stream);
		return -EPROTO;
	}
}

static int end_of_call(struct stream *stream, int result)
{
	int socket_error = errno, r;

	r = failure(stream, result, socket_error);
	ERR_clear_error();
	return r;
}

int stream_handshake(struct stream *stream)
{
	int r;

	if (!stream->tls)
		return 0;
	errno = 0;
	r = SSL_do_handshake(stream->tls);
	if (r == 1)
		return 0;
	r = end_of_call(stream, r);
	if (r == 0)
		return -ECONNRESET;
	return r;
}

static ssize_t plain_result(ssize_t result)
{
	if (result < 0 && errno == EINTR)
		return -EAGAIN;
	if (result < 0)
		return -errno;
	return result;
}

ssize_t stream_read(struct stream *stream, void *bytes, size_t size)
{
	int r;

	if (!stream->tls)
		return plain_result(read(stream->fd, bytes, size));
	if (size > INT32_MAX)
		size = INT32_MAX;
	errno = 0;
	r = SSL_read(stream->tls, bytes, (int)size);
	if (r > 0)
		return r;
	return end_of_call(stream, r);
}

ssize_t stream_write(struct stream *stream, const void *bytes, size_t size)
{
	int r;

	if (!stream->tls)
		return plain_result(write(stream->fd, bytes, size));
	if (size > INT32_MAX)
		size = INT32_MAX;
	errno = 0;
	r = SSL_write(stream->tls, bytes, (int)size);
	if (r > 0)
		return r;
	r = end_of_call(stream, r);
	if (r == 0)
		return -ECONNRESET;
	return r;
}

bool stream_speaks(const struct stream *stream, const char *protocol)
{
	const unsigned char *name = NULL;
	unsigned int size = 0;

	if (!stream->tls)
		return false;
	SSL_get0_alpn_selected(stream->tls, &name, &size);
	return name && strlen(protocol) == size && memcmp(name, protocol, size) == 0;
}
