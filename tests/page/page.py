#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
page.py [PART]: the page of profile/format/page/ as its reader uses it, in headless Chromium, by
mouse and keys; and the SVG. PART: of a test's name. The profiles are those of
tests/page/make_page.c. Prints TAP; needs no root.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import traceback
import xml.etree.ElementTree

sys.dont_write_bytecode = True
import chromium  # noqa: E402

BUILD = os.environ.get('BUILD', 'build')
ROW = 19         # px, ROW_HEIGHT of graph.js
SECONDS_MAX = 2  # until 100,000 stacks are drawn
SVG = '{http://www.w3.org/2000/svg}'
HOSTILE = ['<script>alert(1)</script>', "</script><script>document.title='owned'</script>",
           '"><img src=x onerror=alert(3)>', '<!-- ]]> --> &amp; &#60;b&#62;',
           '\\u003cscript>\\" \\', '__proto__', 'constructor', 'control?[2J????',
           'bidi ?gpj.exe ?', 'invalid ?? ?? ?', "none of XML's ? ?"]


def make(profile, form, folder):
    path = os.path.join(folder, f'{profile}.{form}')
    with open(path, 'wb') as file:
        subprocess.run([f'{BUILD}/page/make_page', profile, form], stdout=file, check=True)
    return path


class Page:
    """A profile that is open in the browser."""

    def __init__(self, browser, path, fragment='', **how):
        self.browser = browser
        browser.open(f'file://{os.path.abspath(path)}{fragment}', **how)

    def text(self, selector):
        return self.browser.evaluate(f'document.querySelector({json.dumps(selector)}).innerText')

    def texts(self, selector):
        return self.browser.evaluate(f'[...document.querySelectorAll({json.dumps(selector)})]'
                                     '.map((each) => each.textContent)')

    def address(self):
        return self.browser.evaluate('location.hash')

    def crumbs(self):
        return self.texts('#crumbs button')

    def pressed(self, button):
        return self.browser.evaluate(
            f'document.getElementById("{button}").getAttribute("aria-pressed") === "true"')

    def point(self, share, level, top=False):
        """In the box at that share of the width; levels are counted from the root's."""
        x, y, width, height = self.browser.evaluate(
            '(() => { const at = document.querySelector("canvas").getBoundingClientRect();'
            ' return [at.x, at.y, at.width, at.height]; })()')
        down = (level + 0.5) * ROW
        return x + width * share, y + (down if top else height - down)

    def tip(self):
        if self.browser.evaluate('document.getElementById("tip").hidden'):
            return ''
        return self.text('#tip')

    def hover(self, share, level, top=False):
        self.browser.hover(*self.point(share, level, top))
        return self.tip()

    def click(self, share, level, top=False):
        self.browser.click(*self.point(share, level, top))

    def colour(self, share, level):
        """Near the left edge of what is at that point: no text is there. Once it is drawn: the page
        is loaded before its first frame."""
        for _ in range(40):
            x, y = self.point(share, level)
            found = self.browser.evaluate(f'''(() => {{
                const canvas = document.querySelector('canvas'), at = canvas.getBoundingClientRect();
                const pen = canvas.getContext('2d');
                return [...pen.getImageData({x} - at.x, {y} - at.y + 7, 1, 1).data];
            }})()''')
            if found[3]:
                break
            time.sleep(0.05)
        return found

    def search(self, text):
        self.browser.key('/')
        self.browser.type(text)
        return self.text('#found')


def equal(actual, expected):
    assert actual == expected, f'{actual!r} is not {expected!r}'


def has(text, *parts):
    for part in parts:
        assert part in text, f'no {part!r} in {text!r}'


# ---- tests: each gets a browser and a folder with the files ----

