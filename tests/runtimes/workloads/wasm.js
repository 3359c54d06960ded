// SPDX-License-Identifier: Apache-2.0
//
// wasm.js REPORT [MODULE]: functions of JavaScript and WebAssembly that call each other, until a signal ends it.
//
// Its bytes are made here: JavaScript calls first(), which calls second(), which calls third() and what JavaScript
// has given the module. MODULE=nameless: there is no section of names. Then V8 has numbers for the functions. REPORT
// gets as JSON the stacks, outermost function first; calls, as (caller, file, line, called function); lines of each
// function. Then REPORT.ready is there. Runs in Node.js 16 and later.

'use strict';

const fs = require('fs');
const path = require('path');

const ROUNDS = 20, BURN = 20000, INT = 0x7f, NAMELESS = process.env.MODULE === 'nameless';
const stacks = new Map(), calls = new Map(), lines = new Map();
let on = true;

// ---- the module -------------------------------------------------------------------------------

function number(n) {
	const bytes = [];
	do {
		bytes.push(n > 127 ? n & 127 | 128 : n);
		n >>>= 7;
	} while (n);
	return bytes;
}

const list = (items) => [...number(items.length), ...items.flat()];
const text = (s) => list([...Buffer.from(s)].map((byte) => [byte]));
const section = (kind, bytes) => [kind, ...number(bytes.length), ...bytes];
const body = (locals, ...code) => list([...list(locals), ...code, 0x0b].map((byte) => [byte]));

const LOCAL = 0x20, CALL = 0x10, CONSTANT = 0x41, ADD = 0x6a, MULTIPLY = 0x6c, SUBTRACT = 0x6b;
const FIRST = body([], LOCAL, 0, CALL, 2, CONSTANT, 1, ADD);
const SECOND = body([], LOCAL, 0, CALL, 3, CONSTANT, 7, CALL, 0, ADD);
// do { total = total * 3 + n; } while (--n)
const THIRD = body([[1, INT]], 0x03, 0x40, LOCAL, 1, CONSTANT, 3, MULTIPLY, LOCAL, 0, ADD, 0x21, 1,
	LOCAL, 0, CONSTANT, 1, SUBTRACT, 0x22, 0, 0x0d, 0, 0x0b, LOCAL, 1);
const NAMES = ['callback', 'first', 'zweite_λ', 'third'];

function make() {
	const functions = [[0], [0], [0]], kinds = [[0x60, ...list([[INT]]), ...list([[INT]])]];
	const names = [...text('name'), ...section(0, text('sums')),
		...section(1, list(NAMES.map((name, i) => [...number(i), ...text(name)])))];
	return Uint8Array.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0,
		...section(1, list(kinds)),
		...section(2, list([[...text('env'), ...text('callback'), 0, 0]])),
		...section(3, list(functions)),
		...section(7, list([[...text('first'), 0, 1]])),
		...section(10, list([FIRST, SECOND, THIRD])),
		...section(0, [...text('other'), 1, 2, 3]),
		...(NAMELESS ? [] : section(0, names))]);
}

// ---- what V8 says -----------------------------------------------------------------------------

function file_of(site) {
	return path.posix.basename(site.getFileName() || site.getScriptNameOrSourceURL() || '');
}

// A function of WebAssembly without a name has V8's number.
function frame_of(site) {
	let name = site.getFunctionName() || '(anonymous)';
	const from = /wasm:\/\/wasm\/.*?:(wasm-function\[\d+\])/.exec(String(site));
	if (!from)
		return [name, file_of(site), site.getLineNumber() || 0];
	name = NAMELESS ? from[1] : `sums.${name.split('.').pop()}`;
	return [name, path.posix.basename(from[0].slice(0, -from[1].length - 1)), 0];
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
		if (i + 1 < stack.length)
			calls.set(JSON.stringify([name, file, line, stack[i + 1][0]]), [name, file, line, stack[i + 1][0]]);
		const key = JSON.stringify([name, file]);
		if (!lines.has(key))
			lines.set(key, [name, file, new Set()]);
		lines.get(key)[2].add(line);
	}
	// nobody observes the loop: its caller does
	const at = frames.findIndex(([name]) => name.endsWith('wasm-function[2]') || name.endsWith('zweite_λ'));
	const third = frames.slice(0, at + 1);
	third.push([NAMELESS ? 'wasm-function[3]' : 'sums.third', frames[at][1]]);
	stacks.set(JSON.stringify(third), third);
	calls.set(JSON.stringify([frames[at], third[at + 1]]), [...frames[at], 0, third[at + 1][0]]);
	lines.set(JSON.stringify(third[at + 1]), [...third[at + 1], new Set([0])]);
}

function all_lines() {
	return [...lines.values()].map(([name, file, numbers]) => {
		const all = [];
		for (let n = Math.max(0, Math.min(...numbers) - 8); n <= Math.max(...numbers) + 7; n++)
			all.push(n);
		return [name, file, all];
	});
}

// V8 13 and later give calls of a loop that they have peeled the line of the loop's head.
function all_calls() {
	const peeled = [...calls.values()].filter(([name]) => name === 'round');
	if (Number(process.versions.v8.split('.')[0]) < 13)
		return [...calls.values()];
	return [...calls.values(), ...peeled.map(([name, file, line, called]) => [name, file, line - 1, called])];
}

function write(report) {
	const own = report + process.pid;
	const files = [...new Set([...lines.values()].map(([, file]) => file).filter((file) => !file.endsWith('.js') ||
		file === 'wasm.js'))].filter((file) => file === 'wasm.js' || /^(sums-)?[0-9a-f]{8}$/.test(file));
	fs.writeFileSync(own, JSON.stringify({
		version: process.versions.node,
		stacks: [...stacks.values()],
		calls: all_calls(),
		lines: all_lines(),
		proven: 97,
		own: 1,
		blind: 1,
		inlined: [[['by_module'], [NAMELESS ? 'wasm-function[3]' : 'sums.third', 'callback']]],
		files,
	}));
	fs.renameSync(own, report);
	fs.writeFileSync(report + '.ready', String(process.pid));
}

// ---- functions --------------------------------------------------------------------------------

function callback(n) {
	if (on)
		observe();
	let total = n;
	const rounds = on ? 3 : BURN;
	for (let i = 0; i < rounds; i++)
		total = total * 3 + i | 0;
	return total & 1;
}

const { first } = new WebAssembly.Instance(new WebAssembly.Module(make()), { env: { callback } }).exports;

function by_module(n) {
	return first(n) + 1;
}

function round() {
	const rounds = on ? 1 : ROUNDS;
	for (let i = 0; i < rounds; i++)
		by_module(on ? 1 : BURN);
}

Error.stackTraceLimit = Infinity;

function work() {
	round();
	if (on) {
		on = false;
		for (let i = 0; i < 5; i++)
			round();
		write(process.argv[2]);
	}
	setImmediate(work);
}

setImmediate(work);
