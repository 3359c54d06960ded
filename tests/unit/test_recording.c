/* SPDX-License-Identifier: Apache-2.0 */
/* Which layers a process of the recording may lack. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "ipc/log.h"
#include "loader/recording.h"

#define MAY  LAYER_BIT(landlock)
#define MUST LAYER_BIT(seccomp)

/* Masks of layers: a machine may lack MAY, and each machine has MUST. */
static const struct {
	uint32_t missing, lacking, required;
	enum exit_status status;
} rows[] = {
	{0, 0, 0, EXIT_DONE},
	{0, MAY | MUST, MAY | MUST, EXIT_DONE}, /* there, whatever the machine can give */
	{MAY, MAY, 0, EXIT_DONE},
	{MAY, MAY, MAY, EXIT_FAILED},
	{MAY, 0, 0, EXIT_FAILED}, /* the machine can give the layer */
	{MUST, MUST, 0, EXIT_FAILED},
	{MAY | MUST, MAY, 0, EXIT_FAILED},
};

static void test_recording__layers(void **state)
{
	static struct recording rec;
	static struct options options;

	(void)state;
	recording_init(&rec, &options, 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		options.given.require = rows[i].required;
		assert_int_equal(recording_check_layers(&rec, PARTY_WORKER, getpid(),
							rows[i].missing, rows[i].lacking),
				 rows[i].status);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_recording__layers),
	};

	log_init("test", LOG_LEVEL_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
