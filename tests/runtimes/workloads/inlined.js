// SPDX-License-Identifier: Apache-2.0
//
// inlined.js REPORT: small functions that V8's compilers put into their callers, until a signal ends it.
//
// The innermost function calls what V8 has in C++, so it has a caller's place. REPORT gets the stacks as JSON,
// outermost function first; calls, as (caller, file, line, called function); lines of each function. Then
// REPORT.ready is there. Runs in Node.js 16 and later.

'use strict';

const fs = require('fs');
const path = require('path');

const ROUNDS = 2000;
const stacks = new Map(), calls = new Map(), lines = new Map();
let on = true;

function frame_of(site) {
	return [site.getFunctionName() || '(anonymous)', path.posix.basename(site.getFileName() || ''),
		site.getLineNumber() || 0];
}

function observe() {
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

// V8 has no code of JavaScript for this call.
function innermost(n) {
	if (on)
		observe();
	return JSON.stringify({ n, list: [n, n + 1, n + 2, n + 3] }).length;
}

function third(n) {
	return 1 +
		innermost(n);
}

function second(n) {
	return third(n) +
		2;
}

const first = (n) =>
	second(n + 1);

class Box {
	constructor(n) {
		this.n = n;
	}
	twice() {
		return first(this.n) +
			first(this.n);
	}
}

function by_class(n) {
	return new Box(n).twice();
}

function by_function(n) {
	return first(n);
}

function round() {
	let total = 0;
	const rounds = on ? 1 : ROUNDS;
	for (let i = 0; i < rounds; i++) {
		total += by_class(i);
		total += by_function(i);
	}
	return total;
}

// A function that begins has its head's line, and what is observed the line before that of the call in question.
function all_lines() {
	return [...lines.values()].map(([name, file, numbers]) => {
		const all = [];
		for (let n = Math.min(...numbers) - 4; n <= Math.max(...numbers) + 1; n++)
			all.push(n);
		return [name, file, all];
	});
}

// V8 13.6 gives calls of a loop that it has peeled the line of the loop's head.
function all_calls() {
	const peeled = [...calls.values()].filter(([name]) => name === 'round');
	if (!process.versions.v8.startsWith('13.'))
		return [...calls.values()];
	const head = Math.min(...peeled.map((call) => call[2])) - 1;
	return [...calls.values(), ...peeled.map(([name, file, , called]) => [name, file, head, called])];
}

function write(report) {
	const own = report + process.pid;
	fs.writeFileSync(own, JSON.stringify({
		version: process.versions.node,
		stacks: [...stacks.values()],
		calls: all_calls(),
		lines: all_lines(),
		proven: 97,
		blind: 1,
		inlined: [[['by_class'], ['innermost']], [['by_function'], ['innermost']]],
		files: ['inlined.js'],
	}));
	fs.renameSync(own, report);
	fs.writeFileSync(report + '.ready', String(process.pid));
}

Error.stackTraceLimit = Infinity;

function work() {
	round();
	if (on)
		warm();
	setImmediate(work);
}

// The compilers have done their work before the profile begins.
function warm() {
	on = false;
	for (let i = 0; i < 20; i++)
		round();
	write(process.argv[2]);
}

setImmediate(work);
