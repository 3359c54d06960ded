/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draws the picture. The canvas is as large as the view and stays in place while the reader scrolls
 * the sheet behind the canvas. Graph draws only boxes in view, so that 100,000 stacks cost no more
 * than those boxes.
 */
'use strict';

const ROW_HEIGHT = 19;
const BOX_MIN = 1; /* px */
const LABEL_MIN = 34;
const ROWS_ABOVE = 4;
const PADDING = 4;
const COLOURS = ['page', 'line', 'text', 'faint', 'ink', 'match', 'mark']; /* of page.css */
const ELLIPSIS = '\u2026';
const FONT = '12px system-ui, "Segoe UI", "Helvetica Neue", "DejaVu Sans", sans-serif';

/* Mixes two colours "#rrggbb" to the three parts of one. */
function mixParts(from, to, share) {
	const part = (colour, at) => parseInt(colour.slice(at, at + 2), 16);

	return [1, 3, 5].map(
		(at) => Math.round(part(from, at) + (part(to, at) - part(from, at)) * share));
}

function mixColours(from, to, share) {
	return `rgb(${mixParts(from, to, share).join(' ')})`;
}

function mixHex(from, to, share) {
	return `#${mixParts(from, to, share).map((part) => part.toString(16).padStart(2, '0')).join('')}`;
}

class Graph {
	selected = null; /* nodes, or null */
	hovered = null;
	matches = null;  /* by frame, or null: no search */
	hidden = 0;      /* nodes that are too narrow, and all nodes below these */
	#zoom = ROOT;
	#rows = [];      /* by level: boxes from left to right, { node, x, width } */
	#colours = new Map();
	#labels = new Map(); /* widths of whole names */
	#drawing = 0;

	constructor(profile, canvas) {
		this.profile = profile;
		this.canvas = canvas;
		this.sheet = canvas.parentElement;
		this.view = this.sheet.parentElement;
		this.context = canvas.getContext('2d');
		this.view.addEventListener('scroll', () => this.draw());
		new ResizeObserver(() => this.layOut()).observe(this.view);
	}

	/* Puts the root at the bottom (flame) or at the top. */
	show(tree, zoom, flame) {
		const moved = tree !== this.tree || flame !== this.flame || zoom !== this.#zoom;

		if (tree !== this.tree)
			this.selected = this.hovered = null;
		this.tree = tree;
		this.flame = flame;
		this.#zoom = zoom;
		this.layOut();
		if (moved)
			this.#scrollToZoom();
	}

	/* Scrolls to the node that was zoomed into; a few rows beside the node stay in view. */
	#scrollToZoom() {
		const top = this.#top(this.tree.level[this.#zoom]);
		const rows = ROWS_ABOVE * ROW_HEIGHT;

