#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# tests/e2e/promtool.sh: prints the path of promtool: the one that is installed, or that of Debian's package
# prometheus, unpacked in the cache. Without one it prints why, and ends with status 1.

cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/keyhole/prometheus
found=$(command -v promtool) || found=$cache/usr/bin/promtool

if [ ! -x "$found" ]; then
	command -v apt-get >/dev/null || { echo 'promtool is not installed'; exit 1; }
	mkdir -p "$cache" || exit 1
	(cd "$cache" && apt-get download prometheus && dpkg-deb -x prometheus_*.deb . && rm prometheus_*.deb) \
		>"$cache/log" 2>&1 || { echo "promtool is not installed, and cannot be had: $(tail -n 1 "$cache/log")"; exit 1; }
fi
echo "$found"
