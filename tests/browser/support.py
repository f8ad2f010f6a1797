"""What tests of the page share: a browser, the servers that it may ask, and waiting."""

import json
import os
import pathlib
import socket
import subprocess
import sys
import time
import unittest
import urllib.parse
import urllib.request

try:
    from selenium import webdriver
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import Select, WebDriverWait
except ImportError as missing:
    raise unittest.SkipTest(f"{missing}; Debian has it as python3-selenium") from missing

HERE = pathlib.Path(__file__).resolve().parent
BINARY = os.environ.get("ATTEND_BINARY", "")
# ctest names the binary; by hand and without one, the page is tested with the server that stands in for it.
REAL = bool(BINARY)
SHOTS = pathlib.Path(os.environ.get("ATTEND_SCREENSHOTS", HERE.parents[1] / "build/screenshots"))
PATIENCE = 120  # seconds; a busy machine is slow, not wrong

DESK, PHONE = (1280, 1400), (390, 844)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A process that serves the page, and can go away and come back on the same port."""

    def __init__(self, command):
        self.command = command
        self.port = free_port()
        self.process = None

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/"

    def start(self):
        self.process = subprocess.Popen(self.command(self.port), stdout=subprocess.DEVNULL)
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            try:
                return urllib.request.urlopen(self.url + "healthz", timeout=5).close()
            except OSError:
                if self.process.poll() is not None:
                    raise RuntimeError(f"the server ended with {self.process.returncode}") from None
                time.sleep(0.1)
        raise RuntimeError("the server does not answer")

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

    def get(self, path):
        with urllib.request.urlopen(self.url + path) as answer:
            return json.load(answer)

    def explain(self, **asked):
        request = urllib.request.Request(self.url + "v1/explain", json.dumps(asked).encode(),
                                         {"Content-Type": "application/json"})
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)


def fake_server():
    return Server(lambda port: [sys.executable, str(HERE / "fake_server.py"), str(port)])


def open_browser(*flags):
    options = webdriver.ChromeOptions()
    # In containers there is neither a sandbox nor much shared memory.
    for flag in ("headless=new", "no-sandbox", "disable-dev-shm-usage", "disable-gpu", "hide-scrollbars",
                 "force-prefers-reduced-motion", *flags):
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(options=options)


class PageTest(unittest.TestCase):
    """A test with a fresh page. Whatever the browser complains of fails it."""

    server = None  # set by whoever derives
    browser = None
    forgiven = ()  # parts of complaints that a test provokes

    def setUp(self):
        self.forgiven = ()
        self.browser.set_window_size(*DESK)
        self.browser.get("about:blank")
        self.browser.get_log("browser")

    def tearDown(self):
        complaints = [entry["message"] for entry in self.browser.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]
        self.assertEqual([text for text in complaints if not any(part in text for part in self.forgiven)], [])

    # the page

    def open(self, **state):
        self.browser.get(self.server.url + "#" + urllib.parse.urlencode(state))

    def all(self, selector):
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector):
        return self.wait(lambda: (self.all(selector) or [None])[0], f"no {selector}")

    def wait(self, condition, why=""):
        return WebDriverWait(self.browser, PATIENCE, poll_frequency=0.1, ignored_exceptions=[]).until(
            lambda _: self.steady(condition), why)

    @staticmethod
    def steady(condition):
        """What is replaced while it is read has to be read again."""
        try:
            return condition()
        except Exception as error:
            if "stale" in str(error).lower():
                return None
            raise

    def settle(self):
        """Several questions to the server, each after the answer to the last: what the page was about to do is done by then."""
        self.browser.execute_async_script("""
            const done = arguments[0];
            (async () => {
              for (let i = 0; i < 5; ++i) await (await fetch("healthz", {cache: "no-store"})).text();
            })().then(() => requestAnimationFrame(() => done()));""")

    def script(self, code, *values):
        return self.browser.execute_script(code, *values)

    def texts(self, selector):
        return self.script("return [...document.querySelectorAll(arguments[0])].map((node) => node.textContent)", selector)

    def words(self, side, pane=1):
        return self.texts(f".pane:nth-child({pane}) .line.{side} .word .name")

    def wait_for_words(self, words, pane=1):
        self.wait(lambda: self.words("target", pane) == words and self.idle(),
                  f"{words} is wanted, the page has {self.words('target', pane)}")

    def idle(self):
        return not self.all(".pane[aria-busy]")

    def choose(self, name, value, pane=1):
        Select(self.one(f".pane:nth-child({pane}) select[name={name}]")).select_by_value(str(value))
        self.wait(self.idle)

    def view(self, name, pane=1):
        self.one(f".pane:nth-child({pane}) [data-view={name}]").click()

    def shot(self, name):
        SHOTS.mkdir(parents=True, exist_ok=True)
        self.browser.save_screenshot(str(SHOTS / f"{name}.png"))


def percent(value):
    """As the page writes a share."""
    return "< 1 %" if 0 < 100 * value < 0.5 else f"{int(100 * value + 0.5)} %"
