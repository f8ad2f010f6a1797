"""Pages of `attend explain` as a browser shows them: each kind of trace, without a server."""

import os
import pathlib
import subprocess
import tempfile
import unittest

from selenium.webdriver.common.action_chains import ActionChains
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
