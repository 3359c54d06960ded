/* SPDX-License-Identifier: Apache-2.0 */
#include "helper/options/url.h"

#include <string.h>

#include "base/decimal.h"
#include "base/hex.h"

#define PORT_MAX 65535

/* ---- characters ------------------------------------------------------------------------------ */

static bool is_host(const char *host)
{
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				      "0123456789-._";

	return *host && host[strspn(host, allowed)] == '\0';
}

static bool is_numeric_host(const char *host)
{
	return *host && host[strspn(host, "0123456789abcdefABCDEF:.")] == '\0';
}

/* Returns whether the text is printable ASCII without a blank. */
static bool is_visible(const char *text)
{
	for (; *text; text++)
		if (*text <= ' ' || *text > '~')
			return false;
	return true;
}

/* Returns the byte that %XX at `text` stands for, or -1. */
static int byte_of(const char *text)
{
	const int high = hex_digit(text[1]);
	int low;

	if (high < 0)
		return -1;
	low = hex_digit(text[2]);
	if (low < 0)
		return -1;
	return high << 4 | low;
}

bool url_decode(char *text)
{
	char *to = text;

	for (; *text; text++) {
		int byte = (unsigned char)*text;

		if (byte == '%') {
			byte = byte_of(text);
			text += 2;
		}
		if (byte < ' ' || byte == 0x7f)
			return false;
		*to++ = (char)byte;
	}
	*to = '\0';
	return true;
}

/* ---- parts ----------------------------------------------------------------------------------- */

static bool copy(char *ret_text, size_t size, const char *from, size_t length)
{
	if (length >= size)
		return false;
	memcpy(ret_text, from, length);
	ret_text[length] = '\0';
	return true;
}

static const char *read_port(const char *text, struct url *url)
{
	if (*text == '\0')
		return NULL;
	if (*text != ':' || !decimal_read32(text + 1, 1, PORT_MAX, &url->port))
		return "its port is no number of 1 to 65535";
	return NULL;
}

/* text: [v6 address] and what follows. */
static const char *read_quoted(const char *text, struct url *url)
{
	const char *end = strchr(text, ']');

	if (!end || !copy(url->host, sizeof(url->host), text + 1, (size_t)(end - text - 1)) ||
	    !is_numeric_host(url->host))
		return "its host is no IPv6 address in brackets";
	url->is_quoted = true;
	return read_port(end + 1, url);
}

static const char *read_host(const char *text, struct url *url)
{
	const size_t length = strcspn(text, ":");

	if (*text == '[')
		return read_quoted(text, url);
	if (!copy(url->host, sizeof(url->host), text, length) || !is_host(url->host))
		return "its host is no name and no address";
	return read_port(text + length, url);
}

static const char *read_user(const char *text, size_t length, struct url *url)
{
	if (!copy(url->user, sizeof(url->user), text, length) || !url_decode(url->user))
		return "its user and password are not as in a URL";
	return NULL;
}

/* text: [user@]host[:port], `length` bytes. */
static const char *read_authority(const char *text, size_t length, struct url *url)
{
	char host[URL_HOST_BYTES + 16];
	const char *at = memrchr(text, '@', length), *reason;

	if (at) {
		reason = read_user(text, (size_t)(at - text), url);
		if (reason)
			return reason;
		length -= (size_t)(at + 1 - text);
		text = at + 1;
	}
	if (!copy(host, sizeof(host), text, length))
		return "its host is too long";
	return read_host(host, url);
}

static const char *read_unix(const char *path, struct url *url)
{
	url->is_unix = true;
	while (path[0] == '/' && path[1] == '/')
		path++;
	if (*path != '/' || !copy(url->host, sizeof(url->host), path, strlen(path)))
		return "a unix socket has an absolute path, as in unix:/run/collector.sock";
	return NULL;
}

static const char *skip_scheme(const char *text, struct url *url)
{
	static const struct {
		const char *scheme;
		bool is_tls;
	} schemes[] = {{"http://", false}, {"https://", true}};

	for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
		const size_t length = strlen(schemes[i].scheme);

		if (strncasecmp(text, schemes[i].scheme, length) != 0)
			continue;
		url->is_tls = schemes[i].is_tls;
		return text + length;
	}
	return text;
}

const char *url_read(const char *text, struct url *ret_url)
{
	const char *reason;
	size_t length;

	memset(ret_url, 0, sizeof(*ret_url));
	if (!is_visible(text))
		return "has a character that no URL has";
	if (strncmp(text, "unix:", strlen("unix:")) == 0)
		return read_unix(text + strlen("unix:"), ret_url);
	text = skip_scheme(text, ret_url);
	if (strstr(text, "://"))
		return "its scheme is not http, https or unix";
	length = strcspn(text, "/?#");
	reason = read_authority(text, length, ret_url);
	if (reason)
		return reason;
	text += length;
	if (text[strcspn(text, "?#")])
		return "a query or fragment has no meaning here";
	if (!copy(ret_url->path, sizeof(ret_url->path), text, strlen(text)))
		return "its path is too long";
	return NULL;
}
