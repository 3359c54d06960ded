/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/net/transport.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int transport_begin(struct transport *ret_transport, int fd, struct ssl_st *tls)
{
	*ret_transport = (struct transport){.fd = -1};
	if (tls && SSL_set_fd(tls, fd) != 1)
		return -ENOMEM;
	ret_transport->fd = fd;
	ret_transport->tls = tls;
	return 0;
}

void transport_release(struct transport *transport)
{
	SSL_free(transport->tls);
	transport->tls = NULL;
	if (transport->fd >= 0)
		close(transport->fd);
	transport->fd = -1;
}

static void keep_reason(struct transport *transport)
{
	long verified = SSL_get_verify_result(transport->tls);
	const char *text = ERR_reason_error_string(ERR_peek_last_error());

	if (verified != X509_V_OK)
		snprintf(transport->reason, sizeof(transport->reason), "certificate: %s",
			 X509_verify_cert_error_string(verified));
	else if (text)
		snprintf(transport->reason, sizeof(transport->reason), "TLS: %s", text);
	else
		snprintf(transport->reason, sizeof(transport->reason), "TLS: failed");
}

/* Says what became of a call of OpenSSL that returned `result` <= 0. */
static int failure(struct transport *transport, int result, int socket_error)
{
	switch (SSL_get_error(transport->tls, result)) {
	case SSL_ERROR_WANT_READ:
		transport->want_write = false;
		return -EAGAIN;
	case SSL_ERROR_WANT_WRITE:
		transport->want_write = true;
		return -EAGAIN;
	case SSL_ERROR_ZERO_RETURN:
		return 0;
	case SSL_ERROR_SYSCALL:
		if (socket_error)
			return -socket_error;
		return -ECONNRESET;
	default:
		keep_reason(transport);
		return -EPROTO;
	}
}

static int end_of_call(struct transport *transport, int result)
{
	int socket_error = errno, r;

	r = failure(transport, result, socket_error);
	ERR_clear_error();
	return r;
}

int transport_handshake(struct transport *transport)
{
	int r;

	if (!transport->tls)
		return 0;
	errno = 0;
	r = SSL_do_handshake(transport->tls);
	if (r == 1)
		return 0;
	r = end_of_call(transport, r);
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

ssize_t transport_read(struct transport *transport, void *bytes, size_t size)
{
	int r;

	if (!transport->tls)
		return plain_result(read(transport->fd, bytes, size));
	if (size > INT32_MAX)
		size = INT32_MAX;
	errno = 0;
	r = SSL_read(transport->tls, bytes, (int)size);
	if (r > 0)
		return r;
	return end_of_call(transport, r);
}

ssize_t transport_write(struct transport *transport, const void *bytes, size_t size)
{
	int r;

	if (!transport->tls)
		return plain_result(write(transport->fd, bytes, size));
	if (size > INT32_MAX)
		size = INT32_MAX;
	errno = 0;
	r = SSL_write(transport->tls, bytes, (int)size);
	if (r > 0)
		return r;
	r = end_of_call(transport, r);
	if (r == 0)
		return -ECONNRESET;
	return r;
}

bool transport_speaks(const struct transport *transport, const char *protocol)
{
	const unsigned char *name = NULL;
	unsigned int size = 0;

	if (!transport->tls)
		return false;
	SSL_get0_alpn_selected(transport->tls, &name, &size);
	return name && strlen(protocol) == size && memcmp(name, protocol, size) == 0;
}
