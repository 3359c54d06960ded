// SPDX-License-Identifier: Apache-2.0
//
// made.js REPORT: works in leaf() nearly all the time, in code that the compiler makes. REPORT: see made.py.

const fs = require('fs')

function leaf(n) {
	let sum = 0
	for (let i = 0; i < n; i++)
		sum = (sum * 31 + i) | 0
	return sum
}

function middle(n) {
	let sum = 0
	for (let i = 0; i < 50; i++)
		sum ^= leaf(n + i)
	return sum
}

function outer(seconds) {
	const finish = Date.now() + 1000 * seconds
	let sum = 0
	while (Date.now() < finish)
		sum ^= middle(2000)
	return sum
}

const report = process.argv[2]
outer(0.5)
fs.writeFileSync(report, JSON.stringify({
	version: 'Node ' + process.versions.node.split('.')[0], leaf: '(JS:)?(leaf|middle)', callers: ['(JS:)?outer'], complete: 90}))
fs.writeFileSync(report + '.ready', '')
outer(60)
