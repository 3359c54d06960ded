// SPDX-License-Identifier: Apache-2.0
//
// image.js REPORT KIND: functions that stay where they are, for record_image.c. KIND "baseline", "optimized": they ran
// often before. The last function works. REPORT-KIND gets the thread, then line, file and name of each function,
// innermost first, as V8 says them. Functions of other scripts have line 0, and so has all optimized code. Node.js has
// the program from its standard input, so that its file has no path. Runs in Node.js 16 and later.

'use strict';

const fs = require('fs');

const [REPORT, KIND] = process.argv.slice(2), OFTEN = 20000, FILE = '[stdin]';

// ---- what V8 says -----------------------------------------------------------------------------

function text_of(site) {
	const file = site.getFileName() || '';
	const line = file.startsWith(FILE) && KIND !== 'optimized' ? site.getLineNumber() : 0;
	return `${line}\t${file}\t${site.getFunctionName() || '(anonymous)'}`;
}

function report() {
	const path = `${REPORT}-${KIND}`, holder = {};
	Error.prepareStackTrace = (error, sites) => sites;
	Error.captureStackTrace(holder, report);
	fs.writeFileSync(path + '.new', `${process.pid}\n${holder.stack.map(text_of).join('\n')}\n`);
	fs.renameSync(path + '.new', path);
}

// ---- functions --------------------------------------------------------------------------------

class Shape {
	constructor(further) {
		this.made = further();
	}
	method(further) {
		return further();
	}
	static of_class(further) {
		return further(
		);
	}
	get size() {
		return this.made();
	}
	toString() {
		return `shape ${this.made()}`;
	}
}

class Square extends Shape {
	area(further) {
		return super.method(further);
	}
}

const SHAPE = new Shape(() => 1);

function by_constructor(further) {
	return new Shape(further).made;
}

function by_method(further) {
	return SHAPE.method(further);
}

function by_super(further) {
	return new Square(() => 1).area(further);
}

function by_getter(further) {
	const shape = new Shape(() => further);
	return shape.size;
}

function by_text(further) {
	const shape = new Shape(() => further);
	return `${shape}`.length;
}

function by_closure(further) {
	const arrow = () => further();
	return (function inside() { return arrow(); })();
}

function by_builtin(further) {
	return [1].map((n) => n + further())[0];
}

function by_sort(further) {
	return [2, 1].sort((a, b) => { further(); return a - b; }).length;
}

function* numbers(further) {
	yield further();
}

function by_generator(further) {
	for (const n of numbers(further))
		return n;
}

function by_finally(further) {
	try {
		throw new Error('none');
	} catch (error) {
		return further();
	} finally {
		SHAPE.last = 1;
	}
}

function recurse(further, depth) {
	if (depth === 0)
		return further();
	return recurse(further, depth - 1) + 1;
}

function by_recursion(further) {
	return recurse(further, 12);
}

function by_arguments(further, ...rest) {
	return rest.length ? further() : by_arguments.call(null, further, 1, 2);
}

function by_unicode(further) {
	const größe = {
		läuft() { return further(); },
	};
	return größe.läuft();
}

const STEPS = [by_constructor, by_method, by_super, Shape.of_class, by_getter, by_text, by_closure, by_builtin, by_sort,
	by_generator, by_finally, by_recursion, by_arguments, by_unicode];

function chain(at, last) {
	if (at === STEPS.length)
		return last();
	return STEPS[at](() => chain(at + 1, last));
}

function keep(n) {
	report(); while (n !== 0) n = (n + 7) & 1023 | 1;
	return n;
}

Error.stackTraceLimit = Infinity;

function work() {
	for (let i = 0; KIND !== 'interpreted' && i < OFTEN; i++)
		chain(0, () => i);
	chain(0, () => keep(1));
}

setImmediate(work);
