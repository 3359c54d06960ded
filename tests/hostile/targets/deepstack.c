/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deepstack SECONDS DEPTH: makes a stack whose walk finds nothing in a cache. Each frame's code has
 * a page of its own and a rule of its own. Each return address has a page of the stack of its own.
 */
#include <string.h>

#include "tests/hostile/targets/hostile.h"

#define FUNCTIONS 256

typedef void link_function(unsigned int left, unsigned int number);

static link_function *links[FUNCTIONS];
static uint64_t seed = 1;

FUNCTION static void deepest(void)
{
	burn_rounds(200000);
	KEEP_FRAME();
}

static void go_on(unsigned int left, unsigned int number)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	if (left == 0)
		deepest();
	else
		links[(number + (seed >> 33)) % FUNCTIONS](left - 1, number + 1);
}

/* clang-format off */
/* A frame of more than a page, of a size that no other function has. */
#define LINK(n)                                                                 \
	__attribute__((noinline, noclone, aligned(4096))) static void link_##n( \
		unsigned int left, unsigned int number)                         \
	{                                                                       \
		volatile char frame[4096 + 16 * (0x##n)];                       \
                                                                                \
		frame[left % sizeof(frame)] = 1;                                \
		go_on(left, number);                                            \
		frame[0] = 2;                                                   \
		KEEP_FRAME();                                                   \
	}
#define HALF(m, n) m(n##0) m(n##1) m(n##2) m(n##3) m(n##4) m(n##5) m(n##6) m(n##7)
#define ROW(m, n) HALF(m, n) m(n##8) m(n##9) m(n##a) m(n##b) m(n##c) m(n##d) m(n##e) m(n##f)
#define ROWS(m) ROW(m, 0) ROW(m, 1) ROW(m, 2) ROW(m, 3) ROW(m, 4) ROW(m, 5) ROW(m, 6) ROW(m, 7)
#define MORE(m) ROW(m, 8) ROW(m, 9) ROW(m, a) ROW(m, b) ROW(m, c) ROW(m, d) ROW(m, e) ROW(m, f)
#define ALL(m) ROWS(m) MORE(m)
ALL(LINK)

#define NAME(n) link_##n,

/* clang-format on */

int main(int argc, char **argv)
{
	link_function *const all[FUNCTIONS] = {ALL(NAME)};
	uint64_t end = end_after(seconds_argument(argc, argv, 1, 2));
	unsigned int depth = (unsigned int)seconds_argument(argc, argv, 2, 100);

	memcpy(links, all, sizeof(links));
	while (before(end))
		go_on(depth, 0);
	return 0;
}