def test_figures_are_the_profiles(browser, folder):
    page = Page(browser, f'{folder}/small.html')
    has(page.text('#facts'), '100 samples', '1.00 s of CPU time', 'in 2.0 s', '100 Hz')
    equal(page.text('#made').split()[0], 'keyhole')
    has(page.text('#hidden'), '0 of 11 frames', 'narrower than 1 px', '%', 'not drawn')
    equal(page.texts('#legend li'), ['process', 'native code', 'kernel', 'not known'])


def test_a_hover_tells_name_file_self_and_total(browser, folder):
    page = Page(browser, f'{folder}/small.html')
    tip = page.hover(0.85, 3)
    has(tip, 'work', 'native code \u00b7 /usr/bin/app', '90.0 %', '900 ms', '90 samples', '10.0 %')
    has(page.hover(0.1, 4), 'leaf_a', '50 samples', '60 samples')
    has(page.hover(0.93, 3), 'sys_read', 'kernel')
    has(page.hover(0.5, 1), 'app', 'process')
    equal(page.hover(0.5, 12), '')


def test_lines_and_inlined_frames_are_shown(browser, folder):
    page = Page(browser, f'{folder}/lines.html')
    has(page.hover(0.5, 4), 'helper', 'inlined', 'src/<inline>.h:5', '100 samples')
    work = page.hover(0.5, 3)
    has(work, 'work', 'src/app.c:44')
    assert 'inlined' not in work, work
    has(page.hover(0.5, 2), 'main', 'src/app.c:7')
    has(page.texts('#legend li')[-1], 'inlined')
    equal(page.texts('#rows tr:first-child td:last-child'), ['helper'])


def test_a_difference_has_colours_and_old_widths(browser, folder):
    page = Page(browser, f'{folder}/difference.html')
    has(page.text('#title'), 'Difference')
    has(page.text('#facts'), '100 samples', 'held against 200 samples')
    equal([item.replace('\u2212', '-') for item in page.texts('#legend li')],
          ['-40.0 % of all', 'as before', '+40.0 % of all'])
    tip = page.hover(0.2, 3).split()
    equal(' '.join(tip), 'more native code \u00b7 /usr/bin/app old new difference '
          'total here 10.0 % 50.0 % +40.0 % self here 10.0 % 50.0 % +40.0 % '
          'total, all stacks 10.0 % 50.0 % +40.0 % self, all stacks 10.0 % 50.0 % +40.0 %')
    has(page.hover(0.6, 3), 'less', '50.0 %', '30.0 %', '\u221220.0 %')
    has(page.hover(0.9, 3), 'same', '20.0 %', '0 %')
    page.hover(0.5, 12)
    red, blue, white = (page.colour(share, 3) for share in (0.2, 0.6, 0.9))
    assert red[0] > red[2] + 50 and blue[2] > blue[0] + 50, (red, blue)
    assert max(white[:3]) - min(white[:3]) < 8 and min(white[:3]) > 220, white
    # Half of the largest change has 0.75 of the colour, as tree_strength() says. changes.def has both
    # ends of the mixture.
    same, less = (0xee, 0xf0, 0xf2), (0x5b, 0x92, 0xf0)
    expected = [old + 0.75 * (new - old) for old, new in zip(same, less)]
    assert max(abs(a - b) for a, b in zip(blue, expected)) <= 1, (blue, expected)
    equal(page.texts('#rows td:last-child'), ['more', '<gone>', 'less', 'main', 'same'])
    equal(page.texts('#rows tr:nth-child(2) td.number'), ['\u221220.0 %', '\u221220.0 %'])
    assert browser.evaluate('document.getElementById("threads").hidden')
    browser.click_on('#old')
    equal(page.address(), '#width=old')
    has(page.hover(0.2, 3), 'less')
    has(page.hover(0.8, 3), '<gone>', '20.0 %', '0 %', '\u221220.0 %')
    has(page.search('gone'), '20.0 %', '40 samples', 'of the old profile')
    browser.key('Escape')
    browser.key('c')
    has(page.hover(0.2, 1), 'less', '50.0 %', '30.0 %')
    browser.key('o')
    has(page.hover(0.2, 1), 'more', '10.0 %', '50.0 %')
    complaints = [each for each in browser.complaints() if 'getImageData' not in each]
    equal(complaints, [])  # getImageData is this test's
    page = Page(browser, f'{folder}/small.html', '#width=old')
    has(page.text('#facts'), '100 samples')
    assert browser.evaluate('document.getElementById("old").hidden')


