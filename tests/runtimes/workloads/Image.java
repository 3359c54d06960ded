// SPDX-License-Identifier: Apache-2.0
//
// Image.java REPORT KIND: functions that stay where they are, for record_image.c. KIND "compiled": they ran often
// before. The last function works. REPORT-KIND gets the thread, then line, file and name of each function, innermost
// first, as Java's own stacks have them. Names have parameters where a class has one function of the name. The
// report leaves out classes that Java's own stacks hide. Runs in Java 8 and later.

import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.TreeMap;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

class Image {
	static final int OFTEN = 30000;
	static String report, kind;

	// ---- what Java says ----

	static String type(Class<?> type) {
		return type.isArray() ? type(type.getComponentType()) + "[]" : type.getName().replaceAll(".*[.]", "");
	}

	static String parameters(StackTraceElement frame) throws Exception {
		Class<?> of = Class.forName(frame.getClassName());
		List<Executable> found = new ArrayList<>();
		for (Method method : of.getDeclaredMethods())
			if (method.getName().equals(frame.getMethodName()))
				found.add(method);
		if (frame.getMethodName().equals("<init>"))
			found.addAll(Arrays.asList(of.getDeclaredConstructors()));
		if (found.size() != 1)
			return "";
		List<String> types = new ArrayList<>();
		for (Class<?> one : found.get(0).getParameterTypes())
			types.add(type(one));
		return "(" + String.join(",", types) + ")";
	}

	static void report(StackTraceElement[] trace) {
		try {
			StringBuilder text = new StringBuilder(
					Files.readSymbolicLink(Paths.get("/proc/thread-self")).getFileName() + "\n");
			for (StackTraceElement frame : trace)
				text.append(Math.max(frame.getLineNumber(), 0)).append("\t").append(frame.getFileName()).append("\t")
						.append(frame.getClassName()).append(".").append(frame.getMethodName()).append(parameters(frame))
						.append("\n");
			Path path = Paths.get(report + "-" + kind), before = Paths.get(path + ".new");
			Files.write(before, text.toString().getBytes(StandardCharsets.UTF_8));
			Files.move(before, path, StandardCopyOption.ATOMIC_MOVE);
		} catch (Exception e) {
			throw new IllegalStateException(e);
		}
	}

	// ---- functions ----

	interface Further { int call(int n); }

	interface Step { int take(Further further, int n); }

	static class Shape {
		final int made;

		Shape(Further further, int n) { made = further.call(n); }

		int method(Further further, int n) { return further.call(n) + made; }
	}

	static abstract class Generic<T> {
		abstract int take(T further, int n);

		int of(T further, int n) { return take(further, n) + 1; }
	}

	static class Bridged extends Generic<Further> {
		@Override
		int take(Further further, int n) { return further.call(n); }
	}

	static int byConstructor(Further further, int n) { return new Shape(further, n).made; }

	static int byMethod(Further further, int n) { return new Shape(x -> x, n).method(further, n); }

	static int byBridge(Further further, int n) { Generic<Further> one = new Bridged(); return one.of(further, n); }

	static int bySort(Further further, int n) {
		Integer[] two = {2, 1};
		int[] sum = {0};
		Arrays.sort(two, (a, b) -> { sum[0] += further.call(n); return a - b; });
		return sum[0];
	}

	static int byMap(Further further, int n) {
		return new HashMap<Integer, Integer>().computeIfAbsent(n, key -> further.call(key));
	}

	static int byTree(Further further, int n) {
		TreeMap<Integer, Integer> map = new TreeMap<>((a, b) -> further.call(n) * 0 + a - b);
		map.put(n, n);
		return map.get(n);
	}

	static int byEach(Further further, int n) {
		int[] sum = {0};
		Collections.singletonList(n).forEach(one -> sum[0] += further.call(one));
		return sum[0];
	}

	static int byStream(Further further, int n) { return IntStream.of(n).map(x -> further.call(x)).sum(); }

	static synchronized int byLock(Further further, int n) { return further.call(n); }

	static int byCatch(Further further, int n) {
		try {
			throw new IllegalArgumentException();
		} catch (IllegalArgumentException e) {
			return further.call(n);
		} finally {
			n++;
		}
	}

	static int recurse(Further further, int n, int depth) {
		return depth == 0 ? further.call(n) : recurse(further, n, depth - 1) + 1;
	}

	static int byRecursion(Further further, int n) { return recurse(further, n, 12); }

	static int byMany(Further further, int n, long wide, double real, byte[] bytes, String... texts) {
		return further.call(n) + (int)wide + (int)real + bytes.length + texts.length;
	}

	static int byArguments(Further further, int n) { return byMany(further, n, 1L, 2.0, new byte[0], "a", "b"); }

	static int 名前(Further further, int n) { return further.call(n); }

	static int apply(IntUnaryOperator function, int n) { return function.applyAsInt(n) + 1; }

	static int byReference(Further further, int n) { return apply(further::call, n); }

	static final Step[] STEPS = {Image::byConstructor, Image::byMethod, Image::byBridge, Image::bySort, Image::byMap,
			Image::byTree, Image::byEach, Image::byStream, Image::byLock, Image::byCatch, Image::byRecursion,
			Image::byArguments, Image::名前, Image::byReference};

	static int chain(int at, Further last, int n) {
		return at == STEPS.length ? last.call(n) : STEPS[at].take(x -> chain(at + 1, last, x), n);
	}

	// the report and the work are in one line
	static int keep(int n) { report(new Throwable().getStackTrace()); while (n != 0) n = n * 31 | 1; return n; }

	public static void main(String[] arguments) {
		report = arguments[0];
		kind = arguments[1];
		for (int i = 0, sum = 0; kind.equals("compiled") && i < OFTEN; i++)
			sum += chain(0, x -> x + 1, i);
		chain(0, Image::keep, 1);
	}
}
