<?php
// SPDX-License-Identifier: Apache-2.0
//
// image.php REPORT KIND: functions that stay where they are, for record_image.c. "held": the last one works,
// "released": it waits in C. REPORT-KIND gets the process, then line, file and name of each function, innermost
// first, as debug_backtrace() says them. A function of C has neither line nor file. A function stays in the line
// in which it reports. PHP reads the program from standard input, so that its files have no path.

namespace Image;

const DEPTH = 12;

// ---- what PHP says ----------------------------------------------------------------------------

class Report
{
	static function name($frame)
	{
		$name = $frame['function'];
		if ($name === 'eval') {
			return '{main}';
		}
		return isset($frame['class']) ? $frame['class'] . '::' . $name : $name;
	}

	// A frame of debug_backtrace() has the function, and the place in its caller. A fiber's first function is one
	// of C, and has no frame there.
	static function functions()
	{
		$trace = debug_backtrace(0);
		$found = [];
		for ($i = 1; $i < count($trace); $i++) {
			$name = $i + 1 < count($trace) ? self::name($trace[$i + 1]) : '{main}';
			if ($name === 'Fiber::start') {
				$found[] = "0\t\t{fiber}";
			}
			$found[] = ($trace[$i]['line'] ?? 0) . "\t" . ($trace[$i]['file'] ?? '') . "\t$name";
		}
		return $found;
	}

	static function write($waits)
	{
		global $argv;
		$path = $argv[1] . '-' . $argv[2];
		$lines = array_merge([getmypid()], $waits ? ["0\t\tsleep"] : [], self::functions());
		file_put_contents("$path.new", implode("\n", $lines) . "\n");
		rename("$path.new", $path);
	}
}

function keep()
{
	if ($GLOBALS['argv'][2] === 'held') {
		Report::write(false); while (true);
	}
	Report::write(true); sleep(100000);
}

// ---- ways to call a function ------------------------------------------------------------------

class Größe implements \IteratorAggregate
{
	public $further;

	function __construct($further)
	{
		$this->further = $further;
	}

	function method()
	{
		$r = ($this->further)();
		return $r;
	}

	static function of_class($further)
	{
		$r = $further();
		return $r;
	}

	function __get($name)
	{
		$r = ($this->further)();
		return $r;
	}

	function __call($name, $arguments)
	{
		$r = ($this->further)();
		return $r;
	}

	function __toString()
	{
		$r = ($this->further)();
		return 'size';
	}

	#[\ReturnTypeWillChange]
	function getIterator()
	{
		yield 1;
		$r = ($this->further)();
	}
}

function by_method($further)
{
	$r = (new Größe($further))->method();
	return $r;
}

function by_class($further)
{
	$r = Größe::of_class(
		$further
	);
	return $r;
}

function by_get($further)
{
	$r = (new Größe($further))->anything;
	return $r;
}

function by_call($further)
{
	$r = (new Größe($further))->something();
	return $r;
}

function by_text($further)
{
	$r = (string)new Größe($further);
	return $r;
}

function by_iterator($further)
{
	foreach (new Größe($further) as $value) {
		$r = $value;
	}
	return $r;
}

function by_map($further)
{
	$r = array_map(function ($x) use ($further) {
		$r = $further();
		return $r;
	}, [1]);
	return $r;
}

function by_sort($further)
{
	$r = [2, 1];
	usort($r, function ($left, $right) use ($further) {
		$r = $further();
		return 0;
	});
	return $r;
}

function by_pattern($further)
{
	$r = preg_replace_callback('/a/', function ($found) use ($further) {
		$r = $further();
		return 'b';
	}, 'a');
	return $r;
}

function inner_numbers($further)
{
	yield 1;
	$r = $further();
}

function numbers($further)
{
	yield 0;
	yield from inner_numbers($further);
}

function by_delegation($further)
{
	foreach (numbers($further) as $value) {
		$r = $value;
	}
	return $r;
}

function by_finally($further)
{
	try {
		throw new \Exception('wrong');
	} catch (\Exception $e) {
		$r = 0;
	} finally {
		$r = $further();
	}
	return $r;
}

function by_text_of_code($further)
{
	$r = eval("\n\nreturn \$further();");
	return $r;
}

function recursive($further, $depth)
{
	if ($depth == 0) {
		$r = $further();
		return $r;
	}
	$r = recursive($further, $depth - 1);
	return $r;
}

function by_recursion($further)
{
	$r = recursive($further, DEPTH);
	return $r;
}

function 名前($further)
{
	$r = $further();
	return $r;
}

function with_a_name_that_is_longer_than_the_room_for_it_in_what_a_program_of_the_kernel_tells_of_it______________________________________________________________________________($further)
{
	$r = $further();
	return $r;
}

function by_fiber($further)
{
	$fiber = new \Fiber(function () use ($further) {
		$r = $further();
		return $r;
	});
	$r = $fiber->start();
	return $r;
}

eval("namespace Image; function by_long(\$further)\n{\n" . str_repeat("\$r = 1;\n", 200) . "\$r = \$further(); return \$r;\n}");

function steps()
{
	$steps = ['by_method', 'by_class', 'by_get', 'by_call', 'by_text', 'by_iterator', 'by_map', 'by_sort', 'by_pattern',
		'by_delegation', 'by_finally', 'by_text_of_code', 'by_recursion', '名前', 'by_long',
		'with_a_name_that_is_longer_than_the_room_for_it_in_what_a_program_of_the_kernel_tells_of_it______________________________________________________________________________'];
	if (PHP_VERSION_ID >= 80100) {
		array_splice($steps, 5, 0, ['by_fiber']);
	}
	return $steps;
}

function chain($steps)
{
	if (!$steps) {
		$r = keep();
		return $r;
	}
	$step = 'Image\\' . array_shift($steps);
	$r = $step(function () use ($steps) {
		$r = chain($steps);
		return $r;
	});
	return $r;
}

chain(steps());