def test_bars_have_the_scale_of_the_tree_that_is_shown(browser, folder):
    def bar(name):
        return browser.evaluate(
            "[...document.querySelectorAll('#rows tr')]"
            f".find((row) => row.lastChild.textContent === '{name}')"
            ".querySelector('td:nth-child(2) i').style.width")

    page = Page(browser, f'{folder}/callers.html')
    has(page.text('#legend'), '+20.0 % of all')
    equal([bar('third'), bar('shared')], ['100%', '100%'])
    browser.key('c')
    has(page.text('#legend'), '+40.0 % of all')
    equal([bar('third'), bar('shared')], ['50%', '100%'])
    browser.key('c')
    equal(bar('third'), '100%')


def test_a_click_zooms_and_crumbs_lead_back(browser, folder):
    page = Page(browser, f'{folder}/small.html')
    page.click(0.85, 3)
    equal(page.crumbs(), ['all', 'app', 'main', 'work'])
    has(page.text('#hidden'), '0 of 4 frames')
    has(page.hover(0.99, 3), 'work', '90 samples')
    has(page.hover(0.5, 4), 'leaf_a')       # 50 of 90 now
    browser.click_on('#crumbs button:nth-of-type(2)')
    equal(page.crumbs(), ['all', 'app'])
    browser.click_on('#reset')
    equal(page.crumbs(), ['all'])
    browser.evaluate('history.back()')
    browser.wait('document.querySelectorAll("#crumbs button").length === 2')


def test_search_counts_each_stack_once(browser, folder):
    page = Page(browser, f'{folder}/small.html')
    has(page.search('leaf_a|work'), '90.0 %', '90 samples', '2 names')
    browser.key('Escape')
    equal(page.text('#found'), '')
    has(page.search('^leaf'), '85.0 %', '85 samples')
    equal(page.texts('#rows td:last-child'), ['leaf_a', 'leaf_b'])
    equal(page.address(), '#search=%5Eleaf')
    browser.key('Escape')
    has(page.search('WORK'), '0 %')          # capitals count once there is one
    browser.key('Escape')
    has(page.search('no rule]('), '0 %', 'not a regular expression')
    browser.key('Escape')
    has(page.search('[cut: no rule'), '5.00 %', 'taken as text')


def test_search_tells_the_share_of_what_is_zoomed_to(browser, folder):
    page = Page(browser, f'{folder}/small.html', '#search=leaf_a')
    has(page.text('#found'), '60.0 %')
    page.click(0.85, 3)
    has(page.text('#found'), '60.0 %', '; 66.7 % of what is shown')
    page = Page(browser, f'{folder}/small.html', '#search=leaf_a&view=callers')
    has(page.text('#found'), '60.0 %', '60 samples')


def test_matches_have_a_colour_of_their_own(browser, folder):
    page = Page(browser, f'{folder}/small.html')
    before = page.colour(0.1, 4)
    page.search('leaf_a')
    after = page.colour(0.1, 4)
    assert before != after, before
    assert page.colour(0.8, 3) != after


def kind_of(colour):
    """Which of the legend's a colour is a shade of, on light and on dark pages."""
    red, green, blue = colour[:3]
    if max(colour[:3]) - min(colour[:3]) < 14:
        return 'not known'
    if blue > red:
        return 'process'
    return 'native code' if green - blue > red - green else 'kernel'


