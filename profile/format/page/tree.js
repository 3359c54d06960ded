/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the profile and its trees from the page's data, which profile/format/html.c describes. This
 * file uses nothing of the page.
 */
'use strict';

const ROOT = 0;
const NODES_EXPECTED = 1 << 22; /* at most */

/* The profile of the page's data. */
class Profile {
	#sharing = null; /* names: how many functions of a runtime's language have each */

	constructor(data) {
		const { frames, nodes, strings } = data;

		Object.assign(this, {
			version: data.keyhole,
			samples: data.samples,
			period: data.period,
			event: data.event,
			unit: data.unit, /* of values that are no samples */
			start: data.start_ms,
			duration: data.duration_ms,
			notes: data.notes,
			byThread: data.by_thread,
			shadePercent: data.shade_percent,
			waitPercent: data.wait_percent ?? 0, /* 0: no node is partly off the CPU */
			changeLeast: data.least_percent / 100,
			changes: data.changes, /* of a difference: names to [light, dark] */
			base: data.base ? Profile.#base(data.base) : null,
		});
		this.kinds = data.kinds.map(
			([name, label, light, dark, isFunction]) =>
				({ name, label, light, dark, isFunction }));
		this.frames = frames.name.map((name, i) => ({
			name: i === ROOT ? 'all' : strings[name],
			object: strings[frames.object[i]],
			file: strings[frames.file[i]],
			line: frames.line[i],
			kind: i === ROOT ? null : this.kinds[frames.kind[i]],
			shade: frames.shade[i],
			inlined: Boolean(frames.inlined[i]),
		}));
		this.nodes = {
			frame: new Uint32Array(nodes.frame),
			parent: Profile.#parents(nodes.level),
			self: new Float64Array(nodes.self),
			base: data.base ? new Float64Array(nodes.base) : null,
			off: nodes.off ? new Float64Array(nodes.off) : null,
		};
		this.waitKind = this.kinds.find(({ name }) => name === 'WAIT');
		this.isThread = Uint8Array.from(this.frames,
			({ kind }) => Number(kind?.name === 'THREAD'));
	}

	/* Returns the older profile of a difference. */
	static #base({ samples, period, event, unit, start_ms: start, duration_ms: duration }) {
		return { samples, period, event, unit, start, duration };
	}

	static #parents(levels) {
		const parents = new Uint32Array(levels.length);
		const last = [ROOT]; /* by level */

		for (let i = 1; i < levels.length; i++) {
			parents[i] = last[levels[i] - 1];
			last[levels[i]] = i;
		}
		return parents;
	}

	isFunction(frame) {
		return this.frames[frame].kind?.isFunction === 1;
	}

	/* Returns whether several functions of a runtime's language have the frame's name. */
	sharesName(frame) {
		const { name, kind } = this.frames[frame];

		this.#sharing ??= this.#countNames();
		return kind?.name === 'SCRIPT' && this.#sharing.get(name) > 1;
	}

	#countNames() {
		const counts = new Map();

		for (const { name, kind, inlined } of this.frames)
			if (kind?.name === 'SCRIPT' && !inlined)
				counts.set(name, (counts.get(name) ?? 0) + 1);
		return counts;
	}
}

/*
 * Merges equal beginnings of stacks. An open hash table finds a node's child of a frame. `other`
 * has the samples of the other profile of a difference, or those off the CPU.
 */
class Merger {
	count = 1; /* nodes */
	other = null;
	#slots;

	/* `expected` is a guess at the number of nodes: growing costs more than unused room. */
	constructor(difference, expected = 0) {
		const room = 2 ** Math.ceil(Math.log2(Math.max(expected, 1 << 11)));

		this.parent = new Uint32Array(room);
		this.frame = new Uint32Array(room);
		this.self = new Float64Array(room);
		if (difference)
			this.other = new Float64Array(room);
		this.#slots = new Uint32Array(room * 2); /* nodes; 0 is free, as the root is no child */
	}

	#slot(parent, frame) {
		const mask = this.#slots.length - 1;
		let hash = Math.imul(parent, 0x9e3779b1) ^ Math.imul(frame, 0x85ebca6b);

