/* SPDX-License-Identifier: Apache-2.0 */
/* Makes elements, and text of numbers. */
'use strict';

function element(id) {
	return document.getElementById(id);
}

function prefersDark() {
	return matchMedia('(prefers-color-scheme: dark)').matches;
}

/* Makes an element. `content` is a text, or an array of nodes and texts. */
function make(tag, content, className = '') {
	const made = document.createElement(tag);

	made.append(...[content].flat());
	made.className = className;
	return made;
}

function compareTexts(a, b) {
	return Number(a > b) - Number(a < b);
}

function count(number) {
	return number.toLocaleString('en');
}

/* Writes a share. A small share has more decimals, so that few shares are shown as 0. */
function percent(share) {
	const value = 100 * (share || 0);

	return `${value.toFixed(value === 0 ? 0 : value >= 10 ? 1 : value >= 0.1 ? 2 : 3)} %`;
}

/* Writes the difference of two shares. */
function difference(change) {
	const sign = change > 0 ? '+' : change < 0 ? '\u2212' : '';

	return `${sign}${percent(Math.abs(change))}`;
}

const UNITS = [[3600e9, 'h'], [60e9, 'min'], [1e9, 's'], [1e6, 'ms'], [1e3, '\u00b5s'], [1, 'ns']];

function time(ns) {
	const [size, unit] = UNITS.find(([least]) => ns >= least) || [1, 's'];
	const value = ns / size;

	return `${value.toFixed(value >= 100 || value === 0 ? 0 : value >= 10 ? 1 : 2)} ${unit}`;
}

const TIMES = { off_cpu: 'time off the CPU', wall: 'time on and off the CPU' };

/*
 * Writes the worth of a number of samples: their CPU time, or a number of events. Values with a
 * unit are no samples.
 */
function worth({ period, event, unit }, samples) {
	if (unit === 'nanoseconds')
		return `${time(samples)} of ${TIMES[event] ?? event}`;
	if (unit && unit !== 'count')
		return `${count(samples)} ${unit} of ${event}`;
	return event ? `${count(samples * period)} ${event}` : time(samples * period);
}

/* Writes how often samples were taken. */
function rate({ period, event }) {
	if (event)
		return `a sample each ${period > 1 ? `${count(period)} ` : ''}${event}`;
	return `${Math.round(1e9 / period)} Hz`;
}

/* Describes a recording in short. */
function factsOf(profile) {
	const { samples, period, event, unit, start, duration } = profile;
	const seconds = duration / 1000;
	const facts = [`${worth(profile, samples)}${event ? '' : ' of CPU time'}`];

	if (!unit) /* values of another profiler are no samples */
		facts.unshift(`${count(samples)} samples`);
	if (duration)
		facts.push(`in ${seconds.toFixed(seconds < 100 ? 1 : 0)} s`);
	if (!unit && period > 1)
		facts.push(rate(profile));
	if (start)
		facts.push(new Date(start).toLocaleString());
	return facts;
}
