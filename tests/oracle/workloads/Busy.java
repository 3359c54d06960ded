/* SPDX-License-Identifier: Apache-2.0 */
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Busy SECONDS: garbage for a collector, code for the compilers of the virtual machine. */
public class Busy {
	public static void main(String[] arguments) {
		long end = System.nanoTime() + (long) (Double.parseDouble(arguments[0]) * 1e9);
		Map<String, List<Integer>> map = new HashMap<>();
		Random random = new Random(1);
		long sum = 0;

		while (System.nanoTime() < end) {
			for (int i = 0; i < 1000; i++)
				map.computeIfAbsent("k" + random.nextInt(20000), k -> new ArrayList<>()).add(i);
			if (map.size() > 15000)
				map = new HashMap<>();
			sum += map.toString().length();
		}
		System.out.println(sum);
	}
}
