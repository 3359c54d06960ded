/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A user's regular expression (POSIX, extended), wherever one is asked for. regcomp() of glibc has
 * a copy of all that + and {m,n} repeat, and of the copies in it (posix/regcomp.c, parse_dup_op()):
 * a few bytes can ask for any memory. Where a repeat is of what may match nothing, it follows every
 * way through all of them: any time. So copies are counted, and such repeats refused, before it
 * sees the expression. References such as \1 are refused, too: with them, a target's name can take
 * any time to compare.
 */
#ifndef KEYHOLE_BASE_EXPRESSION_H
#define KEYHOLE_BASE_EXPRESSION_H

#include <regex.h>

#define EXPRESSION_SIZE_MAX  1000 /* characters, groups, operators, with all copies */
#define EXPRESSION_DEPTH_MAX 16	  /* groups in groups */

/*
 * 0, and *ret_regex is to be released by regfree(), or -EINVAL. flags: of regcomp(), besides
 * REG_EXTENDED and REG_NOSUB.
 */
int expression_compile(regex_t *ret_regex, const char *text, int flags);

/* Why it is refused, valid until the next call; NULL: it is not. */
const char *expression_problem(const char *text);

#endif
