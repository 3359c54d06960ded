/* SPDX-License-Identifier: Apache-2.0 */
/* mixed [SECONDS]: two threads of what C++ programs do, -O2, each part of known callers. */
#include <algorithm>
#include <alloca.h>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#define FUNCTION __attribute__((noinline, noclone))

namespace work
{
using Random = std::minstd_rand;
using Values = std::vector<uint32_t>;

static thread_local volatile uint64_t sink;

FUNCTION bool less(uint32_t a, uint32_t b)
{
	return (a ^ 0x5555) < (b ^ 0x5555);
}

FUNCTION void sort(Random &random)
{
	Values values(3000);

	for (auto &value : values)
		value = random();
	std::sort(values.begin(), values.end(), less);
	sink = values[7];
}

FUNCTION void map(Random &random)
{
	std::map<uint32_t, std::string> map;

	for (int i = 0; i < 400; i++)
		map[random() % 5000] = std::string(20, 'x');
	sink = map.size();
}

FUNCTION uint64_t spin(uint64_t rounds)
{
	uint64_t value = rounds | 1;

	while (rounds--)
		value = value * 6364136223846793005u + 1;
	sink = value;
	return value;
}

FUNCTION void call(const std::function<uint64_t(uint64_t)> &function)
{
	sink = function(30000) + function(20000);
}

FUNCTION void functions(Random &random)
{
	uint64_t add = random();

	call([add](uint64_t rounds) { return spin(rounds) + add; });
	sink = add;
}

FUNCTION void raise(int depth)
{
	if (depth == 0)
		throw std::runtime_error("expected");
	raise(depth - 1);
	sink = depth;
}

FUNCTION void exceptions(Random &random)
{
	for (int i = 0; i < 6; i++) {
		try {
			raise(3 + random() % 5);
		} catch (const std::exception &) {
			sink = i;
		}
	}
}

FUNCTION void alloca_frame(Random &random)
{
	size_t size = 100 + random() % 900;
	char *buffer = static_cast<char *>(alloca(size));

	std::fill(buffer, buffer + size, 'a');
	sink = spin(20000) + buffer[size / 2];
}

FUNCTION void aligned_frame(Random &random)
{
	alignas(64) uint64_t values[32];

	std::fill(values, values + 32, random());
	__asm__ volatile("" : : "r"(values) : "memory");
	sink = spin(20000) + values[random() % 32];
}

FUNCTION uint64_t recurse(int depth)
{
	uint64_t value = depth > 0 ? recurse(depth - 1) : spin(20000);

	sink = value;
	return value + depth;
}

FUNCTION int compare(const void *a, const void *b)
{
	uint32_t left = *static_cast<const uint32_t *>(a);
	uint32_t right = *static_cast<const uint32_t *>(b);

	return left < right ? -1 : left > right;
}

FUNCTION void callback(Random &random)
{
	Values values(2000);

	for (auto &value : values)
		value = random();
	qsort(values.data(), values.size(), sizeof(values[0]), compare);
	sink = values[3];
}

FUNCTION void thread_main(double seconds, unsigned int seed)
{
	static void (*const parts[])(Random &) = {sort, map, functions, exceptions, alloca_frame,
						  aligned_frame, callback};
	using Clock = std::chrono::steady_clock;
	auto end = Clock::now() + std::chrono::duration<double>(seconds);
	/* as work_for() of work.h, of both threads */
	const auto least = std::clock_t(seconds * CLOCKS_PER_SEC / 2);
	Random random(seed);

	while (Clock::now() < end || std::clock() < least) {
		for (auto part : parts)
			part(random);
		sink = recurse(40);
	}
}
} /* namespace work */

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? strtod(argv[1], nullptr) : 10;
	std::thread other(work::thread_main, seconds, 2);

	work::thread_main(seconds, 1);
	other.join();
	return 0;
}
