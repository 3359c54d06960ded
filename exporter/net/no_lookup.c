/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands in keyhole-exporter for three functions of the C library, by --wrap. OpenSSL refers to
 * them; nothing that the exporter calls does. A static program that looked names up would load
 * modules of another C library, and the exporter opens no file after its start.
 */
#include <netdb.h>
#include <stddef.h>

void *__wrap_dlopen(const char *name, int flags);
struct hostent *__wrap_gethostbyname(const char *name);
int __wrap_getnameinfo(const struct sockaddr *address, socklen_t size, char *host,
		       socklen_t host_size, char *service, socklen_t service_size, int flags);

void *__wrap_dlopen(const char *name, int flags)
{
	(void)name;
	(void)flags;
	return NULL;
}

struct hostent *__wrap_gethostbyname(const char *name)
{
	(void)name;
	return NULL;
}

int __wrap_getnameinfo(const struct sockaddr *address, socklen_t size, char *host,
		       socklen_t host_size, char *service, socklen_t service_size, int flags)
{
	(void)address;
	(void)size;
	(void)host;
	(void)host_size;
	(void)service;
	(void)service_size;
	(void)flags;
	return EAI_FAIL;
}
