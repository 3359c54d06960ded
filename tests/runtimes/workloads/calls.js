// SPDX-License-Identifier: Apache-2.0
//
// calls.js REPORT: functions that call each other in ways that are known, until a signal ends it.
//
// At first observe() notes what V8 says of all functions. REPORT gets that as JSON: stacks, outermost function
// first; calls, as (caller, file, line, called function); lines of each function. Then REPORT.ready is there, and the same goes on unobserved, in a worker thread too. BLIND=1: V8 compiles the code, whose lines
// are not known. Runs in Node.js 16 and later.

'use strict';

const fs = require('fs');
const path = require('path');
const { Worker, isMainThread, parentPort } = require('worker_threads');

const ROUNDS = 3, BURN = 20000, DEPTH = 40;
const stacks = new Map(), calls = new Map(), lines = new Map();
let on = true;

// ---- what V8 says -----------------------------------------------------------------------------

function frame_of(site) {
	return [site.getFunctionName() || '(anonymous)', path.posix.basename(site.getFileName() || ''),
		site.getLineNumber() || 0];
}

function observe() {
	if (!on)
		return;
	const before = Error.prepareStackTrace;
	Error.prepareStackTrace = (error, sites) => sites;
	const holder = {};
	Error.captureStackTrace(holder, observe);
	const stack = holder.stack.map(frame_of).reverse();
	Error.prepareStackTrace = before;
	const frames = stack.map(([name, file]) => [name, file]);
	stacks.set(JSON.stringify(frames), frames);
	for (let i = 0; i < stack.length; i++) {
		const [name, file, line] = stack[i];
		if (i + 1 < stack.length) {
			const call = [name, file, line, stack[i + 1][0]];
			calls.set(JSON.stringify(call), call);
		}
		const key = JSON.stringify([name, file]);
		if (!lines.has(key))
			lines.set(key, [name, file, new Set()]);
		lines.get(key)[2].add(line);
	}
}

// Loops have lines of their own, at which nothing is observed.
function all_lines() {
	return [...lines.values()].map(([name, file, numbers]) => {
		const all = [];
		for (let n = Math.max(0, Math.min(...numbers) - 8); n <= Math.max(...numbers) + 7; n++)
			all.push(n);
		return [name, file, all];
	});
}

function write(report) {
	const own = report + process.pid;
	fs.writeFileSync(own, JSON.stringify({
		version: process.versions.node,
		stacks: [...stacks.values()],
		calls: [...calls.values()],
		lines: all_lines(),
		proven: 97,
		blind: Number(process.env.BLIND || 0),
		files: ['calls.js'],
	}));
	fs.renameSync(own, report);
	fs.writeFileSync(report + '.ready', String(process.pid));
}

// ---- functions --------------------------------------------------------------------------------

function burn() {
	observe();
	let total = 0;
	const rounds = on ? 3 : BURN;
	for (let i = 0; i < rounds; i++) {
		total += i % 7;
		total ^= i;
	}
	return total;
}

class Shape {
	static sum(shapes) {
		let total = 0;
		for (const shape of shapes)
			total += shape.area();
		return total;
	}
}

class Square extends Shape {
	constructor() {
		super();
		this.made = burn();
	}
	area() {
		return burn();
	}
	get size() {
		return burn();
	}
	toString() {
		return `square ${burn()}`;
	}
}

function by_methods() {
	const square = new Square();
	return Shape.sum([square, square]) + square.size + `${square}`.length;
}

function by_closures() {
	const arrow = () => burn();
	const named = function inside() { return arrow(); };
	return named();
}

function by_builtins() {
	function each(n) {
		return n + burn();
	}
	function compare(a, b) {
		burn();
		return a - b;
	}
	return [1, 2].map(each).concat([3, 1].sort(compare)).length;
}

function* numbers() {
	yield burn();
	yield burn();
}

function by_generators() {
	let total = 0;
	for (const n of numbers())
		total += n;
	return total;
}

function by_recursion(depth) {
	if (depth > 0)
		return by_recursion(depth - 1) + 1;
	return burn();
}


function by_unicode() {
	const größe = {
		läuft() { return burn(); },
	};
	return größe.läuft();
}

function by_exceptions() {
	try {
		throw new Error(String(burn()));
	} catch (error) {
		return burn();
	} finally {
		burn();
	}
}

function round() {
	by_methods();
	by_closures();
	by_builtins();
	by_generators();
	by_recursion(DEPTH);
	by_unicode();
	by_exceptions();
}

Error.stackTraceLimit = Infinity;

function work() {
	for (let i = 0; i < ROUNDS; i++)
		round();
	if (on && isMainThread)
		new Worker(__filename, { argv: process.argv.slice(2) }).once('message', () => write(process.argv[2]));
	else if (on)
		parentPort.postMessage('ready');
	on = false;
	setImmediate(work);
}

setImmediate(work);
