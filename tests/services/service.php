<?php
// SPDX-License-Identifier: Apache-2.0
//
// service.php: a service of PHP-FPM that answers POST /order and GET /catalog.
//
// An order is JSON. SQLite finds its products by PDO and calls a function in PHP, hash and zlib sign and pack the answer,
// and preg calls a function back for each word in the page of the catalog. A request with the header X-Stacks makes
// note() write what PHP says of the stack at some places to the file STACKS, a line of JSON each.

declare(strict_types=1);

namespace Shop;

const PRODUCTS = 150;

function name_of(array $frame): string
{
	if (in_array($frame['function'], ['include', 'require'])) {
		return '{main}';
	}
	return isset($frame['class']) ? $frame['class'] . '::' . $frame['function'] : $frame['function'];
}

// Writes the stack at this place, outermost function first.
function note(): void
{
	if (!Application::$notes) {
		return;
	}
	$names = array_map('Shop\name_of', array_slice(debug_backtrace(DEBUG_BACKTRACE_IGNORE_ARGS), 1));
	$names = array_merge(['{main}'], array_reverse($names));
	file_put_contents($_SERVER['STACKS'], json_encode($names) . "\n", FILE_APPEND | LOCK_EX);
}

final class Price implements \JsonSerializable
{
	public function __construct(private int $cents)
	{
	}

	// json_encode() calls it.
	public function jsonSerialize(): mixed
	{
		note();
		$text = '';
		for ($round = 0; $round < 20; $round++) {
			$text = sprintf('%d.%02d', intdiv($this->cents, 100), $this->cents % 100);
		}
		return $text;
	}
}

final class Products
{
	private \PDO $database;

	public function __construct()
	{
		$this->database = new \PDO('sqlite::memory:');
		$this->database->exec('create table product (id integer primary key, name text, cents integer)');
		$insert = $this->database->prepare('insert into product values (?, ?, ?)');
		for ($id = 0; $id < PRODUCTS; $id++) {
			$insert->execute([$id, str_repeat("product $id ", 8), $id * 37]);
		}
		$this->database->sqliteCreateFunction('rank', [$this, 'rank'], 1);
	}

	public function rank(string $name): int
	{
		note();
		$sum = 0;
		for ($at = 0; $at < strlen($name); $at++) {
			$sum = ($sum * 31 + ord($name[$at])) % 65521;
		}
		return $sum;
	}

	public function find(int $least): array
	{
		note();
		$query = $this->database->prepare(
			'select id, name, cents from product where id * 7 % 10 >= ? order by rank(name)');
		$query->bindValue(1, $least, \PDO::PARAM_INT);
		$query->execute();
		return array_map(fn ($row) => ['id' => $row[0], 'name' => $row[1], 'price' => new Price((int)$row[2])],
			$query->fetchAll(\PDO::FETCH_NUM));
	}
}

final class Application
{
	public static bool $notes = false;
	private array $routes;

	public function __construct(private Products $products)
	{
		$this->routes = ['POST /order' => [$this, 'order'], 'GET /catalog' => [$this, 'catalog']];
	}

	public function run(string $route): void
	{
		echo call_user_func($this->routes[$route]);
	}

	private function sign(string $text): string
	{
		note();
		return hash_pbkdf2('sha256', $text, 'salt', 1000);
	}

	private function pack(string $text): string
	{
		note();
		return base64_encode(gzcompress($text, 9));
	}

	public function order(): string
	{
		note();
		$order = json_decode(file_get_contents('php://input'), true);
		$text = json_encode(['customer' => $order['customer'],
			'products' => $this->products->find(count($order['lines']) % 3)]);
		return json_encode(['signature' => $this->sign($text), 'packed' => $this->pack($text)]);
	}

	public function shown(array $one): string
	{
		return preg_replace_callback('/[a-z]+/', function (array $found): string {
			note();
			$mixed = $found[0];
			for ($round = 0; $round < 20; $round++) {
				$mixed = strrev($mixed);
			}
			return $mixed;
		}, $one['name']) . ' at ' . $one['price']->jsonSerialize();
	}

	public function catalog(): string
	{
		note();
		$lines = array_map([$this, 'shown'], $this->products->find(0));
		return '<ul><li>' . implode('</li><li>', array_map('htmlspecialchars', $lines)) . '</li></ul>';
	}
}

Application::$notes = isset($_SERVER['HTTP_X_STACKS']);
(new Application(new Products()))->run($_SERVER['REQUEST_METHOD'] . ' ' . strtok($_SERVER['REQUEST_URI'], '?'));