		hash ^= hash >>> 15;
		for (let at = hash & mask; ; at = (at + 1) & mask) {
			const node = this.#slots[at];

			if (node === 0)
				return at;
			if (this.parent[node] === parent && this.frame[node] === frame)
				return at;
		}
	}

	#grow() {
		const grown = (array) => {
			const larger = new array.constructor(array.length * 2);

			larger.set(array);
			return larger;
		};

		this.parent = grown(this.parent);
		this.frame = grown(this.frame);
		this.self = grown(this.self);
		this.other &&= grown(this.other);
		this.#slots = new Uint32Array(this.#slots.length * 2);
		for (let node = 1; node < this.count; node++)
			this.#slots[this.#slot(this.parent[node], this.frame[node])] = node;
	}

	add(node, self, other) {
		this.self[node] += self;
		if (this.other)
			this.other[node] += other;
	}

	child(parent, frame) {
		let slot = this.#slot(parent, frame);

		if (this.#slots[slot] !== 0)
			return this.#slots[slot];
		if (this.count === this.parent.length) {
			this.#grow();
			slot = this.#slot(parent, frame);
		}
		this.parent[this.count] = parent;
		this.frame[this.count] = frame;
		this.#slots[slot] = this.count;
		return this.count++;
	}
}

/*
 * Nodes have numbers from the root on. A node comes before its children, and the hottest child
 * comes first: the nodes below n are n + 1 to end[n] - 1. start counts the samples left of a node.
 * In a difference, self and total are those of the new profile, or of the old profile when `old` is
 * set. otherSelf and otherTotal are those of the other profile. Where threads are on and off the CPU,
 * these two are the part off the CPU.
 */
class Tree {
	constructor(merger, old) {
		const { count, other } = merger;
		const totals = Tree.#addUp(merger, merger.self);
		const otherTotals = other && Tree.#addUp(merger, other);
		const { firsts, children } = Tree.#children(merger, totals);
		const number = new Uint32Array(count); /* by number of the merger */
		const waiting = [ROOT];

		this.old = old;
		this.count = count;
		this.frame = new Uint32Array(count);
		this.parent = new Uint32Array(count);
		this.level = new Uint32Array(count);
		this.self = new Float64Array(count);
		this.total = new Float64Array(count);
		this.otherSelf = other && new Float64Array(count);
		this.otherTotal = other && new Float64Array(count);
		for (let at = 0; waiting.length > 0; at++) {
			const from = waiting.pop();

			number[from] = at;
			this.frame[at] = merger.frame[from];
			this.self[at] = merger.self[from];
			this.total[at] = totals[from];
			if (other) {
				this.otherSelf[at] = other[from];
				this.otherTotal[at] = otherTotals[from];
			}
			this.parent[at] = number[merger.parent[from]];
			if (from !== ROOT)
				this.level[at] = this.level[this.parent[at]] + 1;
			for (let i = firsts[from + 1]; i-- > firsts[from];)
				waiting.push(children[i]);
		}
		this.#place();
	}

	static #addUp({ parent, count }, own) {
		const totals = own.slice(0, count);

