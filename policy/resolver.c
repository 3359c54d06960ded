/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands in static programs for four look-ups of the C library, by --wrap. The library's own
 * look-ups load NSS modules, which belong to another C library. libevent refers to the four; no
 * program of ours calls them.
 */
#include <netdb.h>
#include <stddef.h>

int __wrap_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
		       struct addrinfo **ret_list);
void __wrap_freeaddrinfo(struct addrinfo *list);
struct servent *__wrap_getservbyname(const char *name, const char *protocol);
struct protoent *__wrap_getprotobynumber(int number);

int __wrap_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
		       struct addrinfo **ret_list)
{
	(void)node;
	(void)service;
	(void)hints;
	(void)ret_list;
	return EAI_FAIL;
}

void __wrap_freeaddrinfo(struct addrinfo *list)
{
	(void)list;
}

struct servent *__wrap_getservbyname(const char *name, const char *protocol)
{
	(void)name;
	(void)protocol;
	return NULL;
}

struct protoent *__wrap_getprotobynumber(int number)
{
	(void)number;
	return NULL;
}
