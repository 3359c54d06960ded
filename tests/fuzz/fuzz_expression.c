/* SPDX-License-Identifier: Apache-2.0 */
/* What is not refused is compiled and tried within the fuzzer's limits of time and memory. */
#include <regex.h>
#include <stdint.h>
#include <string.h>

#include "base/expression.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = {"", "std::vector<int>::push_back(int&&)",
					    "xxxxxxxx+0x1"};
	char text[256];
	regex_t regex;

	if (size >= sizeof(text))
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (expression_compile(&regex, text, 0)) {
		if (!expression_problem(text))
			__builtin_trap();
		return 0;
	}
	if (expression_problem(text))
		__builtin_trap();
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		regexec(&regex, names[i], 0, NULL, 0);
	regfree(&regex);
	return 0;
}