		for (let node = count; --node > 0;)
			totals[parent[node]] += totals[node];
		return totals;
	}

	/* Sorts the children: children[firsts[n]] to children[firsts[n + 1] - 1] are those of n. */
	static #children({ parent, count }, totals) {
		const firsts = new Uint32Array(count + 2);
		const children = new Uint32Array(count);

		/* Counts two places further on: filling moves each first by one place. */
		for (let node = 1; node < count; node++)
			firsts[parent[node] + 2]++;
		for (let node = 1; node < firsts.length; node++)
			firsts[node] += firsts[node - 1];
		for (let node = 1; node < count; node++)
			children[firsts[parent[node] + 1]++] = node;
		for (let node = 0; node < count; node++) {
			if (firsts[node + 1] - firsts[node] > 1)
				children.subarray(firsts[node], firsts[node + 1])
					.sort((a, b) => totals[b] - totals[a] || a - b);
		}
		return { firsts, children };
	}

	#place() {
		const next = new Float64Array(this.count); /* where a node's next child starts */

		this.start = new Float64Array(this.count);
		this.end = new Uint32Array(this.count);
		for (let node = 1; node < this.count; node++) {
			const parent = this.parent[node];

			this.start[node] = next[node] = next[parent];
			next[parent] += this.total[node];
		}
		for (let node = this.count; node-- > 0;) {
			const parent = this.parent[node];

			this.end[node] = Math.max(this.end[node], node + 1);
			this.end[parent] = Math.max(this.end[parent], this.end[node]);
		}
	}

	/* Returns a node's 'self' or 'total' in a difference, as old and new share of all samples. */
	shares(node, what) {
		const others = what === 'self' ? this.otherSelf : this.otherTotal;
		const own = this[what][node] / (this.total[ROOT] || 1);
		const other = others[node] / (this.otherTotal[ROOT] || 1);

		return this.old ? { before: own, now: other } : { before: other, now: own };
	}

	change(node) {
		const { before, now } = this.shares(node, 'total');

		return now - before;
	}

	/* Returns the largest change of a node, as tree.c does for the tree of its data. */
	get most() {
		if (this.#most === null) {
			this.#most = 0;
			for (let node = 1; node < this.count; node++)
				this.#most = Math.max(this.#most, Math.abs(this.change(node)));
		}
		return this.#most;
	}

	#most = null;

	/* Returns the nodes from the root to this one. */
	path(node) {
		const path = [node];

		for (; node !== ROOT; path.unshift(node))
			node = this.parent[node];
		return path;
	}

	/*
	 * Returns the samples of the node whose stacks hold a frame of matches. The search does not
	 * look below a match, so that a stack counts once.
	 */
	matched(node, matches) {
		let sum = 0;

		if (this.path(node).some((at) => matches[this.frame[at]]))
			return this.total[node];
		for (let at = node + 1; at < this.end[node];) {
			if (matches[this.frame[at]]) {
				sum += this.total[at];
				at = this.end[at];
			} else {
				at++;
			}
		}
		return sum;
	}

	/* Returns the samples that give the widths, and those of the other profile or off the CPU. */
	static #samples({ nodes }, old) {
		if (old)
			return [nodes.base, nodes.self];
		return [nodes.self, nodes.base || nodes.off || nodes.self];
	}

	/* Returns which part of a node's time is off the CPU. */
	offShare(node) {
		return this.otherTotal[node] / (this.total[node] || 1);
	}

	/* Makes the tree of stacks from the process on, as in the data. */
	static callees(profile, byThread, old) {
		const { frame, parent } = profile.nodes;
		const [self, other] = Tree.#samples(profile, old);
		const merger = new Merger(profile.base || profile.nodes.off, frame.length);
		const to = new Uint32Array(frame.length);

		merger.add(ROOT, self[ROOT], other[ROOT]);
		for (let node = 1; node < frame.length; node++) {
			const above = to[parent[node]];

			to[node] = !byThread && profile.isThread[frame[node]] ? above
				: merger.child(above, frame[node]);
			merger.add(to[node], self[node], other[node]);
		}
		return new Tree(merger, old);
	}

	/* Makes the tree of stacks from the leaf on, up to the process. */
	static callers(profile, byThread, old) {
		const { frame, parent } = profile.nodes;
		const [self, other] = Tree.#samples(profile, old);
		const level = new Uint32Array(frame.length);
		let steps = 0;

		for (let node = 1; node < frame.length; node++) {
			level[node] = level[parent[node]] + 1;
			if (self[node] > 0 || other[node] > 0)
				steps += level[node];
		}
		const merger = new Merger(profile.base || profile.nodes.off,
			Math.min(steps, NODES_EXPECTED));

		merger.add(ROOT, self[ROOT], other[ROOT]);
		for (let node = 1; node < frame.length; node++) {
			let to = ROOT;

			if (self[node] === 0 && other[node] === 0)
				continue;
			for (let at = node; at !== ROOT; at = parent[at]) {
				if (byThread || !profile.isThread[frame[at]])
					to = merger.child(to, frame[at]);
			}
			merger.add(to, self[node], other[node]);
		}
		return new Tree(merger, old);
	}
}

/* Sums self and total by frame. A sample counts once for a frame that called itself. */
function sumFunctions(tree, count, selfs = tree.self, totals = tree.total) {
	const self = new Float64Array(count);
	const total = new Float64Array(count);
	const open = new Uint32Array(count); /* how often the frame is on the path */
	const path = [];

	for (let node = 0; node < tree.count; node++) {
		const frame = tree.frame[node];

		while (path.length > tree.level[node])
			open[path.pop()]--;
		path.push(frame);
		self[frame] += selfs[node];
		if (open[frame]++ === 0)
			total[frame] += totals[node];
	}
	return { self, total };
}

/*
 * Returns the expression to look for, or null for an empty text. A text that is no regular
 * expression stands for itself. Case matters if the text has a capital.
 */
function parseQuery(text) {
	const flags = /\p{Lu}/u.test(text.replace(/\\./gu, '')) ? '' : 'i';

	if (text === '')
		return null;
	try {
		return { expression: new RegExp(text, flags), literal: false };
	} catch {
		return { expression: new RegExp(escapeExpression(text), flags), literal: true };
	}
}

function escapeExpression(text) {
	return text.replace(/[\\^$.*+?()[\]{}|/]/gu, '\\$&');
}
