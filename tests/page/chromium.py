# SPDX-License-Identifier: Apache-2.0
"""
A headless Chromium, driven through the two pipes of --remote-debugging-pipe: JSON, NUL terminated,
the Chrome DevTools Protocol. Nothing but Python's own library is needed, and no port is open.
"""
import base64
import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
OPTIONS = ['--headless=new', '--remote-debugging-pipe', '--no-first-run',
           '--no-default-browser-check', '--disable-gpu', '--disable-dev-shm-usage',
           '--disable-extensions', '--mute-audio',
           '--disable-background-networking', '--disable-component-update', '--disable-sync',
           '--hide-scrollbars', '--force-device-scale-factor=1', '--lang=en-US']
# Chromium reads from 3 and writes to 4.
STARTER = '''import os, sys
os.dup2(int(sys.argv[1]), 3)
os.dup2(int(sys.argv[2]), 4)
os.execv(sys.argv[3], sys.argv[3:])
'''
KEY_CODES = {'Enter': 13, 'Escape': 27, 'Backspace': 8, 'ArrowLeft': 37, 'ArrowUp': 38,
             'ArrowRight': 39, 'ArrowDown': 40}


class Missing(Exception):
    """No browser, or none that runs here."""


class Refused(Exception):
    """The browser answered with an error."""


def find():
    given = os.environ.get('CHROMIUM')
    for name in [given] if given else NAMES:
        path = shutil.which(name)
        if path:
            return path
    raise Missing(f'no {given or "chromium"} is installed')


