#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/container/run.sh: tests the image of contrib/container and the DaemonSet of contrib/kubernetes. The
# manifest has to have the schema of Kubernetes. An agent runs in a container with the manifest's settings,
# under podman's default filter, which stands for RuntimeDefault. No cluster takes part. Prints TAP. Root.
# The image's base is a Debian from the mirror of apt, in place of one from a registry.
# Downloads stay in ${XDG_CACHE_HOME:-~/.cache}/keyhole/.

cd "$(dirname "$0")/../.." || exit 1
build=$(realpath "${BUILD:-build}")
cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/keyhole/container
manifest=contrib/kubernetes/keyhole.yaml
VALIDATOR=kubernetes-validate==1.33.0
SCHEMA=1.33	# of Kubernetes
BASE=localhost/keyhole-base
top=$(mktemp -d "${TMPDIR:-/tmp}/keyhole-container.XXXXXX") || exit 1
children=
end() {
	[ -z "$children" ] || kill $children 2>/dev/null
	! command -v podman >/dev/null || engine rm -fa >"$top/rm" 2>&1
	rm -rf --one-file-system "$top"
}
trap end EXIT
trap 'exit 1' INT TERM
export LC_ALL=C PYTHONDONTWRITEBYTECODE=1
count=0
failed=0

fail() {
	echo "# $*"
	return 1
}

skip() {
	echo "$*" >"$top/skip"
	return 77
}

need() {
	for program; do
		command -v "$program" >/dev/null || { skip "$program is not installed"; return; }
	done
}

run() {	# NAME: of a function below
	local r
	count=$((count + 1))
	"$1" >"$top/out" 2>&1
	r=$?
	case $r in
	0)
		echo "ok $count - $1"
		grep '^# |' "$top/out"
		;;
	77) echo "ok $count - $1 # SKIP $(cat "$top/skip")" ;;
	*)
		echo "not ok $count - $1"
		sed 's/^/# /' "$top/out" | tail -n 30
		failed=1
		;;
	esac
}

# ---- the manifest ---------------------------------------------------------------------------------

manifest_has_the_schema() {
	if [ ! -x "$cache/venv/bin/kubernetes-validate" ]; then
		mkdir -p "$cache"
		python3 -m venv "$cache/venv" && "$cache/venv/bin/pip" -q install "$VALIDATOR" setuptools ||
			{ rm -rf "$cache/venv"; skip "$VALIDATOR cannot be had"; return; }
	fi
	"$cache/venv/bin/kubernetes-validate" --strict -k $SCHEMA "$manifest" || return
	# the validator would notice
	sed 's/hostPID: true/hostPID: maybe/' "$manifest" >"$top/wrong.yaml"
	! "$cache/venv/bin/kubernetes-validate" --strict -k $SCHEMA "$top/wrong.yaml" >"$top/wrong" 2>&1
}