def test_boxes_have_the_colour_of_their_kind(browser, folder):
    places = ((0.003, 1), (0.003, 2), (0.903, 3), (0.953, 2))
    kinds = ['process', 'native code', 'kernel', 'not known']
    for dark in (False, True):
        page = Page(browser, f'{folder}/small.html', dark=dark)
        colours = [page.colour(*place) for place in places]
        equal([kind_of(colour) for colour in colours], kinds)
        legend = browser.evaluate(
            '[...document.querySelectorAll("#legend .swatch")]'
            '.map((each) => getComputedStyle(each).backgroundColor.match(/\\d+/g).map(Number))')
        equal([kind_of(colour) for colour in legend], kinds)
    page = Page(browser, f'{folder}/small.html', '#view=callers')
    equal([kind_of(page.colour(share, 1)) for share in (0.003, 0.953)], ['native code', 'kernel'])


def test_n_goes_from_match_to_match(browser, folder):
    def press(key):
        browser.key(key)
        return page.tip()

    page = Page(browser, f'{folder}/small.html', '#search=%5Eleaf')
    browser.evaluate('document.getElementById("canvas").focus()')
    last = press('N')
    shown = [press('n') for _ in range(5)]
    equal(sorted(tip.split()[0] for tip in shown[:4]), ['leaf_a', 'leaf_a', 'leaf_b', 'leaf_b'])
    equal(len(set(shown)), 4)
    equal([last, shown[4]], [shown[3], shown[0]])
    equal([press('N') for _ in range(3)], [shown[3], shown[2], shown[1]])


def test_long_names_are_cut_at_the_right(browser, folder):
    page = Page(browser, f'{folder}/large.html')
    browser.evaluate('''(() => {
        const pen = document.querySelector('canvas').getContext('2d'), fill = pen.fillText;

        window.written = [];
        pen.fillText = (text, x, y) => {
            window.written.push([text, x, x + pen.measureText(text).width, y]);
            fill.call(pen, text, x, y);
        };
    })()''')
    browser.key('i')
    written = browser.evaluate('window.written')
    names = set(browser.evaluate('JSON.parse(document.getElementById("data").textContent).strings'))
    cut = [text for text, *_ in written if text not in names | {'all'}]
    assert 10 < len(cut) < len(written), (len(cut), len(written))
    for text in cut:
        assert text.endswith('\u2026') and len(text) > 1, text
        assert any(name.startswith(text[:-1]) for name in names), text
    written.sort(key=lambda each: (each[3], each[1]))
    for (text, _, end, row), (_, start, _, other) in zip(written, written[1:]):
        assert row != other or end < start, f'{text} goes on into the next box'
    equal(browser.complaints(), [])


def test_keys_do_what_the_mouse_does(browser, folder):
    page = Page(browser, f'{folder}/small.html')
    browser.evaluate('document.getElementById("canvas").focus()')
    for key, name in (('Up', 'all'), ('Up', 'app'), ('Right', 'other'), ('Left', 'app'),
                      ('Up', 'main'), ('Up', 'work'), ('Down', 'main'), ('Up', 'work')):
        browser.key(f'Arrow{key}')
        equal(page.tip().splitlines()[0], name)
    has(page.text('#said') or page.texts('#said')[0], 'work')
    browser.key('Enter')
    equal(page.crumbs(), ['all', 'app', 'main', 'work'])
    browser.key('Backspace')
    equal(page.crumbs(), ['all', 'app', 'main'])
    browser.key('0')
    equal(page.crumbs(), ['all'])
    for key, button in (('i', 'icicle'), ('c', 'callers'), ('t', 'threads'), ('f', 'table'),
                        ('d', 'dark')):
        before = page.pressed(button)
        browser.key(key)
        assert page.pressed(button) != before, button
        browser.key(key)
        assert page.pressed(button) == before, button
    page.search('leaf_b')
    browser.key('Enter')
    has(page.tip(), 'leaf_b')
    browser.key('Escape')
    browser.key('?')
    assert browser.evaluate('document.getElementById("keys").open')


