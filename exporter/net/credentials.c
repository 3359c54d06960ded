/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/net/credentials.h"

#include <arpa/inet.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Certificates and keys are checked as a pair, and replaced as one. */
struct pair {
	X509 *certificate;
	STACK_OF(X509) * chain;
	EVP_PKEY *key;
};

struct credentials {
	X509_STORE *authorities;
	struct pair given, used; /* used: those that were found to belong together */
	bool changed;		 /* given differs from used */
};

void credentials_prepare(void)
{
	/* Without it, the first look at a certificate's dates opens /etc/localtime. */
	tzset();
}

static void pair_release(struct pair *pair)
{
	X509_free(pair->certificate);
	sk_X509_pop_free(pair->chain, X509_free);
	EVP_PKEY_free(pair->key);
	*pair = (struct pair){0};
}

/* Has OpenSSL read no configuration. */
struct credentials *credentials_new(void)
{
	if (OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_LOAD_SSL_STRINGS |
				     OPENSSL_INIT_LOAD_CRYPTO_STRINGS,
			     NULL) != 1)
		return NULL;
	return calloc(1, sizeof(struct credentials));
}

void credentials_free(struct credentials *credentials)
{
	if (!credentials)
		return;
	X509_STORE_free(credentials->authorities);
	pair_release(&credentials->given);
	pair_release(&credentials->used);
	free(credentials);
}

/* ---- reading ---- */

/* A file of PEM, wiped when it is released. */
struct file {
	char *bytes;
	size_t size;
};

static void file_release(struct file *file)
{
	if (file->bytes)
		explicit_bzero(file->bytes, CREDENTIAL_BYTES_MAX);
	free(file->bytes);
}

static int file_read(int fd, struct file *ret_file)
{
	struct file file = {.bytes = malloc(CREDENTIAL_BYTES_MAX)};
	ssize_t got = 1;

	if (!file.bytes)
		return -ENOMEM;
	while (got > 0 && file.size < CREDENTIAL_BYTES_MAX) {
		got = pread(fd, file.bytes + file.size, CREDENTIAL_BYTES_MAX - file.size,
			    (off_t)file.size);
		if (got > 0)
			file.size += (size_t)got;
	}
	*ret_file = file;
	if (got < 0)
		return -errno;
	if (got > 0)
		return -EFBIG;
	return 0;
}

/* A key behind a password is not asked for it: there is nobody to ask. */
static int no_password(char *buffer, int size, int writing, void *user)
{
	(void)buffer;
	(void)size;
	(void)writing;
	(void)user;
	return -1;
}

/* Returns the next certificate, or NULL and 0 behind the last one, or NULL and -EBADMSG. */
static X509 *next_certificate(BIO *file, int *ret_error)
{
	X509 *certificate = PEM_read_bio_X509(file, NULL, no_password, NULL);

	*ret_error = 0;
	if (!certificate && ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE)
		*ret_error = -EBADMSG;
	ERR_clear_error();
	return certificate;
}

static int read_authorities(struct credentials *credentials, BIO *file)
{
	X509_STORE *store = X509_STORE_new();
	size_t count = 0;
	X509 *certificate;
	int r;

	if (!store)
		return -ENOMEM;
	while ((certificate = next_certificate(file, &r))) {
		X509_STORE_add_cert(store, certificate);
		X509_free(certificate);
		count++;
	}
	if (r == 0 && count == 0)
		r = -ENODATA;
	if (r < 0) {
		X509_STORE_free(store);
		return r;
	}
	X509_STORE_free(credentials->authorities);
	credentials->authorities = store;
	return 0;
}

static int read_chain(struct pair *pair, BIO *file)
{
	X509 *certificate;
	int r;

	pair->certificate = next_certificate(file, &r);
	if (!pair->certificate)
		return r < 0 ? r : -ENODATA;
	pair->chain = sk_X509_new_null();
	if (!pair->chain)
		return -ENOMEM;
	while ((certificate = next_certificate(file, &r)))
		if (sk_X509_push(pair->chain, certificate) == 0) {
			X509_free(certificate);
			return -ENOMEM;
		}
	return r;
}

static int read_certificate(struct credentials *credentials, BIO *file)
{
	struct pair next = {0};
	int r = read_chain(&next, file);

	if (r < 0) {
		pair_release(&next);
		return r;
	}
	next.key = credentials->given.key;
	credentials->given.key = NULL;
	pair_release(&credentials->given);
	credentials->given = next;
	credentials->changed = true;
	return 0;
}

