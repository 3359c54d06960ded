<?php
// SPDX-License-Identifier: Apache-2.0
//
// made.php REPORT: works in leaf() nearly all the time, in code that the compiler makes. REPORT: see made.py.

function leaf($n)
{
	$sum = 0;
	for ($i = 0; $i < $n; $i++) {
		$sum = ($sum * 31 + $i) & 0xffffff;
	}
	return $sum;
}

function middle($n)
{
	$sum = 0;
	for ($i = 0; $i < 50; $i++) {
		$sum ^= leaf($n + $i);
	}
	return $sum;
}

class Outer
{
	function run($until)
	{
		$sum = 0;
		while (microtime(true) < $until) {
			$sum ^= middle(2000);
		}
		return $sum;
	}
}

$report = $argv[1];
(new Outer)->run(microtime(true) + 0.5);
file_put_contents($report, json_encode([
	'version' => 'PHP ' . PHP_VERSION, 'leaf' => 'leaf', 'callers' => []]));
touch("$report.ready");
(new Outer)->run(microtime(true) + 60);
