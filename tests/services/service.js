// SPDX-License-Identifier: Apache-2.0
//
// service.js: a service of Express that answers POST /order and GET /catalog on the port PORT.
//
// An order is JSON. Node's own libraries in C sign and pack the answer, EJS makes the pages of the catalog, and a worker
// thread sorts products. Where a request has the header X-Stacks, note() writes the stack that V8 tells. The
// file STACKS gets a line of JSON for each.

'use strict';

const crypto = require('crypto');
const fs = require('fs');
const zlib = require('zlib');
const { Worker, isMainThread, parentPort } = require('worker_threads');

const PRODUCTS = 400, ROUNDS = 40;
let notes = false;

// A function that is stored under a symbol has its name in a property, where no profiler sees it.
function name_of(site) {
	const name = site.getFunctionName();
	return !name || name.startsWith('[') ? '(anonymous)' : name;
}

// Writes the stack at this place, outermost function first.
function note() {
	if (!notes)
		return;
	const before = Error.prepareStackTrace, limit = Error.stackTraceLimit;
	Error.prepareStackTrace = (error, sites) => sites;
	Error.stackTraceLimit = Infinity;
	const holder = {};
	Error.captureStackTrace(holder, note);
	const stack = holder.stack.filter(site => site.getFileName()).map(name_of).reverse(); // none of V8's own
	Error.prepareStackTrace = before;
	Error.stackTraceLimit = limit;
	fs.appendFileSync(process.env.STACKS, JSON.stringify(stack) + '\n');
}

class Price {
	constructor(cents) {
		this.cents = cents;
	}

	// JSON.stringify() calls it.
	toJSON() {
		note();
		let text = '';
		for (let round = 0; round < ROUNDS; round++)
			text = `${(this.cents / 100).toFixed(2)}${String(round).padStart(3)}`;
		return text;
	}
}

class Product {
	constructor(id) {
		this.id = id;
		this.name = `product ${id} `.repeat(8);
		this.price = new Price(id * 37);
	}
}

const products = Array.from({ length: PRODUCTS }, (_, id) => new Product(id));

function rank(one) {
	note();
	let sum = 0;
	for (let at = 0; at < one.name.length; at++)
		sum = (sum * 31 + one.name.charCodeAt(at)) % 65521;
	return sum;
}

function by_rank(one, other) {
	return rank(one) - rank(other);
}

function sorted(least) {
	return products.filter(one => one.id * 7 % 10 >= least).sort(by_rank).map(one => one.id);
}

// ---- the thread ----

if (!isMainThread) {
	parentPort.on('message', function on_work(message) {
		notes = message.notes;
		parentPort.postMessage({ id: message.id, ids: sorted(message.least) });
	});
	return;
}

const express = require('express');
const ejs = require('ejs');

const worker = new Worker(__filename), waiting = new Map();
let last = 0;

worker.on('message', function on_sorted(message) {
	waiting.get(message.id)(message.ids);
	waiting.delete(message.id);
});

function sort_elsewhere(least) {
	return new Promise(resolve => {
		waiting.set(++last, resolve);
		worker.postMessage({ id: last, least, notes });
	});
}

// ---- the service ----

function sign(text) {
	note();
	return crypto.pbkdf2Sync(text, 'salt', 1000, 32, 'sha256').toString('hex');
}

function pack(text) {
	note();
	return zlib.deflateSync(text, { level: 9 }).toString('base64');
}

function summary(order, found) {
	note();
	return JSON.stringify({ customer: order.customer, products: found });
}

async function order(request, response) {
	note();
	const ids = await sort_elsewhere(request.body.lines.length % 3);
	note();
	const text = summary(request.body, ids.map(id => products[id]));
	response.json({ signature: sign(text), packed: pack(text) });
}

const page = ejs.compile('<ul><% for (const one of products) { %><li><%= shown(one) %></li><% } %></ul>');

function shown(one) {
	note();
	return `${one.name.replace(/(\d)(\d)/g, function swap(all, a, b) {
		return b + a;
	})} & ${one.price.toJSON()}`;
}

function catalog(request, response) {
	note();
	response.send(page({ products, shown }));
}

function look_for_header(request, response, next) {
	notes = request.get('X-Stacks') !== undefined;
	next();
}

const app = express(), router = express.Router();
app.use(express.json());
app.use(look_for_header);
router.post('/order', order);
router.get('/catalog', catalog);
app.use('/', router);
app.listen(Number(process.env.PORT), '127.0.0.1');
