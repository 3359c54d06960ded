// SPDX-License-Identifier: Apache-2.0
// Calls getppid() below 50 functions: tests/hostile/targets/scribble.c.
public class Deep {
	static long deep_leaf() {
		return ProcessHandle.current().parent().map(ProcessHandle::pid).orElse(0L);
	}

	static long deep_step(int depth) {
		return depth > 0 ? deep_step(depth - 1) + 1 : deep_leaf();
	}

	public static void main(String[] arguments) {
		deep_step(50);
	}
}
