"""The page of a server that wants a key: it asks, asks again, and then works as any other."""

import pathlib
import subprocess
import tempfile
import unittest

import support
from support import PageTest

WORK = tempfile.TemporaryDirectory()
KEY = None


def setUpModule():
    if not support.REAL:
        raise unittest.SkipTest("the server that stands in for it wants no key")
    global KEY
    folder = pathlib.Path(WORK.name)
    model, keys = str(folder / "reverse"), folder / "keys"
    subprocess.run([support.BINARY, "train", "reverse", "--out", model, "--train.steps", "20", "--threads", "1"], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    made = subprocess.run([support.BINARY, "serve", "--make-key", "ann"], check=True, capture_output=True, text=True).stdout
    KEY, line = (text.split(": ", 1)[1] for text in made.splitlines())
    keys.touch(0o600)
    keys.write_text(line)
    PageTest.server = support.Server(lambda port: [support.BINARY, "serve", model, "--keys", str(keys), "--port", str(port)])
    PageTest.server.start()
    PageTest.browser = support.open_browser()


def tearDownModule():
    PageTest.browser.quit()
    PageTest.server.stop()
    WORK.cleanup()


class Keys(PageTest):
    def enter(self, key):
        self.one("dialog input").send_keys(key)
        self.one("dialog button").click()

    def test_a_key_is_asked_for_until_it_is_right_and_kept_for_the_tab(self):
        self.forgiven = ("401",)
        self.open()
        self.wait(lambda: "This server wants a key" in self.one("dialog").text)
        self.enter("wrong")
        self.wait(lambda: "one that it does not know" in self.one("dialog").text)
        self.enter(KEY)
        self.wait(lambda: not self.all("dialog") and "reverse" in self.one("body").text)
        self.open(text="abc")
        self.wait(lambda: self.all(".pane .line.target .word"), "an answer")
        self.assertEqual(self.all("dialog"), [])


if __name__ == "__main__":
    unittest.main()
