"""The lab's page, as a person uses it, with experiments that are done in its set-up in their quick form, and small ones with what
can be missing or damaged."""

import json
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import support
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select
from support import PageTest

WORK = tempfile.TemporaryDirectory()
LAB = pathlib.Path(WORK.name) / "lab"
TAB_ORDER = "return document.activeElement === arguments[0]"
WIDTHS = "return [document.documentElement.scrollWidth, innerWidth]"
SLIDE = """
const [name, value] = arguments;
const slider = document.querySelector(`[name="slider-${name}"]`);
slider.value = value;
slider.dispatchEvent(new Event("input", {bubbles: true}));
"""
# By model, the words of its answer; nothing while any pane is busy.
SAID = """
if (document.querySelector(".pane[aria-busy]")) return null;
return Object.fromEntries([...document.querySelectorAll(".live .pane")].map((pane) => [
  pane.querySelector("h4")?.textContent ?? "",
  [...pane.querySelectorAll(".line.target .word .name")].map((word) => word.textContent).join("").replace("</s>", ""),
]));
"""


def do(experiment):
    subprocess.run([support.BINARY, "lab", experiment, "--quick", "--threads", "1", "--out", str(LAB / experiment)], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def report(experiment):
    return json.loads((LAB / experiment / "report.json").read_text())


def change(experiment, name, act):
    """A copy of an experiment, with something that is different about it."""
    shutil.copytree(LAB / experiment, LAB / name)
    told = report(experiment)
    told.update(experiment=name, number=90)
    act(told)
    (LAB / name / "report.json").write_text(json.dumps(told))


def refute(told):
    told.update(title="<b>Refuted</b>", verdict="refuted", checks=[{"expected": "more", "measured": "less", "held": False}])


def setUpModule():
    if not support.REAL:
        raise unittest.SkipTest("the program is not there")
    for experiment in ("told", "autoencode"):
        do(experiment)
    change("told", "lost", refute)
    shutil.rmtree(LAB / "lost/models/bridge")
    (LAB / "lost/models/attention/weights.safetensors").write_text("nothing")
    (LAB / "lost/by-length.svg").unlink()
    change("told", "empty", lambda told: told.update(number=91))
    shutil.rmtree(LAB / "empty/models")
    own = pathlib.Path(WORK.name) / "own"
    subprocess.run([support.BINARY, "train", "reverse", "--out", str(own), "--train.steps", "5", "--threads", "1"], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    PageTest.server = support.Server(lambda port: [support.BINARY, "serve", str(own), "--lab", str(LAB), "--port", str(port)])
    PageTest.server.start()
    PageTest.browser = support.open_browser()


def tearDownModule():
    PageTest.browser.quit()
    PageTest.server.stop()
    WORK.cleanup()


class Lab(PageTest):
    def lab(self, place=""):
        self.browser.get(self.server.url + "lab" + (f"#{place}" if place else ""))
        self.one(".experiments, .step, .error")

    def title(self):
        return self.one("#step-title").text

    def answers(self):
        """By model, what is said: once all have answered to what is entered now."""
        return self.wait(self.said, "every model should have said something")

    def said(self):
        """What `answers` waits for, or None. The page is read in one go: a pane may be drawn again at any moment."""
        said = self.script(SAID)
        return said if said and all(said.values()) else None

    def wait_for(self, model, said):
        self.wait(lambda: (self.said() or {}).get(model) == said, f"{model} should say {said}")

    def slide(self, name, value):
        self.script(SLIDE, name, value)

    def text(self):
        return self.one("#text").get_property("value")

    def test_experiments_are_listed_in_their_order_with_what_came_of_each(self):
        self.lab()
        titles = self.texts(".experiment-title")
        self.assertEqual(titles[:2], [report("told")["title"], report("autoencode")["title"]])
        self.assertEqual(titles[2], "<b>Refuted</b>", "what a report says is text")
        facts = self.texts(".experiment-facts")
        self.assertIn("held", facts[0])
        self.assertIn("1 of 1 check", facts[0])
        self.assertIn("refuted", facts[2])
        self.assertIn("0 of 1 check", facts[2])
        self.shot("lab-list")

    def test_the_explorer_leads_to_it_and_back(self):
        self.open()
        self.one("#lab:not([hidden])").click()
        self.one(".experiments")
        self.one("#explorer:not([hidden])").click()
        self.one("#answers")
        self.wait(lambda: self.all(".pane"))

    def test_a_story_is_led_through_by_buttons_keys_and_address(self):
        told = report("told")
        self.lab()
        self.one(".experiment").click()
        steps = [step["title"] for step in told["story"]]
        self.wait(lambda: self.all(".step"))
        self.assertEqual(self.texts(".steps a"), [f"{number}{title}" for number, title in enumerate(steps, 1)])
        self.assertEqual(self.title(), steps[0])
        self.assertIn(told["claim"], self.one(".story-head").text)
        self.assertEqual(self.one(".onward .quiet").get_attribute("aria-disabled"), "true")
        self.one(".onward .main").click()
        self.assertEqual(self.title(), "Did it hold?")
        self.assertIn(told["checks"][0]["measured"], self.one(".checks").text)
        self.assertEqual(self.texts("#news"), [f"Step 2 of {len(steps)}: Did it hold?"])
        ActionChains(self.browser).send_keys(Keys.ARROW_RIGHT).perform()
        self.assertEqual(self.title(), steps[2])
        self.assertTrue(self.browser.current_url.endswith("#told/3"))
        self.assertEqual(self.one(".steps [aria-current=step]").text.split("\n")[-1], steps[2])
        ActionChains(self.browser).send_keys(Keys.ARROW_LEFT).perform()
        self.assertEqual(self.title(), "Did it hold?")
        self.all(".steps a")[-1].click()
        self.wait(lambda: self.title() == steps[-1])
        self.assertIn("attend explain", self.one(".step pre").text)
        self.one(".onward .main").click()  # the next experiment
        self.wait(lambda: report("autoencode")["title"] == self.one("h2").text)
        self.browser.back()
        self.wait(lambda: self.title() == steps[-1])
        self.lab("told/999")
        self.assertEqual(self.title(), steps[-1])
        self.lab("tolt/2")
        self.one(".experiments")

    def test_figures_and_tables_are_those_of_the_report(self):
        self.lab("told/3")
        self.wait(lambda: self.script("return document.querySelector('.lab-figure img').naturalWidth") > 100)
        self.assertEqual(self.one(".lab-figure img").get_attribute("alt"), report("told")["story"][2]["blocks"][0]["caption"])
        self.lab("told/4")
        rows = report("told")["story"][3]["blocks"][0]["rows"]
        self.assertEqual(self.texts(".lab-table tbody tr"), ["".join(row) for row in rows])

    def test_models_answer_side_by_side_to_what_is_typed(self):
        self.lab("told/3")
        self.assertEqual(set(self.answers()), {"bridge", "attention"})
        self.assertEqual(self.texts(".live .pane h4"), ["bridge", "attention"], "in the order of the story")
        field = self.one("#text")
        field.clear()
        field.send_keys("attend", Keys.ENTER)
        self.wait_for("attention", "dnetta")
        self.assertEqual(len(self.all(".live .hm-grid")), 2, "each with its map")
        for model in ("bridge", "attention"):
            trace = self.server.explain(model=f"lab/told/{model}", text="attend", beam=4)
            self.assertEqual(self.answers()[model], trace["target"]["text"])
        self.assertEqual(Select(self.one("[name=example]")).first_selected_option.text, "(another text)")
        self.shot("lab-live")

    def test_an_example_of_the_test_is_chosen_with_what_is_right(self):
        self.lab("told/3")
        self.answers()
        row = report("told")["tests"][0]["examples"][4]
        Select(self.one("[name=example]")).select_by_visible_text(row["source"])
        self.assertEqual(self.text(), row["source"])
        self.wait_for("attention", row["reference"])
        self.assertIn("that is right", self.all(".live .pane")[1].text)

    def test_length_takes_an_example_of_that_length_and_goes_beyond(self):
        self.lab("told/3")
        self.answers()
        sources = [row["source"] for row in report("told")["tests"][0]["examples"]]
        self.slide("length", 4)
        self.wait(lambda: len(self.text()) == 4)
        self.assertIn(self.text(), sources)
        self.slide("length", 30)
        self.wait(lambda: len(self.text()) == 30)
        self.assertEqual(self.one(".slider output").text, "30 letters")
        self.answers()
        field = self.one("#text")
        field.clear()
        field.send_keys("abcdefgh", Keys.ENTER)
        self.wait_for("attention", "hgfedcba")
        self.slide("length", 3)
        self.wait_for("attention", "cba")

    def test_models_are_chosen_and_one_stays(self):
        self.lab("told/3")
        self.answers()
        bridge = self.all(".run")[0]
        self.assertEqual(bridge.get_attribute("aria-pressed"), "true")
        bridge.click()
        self.wait(lambda: list(self.answers()) == ["attention"])
        self.assertTrue(self.script(TAB_ORDER, self.all(".run")[0]), "what was pressed keeps the focus")
        self.all(".run")[1].click()
        self.settle()
        self.assertEqual(list(self.answers()), ["attention"], "the last one stays")

    def test_what_was_entered_stays_from_step_to_step(self):
        self.lab("told/3")
        self.answers()
        field = self.one("#text")
        field.clear()
        field.send_keys("hello", Keys.ENTER)
        self.wait_for("attention", "olleh")
        field.send_keys(Keys.ARROW_LEFT)
        self.assertEqual(self.title(), "By length", "in a text, arrow keys move in it")
        self.one(".onward .main").click()
        self.one(".onward .quiet").click()
        self.wait(lambda: self.text() == "hello")
        self.wait_for("attention", "olleh")

    def test_a_closer_look_is_the_explorer_with_that_model(self):
        self.lab("told/3")
        self.answers()
        text = self.text()
        self.all(".look-closer")[1].click()
        self.wait(lambda: self.all(".tabs") and self.idle())
        self.assertEqual(self.one("select[name=model]").get_property("value"), "lab/told/attention")
        self.assertEqual(self.text(), text)
        self.wait_for_words(self.server.explain(model="lab/told/attention", text=text, beam=4)["target"]["tokens"])

    def test_images_have_their_board_and_a_slider_through_the_models(self):
        step = next(number for number, step in enumerate(report("autoencode")["story"], 1)
                    if any(block["kind"] == "live" for block in step["blocks"]))
        self.lab(f"autoencode/{step}")
        self.wait(lambda: len(self.all(".live .pane figure img")) == 2)
        self.assertEqual(self.texts(".live h4"), ["2 numbers"])
        self.one(".live .board")
        before = self.all(".live .pane figure img")[1].get_attribute("src")
        self.slide("model", 1)
        self.wait(lambda: self.texts(".live h4") == ["16 numbers"] and len(self.all(".live .pane figure img")) == 2)
        self.assertNotEqual(self.all(".live .pane figure img")[1].get_attribute("src"), before)
        self.assertEqual(self.all(".live .error:not([hidden])"), [])
        self.shot("lab-images")

    def test_a_story_goes_on_without_its_models_and_figures(self):
        self.forgiven = ("404",)
        self.lab("lost/3")
        self.assertIn("by-length.svg is missing", self.one(".step > .missing, .lab-figure .missing").text)
        self.wait(lambda: "cannot be loaded" in self.one("#answers").text)
        self.assertFalse(self.all(".run")[0].is_enabled(), "it has not been kept")
        self.assertIn("not kept", self.all(".run")[0].text)
        self.one(".onward .main").click()
        self.one(".lab-table")
        self.lab("empty/3")
        self.wait(lambda: report("told")["command"] in self.one("#answers").text)

    def test_it_fits_a_phone_in_both_colours(self):
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                     {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True})
        try:
            for place in ("", "told/1", "told/2", "told/3", "told/4", "autoencode/4"):
                self.lab(place)
                self.settle()
                wide, there = self.script(WIDTHS)
                self.assertLessEqual(wide, there, place)
            self.lab("told/3")
            self.answers()
            self.one("#theme").click()
            self.shot("lab-phone")
            self.one("#theme").click()
        finally:
            self.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


if __name__ == "__main__":
    unittest.main()
