/* SPDX-License-Identifier: Apache-2.0 */
/* Much inlined code of the C++ library, lambdas, local classes, an unnamed namespace. */
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#ifndef WITHOUT_REGEX
#include <regex>
#endif
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace
{
struct Local {
	template <class T> T twice(T value)
	{
		return value + value;
	}
};
}

static int first(std::vector<int> &values)
{
	std::sort(values.begin(), values.end(), [](int a, int b) { return a > b; });
	return values[0];
}

int main(int argc, char **argv)
{
	struct Inner {
		int scaled(int x)
		{
			auto times = [&](int y) { return x * y; };
			return times(3);
		}
	} inner;
	std::map<std::string, std::vector<int>> places;
	std::unordered_map<std::string, std::function<int(int)>> functions;
#ifndef WITHOUT_REGEX /* most of what there is to compile */
	std::regex pattern("a(b|c)*d");
	int matches = std::regex_match(argv[0], pattern);
#else
	int matches = argc;
#endif

	for (int i = 0; i < argc; i++) {
		places[argv[i]].push_back(i);
		functions[argv[i]] = [i](int x) { return x + i; };
	}
	std::thread thread([&] {
		std::cout << first(places.begin()->second) << Local().twice(std::string("x"))
			  << inner.scaled(argc);
	});
	thread.join();
	return matches + functions.begin()->second(2);
}
