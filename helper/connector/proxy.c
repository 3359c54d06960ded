/* SPDX-License-Identifier: Apache-2.0 */
#include "helper/connector/proxy.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "helper/connector/connection.h"

#define REQUEST_BYTES 2048
#define STATUS_BYTES  (sizeof("HTTP/1.1 200") - 1)

/* ---- request --------------------------------------------------------------------------------- */

/* RFC 4648, 4. ret_text has room for four bytes for each three begun, and a NUL. */
static void encode(const unsigned char *bytes, size_t size, char *ret_text)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < size; i += 3) {
		const size_t count = size - i < 3 ? size - i : 3;
		uint32_t word = 0;

		for (size_t j = 0; j < count; j++)
			word |= (uint32_t)bytes[i + j] << (16 - 8 * j);
		for (size_t j = 0; j < 4; j++)
			*ret_text++ = j <= count ? digits[word >> (18 - 6 * j) & 63] : '=';
	}
	*ret_text = '\0';
}

int proxy_request(const struct address *address, char *ret_text, size_t size)
{
	char code[sizeof(address->proxy_credentials) / 3 * 4 + 8] = "";
	const char *before = "", *after = "";
	int length;

	if (strchr(address->host, ':')) { /* an IPv6 address */
		before = "[";
		after = "]";
	}
	if (*address->proxy_credentials)
		encode((const unsigned char *)address->proxy_credentials,
		       strlen(address->proxy_credentials), code);
	length = snprintf(ret_text, size,
			  "CONNECT %s%s%s:%u HTTP/1.1\r\nHost: %s%s%s:%u\r\n%s%s%s\r\n", before,
			  address->host, after, address->port, before, address->host, after,
			  address->port, *code ? "Proxy-Authorization: Basic " : "", code,
			  *code ? "\r\n" : "");
	if (length < 0 || (size_t)length >= size)
		return -E2BIG;
	return length;
}

static int send_all(int fd, const char *text, size_t size, uint64_t until)
{
	while (size > 0) {
		const ssize_t sent = send(fd, text, size, MSG_NOSIGNAL);

		if (sent > 0) {
			text += sent;
			size -= (size_t)sent;
		} else if (errno != EAGAIN) {
			return -errno;
		} else if (connection_wait(fd, POLLOUT, until) < 0) {
			return -ETIMEDOUT;
		}
	}
	return 0;
}

/* ---- answer ---------------------------------------------------------------------------------- */

static int judge(const char *status)
{
	if (memcmp(status, "HTTP/1.", strlen("HTTP/1.")) != 0 || status[8] != ' ')
		return -EPROTO;
	if (status[9] == '2')
		return 1;
	if (memcmp(status + 9, "407", 3) == 0)
		return -EACCES;
	return -ECONNREFUSED;
}

int proxy_read_answer(const char *text, size_t size)
{
	if (size < STATUS_BYTES)
		return 0;
	if (judge(text) < 0)
		return judge(text);
	if (size >= 4 && memcmp(text + size - 4, "\r\n\r\n", 4) == 0)
		return 1;
	return 0;
}

/* Takes a byte at a time, because what follows the answer is the server's. */
static int receive_answer(int fd, uint64_t until)
{
	char text[PROXY_ANSWER_MAX];
	size_t size = 0;
	int r = 0;

	while (r == 0 && size < sizeof(text)) {
		const ssize_t got = recv(fd, text + size, 1, 0);

		if (got == 0)
			return -ECONNRESET;
		if (got < 0 && errno != EAGAIN)
			return -errno;
		if (got < 0 && connection_wait(fd, POLLIN, until) < 0)
			return -ETIMEDOUT;
		if (got > 0)
			r = proxy_read_answer(text, ++size);
	}
	if (r == 0)
		return -E2BIG;
	return r < 0 ? r : 0;
}

int proxy_connect(int fd, const struct address *address, uint64_t until)
{
	char request[REQUEST_BYTES];
	int r = proxy_request(address, request, sizeof(request));

	if (r < 0)
		return r;
	r = send_all(fd, request, (size_t)r, until);
	if (r < 0)
		return r;
	return receive_answer(fd, until);
}
