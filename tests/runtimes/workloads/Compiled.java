// SPDX-License-Identifier: Apache-2.0
//
// Compiled.java REPORT METHODS: works, while HotSpot compiles METHODS functions a minute. Each is in a hidden class of
// its own, made from the bytes of one class, and is called until HotSpot has compiled it. METHODS 0: the same work
// without new classes. REPORT gets the number of functions once a second. Runs in Java 17 and later, for 60 seconds.

import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.function.IntUnaryOperator;

class Compiled {
	static final int OFTEN = 400, KEPT = 100;

	// the class that is copied
	static class Work implements IntUnaryOperator {
		public int applyAsInt(int n) { return n * 31 ^ n >>> 3; }
	}

	static int burn(int n) { int sum = 0; for (int i = 0; i < n; i++) sum = (sum * 31 + i) ^ (sum >>> 3); return sum; }

	static int often(IntUnaryOperator one, int sum) { for (int i = 0; i < OFTEN; i++) sum ^= one.applyAsInt(i); return sum; }

	public static void main(String[] arguments) throws Exception {
		byte[] bytes;
		try (InputStream stream = Compiled.class.getResourceAsStream("Compiled$Work.class")) {
			bytes = stream.readAllBytes();
		}
		int methods = Integer.parseInt(arguments[1]), made = 0, sum = 0;
		long start = System.nanoTime(), told = 0;
		ArrayDeque<IntUnaryOperator> kept = new ArrayDeque<>();
		IntUnaryOperator known = new Work();
		Files.writeString(Path.of(arguments[0] + ".ready"), "");
		for (long now = 0; now < 60_000_000_000L; now = System.nanoTime() - start) {
			if (made < now / 1e9 * methods / 60) {
				Class<?> one = MethodHandles.lookup().defineHiddenClass(bytes, true).lookupClass();
				known = (IntUnaryOperator)one.getDeclaredConstructor().newInstance();
				kept.add(known);
				if (kept.size() > KEPT)
					kept.remove();
				made++;
			}
			sum ^= often(known, burn(20000));
			if (now / 1_000_000_000L > told) {
				told = now / 1_000_000_000L;
				Files.writeString(Path.of(arguments[0]), made + "\n");
			}
		}
		System.exit(sum & 0);
	}
}
