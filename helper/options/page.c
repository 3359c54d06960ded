/* SPDX-License-Identifier: Apache-2.0 */
#include "helper/options/page.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/decimal.h"

#define UNIX	  "unix:"
#define HOST_ROOM 48 /* the longest text of an IPv6 address is shorter */

static const char *read_path(const char *path, struct listener *listener)
{
	while (path[0] == '/' && path[1] == '/')
		path++;
	if (*path != '/')
		return "not the absolute path of a socket; as in: unix:/run/keyhole/metrics.sock";
	if (strlen(path) >= sizeof(listener->path))
		return "the path is too long";
	listener->family = AF_UNIX;
	memcpy(listener->path, path, strlen(path));
	return NULL;
}

static bool is_loopback(const struct listener *listener)
{
	static const struct in6_addr loopback = IN6ADDR_LOOPBACK_INIT;

	if (listener->family == AF_INET)
		return listener->address[0] == 127;
	return memcmp(listener->address, &loopback, sizeof(loopback)) == 0;
}

/* Takes the brackets off an IPv6 address. Returns false for what cannot be a host. */
static bool take_host(const char *text, size_t length, char ret_host[HOST_ROOM], int *ret_family)
{
	*ret_family = AF_INET;
	if (length >= 2 && text[0] == '[' && text[length - 1] == ']') {
		*ret_family = AF_INET6;
		text++;
		length -= 2;
	}
	if (length >= HOST_ROOM)
		return false;
	snprintf(ret_host, HOST_ROOM, "%.*s", (int)length, text);
	if (*ret_family == AF_INET && !strcmp(ret_host, "localhost"))
		snprintf(ret_host, HOST_ROOM, "127.0.0.1");
	return true;
}

const char *page_read_address(const char *text, struct listener *ret_listener)
{
	static const char form[] = "not an address with a port; as in: 127.0.0.1:9464, [::1]:9464 "
				   "or unix:/run/keyhole/metrics.sock";
	const char *colon = strrchr(text, ':');
	char host[HOST_ROOM];
	int family;

	memset(ret_listener, 0, sizeof(*ret_listener));
	if (!strncmp(text, UNIX, strlen(UNIX)))
		return read_path(text + strlen(UNIX), ret_listener);
	if (!colon || !decimal_read32(colon + 1, 1, UINT16_MAX, &ret_listener->port))
		return form;
	if (!take_host(text, (size_t)(colon - text), host, &family) ||
	    inet_pton(family, host, ret_listener->address) != 1)
		return form;
	ret_listener->family = (uint32_t)family;
	if (!is_loopback(ret_listener))
		return "not a loopback address: everybody on the network could read the numbers; "
		       "put a proxy with access control in front of 127.0.0.1:9464";
	return NULL;
}
