<?php
// SPDX-License-Identifier: Apache-2.0
//
// calls.php REPORT: functions that call each other in ways that are known, until a signal ends it. In a server, some
// rounds of that for each request, and the report is application.json beside this file.
//
// At first a tick notes what PHP says of all functions, and REPORT gets that as JSON: stacks, outermost
// function first; calls, as (caller, file, line, called function); lines of each function. Then REPORT.ready
// is there, and the same goes on without the ticks. Runs in PHP 7.4 and later.

declare(ticks=1);

namespace Work {

const ROUNDS = 3, BURN = 3000, DEPTH = 60, SERVED = 30;

// ---- what PHP says ----------------------------------------------------------------------------

// JSON is an extension that not every PHP has.
function encode($value)
{
	if (is_string($value)) {
		return '"' . addcslashes($value, '"\\') . '"';
	}
	if (!is_array($value)) {
		return (string)$value;
	}
	$is_list = array_keys($value) === range(0, count($value) - 1) || $value === [];
	$texts = [];
	foreach ($value as $key => $one) {
		$texts[] = $is_list ? encode($one) : encode($key) . ':' . encode($one);
	}
	return $is_list ? '[' . implode(',', $texts) . ']' : '{' . implode(',', $texts) . '}';
}

class Observer
{
	static $on = true, $stacks = [], $calls = [], $lines = [];

	// Names a function as a stack of PHP's own does. Code of a file has no name there.
	static function name($frame)
	{
		$name = $frame['function'];
		if (in_array($name, ['include', 'require', 'eval', 'include_once', 'require_once'])) {
			return '{main}';
		}
		return isset($frame['class']) ? $frame['class'] . '::' . $name : $name;
	}

	// A frame of debug_backtrace() has the function, and the place in its caller.
	static function observe()
	{
		$trace = debug_backtrace(0);
		$stack = [];
		for ($i = count($trace) - 1; $i >= 0; $i--) {
			$frame = $trace[$i];
			$caller = $i + 1 < count($trace) ? self::name($trace[$i + 1]) : '{main}';
			$file = isset($frame['file']) ? basename($frame['file']) : '';
			$stack[] = [$caller, $file];
			$line = $frame['line'] ?? 0;
			if ($i > 0) {
				$call = [$caller, $file, $line, self::name($frame)];
				self::$calls[encode($call)] = $call;
			}
			$function = encode([$caller, $file]);
			self::$lines[$function] = self::$lines[$function] ?? [$caller, $file, []];
			self::$lines[$function][2][$line] = $line;
		}
		self::$stacks[encode($stack)] = $stack;
	}

	// Loops have lines of their own, at which no tick is.
	static function lines()
	{
		$all = [];
		foreach (self::$lines as list($name, $file, $lines)) {
			$all[] = [$name, $file, range(max(0, min($lines) - 2), max($lines) + 1)];
		}
		return $all;
	}

	static function write($report)
	{
		$new = $report . getmypid();
		file_put_contents($new, encode([
			'version' => PHP_VERSION,
			'stacks' => array_values(self::$stacks),
			'calls' => array_values(self::$calls),
			'lines' => self::lines(),
			'proven' => 97,
			'shares' => (int)(PHP_SAPI !== 'cli' && PHP_VERSION_ID >= 80400),
			'files' => ['calls.php', "calls.php(" . Evaluated::LINE . ") : eval()'d code",
				"calls.php(" . Many::LINE . ") : eval()'d code"],
		]));
		rename($new, $report);
		touch($report . '.ready');
	}
}

// ---- functions --------------------------------------------------------------------------------

function burn($rounds = BURN)
{
	$total = 0;
	$rounds = Observer::$on ? 3 : $rounds;
	for ($i = 0; $i < $rounds; $i++) {
		$total += $i % 7;
		$total ^= $i;
	}
	return $total;
}

abstract class Shape
{
	abstract function area();

	static function sum($shapes)
	{
		$total = 0;
		foreach ($shapes as $shape) {
			$total += $shape->area();
		}
		return $total;
	}
}

class Square extends Shape
{
	function area()
	{
		$r = burn();
		return $r;
	}

	function __get($name)
	{
		$r = burn();
		return $r;
	}

	function __call($name, $arguments)
	{
		$r = burn();
		return $r;
	}

	static function __callStatic($name, $arguments)
	{
		$r = burn();
		return $r;
	}