class Browser:
    def __init__(self):
        path = find()
        self.folder = tempfile.mkdtemp(prefix='keyhole-page-')
        self.number = 0
        self.events = []
        self.rest = b''
        self.session = None
        options = OPTIONS + [f'--user-data-dir={self.folder}']
        if os.geteuid() == 0:
            options.append('--no-sandbox')  # Chromium's own refuses root; the page is ours
        theirs_in, self.out = os.pipe()
        self.into, theirs_out = os.pipe()
        high = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (theirs_in, theirs_out)]
        self.log = open(os.path.join(self.folder, 'log'), 'w+')
        self.process = subprocess.Popen(
            [sys.executable, '-c', STARTER, *map(str, high), path, *options, 'about:blank'],
            pass_fds=high, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
            start_new_session=True, env=dict(os.environ, HOME=self.folder))
        for end in (theirs_in, theirs_out, *high):
            os.close(end)
        try:
            self.call('Browser.getVersion', timeout=60)
        except (OSError, TimeoutError, EOFError) as error:
            self.log.seek(0)
            said = [line for line in self.log.read().splitlines() if line.strip()]
            self.close()
            raise Missing(f'{path} does not run: {(said or [error])[-1]}') from error

    def close(self):
        for end in (self.out, self.into):
            os.close(end)
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    # ---- messages ----

    def call(self, method, timeout=30, **params):
        """Returns the answer; events that come before it are kept in self.events."""
        self.number += 1
        message = {'id': self.number, 'method': method, 'params': params}
        if self.session:
            message['sessionId'] = self.session
        os.write(self.out, json.dumps(message).encode() + b'\0')
        deadline = time.monotonic() + timeout
        while True:
            answer = self.read(deadline)
            if answer.get('id') != self.number:
                self.events.append(answer)
            elif 'error' in answer:
                raise Refused(f'{method}: {answer["error"]["message"]}')
            else:
                return answer['result']

    def read(self, deadline):
        while b'\0' not in self.rest:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.into], [], [], left)[0]:
                raise TimeoutError('the browser does not answer')
            piece = os.read(self.into, 1 << 16)
            if not piece:
                raise EOFError('the browser ended')
            self.rest += piece
        message, self.rest = self.rest.split(b'\0', 1)
        return json.loads(message)

    # ---- a page ----

    def open(self, url, width=1280, height=800, dark=False):
        """A new page in place of the one before; returns once it has drawn."""
        if self.session:
            self.call('Page.close')
        self.session = None
        target = self.call('Target.createTarget', url='about:blank')['targetId']
        attached = self.call('Target.attachToTarget', targetId=target, flatten=True)
        self.session = attached['sessionId']
        for domain in ('Page', 'Runtime', 'Log', 'Network'):
            self.call(f'{domain}.enable')
        self.call('Performance.enable', timeDomain='threadTicks')
        self.call('Emulation.setDeviceMetricsOverride', width=width, height=height,
                  deviceScaleFactor=1, mobile=False)
        self.call('Emulation.setEmulatedMedia', features=[
            {'name': 'prefers-color-scheme', 'value': 'dark' if dark else 'light'}])
        self.events.clear()
        self.call('Page.navigate', url=url)
        self.wait('performance.getEntriesByName("drawn").length > 0')

    def evaluate(self, expression):
        result = self.call('Runtime.evaluate', expression=expression, returnByValue=True,
                           awaitPromise=True)
        if 'exceptionDetails' in result:
            raise Refused(result['exceptionDetails']['exception'].get('description', '?'))
        return result['result'].get('value')

    def wait(self, expression, seconds=30):
        deadline = time.monotonic() + seconds
        while not self.evaluate(expression):
            if time.monotonic() > deadline:
                raise TimeoutError(f'never true: {expression}')
            time.sleep(0.02)

    def settle(self):
        """Waits until the page has drawn what was pressed."""
        self.evaluate('new Promise((done) =>'
                      ' requestAnimationFrame(() => requestAnimationFrame(done)))')

    def mouse(self, kind, x, y):
        self.call('Input.dispatchMouseEvent', type=kind, x=x, y=y, clickCount=1,
                  button='none' if kind == 'mouseMoved' else 'left')

    def hover(self, x, y):
        self.mouse('mouseMoved', x, y)
        self.settle()

    def click(self, x, y):
        self.mouse('mouseMoved', x, y)
        self.mouse('mousePressed', x, y)
        self.mouse('mouseReleased', x, y)
        self.settle()

    def click_on(self, selector):
        place = self.evaluate(f'''(() => {{
            const place = document.querySelector({json.dumps(selector)}).getBoundingClientRect();
            return [place.x + place.width / 2, place.y + place.height / 2];
        }})()''')
        self.click(*place)

    def key(self, key):
        code = KEY_CODES.get(key)
        down = {'key': key, 'windowsVirtualKeyCode': code or ord(key.upper())}
        if code is None or key == 'Enter':
            down['text'] = '\r' if key == 'Enter' else key
        self.call('Input.dispatchKeyEvent', type='keyDown', **down)
        self.call('Input.dispatchKeyEvent', type='keyUp', **down)
        self.settle()

    def type(self, text):
        self.call('Input.insertText', text=text)
        self.settle()

    def seconds(self):
        """Returns the time of drawing: by the clock, and as CPU time of the page's thread."""
        metrics = self.call('Performance.getMetrics')['metrics']
        by_clock = self.evaluate('performance.getEntriesByName("drawn")[0].startTime') / 1000
        return by_clock, next(each['value'] for each in metrics if each['name'] == 'TaskDuration')

    def complaints(self):
        """Returns what the page wrote to the console, threw, was refused, or asked the network for."""
        self.evaluate('1')  # what is on its way has come then
        found = []
        for event in self.events:
            method, params = event.get('method'), event.get('params', {})
            if method == 'Runtime.exceptionThrown':
                thrown = params['exceptionDetails'].get('exception', {})
                found.append(thrown.get('description', 'exception'))
            elif method == 'Runtime.consoleAPICalled':
                found.append(f'console: {params["args"]}')
            elif method == 'Log.entryAdded':
                found.append(params['entry']['text'])
            elif method == 'Network.requestWillBeSent':
                url = params['request']['url']
                if not url.startswith(('file:', 'data:')):
                    found.append(f'network: {url}')
            elif method == 'Page.javascriptDialogOpening':
                found.append(f'dialog: {params["message"]}')
        return found

    def screenshot(self, path):
        picture = self.call('Page.captureScreenshot', format='png')
        with open(path, 'wb') as file:
            file.write(base64.b64decode(picture['data']))