static int read_key(struct credentials *credentials, BIO *file)
{
	EVP_PKEY *key = PEM_read_bio_PrivateKey(file, NULL, no_password, NULL);

	ERR_clear_error();
	if (!key)
		return -EBADMSG;
	EVP_PKEY_free(credentials->given.key);
	credentials->given.key = key;
	credentials->changed = true;
	return 0;
}

static int (*const readers[CREDENTIAL_KINDS])(struct credentials *credentials, BIO *file) = {
	[CREDENTIAL_CA] = read_authorities,
	[CREDENTIAL_CERTIFICATE] = read_certificate,
	[CREDENTIAL_KEY] = read_key,
};

int credentials_read(struct credentials *credentials, enum credential_kind kind, int fd)
{
	struct file file = {0};
	BIO *bio = NULL;
	int r = file_read(fd, &file);

	if (r == 0) {
		bio = BIO_new_mem_buf(file.bytes, (int)file.size);
		r = bio ? readers[kind](credentials, bio) : -ENOMEM;
	}
	BIO_free(bio);
	file_release(&file);
	return r;
}

/* ---- connecting ---- */

static bool belong_together(const struct pair *pair)
{
	return pair->certificate && pair->key &&
	       X509_check_private_key(pair->certificate, pair->key) == 1;
}

/* Takes the given pair into use. */
static int settle_pair(struct credentials *credentials)
{
	struct pair *given = &credentials->given, *used = &credentials->used;

	if (!credentials->changed)
		return 0;
	if (!belong_together(given)) {
		ERR_clear_error();
		return used->certificate ? 0 : -ENOKEY;
	}
	pair_release(used);
	*used = *given;
	*given = (struct pair){0};
	credentials->changed = false;
	return 0;
}

static bool use_pair(SSL_CTX *context, const struct pair *pair)
{
	if (!pair->certificate)
		return true;
	return SSL_CTX_use_certificate(context, pair->certificate) == 1 &&
	       SSL_CTX_set1_chain(context, pair->chain) == 1 &&
	       SSL_CTX_use_PrivateKey(context, pair->key) == 1;
}

static bool set_alpn(SSL_CTX *context, enum endpoint_protocol protocol)
{
	static const unsigned char both[] = "\x02h2\x08http/1.1", h2[] = "\x02h2";

	/* 0 means success here. */
	if (protocol == ENDPOINT_GRPC)
		return SSL_CTX_set_alpn_protos(context, h2, sizeof(h2) - 1) == 0;
	return SSL_CTX_set_alpn_protos(context, both, sizeof(both) - 1) == 0;
}

static SSL_CTX *new_context(struct credentials *credentials, const struct receiver *receiver)
{
	SSL_CTX *context = SSL_CTX_new(TLS_client_method());

	if (!context)
		return NULL;
	SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
	SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION |
					     SSL_OP_IGNORE_UNEXPECTED_EOF);
	SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE |
					  SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
					  SSL_MODE_RELEASE_BUFFERS);
	SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
	SSL_CTX_set1_cert_store(context, credentials->authorities);
	if (set_alpn(context, receiver->protocol) && use_pair(context, &credentials->used))
		return context;
	SSL_CTX_free(context);
	return NULL;
}

static bool is_address(const char *host)
{
	struct in6_addr address;

	return inet_pton(AF_INET, host, &address) == 1 || inet_pton(AF_INET6, host, &address) == 1;
}

/* Names go into the server name indication (RFC 6066, section 3), addresses do not. */
static bool set_name(SSL *tls, const char *host)
{
	if (is_address(host))
		return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(tls), host) == 1;
	SSL_set_hostflags(tls, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
	return SSL_set1_host(tls, host) == 1 && SSL_set_tlsext_host_name(tls, host) == 1;
}

int credentials_connect(struct credentials *credentials, const struct receiver *receiver,
			struct ssl_st **ret_tls)
{
	SSL_CTX *context;
	SSL *tls = NULL;
	int r;

	if (!credentials->authorities)
		return -ENOKEY;
	r = settle_pair(credentials);
	if (r < 0)
		return r;
	context = new_context(credentials, receiver);
	if (context)
		tls = SSL_new(context);
	SSL_CTX_free(context); /* tls has a reference of its own */
	if (tls && set_name(tls, receiver->host)) {
		SSL_set_connect_state(tls);
		*ret_tls = tls;
		return 0;
	}
	SSL_free(tls);
	ERR_clear_error();
	return -ENOMEM;
}
