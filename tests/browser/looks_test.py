"""Pages of images that were looked at, each one file: walked through by keys, buttons, slider and themselves."""

import os
import pathlib
import subprocess
import tempfile
import unittest

import support
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from support import PageTest

COVER = """
const canvas = document.querySelector(".lk-cover");
const [x, y] = arguments;
const data = canvas.getContext("2d").getImageData(x * canvas.width, y * canvas.height, 1, 1).data;
return data[3];
"""
STOP_AT_THIRD = """
window.seen = [];
document.getElementById("view").addEventListener("lookstep", ({detail}) => {
  window.seen.push(detail.step);
  if (detail.step === 2) document.querySelector("[aria-label='pause']").click();
});
"""
MOVES = "return getComputedStyle(document.querySelector('.lk-eye')).transitionProperty"


def setUpModule():
    Looks.folder = tempfile.TemporaryDirectory()
    subprocess.run([os.environ["ATTEND_PICTURES"], Looks.folder.name], check=True, stdout=subprocess.DEVNULL)
    PageTest.browser = support.open_browser()


def tearDownModule():
    PageTest.browser.quit()
    Looks.folder.cleanup()


class Looks(PageTest):
    folder = None

    def open(self, name, calm=True):
        motion = "reduce" if calm else "no-preference"
        features = [{"name": "prefers-reduced-motion", "value": motion}]
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        self.browser.get(pathlib.Path(self.folder.name, name).as_uri())

    def step(self):
        return self.one(".lk-count").text

    def cover(self, x, y):
        """How opaque what lies over the image is, 0 to 255, at a share of its width and height."""
        self.forgiven = ("willReadFrequently",)
        return self.script(COVER, x, y)

    def test_keys_and_buttons_walk_through_a_caption(self):
        self.open("caption.html")
        self.assertEqual(self.step(), "1 / 7")
        stage = self.one(".lk-stage")
        stage.send_keys(Keys.ARROW_RIGHT)
        self.assertEqual(self.step(), "2 / 7")
        self.assertEqual(self.one(".hm-lit .hm-word").text, "red")
        self.assertIn("word 2 of 7, “red” looks most at the upper left", self.one(".lk-live").text)
        self.assertEqual(stage.get_attribute("aria-label"), self.one(".lk-live").text)
        stage.send_keys(Keys.END)
        self.assertEqual(self.step(), "7 / 7")
        stage.send_keys(Keys.ARROW_RIGHT)
        self.assertEqual(self.step(), "7 / 7")
        self.one("[aria-label='previous word']").click()
        self.assertEqual(self.step(), "6 / 7")
        self.all(".hm-chip")[2].click()
        self.assertEqual(self.step(), "3 / 7")
        self.one(".lk-controls input").send_keys(Keys.ARROW_RIGHT)
        self.assertEqual(self.step(), "4 / 7")

    def test_the_veil_lies_where_a_word_did_not_look(self):
        self.open("caption.html")
        self.one(".lk-stage").send_keys(Keys.ARROW_RIGHT)  # red: the upper left
        self.assertLess(self.cover(0.28, 0.25), 30)
        self.assertGreater(self.cover(0.8, 0.8), 190)
        self.one(".lk-stage").send_keys(Keys.END)  # square: the lower left
        self.assertGreater(self.cover(0.28, 0.2), 150)
        self.assertLess(self.cover(0.28, 0.72), 30)

    def test_glances_draw_the_path(self):
        self.open("glimpses.html")
        self.assertEqual(len(self.all(".lk-dot")), 1)
        self.one(".lk-stage").send_keys(Keys.END)
        self.assertEqual(len(self.all(".lk-dot")), 6)
        self.assertEqual(len(self.all(".lk-over path.lk-line")), 5)
        self.assertEqual(len(self.all(".lk-patches img")), 3)
        self.assertIn("7 (97 %)", self.one(".lk-live").text)
        self.assertEqual(self.one(".lk-said-it .lk-number").text, "97 %")

    def test_a_map_over_the_image_and_alone(self):
        self.open("gradcam.html")
        self.assertEqual(self.all(".lk-controls"), [])
        self.assertLess(self.cover(0.28, 0.25), 30)
        self.all(".hm-chip")[1].click()
        self.assertEqual(self.cover(0.9, 0.9), 255)
        self.all(".hm-chip")[2].click()
        self.assertEqual(self.cover(0.9, 0.9), 0)

    def test_it_plays_once_and_stops_where_it_is_told_to(self):
        self.open("glimpses.html", calm=False)
        self.wait(lambda: self.step() == "6 / 6" and self.all("[aria-label='play']"))
        self.script(STOP_AT_THIRD)
        self.one("[aria-label='play']").click()
        self.wait(lambda: self.script("return window.seen.length") == 3 and self.all("[aria-label='play']"))
        self.assertEqual(self.step(), "3 / 6")
        self.one("[aria-label='play']").click()
        self.wait(lambda: self.step() == "6 / 6" and self.all("[aria-label='play']"))
        self.assertEqual(self.script("return window.seen"), [0, 1, 2, 3, 4, 5])

    def test_with_less_motion_nothing_moves_by_itself(self):
        self.open("glimpses.html", calm=True)
        self.assertEqual(self.all("[aria-label='pause']"), [])
        self.assertEqual(self.script(MOVES), "none")

    def test_several_images_can_be_chosen_from(self):
        self.open("images.html")
        self.assertEqual(self.one("h1").text, "a red circle above a blue square")
        choice = self.one("#chooser select")
        choice.find_elements(By.TAG_NAME, "option")[1].click()
        self.assertEqual(self.one("h1").text, "7")
        self.assertEqual(self.step(), "1 / 6")

    def test_nothing_is_wider_than_a_phone(self):
        for name in ("caption", "caption-hard", "glimpses", "saliency"):
            self.open(f"{name}.html")
            self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                         {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": True})
            wide = self.script("return document.documentElement.scrollWidth")
            self.shot(f"{name}-phone")
            self.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
            self.assertLessEqual(wide, 390, name)


if __name__ == "__main__":
    unittest.main()
