#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The sources are as clang-format leaves them (make format).

command -v "${CLANG_FORMAT:-clang-format}" >/dev/null || { echo 'no clang-format' >&2; exit 77; }
tests/lint/sources | xargs "${CLANG_FORMAT:-clang-format}" --dry-run --Werror --ferror-limit=2 2>&1
