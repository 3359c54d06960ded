/* SPDX-License-Identifier: Apache-2.0 */
/* Much for a compiler to do: deep instantiations and large headers. */
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <regex>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

template <int N> struct Fibonacci {
	static constexpr unsigned long value = Fibonacci<N - 1>::value + Fibonacci<N - 2>::value;
};
template <> struct Fibonacci<0> {
	static constexpr unsigned long value = 0;
};
template <> struct Fibonacci<1> {
	static constexpr unsigned long value = 1;
};

template <size_t... I> static size_t tuples(std::index_sequence<I...>)
{
	auto all = std::make_tuple(std::to_string(I)...);

	return (std::get<I>(all).size() + ...);
}

int main()
{
	using Item = std::variant<int, std::string, double>;
	std::map<std::string, std::function<int(int)>> functions;
	std::vector<Item> items{1, "x", 2.5};
	std::regex expression("(a+b*|c?d+)+");

	functions["a"] = [](int x) { return x + 1; };
	std::sort(items.begin(), items.end());
	std::cout << Fibonacci<90>::value << std::regex_match("aab", expression)
		  << tuples(std::make_index_sequence<100>());
	return functions["a"](1);
}
