#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/collector/install.sh FOLDER: builds an OpenTelemetry Collector (main.go) with modules of the Go proxy,
# unless the folder has it. Prints its path, or says why there is none and ends with 77.

# The newest release of which the proxy has every module. Its stable modules count 94 behind.
RELEASE=0.162.0
STABLE=1.68.0
GO_LEAST=1.21	# from which on Go fetches the version that a module asks for

folder=$1
program=$folder/collector-$RELEASE
log=$folder/log

without() {
	echo "$*" >&2
	exit 77
}

[ ! -x "$program" ] || { echo "$program"; exit 0; }
command -v go >/dev/null || without 'Go is not installed'
version=$(go env GOVERSION | sed 's/^go//')
[ "$(printf '%s\n' "$GO_LEAST" "$version" | sort -V | head -n 1)" = "$GO_LEAST" ] ||
	without "Go $version is older than $GO_LEAST"

mkdir -p "$folder/source" || exit 1
cp "$(dirname "$0")/main.go" "$folder/source"
rm -f "$folder"/source/go.{mod,sum}
export GOPATH=$folder/go GOMODCACHE=$folder/modules GOCACHE=$folder/objects GOTOOLCHAIN=auto CGO_ENABLED=0
export GOFLAGS='-modcacherw -buildvcs=false' GOMAXPROCS=2
core=go.opentelemetry.io/collector
contrib=github.com/open-telemetry/opentelemetry-collector-contrib
{
	cd "$folder/source" && go mod init collector || exit 1
	for module in {component,confmap,exporter,receiver,confmap/provider/fileprovider}@v$STABLE \
		{exporter/debugexporter,receiver/otlpreceiver,otelcol}@v$RELEASE; do
		go mod edit -require="$core/$module"
	done
	go mod edit -require="$contrib/exporter/fileexporter@v$RELEASE"
	# not `go mod tidy`: the proxy lacks a module that tests of others need
	nice go build -mod=mod -trimpath -ldflags '-s -w' -o "$program" .
} >"$log" 2>&1
[ -x "$program" ] || without "no Collector was built: $(grep -v '^go: downloading' "$log" | tail -n 1)"
rm -rf "$folder/objects"
echo "$program"
