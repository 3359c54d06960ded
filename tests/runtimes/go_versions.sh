# SPDX-License-Identifier: Apache-2.0
#
# tests/runtimes/go_versions.sh, for sourcing: versions of Go, whose toolchains are Go modules.

# shellcheck disable=SC2034
go_versions='1.16.15 1.17.13 1.18.10 1.19.13 1.20.14 1.21.13 1.22.12 1.23.12 1.24.13 1.25.6 1.26.0'
export GO111MODULE=off GOENV=off GOFLAGS= GOTOOLCHAIN=local

# go_root VERSION: the folder of a toolchain, whose programs a module holds without their modes.
go_root() {
	local there
	there=$(GO111MODULE=on go mod download -json "golang.org/toolchain@v0.0.1-go$1.linux-amd64" |
		sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
	[ -n "$there" ] && chmod -R u+w "$there/bin" "$there/pkg" &&
		chmod +x "$there"/bin/* "$there"/pkg/tool/linux_amd64/* && echo "$there"
}