def test_what_is_zoomed_to_is_in_view(browser, folder):
    for shape in ('flame', 'icicle'):
        page = Page(browser, f'{folder}/large.html', f'#shape={shape}&zoom=40', height=500)
        name = page.crumbs()[-1]
        assert len(page.crumbs()) > 30
        tips = [page.hover(0.5, level, top=shape == 'icicle') for level in range(10)]
        assert any(tip.startswith(name) for tip in tips), (name, tips)


def test_icicle_has_the_root_at_the_top(browser, folder):
    page = Page(browser, f'{folder}/small.html', '#shape=icicle')
    has(page.hover(0.5, 0, top=True), 'all')
    has(page.hover(0.8, 3, top=True), 'work')


def test_callers_start_at_the_innermost_frame(browser, folder):
    page = Page(browser, f'{folder}/small.html', '#view=callers')
    has(page.hover(0.1, 1), 'leaf_a', '60 samples')
    has(page.hover(0.1, 2), 'work', '60 samples')
    has(page.hover(0.7, 1), 'leaf_b', '25 samples')
    page.click(0.7, 1)
    equal(page.crumbs(), ['all', 'leaf_b'])
    has(page.hover(0.9, 2), '[cut: no rule]')


def test_threads_apart(browser, folder):
    page = Page(browser, f'{folder}/small.html')
    browser.click_on('#threads')
    has(page.hover(0.1, 2), 'app/100', '75 samples')
    has(page.hover(0.8, 2), 'app/101', '20 samples')
    has(page.texts('#legend li')[1], 'thread')


def test_the_table_is_sorted_and_finds(browser, folder):
    page = Page(browser, f'{folder}/small.html')
    equal(page.texts('#rows td:last-child'), ['leaf_a', 'leaf_b', 'work', 'sys_read', 'main'])
    equal(page.texts('#rows tr:first-child td.number'), ['60.0 %', '60.0 %'])
    browser.click_on('[data-sort=total]')
    equal(page.texts('#rows td:last-child'), ['main', 'work', 'leaf_a', 'leaf_b', 'sys_read'])
    equal(page.texts('#rows tr:nth-child(2) td.number'), ['10.0 %', '90.0 %'])
    browser.click_on('[data-sort=name]')
    equal(page.texts('#rows td:last-child')[0], 'leaf_a')
    browser.click_on('#rows tr:first-child td:last-child')
    has(page.text('#found'), '60.0 %')


def test_functions_of_one_name_have_their_places(browser, folder):
    page = Page(browser, f'{folder}/nameless.html')
    equal(page.texts('#rows td:last-child'),
          ['(anonymous)app.js:20', '(anonymous)app.js:21', 'named'])
    equal(page.texts('#rows tr td:nth-child(1)'), ['41.7 %', '33.3 %', '25.0 %'])
    has(page.hover(0.1, 2), '(anonymous)', 'managed code', '/srv/app.js:20')
    has(page.hover(0.6, 2), '(anonymous)', '/srv/app.js:21')


def test_dark_as_the_system_says_and_as_one_wants(browser, folder):
    def background():
        return browser.evaluate('getComputedStyle(document.body).backgroundColor')

    page = Page(browser, f'{folder}/small.html')
    light = background(), page.colour(0.8, 3)
    browser.click_on('#dark')
    dark = background(), page.colour(0.8, 3)
    assert light[0] != dark[0] and light[1] != dark[1], (light, dark)
    equal(page.address(), '#theme=dark')
    page = Page(browser, f'{folder}/small.html', dark=True)
    equal((background(), page.colour(0.8, 3)), dark)
    equal(page.address(), '')
    browser.key('d')
    equal(background(), light[0])


