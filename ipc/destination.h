/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where profiles go. keyhole-options makes both structures of flags, environment and configuration
 * file, each in a sealed memfd. The loader passes the files on and reads nothing of them. A text is
 * NUL padded, and empty where nothing was given.
 */
#ifndef KEYHOLE_IPC_DESTINATION_H
#define KEYHOLE_IPC_DESTINATION_H

#include <stdint.h>

enum endpoint_protocol {
	ENDPOINT_GRPC,
	ENDPOINT_HTTP
};

enum endpoint_compression {
	ENDPOINT_PLAIN,
	ENDPOINT_GZIP,
	ENDPOINT_ZSTD
};

#define ENDPOINT_HOST_BYTES    256
#define ENDPOINT_HEADERS_BYTES 16384

/* How the exporter speaks to the server. */
struct endpoint {
	uint32_t protocol;    /* enum endpoint_protocol */
	uint32_t compression; /* enum endpoint_compression, of requests */
	uint32_t is_tls;
	uint32_t timeout_ms;			  /* of one request */
	uint64_t request_bytes;			  /* the most of one request, before compression */
	uint64_t queue_bytes;			  /* the most of what waits */
	uint64_t queue_ns;			  /* the most that a profile waits */
	char host[ENDPOINT_HOST_BYTES];		  /* whom the server's certificate must name */
	char authority[ENDPOINT_HOST_BYTES + 16]; /* of each request: host and port */
	char path[1024];			  /* of each request, from '/' on */
	uint32_t metrics_ms;	 /* between two requests with metrics; 0: there are none */
	uint32_t pad;		 /* 0 */
	char metrics_path[1024]; /* of those */
	/* name NUL value NUL ..., an empty name ends them; names in lower case */
	char headers[ENDPOINT_HEADERS_BYTES];
};

/* Where keyhole-connector connects to. */
struct address {
	uint32_t port;	     /* 0: host is the path of a unix socket */
	uint32_t proxy_port; /* 0: no proxy */
	uint32_t timeout_ms; /* of a connection, with the proxy's answer */
	uint32_t pad;
	char host[ENDPOINT_HOST_BYTES];
	char proxy_host[ENDPOINT_HOST_BYTES];
	char proxy_credentials[512]; /* user:password */
};

/* Where an agent shows numbers: keyhole-output makes the socket, the exporter answers there. */
struct listener {
	uint32_t family;     /* of sockets: AF_INET, AF_INET6 or AF_UNIX */
	uint32_t port;	     /* unless AF_UNIX */
	uint8_t address[16]; /* of this machine's own, in network order; AF_INET: the first four */
	char path[108];	     /* AF_UNIX */
};

#endif
