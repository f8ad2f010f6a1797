"""The explorer, as a person uses it, with models that are trained in its set-up."""

import pathlib
import subprocess
import tempfile
import unittest

import support
from support import PageTest, percent
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

WORK = tempfile.TemporaryDirectory()


def train(name, *flags):
    """A model that knows next to nothing is enough: what it looked at is what is tested."""
    folder = pathlib.Path(WORK.name) / name
    subprocess.run([support.BINARY, "train", "translate", "--out", str(folder), "--train.steps", "150", "--threads", "1",
                    "--valid-sentences", "20", *flags], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return str(folder)


def real_server():
    models = [train("recurrent"),
              train("transformer", "--model.name", "transformer", "--model.size", "64", "--model.hidden", "128")]
    return support.Server(lambda port: [support.BINARY, "serve", *models, "--port", str(port)])


def setUpModule():
    PageTest.server = real_server() if support.REAL else support.fake_server()
    PageTest.server.start()
    PageTest.browser = support.open_browser()


def tearDownModule():
    PageTest.browser.quit()
    PageTest.server.stop()
    WORK.cleanup()


class Explorer(PageTest):
    def setUp(self):
        super().setUp()
        self.models = {model["name"]: model for model in self.server.get("v1/models")["models"]}
        self.text = "i am going home" if support.REAL else "two dogs run through the snow"

    def trace(self, model, **asked):
        """As the page asks for it."""
        options = {"method": "attention", "layer": -1, "head": -1, "combine": "mean", "weights": False,
                   "beam": self.models[model].get("search", {}).get("beam", 1)}
        return self.server.explain(**{**options, "model": model, "text": self.text, **asked})

    def open_answer(self, model="transformer", **state):
        self.open(text=self.text, model=model, **state)
        trace = self.trace(model, **{name: state[name] for name in state if name in ("beam", "layer", "head")})
        self.wait_for_words(trace["target"]["words"])
        return trace

    def hover(self, side, index):
        ActionChains(self.browser).move_to_element(self.all(f".line.{side} .word")[index]).perform()

    def shares(self, side):
        return self.texts(f".line.{side} .word .share")

    def assert_lit(self, side, values, write=percent):
        """The words of a side show these values, and the largest is marked."""
        most = max(map(abs, values))
        wanted = [write(value) if abs(value) >= 0.01 * most else "" for value in values]
        self.wait(lambda: self.shares(side) == wanted, f"{wanted} is wanted, the page shows {self.shares(side)}")
        marked = self.script("return [...document.querySelectorAll(arguments[0])].map((word) => "
                             "word.classList.contains('strongest'))", f".line.{side} .word")
        self.assertTrue(marked[[abs(value) for value in values].index(most)])
        self.assertEqual(sum(marked), 1)

    def assert_row_lit(self, trace, index):
        self.hover("target", index)
        self.assert_lit("source", trace["maps"][0]["words"][index])

    def test_typed_text_is_translated(self):
        self.open(model="recurrent")
        self.one("#text").send_keys(self.text)
        trace = self.trace("recurrent")
        self.wait_for_words(trace["target"]["words"])
        self.assertEqual(self.words("source"), trace["source"]["words"])
        self.wait(lambda: trace["target"]["text"] in self.one("#news").get_attribute("textContent"))
        self.assertIn("text=", self.browser.current_url)

    def test_an_example_is_one_click(self):
        self.open(model="transformer")
        self.wait(lambda: self.all("#suggestions button"))
        self.assertEqual(len(self.all("#suggestions button")), 3)
        first = self.all("#suggestions button")[0]
        self.text = first.text
        self.shot("explorer-start")
        first.click()
        self.wait_for_words(self.trace("transformer")["target"]["words"])
        self.assertEqual(self.one("#text").get_attribute("value"), self.text)

    def test_words_light_up_what_they_looked_at(self):
        trace = self.open_answer()
        for index in range(2):
            self.assert_row_lit(trace, index)
            lit = self.script("return [...document.querySelectorAll('.hm-grid td.hm-lit')].map(({dataset}) => +dataset.row)")
            self.assertEqual(lit, [index] * len(trace["source"]["words"]))
        self.hover("source", 1)
        self.assert_lit("target", [row[1] for row in trace["maps"][0]["words"]])

    def test_cells_light_up_words(self):
        trace = self.open_answer()
        ActionChains(self.browser).move_to_element(self.one("td[data-row='1'][data-column='2']")).perform()
        self.assert_lit("source", trace["maps"][0]["words"][1])

    def test_heads_can_be_chosen(self):
        self.open_answer()
        self.choose("layer", 0)
        self.choose("head", 1)
        self.assert_row_lit(self.trace("transformer", layer=0, head=1), 0)
        self.view("heads")
        self.wait(lambda: len(self.all(".hm-head")) > 2)
        self.shot("explorer-heads")
        self.all(".hm-head")[0].click()
        self.wait(lambda: self.one("select[name=head]").get_attribute("value") == "0" and self.idle())
        self.assert_row_lit(self.trace("transformer", layer=0, head=0), 0)
        self.choose("unit", "tokens")
        self.wait(lambda: self.words("target") == self.trace("transformer")["target"]["tokens"])

    def test_methods_can_be_chosen(self):
        self.open_answer()
        self.choose("method", "saliency")
        trace = self.trace("transformer", method="saliency")
        self.hover("target", 0)
        strongest = max(enumerate(trace["maps"][0]["words"][0]), key=lambda pair: abs(pair[1]))[0]
        self.wait(lambda: self.texts(".line.source .strongest .name") == [trace["source"]["words"][strongest]])

    def test_an_edited_translation_is_aligned(self):
        own = self.open_answer()
        self.one(".yours summary").click()
        field = self.one(".yours textarea")
        mine = " ".join(reversed(own["target"]["words"]))
        field.clear()
        field.send_keys(mine + "\n")
        self.wait_for_words(mine.split())
        yours = self.trace("transformer", target=mine)
        verdict = self.one(".verdict").text
        for trace in (own, yours):
            self.assertIn(f"{trace['target']['log_probability']:.2f}".replace("-", "−"), verdict)
        self.assert_row_lit(yours, 0)
        self.shot("explorer-edited")
        self.one(".yours .quiet").click()
        self.wait_for_words(own["target"]["words"])

    def test_another_branch_can_be_taken(self):
        trace = self.open_answer(view="search", beam=4)
        other = self.one(".node:not(.chosen)")
        node = int(other.get_attribute("data-node"))
        path = []
        while node >= 0:
            path.insert(0, trace["beam"][node]["id"])
            node = trace["beam"][node]["parent"]
        self.shot("explorer-search")
        other.click()
        branch = self.trace("transformer", prefix_tokens=path, beam=4)
        self.wait_for_words(branch["target"]["words"])
        self.assertIn("begins as you chose", self.one(".chip").text)
        self.one(".chip button").click()
        self.wait_for_words(trace["target"]["words"])

    def test_two_models_side_by_side(self):
        first = self.open_answer("transformer")
        support.Select(self.one("#compare select")).select_by_value("recurrent")
        second = self.trace("recurrent")
        self.wait_for_words(second["target"]["words"], pane=2)
        self.assertEqual(self.words("target", 1), first["target"]["words"])
        left, right = (pane.rect for pane in self.all(".pane"))
        self.assertLess(left["x"] + left["width"], right["x"] + 1)
        self.hover("target", 1)
        self.shot("explorer-two")
        self.browser.refresh()  # the link has both
        self.wait_for_words(second["target"]["words"], pane=2)

    def test_a_server_that_goes_away_is_waited_for(self):
        self.forgiven = ("ERR_",)
        self.open_answer()
        self.server.stop()
        field = self.one("#text")
        field.clear()
        self.text = "you are going home" if support.REAL else "a man in the snow"
        field.send_keys(self.text + "\n")
        self.wait(lambda: "does not answer" in self.one("#banner").text)
        self.shot("explorer-away")
        self.server.start()
        self.wait_for_words(self.trace("transformer")["target"]["words"])
        self.wait(lambda: not self.one("#banner").is_displayed())

    def test_keys_alone_are_enough(self):
        self.open(model="transformer")
        self.one(".pane")
        self.press(*[Keys.TAB] * 4)  # past the skip link, the link and the colours
        self.assertEqual(self.focused("id"), "text")
        self.press(self.text, Keys.ENTER)
        trace = self.trace("transformer")
        self.wait_for_words(trace["target"]["words"])
        self.tab_to("word")
        self.press(Keys.ARROW_RIGHT)
        self.assert_lit("target", [row[1] for row in trace["maps"][0]["words"]])
        self.press(Keys.TAB)
        self.assert_lit("source", trace["maps"][0]["words"][0])
        label = self.script("return document.activeElement.ariaLabel")
        self.assertIn("looked at", label)
        self.tab_to("tab")
        self.press(Keys.ARROW_RIGHT)
        self.wait(lambda: self.focused("data-view") == "heads" and self.all(".hm-head"))
        self.press(Keys.ARROW_LEFT)
        self.tab_to("gridcell")
        self.press(Keys.ARROW_DOWN, Keys.ARROW_RIGHT)
        self.assertEqual((self.focused("data-row"), self.focused("data-column")), ("1", "1"))
        self.assert_lit("source", trace["maps"][0]["words"][1])

    def press(self, *keys):
        ActionChains(self.browser).send_keys(*keys).perform()

    def focused(self, attribute):
        return self.script("return document.activeElement.getAttribute(arguments[0])", attribute)

    def tab_to(self, kind):
        """To the next element of that class or role; its outline has to be seen."""
        for _ in range(30):
            self.press(Keys.TAB)
            if kind in ((self.focused("class") or "") + " " + (self.focused("role") or "")).split():
                style = self.script("return getComputedStyle(document.activeElement).outlineStyle")
                self.assertNotEqual(style, "none")
                return
        self.fail(f"no {kind} is reached with the keyboard")

    def test_dark_is_remembered(self):
        self.open_answer()
        background = "return getComputedStyle(document.body).backgroundColor"
        light = self.script(background)
        self.one("#theme").click()
        self.assertLess(sum(map(int, self.script(background)[4:-1].split(", "))), 150)
        self.assertNotEqual(self.script(background), light)
        self.browser.refresh()
        self.wait(lambda: self.words("target") and self.idle())
        self.hover("target", 1)
        self.shot("explorer-dark")
        self.view("heads")
        self.wait(lambda: self.all(".hm-head"))
        self.shot("explorer-dark-heads")
        self.assertNotEqual(self.script(background), light)
        self.one("#theme").click()
        self.assertEqual(self.script(background), light)

    def test_a_phone_needs_no_sideways_scroll(self):
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                     {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True})
        try:
            self.open_answer()
            self.all(".line.target .word")[1].click()
            self.shot("explorer-phone")
            for view in ("map", "heads", "search", "evidence", "training", "gallery"):
                self.view(view)
                self.wait(lambda: self.texts(".view")[0])
                self.assertLessEqual(self.script("return document.documentElement.scrollWidth"), 390, view)
                if view in ("map", "search"):
                    self.script("document.querySelector('.tabs').scrollIntoView()")
                    self.shot(f"explorer-phone-{view}")
        finally:
            self.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

    def test_a_link_opens_the_same_view(self):
        self.open_answer(layer=1, head=2, view="map", beam=2)
        self.assert_row_lit(self.trace("transformer", layer=1, head=2, beam=2), 1)
        self.assertEqual(self.one("#beam").get_attribute("value"), "2")
        address = self.browser.current_url
        self.script("document.querySelector('.skip').click()")  # an address of its own would be the end of this one
        self.assertEqual(self.browser.current_url, address)
        self.shot("explorer")

    def test_a_picture_in_one_file(self):
        if not support.REAL:
            self.skipTest("the program is not there")
        picture = pathlib.Path(WORK.name) / "picture.html"
        subprocess.run([support.BINARY, "explain", str(pathlib.Path(WORK.name) / "transformer"), self.text, "--out", str(picture)],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.browser.get(picture.as_uri())
        self.wait(lambda: self.all(".hm-grid td"))
        self.shot("picture")

    def test_temperature_samples(self):
        self.open(text=self.text, model="transformer", temperature=1.0)
        drawn = self.trace("transformer", sample=True, temperature=1.0, seed=1, beam=1)
        self.wait_for_words(drawn["target"]["words"])
        self.assertTrue(self.one("#again").is_displayed())
        self.assertFalse(self.one("#beam").is_enabled())


if __name__ == "__main__":
    unittest.main()
