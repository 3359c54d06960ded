/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiles a regular expression (POSIX, extended) of the user who started the process.
 *
 * regcomp() of glibc copies all that + and {m,n} repeat, and the copies in it: a few bytes can ask
 * for gigabytes. Therefore length and copies are limited, and no repeat may repeat a repeat. The
 * limits bound memory to about 60 MiB. Some expressions still take seconds: the user who typed
 * one waits, and keyhole-options, which compiles first, has a limit of CPU time. References such
 * as \1 are refused, because with a reference one comparison can take any time.
 */
#ifndef KEYHOLE_BASE_EXPRESSION_H
#define KEYHOLE_BASE_EXPRESSION_H

#include <regex.h>

#define EXPRESSION_BYTES_MAX	255
#define EXPRESSION_INTERVAL_MAX 255 /* the numbers of {m,n} */
#define EXPRESSION_COPIES_MAX	32  /* the product of all repeats of groups */

/*
 * Flags are of regcomp(), besides REG_EXTENDED and REG_NOSUB. Returns 0 with *ret_regex, which the
 * caller releases by regfree(), or -EINVAL.
 */
int expression_compile(regex_t *ret_regex, const char *text, int flags);

/* Returns why the expression is refused, valid until the next call; NULL: it is not refused. */
const char *expression_problem(const char *text);

#endif
