"""Pages of `attend explain` as a browser shows them: each kind of trace, without a server."""

import os
import pathlib
import subprocess
import tempfile
import unittest

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

import support
from support import PageTest

PROGRAM = pathlib.Path(os.environ.get("ATTEND_PICTURES", support.HERE.parents[1] / "build/tests/picture_program"))


@unittest.skipUnless(PROGRAM.exists(), f"{PROGRAM} is not built")
class Pictures(PageTest):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        subprocess.run([PROGRAM, cls.folder.name], check=True, stdout=subprocess.DEVNULL)
        cls.browser = support.open_browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.quit()
        cls.folder.cleanup()

    def picture(self, name):
        self.browser.get(pathlib.Path(self.folder.name, f"{name}.html").as_uri())
        self.one(".hm-grid, .hm-canvas")

    def choose(self, what):
        Select(self.one("select[name=what]")).select_by_value(what)

    def heads(self, scope):
        return self.texts(f".hm-grid th[scope={scope}]")

    def test_a_decoder_alone_looks_at_its_source_and_its_past(self):
        self.picture("alone-words")
        self.choose("site decoder.self")
        self.assertEqual(self.heads("col"), "i am going home <s> main ghar ja rahi hoon".split())
        self.assertEqual(self.heads("row"), "main ghar ja rahi hoon".split())
        self.assertEqual(self.texts(".hm-side"), ["source, read before", "output"])
        titles = self.script("return [...document.querySelectorAll('.hm-grid td[title]')].map((cell) => cell.title)")
        self.assertIn("ghar ← home 47 %", titles)
        self.assertIn("ghar ← main 50 %", titles)

    def test_a_map_has_the_rows_and_columns_of_its_site(self):
        self.picture("self-words")
        self.assertEqual(self.heads("col"), "i am going home".split())
        self.assertEqual(self.heads("row"), "i am going home".split())

    def sound(self, name):
        self.browser.get(pathlib.Path(self.folder.name, f"{name}.html").as_uri())
        self.one(".sd")
        self.script("""
            window.played = [];
            window.times = [];
            const view = document.querySelector(".sd");
            view.addEventListener("soundplay", ({detail}) => played.push([detail.begin, detail.end]));
            view.addEventListener("soundtime", ({detail}) => times.push([detail.time, detail.playing]));""")

    def trace(self):
        return self.script("return JSON.parse(document.querySelector('#traces').textContent)[0]")

    def ended(self):
        self.wait(lambda: self.script("return times.length > 0 && !times.at(-1)[1]"), "it does not end")

    def test_a_sound_plays_and_its_letters_are_heard(self):
        self.sound("listen-tokens")
        trace = self.trace()
        letters = [token for token in trace["target"]["tokens"] if token not in ("▁", "</s>")]
        self.assertEqual(self.texts("[data-unit=tokens] .sd-part"), letters)
        self.assertEqual(self.texts("[data-unit=words] .sd-part"), trace["target"]["words"])
        self.assertEqual(self.texts(".sd-row.sd-gold bdi")[:len(trace["target"]["words"])], trace["target"]["words"])
        seconds = trace["source"]["sound"]["seconds"]
        self.one(".sd-play").click()
        self.ended()
        self.assertAlmostEqual(self.script("return times.at(-1)[0]"), seconds, delta=0.001)
        self.script("times.length = 0")
        self.all("[data-unit=words] .sd-part")[1].click()
        self.ended()
        [word, begin, end] = trace["source"]["sound"]["words"][1]
        heard = self.script("return played.at(-1)")
        self.assertAlmostEqual(heard[0], begin, delta=0.12, msg=word)
        self.assertAlmostEqual(heard[1], end, delta=0.12, msg=word)
        self.shot("pictures-listen")

    def test_a_sound_is_in_step_with_its_seconds(self):
        self.sound("listen-words")
        spots = self.script("""
            const place = (node) => node.getBoundingClientRect();
            const left = place(document.querySelector(".sd-space")).left;
            const ticks = [...document.querySelectorAll(".sd-tick")].map((node) => [+node.textContent, place(node).left - left]);
            const gold = [...document.querySelectorAll(".sd-row.sd-gold")][0].children;
            return [ticks, [...gold].map((node) => [place(node).left - left, place(node).right - left])]""")
        (_, zero), (second, there) = spots[0][0], spots[0][-1]
        wide = (there - zero) / second
        for (_, begin, end), (left, right) in zip(self.trace()["source"]["sound"]["words"], spots[1], strict=True):
            self.assertAlmostEqual(left, begin * wide, delta=1)
            self.assertAlmostEqual(right, end * wide, delta=1)

    def test_a_long_sound_scrolls_and_follows_what_is_played(self):
        self.sound("listen-long-tokens")
        scroll = "const box = document.querySelector('.sd-scroll'); return [box.scrollLeft, box.clientWidth, box.scrollWidth]"
        left, seen, whole = self.script(scroll)
        self.assertEqual(left, 0)
        self.assertGreater(whole, seen)
        self.script("const row = document.querySelector('.sd-row.sd-sound'); row.focus()")
        ActionChains(self.browser).send_keys(Keys.END).perform()
        self.wait(lambda: self.script(scroll)[0] > 0, "it does not follow the cursor")
        self.shot("pictures-listen-long")

    def test_words_or_tokens_of_a_sound(self):
        self.sound("listen-words")
        high = lambda: self.script("return document.querySelector('.sd-row.sd-map').clientHeight")
        words = high()
        self.one("[data-value=tokens]").click()
        self.wait(lambda: high() > 2 * words, "a row for each letter")
        self.choose("site decoder.memory")
        self.wait(lambda: "decoder.memory" in self.one(".sd .hm-method").text)

    def test_ctc_and_labels_of_frames_have_no_map(self):
        self.sound("listen-ctc-tokens")
        self.assertTrue(self.one(".sd-row.sd-curves canvas").is_displayed())
        self.assertEqual(self.all(".sd-row.sd-map"), [])
        self.sound("frames-words")
        tags = self.trace()["target"]["tokens"]
        runs = [tag for i, tag in enumerate(tags) if i == 0 or tags[i - 1] != tag]
        self.assertEqual(self.texts("[data-unit=labelled] .sd-part"), runs)
        self.assertGreater(len(self.all(".sd-wrong")), 0)
        self.all("[data-unit=labelled] .sd-part")[2].click()
        self.ended()
        self.shot("pictures-frames")

    def test_a_sound_in_the_dark_and_on_a_phone(self):
        self.sound("listen-saliency-tokens")
        self.one(".hm-theme:not(.sd-play)").click()
        self.shot("pictures-listen-dark")
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                     {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True})
        self.addCleanup(self.browser.execute_cdp_cmd, "Emulation.clearDeviceMetricsOverride", {})
        self.wait(lambda: self.script("return innerWidth") == 390)
        self.assertLessEqual(self.script("return document.documentElement.scrollWidth"), 390)
        self.shot("pictures-listen-phone")

    def test_what_is_no_number_is_said_to_be_none(self):
        self.picture("broken-words")
        titles = self.script("return [...document.querySelectorAll('.hm-grid td[title]')].map((cell) => cell.title)")
        self.assertEqual(titles[0], "main ← i no number")
        self.assertEqual(titles[1], "main ← am 6 %")
        self.assertIn("no number", self.texts(".evidence td"))

    def test_the_frame_is_around_the_largest_for_or_against(self):
        self.picture("signed-words")
        framed = self.script("return [...document.querySelectorAll('.hm-most')].map((cell) => cell.title)")
        self.assertIn("−", framed[1], framed)
        self.assertIn("for or against", self.one(".hm-legend").text)
        self.assertEqual(self.texts("#left-out"), [""])

    def test_a_tree_is_lit_together_with_its_map(self):
        for level in ("words", "tokens"):
            self.picture(f"tree-{level}")
            self.assertEqual(self.texts(".tr-node .tr-name"), "S NP DT JJ NN VP VBZ .".split())
            self.assertEqual(self.texts(".tr-word .tr-name"), "the unhappy dog barks .".split())
            self.assertEqual(self.all(".hm-sentences"), [], "the tree stands in their place")
            self.hover("[data-token='1'] .tr-box")
            self.wait(lambda: self.texts(".tr-share") == ["6 %", "12 %", "70 %", "6 %", "6 %"])
            self.assertEqual(self.texts("th.hm-lit"), ["(NP"])
            self.assertIn("NP looked at dog 70 %, unhappy 12 %", self.one(".tr-readout").text)
            self.hover("td[data-row='5'][data-column='0']")  # ")" closes the NP
            self.wait(lambda: self.texts(".tr-active .tr-name") == ["NP"])
            self.hover("[data-word='1'] .tr-box")
            self.wait(lambda: self.one(".tr-readout").text.startswith("unhappy was looked at by JJ over unhappy: 76 %"))
            self.assertEqual(self.texts("thead th.hm-lit"), ["unhappy" if level == "words" else "▁un"])
        self.shot("picture-tree")

    def hover(self, selector):
        ActionChains(self.browser).move_to_element(self.one(selector)).perform()

    def test_other_traces_have_no_tree(self):
        self.picture("tags-words")
        self.assertEqual(self.all(".tr"), [])
        self.assertTrue(self.all(".hm-sentences"))

    def test_nothing_goes_beyond_a_phone(self):
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": support.PHONE[0], "height": support.PHONE[1], "deviceScaleFactor": 1, "mobile": True})
        for name in ("plain-words", "heads-words", "signed-tokens", "odd-words", "tree-words"):
            self.picture(name)
            self.assertLessEqual(self.script("return document.documentElement.scrollWidth"), support.PHONE[0], name)
        self.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


if __name__ == "__main__":
    unittest.main()
