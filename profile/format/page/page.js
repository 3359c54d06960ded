/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page shows one state, which the fragment of its address holds. Each key and button changes
 * the state, and show() draws it. Names of the profile become text nodes and nothing else.
 */
'use strict';

const ROWS_MAX = 200; /* of the table */
const DOT = ' \u00b7 ';
const NARROW = 1100;  /* px; narrower windows begin without the table */

class Page {
	#trees = new Map();
	#functions = null;
	#shown = null;

	constructor(profile) {
		this.profile = profile;
		this.defaults = {
			view: 'callees', /* or callers */
			shape: 'flame',  /* or icicle */
			threads: profile.byThread ? '1' : '0',
			table: innerWidth > NARROW ? '1' : '0',
			width: 'new',    /* or old, of a difference */
			sort: 'self',    /* or total, name */
			theme: prefersDark() ? 'dark' : 'light',
			search: '',
			zoom: '0',       /* a node of the tree that is shown */
		};
		this.graph = new Graph(profile, element('canvas'));
		this.#readAddress();
		this.#describe();
		this.#listen();
		this.show();
	}

	/* ---- state ---- */

	#readAddress() {
		const given = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));

		this.state = { ...this.defaults };
		for (const key of Object.keys(this.defaults))
			this.state[key] = given[key] ?? this.defaults[key];
	}

	#address() {
		const changed = Object.entries(this.state)
			.filter(([key, value]) => value !== this.defaults[key]);

		return `#${new URLSearchParams(changed)}`;
	}

	/* Makes a new entry in the history for a change of place; other changes replace the entry. */
	change(changes) {
		const step = 'zoom' in changes || 'view' in changes;

		if ('view' in changes || 'threads' in changes || 'width' in changes)
			this.state.zoom = '0'; /* the nodes of another tree have other numbers */
		Object.assign(this.state, changes);
		if (step)
			history.pushState(null, '', this.#address());
		else
			history.replaceState(null, '', this.#address());
		this.show();
	}

	toggle(key, one, other) {
		this.change({ [key]: this.state[key] === one ? other : one });
	}

	#treeOf(view) {
		const { threads } = this.state;
		const old = Boolean(this.profile.base) && this.state.width === 'old';
		const key = `${view} ${threads} ${old}`;
		const build = view === 'callers' ? Tree.callers : Tree.callees;

		if (!this.#trees.has(key))
			this.#trees.set(key, build(this.profile, threads === '1', old));
		return this.#trees.get(key);
	}

	get tree() {
		return this.#treeOf(this.state.view);
	}

	get zoom() {
		const zoom = Number(this.state.zoom);

		return Number.isInteger(zoom) && zoom >= 0 && zoom < this.tree.count ? zoom : ROOT;
	}

	/* Returns the sums of functions, which are those of the callees in each view. */
	get functions() {
		this.#functions ??= this.#sumFunctions();
		return this.#functions;
	}

	/* Sums the functions. `before` has the sums of the old profile of a difference. */
	#sumFunctions() {
		const tree = this.#treeOf('callees');
		const { length } = this.profile.frames;
		const own = sumFunctions(tree, length);

		if (!this.profile.base)
			return own;
		const other = sumFunctions(tree, length, tree.otherSelf, tree.otherTotal);
		const [now, before] = tree.old ? [other, own] : [own, other];

		return { ...now, before };
	}

	/* Returns a function's shares of all samples, old and new. */
	#functionShares(what, frame) {
		const { profile, functions } = this;

		return {
			now: functions[what][frame] / (profile.samples || 1),
			before: functions.before[what][frame] / (profile.base.samples || 1),
		};
	}

	/* Returns the value that a function is sorted by. */
	#functionValue(what, frame) {
		if (!this.profile.base)
			return this.functions[what][frame];
		const { now, before } = this.#functionShares(what, frame);

		return Math.abs(now - before);
	}

	/* Returns the profile that gives the widths. */
	get source() {
		return this.tree.old ? this.profile.base : this.profile;
	}

	/* ---- show ---- */

	show() {
		const { state, graph } = this;
		const changed = (...keys) => !this.#shown ||
			keys.some((key) => this.#shown[key] !== state[key]);

		if (changed('theme')) {
			document.documentElement.dataset.theme = state.theme;
			graph.useTheme(state.theme === 'dark');
		}
		if (changed('search'))
			this.#search();
		graph.show(this.tree, this.zoom, state.shape !== 'icicle');
		this.hideTip();
		this.#showLegend();
		this.#showButtons();
		this.#showCrumbs();
		this.#showFound();
		if (changed('table', 'sort', 'search', 'theme', 'view', 'threads', 'width'))
			this.#showTable();
		this.showHidden();
		this.#shown = { ...state };
	}

	#describe() {
		const { profile } = this;
		const facts = factsOf(profile);

		element('facts').textContent = facts.join(DOT);
		if (profile.base) {
			const old = factsOf(profile.base).slice(0, 2).join(DOT);

			element('title').textContent = 'Difference';
			element('facts').append(`; held against ${old}`);
		}
		element('notes').textContent = profile.notes.join('; ');
		element('notes').hidden = profile.notes.length === 0;
		element('threads').hidden = Boolean(profile.base);
		element('old').hidden = !profile.base;
		element('made').textContent = `keyhole ${profile.version}`;
		document.title = `keyhole: ${facts.slice(0, 2).join(', ')}`;
	}

	#showChanges() {
		const { graph } = this;

		return [-graph.most, 0, graph.most].map((change) => {
			const swatch = make('span', '', 'swatch edged');

			swatch.style.background = graph.changeColour(change);
			return make('li', [swatch, change === 0 ? 'as before'
				: `${difference(change)} of all`]);
		});
	}

	#showKinds() {
		const { frames, kinds } = this.profile;
		const used = kinds.filter((kind) => frames.some((frame) => frame.kind === kind) &&
			(kind.name !== 'THREAD' || this.state.threads === '1'));

		return used.map((kind) => {
			const swatch = make('span', '', 'swatch');

			swatch.style.background = this.graph.colourOf({ kind, shade: 0 });
			return make('li', [swatch, kind.label]);
		});
	}

	/* Makes entries of the second palette: the same kinds, off the CPU. */
	#showOff() {
		const native = this.profile.kinds.find(({ name }) => name === 'NATIVE');

		return [0.5, 1].map((off) => {
			const swatch = make('span', '', 'swatch');

			swatch.style.background = this.graph.colourOf({ kind: native, shade: 0 }, off);
			return make('li', [swatch, off === 1 ? 'only off the CPU' : 'half of each']);
		});
	}

	#showLegend() {
		const { frames, base, waitPercent } = this.profile;

		element('legend').replaceChildren(
			...base ? this.#showChanges() : this.#showKinds(),
			...waitPercent ? this.#showOff() : []);
		if (frames.some((frame) => frame.inlined))
			element('legend').append(make('li', 'dashed edge: inlined'));
	}

	#showButtons() {
		const { state } = this;
		const pressed = {
			icicle: state.shape === 'icicle',
			callers: state.view === 'callers',
			threads: state.threads === '1',
			old: state.width === 'old',
			table: state.table === '1',
			dark: state.theme === 'dark',
		};

		for (const [id, value] of Object.entries(pressed))
			element(id).setAttribute('aria-pressed', value);
		element('functions').hidden = !pressed.table;
		if (document.activeElement !== element('query'))
			element('query').value = state.search;
	}

	#showCrumbs() {
		const crumbs = this.tree.path(this.zoom).map((node) => {
			const { name } = this.profile.frames[this.tree.frame[node]];
			const crumb = make('button', name);

			crumb.type = 'button';
			crumb.title = name;
			crumb.addEventListener('click', () => this.change({ zoom: String(node) }));
			return crumb;
		});

		const nav = element('crumbs');

		crumbs.at(-1).setAttribute('aria-current', 'true');
		nav.replaceChildren(...crumbs.flatMap((crumb) => [' \u203a ', crumb]).slice(1));
		if (crumbs.length === 1)
			nav.append(make('span', 'Click a frame to zoom into it.'));
		nav.scrollLeft = nav.scrollWidth;
	}

	showHidden() {
		const { graph, tree, zoom } = this;
		const share = percent(BOX_MIN / Math.max(graph.width, 1));
		const below = tree.end[zoom] - zoom - 1;

		element('hidden').textContent = `${count(graph.hidden)} of ${count(below)} ` +
			`frames are not drawn: each narrower than ${BOX_MIN} px, less than ` +
			`${share} of what is shown`;
	}

	/* ---- search ---- */

	#search() {
		const query = parseQuery(this.state.search);

		this.graph.matches = query && Uint8Array.from(this.profile.frames,
			(frame, i) => Number(i !== ROOT && query.expression.test(frame.name)));
		element('query').classList.toggle('literal', Boolean(query?.literal));
		this.graph.draw();
	}

	#showFound() {
		const { tree, zoom, source } = this;
		const { matches } = this.graph;
		const found = element('found');

		found.replaceChildren();
		if (!matches)
			return;
		const all = tree.matched(ROOT, matches);
		const shown = tree.matched(zoom, matches) / tree.total[zoom];
		const names = matches.reduce((sum, match) => sum + match, 0);

		found.append(make('b', percent(all / source.samples)),
			` ${worth(source, all)}, ${source.unit ? '' : `${count(all)} samples, `}`,
			`${count(names)} names`);
		if (tree.old)
			found.append(' of the old profile');
		if (zoom !== ROOT)
			found.append(`; ${percent(shown)} of what is shown`);
		if (element('query').classList.contains('literal'))
			found.append(' (not a regular expression: taken as text)');
	}

	nextMatch(step) {
		const nodes = this.graph.drawnMatches();
		let at = nodes.indexOf(this.graph.selected);

		if (at < 0 && step < 0)
			at = 0; /* none is selected: begins at the end */
		if (nodes.length > 0)
			this.select(nodes[(at + step + nodes.length) % nodes.length]);
	}

	/* ---- table ---- */

	#compare() {
		const { frames } = this.profile;
		const value = (what, frame) => this.#functionValue(what, frame);
		const byName = (a, b) => compareTexts(frames[a].name, frames[b].name) || a - b;
		const byTotal = (a, b) => value('total', b) - value('total', a) || byName(a, b);
		const bySelf = (a, b) => value('self', b) - value('self', a) || byTotal(a, b);

		return { name: byName, total: byTotal }[this.state.sort] || bySelf;
	}

	#showTable() {
		const { profile, state } = this;
		const { matches } = this.graph;

		if (state.table !== '1')
			return;
		const chosen = [...profile.frames.keys()]
			.filter((frame) => profile.isFunction(frame))
			.filter((frame) => !matches || matches[frame])
			.sort(this.#compare());
		const rows = chosen.slice(0, ROWS_MAX).map((frame) => this.#row(frame));

		element('rows').replaceChildren(...rows);
		element('more').textContent = chosen.length > ROWS_MAX
			? `and ${count(chosen.length - ROWS_MAX)} more: search for them`
			: chosen.length === 0 ? 'No function has such a name.' : '';
		for (const button of document.querySelectorAll('[data-sort]')) {
			const sorted = state.sort === button.dataset.sort;

			button.parentElement.toggleAttribute('aria-sort', sorted);
			if (sorted)
				button.parentElement.setAttribute('aria-sort',
					state.sort === 'name' ? 'ascending' : 'descending');
		}
	}

	#row(frame) {
		const { name, object, file, line, kind } = this.profile.frames[frame];
		const swatch = make('span', '', 'swatch');
		const place = line ? `${file}:${line}` : file;
		const parts = [swatch, make('span', name)];

		if (this.profile.sharesName(frame))
			parts.push(make('small', place.slice(place.lastIndexOf('/') + 1)));
		const row = make('tr', [this.#cell('self', frame), this.#cell('total', frame),
			make('td', parts)]);
		const choose = () => {
			const exact = `^${escapeExpression(name)}$`;

			this.change({ search: this.state.search === exact ? '' : exact });
		};

		swatch.style.background = this.graph.colourOf({ kind, shade: 0 });
		row.title = [name, object, place].filter(Boolean).join('\n');
		row.tabIndex = 0;
		row.addEventListener('click', choose);
		row.addEventListener('keydown', (event) => event.key === 'Enter' && choose());
		return row;
	}

	#cell(column, frame) {
		const { base, samples } = this.profile;
		const bar = make('i', '');
		let share = this.functions[column][frame] / samples;

		if (base) {
			const { now, before } = this.#functionShares(column, frame);

			share = Math.min(Math.abs(now - before) / this.graph.most, 1);
			bar.style.background = this.graph.changeColour(now - before);
			bar.style.width = `${100 * share}%`;
			return make('td', [bar, make('span', difference(now - before))], 'number');
		}
		bar.style.width = `${100 * share}%`;
		return make('td', [bar, make('span', percent(share))], 'number');
	}

	/* ---- a frame ---- */

	/* Shows the tip beside a point of the window. */
	showTip(node, x, y) {
		const tip = element('tip');

		tip.replaceChildren(...this.#tipContent(node));
		tip.hidden = false;
		const left = Math.min(x + 14, innerWidth - tip.offsetWidth - 8);
		const below = y + 22;
		const above = y - tip.offsetHeight - 8;
		const top = below + tip.offsetHeight < innerHeight ? below : above;

		tip.style.left = `${Math.max(4, left)}px`;
		tip.style.top = `${Math.max(4, top)}px`;
	}

	hideTip() {
		element('tip').hidden = true;
	}

	#tipContent(node) {
		const { profile, tree } = this;
		const frame = tree.frame[node];
		const { name, object, file, line, kind, inlined } = profile.frames[frame];
		const what = [kind?.label, inlined ? 'inlined' : '', object];
		const place = line ? `${file}:${line}` : file;
		const rows = profile.base ? this.#changeRows(node) : this.#sampleRows(node);

		return [make('strong', name), make('p', what.filter(Boolean).join(DOT)),
			make('p', place), make('table', rows)];
	}

	/* Makes rows of old and new shares of all samples, and of their differences. */
	#changeRows(node) {
		const { profile, tree } = this;
		const frame = tree.frame[node];
		const cells = (texts) => texts.map((text) => make('td', text));
		const row = (label, { now, before }) => make('tr', cells(
			[label, percent(before), percent(now), difference(now - before)]));
		const rows = [make('tr', cells(['', 'old', 'new', 'difference']), 'head'),
			row('total here', tree.shares(node, 'total'))];

		if (this.state.view !== 'callers')
			rows.push(row('self here', tree.shares(node, 'self')));
		if (profile.isFunction(frame))
			rows.push(
				row('total, all stacks', this.#functionShares('total', frame)),
				row('self, all stacks', this.#functionShares('self', frame)));
		return rows;
	}

	#sampleRows(node) {
		const { profile, tree } = this;
		const frame = tree.frame[node];
		const row = (label, samples) => make('tr', [
			label,
			percent(samples / profile.samples),
			worth(profile, samples),
			...(profile.unit ? [] : [`${count(samples)} samples`]),
		].map((text) => make('td', text)));
		const rows = [row('total here', tree.total[node])];

		if (profile.waitPercent)
			rows.push(row('of it off the CPU', tree.otherTotal[node]));
		if (this.state.view !== 'callers')
			rows.push(row('self here', tree.self[node]));
		if (profile.isFunction(frame))
			rows.push(row('total, all stacks', this.functions.total[frame]),
				row('self, all stacks', this.functions.self[frame]));
		return rows;
	}

	select(node) {
		const { graph } = this;

		graph.select(node);
		const place = graph.placeOf(node);
		const view = graph.canvas.getBoundingClientRect();

		if (place)
			this.showTip(node, view.left + Math.max(place.x, 0), view.top + place.y);
		element('said').textContent = element('tip').innerText;
	}

	zoomOut() {
		if (this.zoom !== ROOT)
			this.change({ zoom: String(this.tree.parent[this.zoom]) });
	}

	/* ---- what is pressed ---- */

	#listen() {
		const { graph } = this;
		const query = element('query');

		for (const [id, action] of Object.entries(this.#actions()))
			element(id).addEventListener('click', action);
		for (const button of document.querySelectorAll('[data-sort]')) {
			const { sort } = button.dataset;

			button.addEventListener('click', () => this.change({ sort }));
		}
		query.addEventListener('input', () => this.change({ search: query.value }));
		document.addEventListener('keydown', (event) => this.#key(event));
		graph.canvas.addEventListener('mousemove', (event) => this.#hover(event));
		graph.canvas.addEventListener('mouseleave', () => this.#leave());
		graph.canvas.addEventListener('click', (event) => {
			const node = graph.at(event.offsetX, event.offsetY);

			if (node !== null)
				this.change({ zoom: String(node) });
		});
		graph.view.addEventListener('wheel', () => this.hideTip(), { passive: true });
		new ResizeObserver(() => this.showHidden()).observe(graph.view);
		addEventListener('popstate', () => {
			this.#readAddress();
			this.show();
		});
	}

	#actions() {
		return {
			reset: () => this.change({ zoom: '0' }),
			icicle: () => this.toggle('shape', 'flame', 'icicle'),
			callers: () => this.toggle('view', 'callees', 'callers'),
			threads: () => this.toggle('threads', '0', '1'),
			old: () => this.profile.base && this.toggle('width', 'new', 'old'),
			table: () => this.toggle('table', '0', '1'),
			dark: () => this.toggle('theme', 'light', 'dark'),
			help: () => element('keys').showModal(),
		};
	}

	#hover(event) {
		const { graph } = this;
		const node = graph.at(event.offsetX, event.offsetY);

		if (graph.hovered !== node) {
			graph.hovered = node;
			graph.draw();
		}
		if (node === null)
			this.hideTip();
		else
			this.showTip(node, event.clientX, event.clientY);
	}

	#leave() {
		this.graph.hovered = null;
		this.graph.draw();
		this.hideTip();
	}

	#key(event) {
		const inQuery = event.target === element('query');

		if (element('keys').open || event.ctrlKey || event.altKey || event.metaKey)
			return;
		if (inQuery ? this.#queryKey(event.key) : this.#pageKey(event))
			event.preventDefault();
	}

	/* Returns whether the key meant something here. */
	#queryKey(key) {
		if (key === 'Enter') {
			this.nextMatch(1);
		} else if (key === 'Escape') {
			element('query').value = '';
			element('canvas').focus();
			this.change({ search: '' });
		}
		return key === 'Enter' || key === 'Escape';
	}

	#pageKey(event) {
		const { graph, state } = this;
		const actions = this.#actions();
		const onControl = event.target.closest?.('button, tr');
		const zoom = () => graph.selected !== null &&
			this.change({ zoom: String(graph.selected) });
		const move = (direction) => this.select(graph.selected === null ? this.zoom
			: graph.beside(graph.selected, direction));
		const keys = {
			'/': () => element('query').select(),
			'n': () => this.nextMatch(1),
			'N': () => this.nextMatch(-1),
			'ArrowUp': () => move(state.shape === 'flame' ? 'inner' : 'outer'),
			'ArrowDown': () => move(state.shape === 'flame' ? 'outer' : 'inner'),
			'ArrowLeft': () => move('left'),
			'ArrowRight': () => move('right'),
			'Backspace': () => this.zoomOut(),
			'Escape': () => this.zoomOut(),
			'0': actions.reset,
			'i': actions.icicle,
			'c': actions.callers,
			't': actions.threads,
			'o': actions.old,
			'f': actions.table,
			'd': actions.dark,
			'?': actions.help,
		};

		if (!onControl)
			keys.Enter = zoom;
		keys[event.key]?.();
		return event.key in keys;
	}
}

document.addEventListener('DOMContentLoaded', () => {
	new Page(new Profile(JSON.parse(element('data').textContent)));
});
