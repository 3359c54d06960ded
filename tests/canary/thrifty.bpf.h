/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Observer of a test build (make OBSERVER=): a sampler whose grants allow lists THRIFT times less.
 * One CPU then reaches in seconds what many CPUs reach at high rates.
 */
#ifndef KEYHOLE_TESTS_CANARY_THRIFTY_BPF_H
#define KEYHOLE_TESTS_CANARY_THRIFTY_BPF_H

#include "bpf/abi.h"

#define THRIFT	      64u /* THRIFT of tests/canary/lists.py */
#define THRIFTY_BYTES ((32u << 20) / THRIFT)
#define THRIFTY_NS    (64u * THRIFT)
_Static_assert(GRANT_LISTED_BYTES == THRIFTY_BYTES * THRIFT &&
		       GRANT_LISTED_NS * THRIFT == THRIFTY_NS,
	       "the account of bpf/abi.h");
#undef GRANT_LISTED_BYTES
#undef GRANT_LISTED_NS
#define GRANT_LISTED_BYTES THRIFTY_BYTES
#define GRANT_LISTED_NS	   THRIFTY_NS

#define observe_walk(ctx, scratch)
#define observe_sample(scratch, record, reason)

#endif
