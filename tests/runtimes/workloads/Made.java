// SPDX-License-Identifier: Apache-2.0
//
// Made.java REPORT: works in leaf() nearly all the time, in code that the compiler makes. REPORT: see made.py.

import java.nio.file.Files;
import java.nio.file.Path;

class Made {
	static int leaf(int n) {
		int sum = 0;
		for (int i = 0; i < n; i++)
			sum = (sum * 31 + i) ^ (sum >>> 3);
		return sum;
	}

	static int middle(int n) {
		int sum = 0;
		for (int i = 0; i < 50; i++)
			sum ^= leaf(n + i);
		return sum;
	}

	static int outer(double seconds) {
		long finish = System.nanoTime() + (long)(1e9 * seconds);
		int sum = 0;
		while (System.nanoTime() < finish)
			sum ^= middle(2000);
		return sum;
	}

	public static void main(String[] arguments) throws Exception {
		outer(1.5);
		new ProcessBuilder("jcmd", "" + ProcessHandle.current().pid(), "Compiler.perfmap").start().waitFor();
		Files.writeString(Path.of(arguments[0]), "{\"version\": \"Java " + Runtime.version().feature() +
				"\", \"leaf\": \"Made\\\\.(leaf|middle)\\\\(int\\\\)\", \"callers\": [], \"complete\": 90}");
		Files.writeString(Path.of(arguments[0] + ".ready"), "");
		System.exit(outer(60) & 0);
	}
}