		this.view.scrollTop += this.flame
			? top + ROW_HEIGHT + rows - this.height
			: top - rows;
	}

	useTheme(dark) {
		const style = getComputedStyle(document.documentElement);

		this.dark = dark;
		this.theme = Object.fromEntries(COLOURS.map(
			(name) => [name, style.getPropertyValue(`--${name}`).trim()]));
		this.#colours.clear();
		this.draw();
	}

	layOut() {
		const { tree, view, canvas } = this;
		const zoom = this.#zoom;
		const ratio = devicePixelRatio || 1;

		if (!tree || view.clientWidth === 0)
			return;
		this.width = view.clientWidth;
		this.height = view.clientHeight;
		this.#rows = tree.path(zoom).map((node) => [{ node, x: 0, width: this.width }]);
		this.#rows.pop();
		this.#place(zoom, this.width / (tree.total[zoom] || 1));
		this.sheetHeight = Math.max(this.#rows.length * ROW_HEIGHT, this.height);
		this.sheet.style.height = `${this.sheetHeight}px`;
		canvas.style.height = `${this.height}px`;
		canvas.width = Math.round(this.width * ratio);
		canvas.height = Math.round(this.height * ratio);
		this.draw();
	}

	#place(zoom, scale) {
		const { tree } = this;

		this.hidden = 0;
		for (let node = zoom; node < tree.end[zoom];) {
			const width = tree.total[node] * scale;
			const x = (tree.start[node] - tree.start[zoom]) * scale;
			const level = tree.level[node];

			if (width < BOX_MIN && node !== zoom) {
				this.hidden += tree.end[node] - node;
				node = tree.end[node];
				continue;
			}
			this.#rows[level] ??= [];
			this.#rows[level].push({ node, x, width });
			node++;
		}
	}

	/* Returns the top edge of a level, in px from the top of the view. */
	#top(level) {
		const top = this.flame
			? this.sheetHeight - (level + 1) * ROW_HEIGHT
			: level * ROW_HEIGHT;

		return top - this.view.scrollTop;
	}

	/* Asks for one drawing in the next animation frame, however many calls come before it. */
	draw() {
		this.#drawing ||= requestAnimationFrame(() => {
			this.#drawing = 0;
			this.#drawAll();
		});
	}

	#drawAll() {
		const { context, theme } = this;
		const ratio = devicePixelRatio || 1;

		if (!this.tree || !theme)
			return;
		context.setTransform(ratio, 0, 0, ratio, 0, 0);
		context.clearRect(0, 0, this.width, this.height);
		context.font = FONT;
		context.textBaseline = 'middle';
		context.direction = 'ltr';
		this.#rows.forEach((boxes, level) => {
			const top = this.#top(level);

			if (top > -ROW_HEIGHT && top < this.height)
				boxes.forEach((box) => this.#drawBox(box, top));
		});
		this.#outline(this.hovered, theme.faint);
		this.#outline(this.selected, theme.mark);
		performance.mark('drawn');
	}

	#drawBox({ node, x, width }, top) {
		const { context, tree, theme } = this;
		const frame = tree.frame[node];
		const above = tree.level[node] < tree.level[this.#zoom]; /* an ancestor of the zoomed node */
		const matched = this.matches?.[frame];

		context.globalAlpha = above ? 0.55 : this.matches && !matched ? 0.45 : 1;
		context.fillStyle = matched ? theme.match : this.profile.base
			? this.changeColour(tree.change(node)) : this.#colourAt(node, frame);
		context.fillRect(x, top, width - (width > 3 ? 1 : 0.3), ROW_HEIGHT - 1);
		if (this.profile.frames[frame].inlined)
			this.#drawInlined(x, top, width);
		context.globalAlpha = above ? 0.8 : 1;
		if (width >= LABEL_MIN) {
			context.fillStyle = this.matches && !matched ? theme.text : theme.ink;
			context.fillText(this.#label(frame, width - 2 * PADDING), x + PADDING,
				top + ROW_HEIGHT / 2);
		}
		context.globalAlpha = 1;
	}

	/* Draws the edge of an inlined frame: dashes in the page's colour. */
	#drawInlined(x, top, width) {
		this.context.fillStyle = this.theme.page;
		this.context.fillRect(x, top, width, 1);
		for (let at = x; at < x + width - 4; at += 8)
			this.context.fillRect(at, top, 4, 3);
	}

	#outline(node, colour) {
		const box = node === null ? null : this.#box(node);

		if (!box)
			return;
		this.context.strokeStyle = colour;
		this.context.lineWidth = 2;
		this.context.strokeRect(box.x + 1, this.#top(this.tree.level[node]) + 1,
			Math.max(box.width - 3, 1), ROW_HEIGHT - 3);
	}

	/* Returns the colour of a node, in few steps: the less time on the CPU, the nearer to waiting. */
	#colourAt(node, frame) {
		const off = this.profile.waitPercent ? Math.round(20 * this.tree.offShare(node)) : 0;
		const key = frame * 21 + off;

		if (!this.#colours.has(key))
			this.#colours.set(key, this.colourOf(this.profile.frames[frame], off / 20));
		return this.#colours.get(key);
	}

	/* Returns the change that has the full colour. */
	get most() {
		return Math.max(this.tree.most, this.profile.changeLeast);
	}

	/* Returns a change's colour. The curve is that of tree_strength() in tree.h. */
	changeColour(change) {
		const { same, more, less } = this.profile.changes;
		const colour = ([light, dark]) => (this.dark ? dark : light);
		const size = Math.min(Math.abs(change) / this.most, 1);

		return mixColours(colour(same), colour(change > 0 ? more : less), size * (2 - size));
	}

	/*
	 * Returns a kind's colour. A higher shade is nearer to the page's colour, and a larger part off
	 * the CPU is nearer to the colour of waiting.
	 */
	colourOf({ kind, shade }, off = 0) {
		const { waitKind, waitPercent, shadePercent } = this.profile;
		const own = ({ dark, light }) => (this.dark ? dark : light);

		return kind ? mixColours(mixHex(own(kind), own(waitKind), off * waitPercent / 100),
			this.theme.page, shade * shadePercent / 100) : this.theme.line;
	}

	/* Returns as much of the name as fits, cut at the right. */
	#label(frame, width) {
		const { name } = this.profile.frames[frame];
		const measure = (text) => this.context.measureText(text).width;
		let fits = 0, over = Math.min(name.length, Math.ceil(width)) + 1;

		if (!this.#labels.has(frame))
			this.#labels.set(frame, measure(name.slice(0, 1000)));
		if (this.#labels.get(frame) <= width && name.length <= 1000)
			return name;
		while (over - fits > 1) {
			const middle = (fits + over) >> 1;

			if (measure(name.slice(0, middle) + ELLIPSIS) <= width)
				fits = middle;
			else
				over = middle;
		}
		/* a surrogate pair stays whole */
		if (/[\ud800-\udbff]$/.test(name.slice(0, fits)))
			fits--;
		return fits > 0 ? name.slice(0, fits) + ELLIPSIS : '';
	}

	#box(node) {
		return this.#rows[this.tree.level[node]]?.find((box) => box.node === node);
	}

	/* Returns the node at a point of the view, or null. */
	at(x, y) {
		const holds = (top) => y >= top && y < top + ROW_HEIGHT;
		const row = this.#rows.find((_, level) => holds(this.#top(level)));

		return row?.find((box) => x >= box.x && x < box.x + box.width)?.node ?? null;
	}

	/* Returns the place of a node in the view, or null for a node that is not drawn. */
	placeOf(node) {
		const box = this.#box(node);

		return box ? { x: box.x, y: this.#top(this.tree.level[node]) } : null;
	}

	/* Selects a node and brings it into view. */
	select(node) {
		const top = this.#top(this.tree.level[node]);

		this.selected = node;
		if (top < 0)
			this.view.scrollTop += top - ROW_HEIGHT;
		else if (top + ROW_HEIGHT > this.height)
			this.view.scrollTop += top + 2 * ROW_HEIGHT - this.height;
		this.draw();
	}

	/* Returns the drawn node that is 'outer', 'inner', 'left' or 'right' of a node, or the node. */
	beside(node, direction) {
		const { tree } = this;
		const level = tree.level[node];
		const row = this.#rows[level] || [];
		const at = row.findIndex((box) => box.node === node);
		const boxes = {
			outer: this.#box(tree.parent[node]),
			inner: this.#rows[level + 1]?.find((box) => tree.parent[box.node] === node),
			left: row[at - 1],
			right: row[at + 1],
		};

		return boxes[direction]?.node ?? node;
	}

	/* Returns the nodes that are drawn and match, in the order of their numbers. */
	drawnMatches() {
		return this.#rows.flat().map((box) => box.node)
			.filter((node) => this.matches?.[this.tree.frame[node]])
			.sort((a, b) => a - b);
	}
}
