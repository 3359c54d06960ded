// SPDX-License-Identifier: Apache-2.0
//
// Service.java: a service of Spring Boot that answers POST /order and GET /catalog on the port PORT.
//
// An order is JSON. Jackson reads and writes it, H2 finds its products by JDBC, and threads of a pool pack the answer,
// which a digest signs. VIRTUAL=1: requests and packing have virtual threads (Java 21 and later). A request with the
// header X-Stacks makes note() write what Java says of the stack at some places to the file STACKS, a line of JSON each.

package shop;

import com.fasterxml.jackson.annotation.JsonValue;
import com.fasterxml.jackson.databind.ObjectMapper;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.zip.Deflater;
import org.springframework.boot.CommandLineRunner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

@SpringBootApplication
public class Service {
	static final boolean VIRTUAL = System.getenv("VIRTUAL") != null;
	static final int PRODUCTS = 400, NAME_WORDS = 8, ROUNDS = 12;
	static volatile boolean notes;

	// Writes the stack at this place, outermost function first.
	static void note() {
		if (!notes)
			return;
		StackTraceElement[] trace = new Throwable().getStackTrace();
		List<String> stack = new ArrayList<>();
		for (int i = trace.length - 1; i > 0; i--)
			stack.add(trace[i].getClassName() + "." + trace[i].getMethodName());
		try {
			String line = new ObjectMapper().writeValueAsString(stack) + "\n";
			Files.write(Path.of(System.getenv("STACKS")), line.getBytes(StandardCharsets.UTF_8), StandardOpenOption.CREATE,
					StandardOpenOption.APPEND);
		} catch (IOException error) {
			throw new IllegalStateException(error);
		}
	}

	public static void main(String[] arguments) {
		SpringApplication application = new SpringApplication(Service.class);
		application.setDefaultProperties(Map.of("server.port", System.getenv("PORT"), "server.address", "127.0.0.1",
				"spring.threads.virtual.enabled", VIRTUAL, "server.compression.enabled", true,
				"server.tomcat.threads.max", 4, "spring.datasource.url", "jdbc:h2:mem:shop"));
		application.run(arguments);
	}

	@Bean
	Executor packers() {
		if (VIRTUAL) {
			SimpleAsyncTaskExecutor executor = new SimpleAsyncTaskExecutor("packer-");
			executor.setVirtualThreads(true);
			return executor;
		}
		ThreadPoolTaskExecutor executor = new ThreadPoolTaskExecutor();
		executor.setCorePoolSize(2);
		executor.setThreadNamePrefix("packer-");
		return executor;
	}

	@Bean
	CommandLineRunner fill(JdbcTemplate database) {
		return arguments -> {
			database.execute("create table product (id int primary key, name varchar(200), cents int)");
			for (int id = 0; id < PRODUCTS; id++)
				database.update("insert into product values (?, ?, ?)", id, ("product " + id + " ").repeat(NAME_WORDS), id * 37);
		};
	}
}

record Line(int product, int count) {}

record Order(String customer, List<Line> lines) {}

// Jackson asks for its text.
record Price(int cents) {
	@JsonValue
	public String text() {
		Service.note();
		String text = "";
		for (int round = 0; round < Service.ROUNDS; round++)
			text = String.format("%d.%02d", cents / 100, cents % 100);
		return text;
	}
}

record Product(int id, String name, Price price) {}

@RestController
class Orders {
	private final JdbcTemplate database;
	private final Executor packers;

	Orders(JdbcTemplate database, Executor packers) {
		this.database = database;
		this.packers = packers;
	}

	private Product product(ResultSet row, int number) throws SQLException {
		Service.note();
		return new Product(row.getInt(1), row.getString(2), new Price(row.getInt(3)));
	}

	private List<Product> find(int least) {
		return database.query("select id, name, cents from product where mod(id * 7, 10) >= ? and name like '%1%' order by cents desc",
				this::product, least);
	}

	private String sign(byte[] bytes) throws Exception {
		Service.note();
		MessageDigest digest = MessageDigest.getInstance("SHA-256");
		for (int round = 0; round < Service.ROUNDS; round++)
			digest.update(bytes);
		return HexFormat.of().formatHex(digest.digest());
	}

	private byte[] pack(byte[] bytes) {
		Service.note();
		byte[] packed = new byte[bytes.length + 64];
		Deflater deflater = new Deflater(Deflater.BEST_COMPRESSION);
		deflater.setInput(bytes);
		deflater.finish();
		int size = deflater.deflate(packed);
		deflater.end();
		return java.util.Arrays.copyOf(packed, size);
	}

	@PostMapping("/order")
	Map<String, Object> order(@RequestBody Order order, HttpServletRequest request) throws Exception {
		Service.notes = request.getHeader("X-Stacks") != null;
		Service.note();
		List<Product> products = find(order.lines().size() % 3);
		byte[] bytes = products.toString().repeat(2).getBytes(StandardCharsets.UTF_8);
		FutureTask<byte[]> task = new FutureTask<>(() -> pack(bytes));
		packers.execute(task);
		String signature = sign(bytes);
		return Map.of("customer", order.customer(), "signature", signature, "packed",
				Base64.getEncoder().encodeToString(task.get()), "products", products);
	}

	@GetMapping("/catalog")
	List<Product> catalog(HttpServletRequest request) {
		Service.notes = request.getHeader("X-Stacks") != null;
		Service.note();
		return find(0);
	}
}