# Writes the settings of the DaemonSet's container, as words of podman, into $top/flags.
read_manifest() {
	python3 -c 'import yaml' 2>/dev/null || { skip 'python3-yaml is not installed'; return; }
	python3 - "$manifest" "$top" <<-'END'
		import os, sys, yaml
		documents = list(yaml.safe_load_all(open(sys.argv[1])))
		folder = sys.argv[2]
		by_kind = {document["kind"]: document for document in documents}
		pod = by_kind["DaemonSet"]["spec"]["template"]["spec"]
		[container] = pod["containers"]
		security = container["securityContext"]
		assert not security["privileged"] and security["capabilities"]["drop"] == ["ALL"]
		assert security["seccompProfile"] == {"type": "RuntimeDefault"} and pod["hostPID"]
		assert by_kind["Namespace"]["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "privileged"
		capabilities = security["capabilities"]["add"]
		text = open("contrib/container/Containerfile").read()
		named = [word for line in text.split("\n") if "--cap-add" in line
		         for word in line.split("--cap-add ")[1].split()[0].split(",")]
		assert named == capabilities, (named, capabilities)
		words = ["--pid", "host", "--user", str(security["runAsUser"]), "--cap-drop", "all"]
		words += ["--cap-add", ",".join(capabilities)]
		words += ["--read-only"] if security["readOnlyRootFilesystem"] else []
		volumes = {volume["name"]: volume for volume in pod["volumes"]}
		for mount in container["volumeMounts"]:
		    source = os.path.join(folder, "volumes", mount["name"])
		    os.makedirs(source)
		    if "configMap" in volumes[mount["name"]]:
		        mode = volumes[mount["name"]]["configMap"]["defaultMode"]
		        for name, content in by_kind["ConfigMap"]["data"].items():
		            with open(os.open(f"{source}/{name}", os.O_CREAT | os.O_WRONLY, mode), "w") as file:
		                file.write(content)
		    words += ["-v", f"{source}:{mount['mountPath']}" + (":ro" if mount.get("readOnly") else "")]
		known = {}
		for variable in container["env"]:   # $(NAME) is a variable that comes before
		    value = variable.get("value", "127.0.0.1" if variable["name"] == "NODE_IP" else "node-1")
		    for name, other in known.items():
		        value = value.replace(f"$({name})", other)
		    known[variable["name"]] = value
		    words += ["-e", f"{variable['name']}={value}"]
		with open(f"{folder}/flags", "w") as file:
		    file.writelines(word + "\n" for word in words)
	END
}

# ---- the image ------------------------------------------------------------------------------------

engine() {
	podman --root "$top/root" --runroot "$top/run" --cgroup-manager cgroupfs ${runtime:+--runtime "$runtime"} "$@"
}

# A limit above this process's own needs a right that the tests may lack.
in_container() {	# WORDS of podman run
	engine run --rm --network host --ulimit nofile=4096:4096 --ulimit nproc=4096:4096 "$@"
}

make_base() {
	need podman mmdebstrap || return
	local release mirror
	release=$(sed -n 's/^ARG BASE=.*debian:\([0-9]*\)-slim$/\1/p' contrib/container/Containerfile)
	release=$(. /etc/os-release && [ "$VERSION_ID" = "$release" ] && echo "$VERSION_CODENAME")
	[ -n "$release" ] || { skip 'this machine runs another Debian than the image'; return; }
	mirror=$(tests/kernels/mirror.sh)
	[ -n "$mirror" ] || { skip 'apt knows no Debian mirror'; return; }
	if [ ! -s "$cache/$release.tar" ]; then
		mkdir -p "$cache"
		mmdebstrap --quiet --mode=root --variant=minbase --aptopt='Acquire::Retries "0"' \
			"$release" "$top/new.tar" "$mirror" || { skip "no Debian from $mirror"; return; }
		mv "$top/new.tar" "$cache/$release.tar"
	fi
	engine import -q "$cache/$release.tar" $BASE
}

# crun refuses hosts with both versions of cgroups.
finds_a_runtime() {
	engine image exists $BASE 2>/dev/null || { skip 'no base'; return; }
	for runtime in crun runc; do
		! in_container $BASE true || return 0
	done
	runtime=
	skip 'no runtime starts a container here'
}

image_is_built() {
	[ -n "$runtime" ] || { skip 'no runtime'; return; }
	engine build -q --isolation chroot --pull=never --network host --build-arg BASE=$BASE -t localhost/keyhole \
		-f contrib/container/Containerfile . || return
	in_container localhost/keyhole --version || return
	echo "# |$(engine image inspect -f "{{.Size}}" localhost/keyhole) bytes with the base"
}

# ---- the agent in it ------------------------------------------------------------------------------

until_it_says() {	# TEXT FILE
	for i in $(seq 600); do
		! grep -qE "$1" "$2" || return 0
		sleep 0.1
	done
	cat "$2"
	fail "no $1 after 60 s"
}

begin_collector() {
	local python
	for python in /usr/bin/python3 python3 none; do
		! "$python" -c 'import h2.connection' 2>/dev/null || break
	done
	[ $python != none ] || { skip 'python3-h2 is not installed'; return; }
	rm -f "$top/port"
	PORT=4318 $python tests/e2e/collector.py http "$top" >"$top/collected" 2>&1 &
	collector=$!
	children="$children $collector"
	for i in $(seq 100); do
		[ ! -s "$top/port" ] || return 0
		sleep 0.1
	done
	cat "$top/collected"
	grep -q 'Address already in use' "$top/collected" || return
	skip 'something else has port 4318 here'
}

# As many samples come as were taken. No layer of confinement is missing in a container. Processes of the
# host are there, and all have the resource that the manifest asks for.
agent_sends_all() {
	engine image exists localhost/keyhole 2>/dev/null || { skip 'no image'; return; }
	local flags agent taken came
	mapfile -t flags <"$top/flags"
	begin_collector || return
	"$build/workloads/other" 120 &
	children="$children $!"
	in_container --name agent "${flags[@]}" localhost/keyhole agent -v --interval 2 >"$top/agent" 2>&1 &
	agent=$!
	children="$children $agent"
	until_it_says ': enabled|enabled [0-9]+ ms' "$top/agent" || return
	sleep 5
	# with the host's pids, runc signals all processes of the container
	engine stop --time 45 agent >"$top/stop" 2>&1 || { cat "$top/stop"; fail 'no stop'; return; }
	wait "$agent" || { cat "$top/agent"; fail 'the agent failed'; return; }
	kill "$collector"
	wait "$collector" || { cat "$top/collected"; fail 'a request broke a rule'; return; }
	! grep -E '^keyhole: start: .*: without ' "$top/agent" || fail 'a layer is missing' || return
	taken=$(sed -nE 's/^samples: .*taken ([0-9]+).*/\1/p' "$top/agent")
	came=$(sed -nE 's/.* events ([0-9]+) .*/\1/p' "$top/collected")
	echo "# |taken $taken, came $came; $(sed -n 's/.*tables: .* of \([0-9]* objects\).*/\1/p' "$top/agent")"
	[ -n "$taken" ] && [ "$taken" = "$came" ] && [ "$taken" -gt 50 ] || fail "taken $taken, came $came" || return
	! grep -v 'host.name=node-1' "$top/resources" || fail 'not the name of the machine' || return
	grep -q 'process.executable.path=[^ ]*/keyhole-worker .*service.name=keyhole\|service.name=keyhole .*process.executable.path=/usr/libexec/keyhole/keyhole-' \
		"$top/resources" || fail 'keyhole has no name' || return
	grep 'process.executable.name=other' "$top/resources"
}

[ "$(id -u)" = 0 ] || { echo '1..0 # SKIP needs root: sudo make check-container' | tee /dev/stderr; exit 77; }
for test in manifest_has_the_schema read_manifest make_base finds_a_runtime image_is_built agent_sends_all; do
	run $test
done
echo "1..$count"
exit $failed