def test_the_address_holds_what_is_shown(browser, folder):
    page = Page(browser, f'{folder}/small.html')
    browser.click_on('#icicle')
    page.search('leaf')
    browser.evaluate('document.getElementById("canvas").focus()')
    page.click(0.8, 3, top=True)
    shown = page.crumbs(), page.text('#found'), page.address()
    equal(shown[0], ['all', 'app', 'main', 'work'])
    page = Page(browser, f'{folder}/small.html', shown[2])
    equal((page.crumbs(), page.text('#found'), page.address()), shown)
    assert page.pressed('icicle')
    for nonsense in ('#zoom=99999999', '#zoom=-1&view=x&shape=y&theme=z&sort=w', '#zoom=1e1&%',
                     '#search=('):
        page = Page(browser, f'{folder}/small.html', nonsense)
        equal(browser.complaints(), [])


def test_a_table_has_no_place_in_a_narrow_window(browser, folder):
    page = Page(browser, f'{folder}/small.html', width=500, height=700)
    assert not page.pressed('table')
    has(page.hover(0.5, 1), 'app')
    assert browser.evaluate('document.documentElement.scrollWidth <= innerWidth')


def test_hostile_names_are_text(browser, folder):
    page = Page(browser, f'{folder}/hostile.html')
    rows = page.texts('#rows td:last-child')
    for name in HOSTILE:
        assert name in rows, f'{name!r} is not in {rows}'
    for view in ('callees', 'callers'):
        page = Page(browser, f'{folder}/hostile.html', f'#view={view}&threads=1')
        for level in range(1, 18):
            page.hover(0.3, level)
        page.click(0.3, 17)
        assert len(page.crumbs()) > 5
        browser.click_on('#rows tr:first-child')
        equal(browser.complaints(), [])
    has(browser.evaluate('document.title'), 'keyhole: 1,016 samples')
    equal(browser.evaluate('[...document.scripts].map((each) => each.type)'),
          ['', 'application/json'])
    equal(browser.evaluate('document.images.length'), 0)


def test_the_policy_lets_nothing_else_run(browser, folder):
    """A name that became a tag after all could do nothing."""
    path = f'{folder}/broken.html'
    with open(f'{folder}/small.html') as file:
        page = file.read()
    with open(path, 'w') as file:
        file.write(page + '<script>document.title = "owned"</script><p onclick="1">'
                   '<img src=x onerror="document.title = \'owned\'">'
                   '<link rel=stylesheet href=x.css>')
    Page(browser, path)
    assert 'owned' not in browser.evaluate('document.title')
    refused = browser.complaints()
    assert sum('Content Security Policy' in each for each in refused) >= 3, refused


def test_the_page_holds_nothing_from_elsewhere(browser, folder):
    with open(f'{folder}/small.html') as file:
        page = file.read()
    has(page, "default-src 'none'")
    assert not re.search(r'https?://|unsafe-inline|unsafe-eval|@import|url\(', page)
    assert not re.search(r'<[^>]+\son\w+=', page.split('<script>')[0])
    Page(browser, f'{folder}/small.html')
    equal(browser.complaints(), [])


def test_100000_stacks_are_drawn_in_time(browser, folder):
    taken = []
    for _ in range(3):
        page = Page(browser, f'{folder}/large.html')
        taken.append(browser.seconds())
    by_clock, of_thread = (min(each) for each in zip(*taken))
    print(f'# 100,000 stacks: drawn after {by_clock:.2f} s, {of_thread:.2f} s of CPU time')
    has(page.search('function_7'), ' %')
    page.click(0.3, 4)
    browser.key('c')
    equal(browser.complaints(), [])
    assert of_thread < SECONDS_MAX, f'{of_thread} s'
    if os.getloadavg()[0] > 2 * os.cpu_count():
        print('# by the clock: not judged, the machine is busy')
    else:
        assert by_clock < SECONDS_MAX, f'{by_clock} s'


# ---- the picture: no browser ----

