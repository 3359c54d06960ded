// SPDX-License-Identifier: Apache-2.0
// Calls getppid() below 50 functions: tests/hostile/targets/scribble.c.
function deep_leaf() {
	return process.ppid;
}

function deep_step(depth) {
	return depth > 0 ? deep_step(depth - 1) + 1 : deep_leaf();
}

deep_step(50);