	function __toString()
	{
		$r = burn();
		return "square $r";
	}
}

trait Counts
{
	#[\ReturnTypeWillChange]
	function count()
	{
		$r = burn();
		return 3;
	}
}

class Bag implements \Countable, \IteratorAggregate
{
	use Counts;

	#[\ReturnTypeWillChange]
	function getIterator()
	{
		for ($i = 0; $i < 3; $i++) {
			burn();
			yield $i;
		}
	}

	function __destruct()
	{
		burn();
	}
}

function by_methods()
{
	$r = Shape::sum([new Square, new Square]);
	return $r;
}

function by_magic()
{
	$square = new Square;
	$r = $square->anything;
	$r = $square->something();
	$r = Square::statically();
	$r = strlen((string)$square);
	return $r;
}

function by_callbacks()
{
	$r = array_map(function ($x) {
		$r = burn();
		return $r + $x;
	}, [1, 2]);
	usort($r, function ($a, $b) {
		burn();
		return $a <=> $b;
	});
	$r = preg_replace_callback('/[ab]/', function ($found) {
		$r = by_methods();
		return 'x';
	}, 'ab');
	$r = call_user_func_array('Work\burn', [BURN]);
	return $r;
}

function by_arrow()
{
	$twice = fn($x) => burn() + $x;
	$r = $twice(2);
	return $r;
}

function by_generator()
{
	$total = 0;
	foreach (new Bag as $value) {
		$total += $value;
		burn();
	}
	$total += count(new Bag);
	return $total;
}

function inner_numbers()
{
	burn();
	yield 1;
	burn();
	yield 2;
}

function numbers()
{
	yield 0;
	yield from inner_numbers();
}

function outer_numbers()
{
	yield from numbers();
	burn();
}

function by_delegation()
{
	$total = 0;
	foreach (outer_numbers() as $value) {
		$total += $value;
	}
	return $total;
}

function by_exception()
{
	try {
		by_methods();
		throw new \Exception('wrong');
	} catch (\Exception $e) {
		burn();
	} finally {
		burn();
	}
}

function recursive($depth)
{
	if ($depth == 0) {
		$r = burn(5 * BURN);
		return $r;
	}
	$r = recursive($depth - 1);
	return $r;
}

function by_recursion()
{
	$r = recursive(DEPTH);
	return $r;
}

class Evaluated
{
	const LINE = __LINE__ + 4;

	static function run()
	{
		$r = eval('return Work\by_arrow();');
		return $r;
	}
}

// A function of more lines than an event tells of.
class Many
{
	const LINE = __LINE__ + 7, ROUNDS = 20, LINES = 300;

	static function define()
	{
		$add = str_repeat("\$x = (\$x + \$n) % 1000;\n", self::LINES);
		$text = "declare(ticks=1);\nnamespace Work;\nfunction many(\$n, \$rounds)\n{\n\$x = \$n;\n" .
			"for (\$i = 0; \$i < \$rounds; \$i++) {\n$add\$x += burn();\n$add\$x += burn();\n}\nreturn \$x;\n}\n";
		eval($text);
	}
}

function by_many_lines()
{
	$r = many(3, Observer::$on ? 1 : Many::ROUNDS);
	return $r;
}

function by_output()
{
	ob_start(function ($text) {
		burn();
		return '';
	});
	echo 'x';
	ob_end_flush();
}

function by_fiber()
{
	$fiber = new \Fiber(function () {
		burn();
		\Fiber::suspend();
		$r = by_callbacks();
	});
	$fiber->start();
	burn();
	$fiber->resume();
}

function work()
{
	by_methods();
	by_magic();
	by_callbacks();
	by_arrow();
	by_generator();
	by_delegation();
	by_exception();
	by_recursion();
	Evaluated::run();
	by_many_lines();
	by_output();
	if (PHP_VERSION_ID >= 80100) {
		by_fiber();
	}
}

function run($report, $most)
{
	Observer::$on = !file_exists($report);
	if (Observer::$on) {
		register_tick_function(['Work\Observer', 'observe']);
	}
	Many::define();
	for ($round = 1; $round <= $most; $round++) {
		work();
		if (Observer::$on && $round == ROUNDS) {
			unregister_tick_function(['Work\Observer', 'observe']);
			Observer::$on = false;
			Observer::write($report);
		}
	}
}

}

namespace {

if (PHP_SAPI === 'cli') {
	Work\run($argv[1], INF);
} else {
	Work\run(__DIR__ . '/application.json', Work\SERVED);
}

}