def svg_check(folder, profile):
    """Only what a static picture has, and the titles."""
    tree = xml.etree.ElementTree.parse(f'{folder}/{profile}.svg')
    for each in tree.iter():
        assert each.tag in {SVG + tag for tag in ('svg', 'g', 'rect', 'text', 'title')}, each.tag
        assert not [name for name in each.attrib if name.startswith('on') or 'href' in name]
    return [each.text for each in tree.iter(f'{SVG}title')]


def test_svg_is_well_formed_and_static(_, folder):
    titles = svg_check(folder, 'small')
    equal(len(titles), 12)
    has(titles[0], 'all\ntotal 100 (100.00 %), self 0')
    assert 'work\n/usr/bin/app\ntotal 90 (90.00 %), self 10 (10.00 %)' in titles, titles
    with open(f'{folder}/small.svg') as file:
        has(file.read(), '0 frames narrower than 0.5 px', '100 samples, 1.00 s of CPU time')


def test_svg_has_lines_and_inlined_frames(_, folder):
    titles = svg_check(folder, 'lines')
    assert any(title.startswith('helper\ninlined\n/usr/bin/app\nsrc/<inline>.h:5\ntotal 100 ')
               for title in titles), titles
    assert any(title.startswith('work\n/usr/bin/app\nsrc/app.c:44\n') for title in titles), titles
    with open(f'{folder}/lines.svg') as file:
        has(file.read(), 'stroke-dasharray', '>inlined</text>')


def test_svg_of_a_difference(_, folder):
    titles = svg_check(folder, 'difference')
    assert ('more\n/usr/bin/app\ntotal: old 10.00 %, new 50.00 %, difference +40.00 %\n'
            'self: old 10.00 %, new 50.00 %, difference +40.00 %') in titles, titles
    with open(f'{folder}/difference.svg') as file:
        has(file.read(), 'coloured by the change from 200 samples', '-40.00 % of all',
            '1 frames with 20.00 % of the old profile are gone', 'fill="#ee5a4f"')


def test_svg_shows_hostile_names_as_text(_, folder):
    names = {title.split('\n')[0] for title in svg_check(folder, 'hostile')}
    for name in HOSTILE:
        assert name in names, f'{name!r} is not in {names}'


def test_totals_are_those_of_folded(_, folder):
    for profile in ('small', 'hostile', 'lines', 'large'):
        with open(f'{folder}/{profile}.folded') as file:
            folded = sum(int(line.rsplit(' ', 1)[1]) for line in file)
        with open(f'{folder}/{profile}.html') as file:
            data = json.loads(file.read().split('id="data">')[1].split('</script>')[0])
        equal(data['samples'], folded)
        equal(sum(data['nodes']['self']), folded)
        with open(f'{folder}/{profile}.svg') as file:
            has(file.read(), f'all\ntotal {folded} (100.00 %)')


def main():
    wanted = sys.argv[1] if len(sys.argv) > 1 else ''
    tests = [(name[5:].replace('_', ' '), test) for name, test in globals().items()
             if name.startswith('test_') and wanted in name]
    browser = reason = None
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for profile in ('small', 'hostile', 'lines', 'large', 'nameless'):
            for form in ('html', 'svg', 'folded'):
                make(profile, form, folder)
        for profile in ('difference', 'callers'):
            for form in ('html', 'svg'):
                make(profile, form, folder)
        try:
            browser = chromium.Browser()
        except chromium.Missing as error:
            reason = error
        for number, (name, test) in enumerate(tests, 1):
            if reason and 'browser' in test.__code__.co_varnames:
                print(f'ok {number} - {name} # SKIP {reason}')
                continue
            try:
                test(browser, folder)
                print(f'ok {number} - {name}', flush=True)
            except Exception:  # whatever it is, the next one goes on
                failed += 1
                print(f'not ok {number} - {name}')
                for line in traceback.format_exc().splitlines():
                    print(f'# {line}', flush=True)
        if browser:
            browser.close()
    print(f'1..{len(tests)}')
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
