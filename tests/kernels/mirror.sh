#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/kernels/mirror.sh: prints the Debian mirror of this machine's apt, from a "deb" line or a "URIs:"
# field. Only a mirror of the archive itself counts. Prints nothing if there is none.

cat /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources} 2>/dev/null |
	awk '/^URIs:/ { print $2 }
		$1 == "deb" { for (i = 2; i <= NF; i++) if ($i ~ ":/") { print $i; break } }' |
	sed 's|/*$||' | grep -m 1 '/debian$'
