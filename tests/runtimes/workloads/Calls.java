// SPDX-License-Identifier: Apache-2.0
//
// Calls.java REPORT: functions that call each other in ways that are known, until a signal ends it.
//
// At first an observer notes what Java says of the stack at one place of each function, and REPORT gets that
// as JSON: stacks, outermost function first; calls, as (caller, file, line, called function); lines of each
// function. Then REPORT.ready is there, and the same goes on without the observer. Runs in Java 8 and later.
//
// -Dvirtual=true: the same in a virtual thread, which yields before it works. HotSpot then moves the functions to the
// heap and brings some of them back.
//
// Between two safepoints the second compiler notes no place without DebugNonSafepoints: a profile then has the place
// of the second safepoint, and sometimes its function. So fewer functions have to agree.

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.IntUnaryOperator;

class Calls {
	static final int ROUNDS = 3, DEPTH = 40, BURN = 4000;
	static final boolean VIRTUAL = Boolean.getBoolean("virtual");
	static boolean on = true;
	static final Set<String> stacks = new LinkedHashSet<>(), calls = new LinkedHashSet<>();
	static final Map<String, Set<Integer>> lines = new LinkedHashMap<>();

	// ---- what Java says ----

	static String place(StackTraceElement frame) {
		return "\"" + frame.getClassName() + "." + frame.getMethodName() + "\",\"" + frame.getFileName() + "\"";
	}

	static int observe(int value) {
		StackTraceElement[] trace = new Throwable().getStackTrace();
		StringBuilder stack = new StringBuilder();
		for (int i = trace.length - 1; i > 0; i--) {
			StackTraceElement frame = trace[i];
			stack.append(stack.length() > 0 ? ",[" : "[").append(place(frame)).append("]");
			lines.computeIfAbsent(place(frame), key -> new TreeSet<>()).add(frame.getLineNumber());
			if (i > 1)
				calls.add("[" + place(frame) + "," + frame.getLineNumber() + ",\"" + trace[i - 1].getClassName() +
						"." + trace[i - 1].getMethodName() + "\"]");
		}
		stacks.add("[" + stack + "]");
		return value;
	}

	static void report(String path) {
		StringBuilder text = new StringBuilder("{\"version\": \"Java " + System.getProperty("java.specification.version"));
		boolean exact = ManagementFactory.getRuntimeMXBean().getInputArguments().contains("-XX:+DebugNonSafepoints");
		text.append("\", \"functions\": " + (exact ? 99 : 85));
		if (VIRTUAL)
			text.append(", \"root\": \"java.lang.VirtualThread.run\"");
		text.append(", \"files\": [\"Calls.java\"], \"own\": 1, \"proven\": ").append(VIRTUAL ? 97 : 98);
		text.append(", \"stacks\": [");
		text.append(String.join(",", stacks)).append("], \"calls\": [").append(String.join(",", calls));
		text.append("], \"lines\": [");
		String separator = "";
		for (Map.Entry<String, Set<Integer>> entry : lines.entrySet()) {
			text.append(separator).append("[").append(entry.getKey()).append(",").append(entry.getValue()).append("]");
			separator = ",";
		}
		text.append("]}");
		try {
			Files.write(Paths.get(path), text.toString().getBytes(StandardCharsets.UTF_8));
			Files.write(Paths.get(path + ".ready"), new byte[0]);
		} catch (IOException e) {
			throw new UncheckedIOException(e);
		}
	}

	// ---- what calls what: the lines of a function's own work are those at which it observes ----

	static int burn(int n) { int sum = on ? observe(0) : 0; if (VIRTUAL) Thread.yield(); for (int i = 0; i < n; i++) sum = (sum * 31 + i) ^ (sum >>> 3); return sum; }

	static int small(int n) { return burn(n) + (on ? observe(1) : 1); }

	static int recurse(int depth) { return depth == 0 ? small(BURN) : recurse(depth - 1) + (on ? observe(1) : 1); }

	interface Shape { int area(int n); }

	static class Square implements Shape {
		Square() { if (on) observe(0); }
		public int area(int n) { return small(n) + (on ? observe(2) : 2); }
	}

	static class Circle implements Shape {
		Circle() { if (on) observe(0); }
		public int area(int n) { return burn(n) * 3 + (on ? observe(2) : 2); }
	}

	static class Wide implements Shape {
		Wide() { if (on) observe(0); }
		public int area(int n) { return burn(n / 2) + burn(n / 3) + (on ? observe(2) : 2); }
	}

	static int shapes(Shape[] all) { int sum = on ? observe(0) : 0; for (Shape one : all) sum += one.area(BURN); return sum; }

	static int lambda(int n) { IntUnaryOperator twice = x -> burn(x) + (on ? observe(2) : 2); return apply(twice, n); }

	static int apply(IntUnaryOperator function, int n) { return function.applyAsInt(n) + (on ? observe(1) : 1); }

	static int reference(int n) { return apply(Calls::small, n) + (on ? observe(1) : 1); }

	static int library(int n) { HashMap<Integer, Integer> map = new HashMap<>(); for (int i = 0; i < 20; i++) map.computeIfAbsent(i, key -> burn(n / 20)); return map.size(); }

	static int sorted(int n) { Integer[] numbers = {3, 1, 2, 5, 4}; Arrays.sort(numbers, (a, b) -> a - b + 0 * burn(n / 8)); return numbers[0] + (on ? observe(1) : 1); }

	static synchronized int locked(int n) { return burn(n) + (on ? observe(1) : 1); }

	static int thrown(int depth) { if (depth == 0) throw new IllegalStateException(on ? "" + observe(0) : ""); return thrown(depth - 1) + 1; }

	static int caught(int n) { try { return thrown(5); } catch (IllegalStateException e) { return burn(n) + (on ? observe(1) : 1); } }

	// several functions are inlined into one
	static int one(int n) { return two(n) + (on ? observe(1) : 1); }

	static int two(int n) { return three(n) + (on ? observe(1) : 1); }

	static int three(int n) { return burn(n) + (on ? observe(1) : 1); }

	static int round() {
		Shape[] all = {new Square(), new Circle(), new Wide()};
		int sum = recurse(DEPTH);
		sum += shapes(all);
		sum += lambda(BURN);
		sum += reference(BURN);
		sum += library(BURN);
		sum += sorted(BURN);
		sum += locked(BURN);
		sum += caught(BURN);
		sum += one(BURN);
		return sum;
	}

	static void work(String path) {
		for (int i = 0, sum = 0;; i++) {
			if (i == ROUNDS) {
				on = false;
				report(path);
			}
			sum += round();
		}
	}

	public static void main(String[] arguments) throws Exception {
		if (VIRTUAL)
			((Thread)Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null,
					(Runnable)() -> work(arguments[0]))).join();
		else
			work(arguments[0]);
	}
}
