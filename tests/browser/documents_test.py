"""Documents: asking about one, the shaded passage, sentences that are left out, hops, and summaries; with made-up answers."""

import pathlib
import tempfile
import unittest

import canned
import support
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from support import PageTest

WHO = "who built the old lighthouse ?"
MILK = "where is the milk ?"
NEWS = ("A fire broke out late on Tuesday evening in a warehouse near the harbour of Karlskrona, police said. Nobody was hurt, "
        "but traffic along the coast had to be stopped for three hours.")
LEVELS = "return [...document.querySelectorAll('.dc-word')].map((node) => [node.textContent, " \
         "+node.style.getPropertyValue('--a') || 0, +node.style.getPropertyValue('--b') || 0])"
DROP = """const [text, name, type] = arguments, data = new DataTransfer();
          data.items.add(new File([text], name, {type}));
          for (const kind of ["dragover", "drop"])
            document.body.dispatchEvent(new DragEvent(kind, {dataTransfer: data, bubbles: true, cancelable: true}));"""


def setUpModule():
    PageTest.server = support.fake_server()
    PageTest.server.start()
    PageTest.browser = support.open_browser()


def tearDownModule():
    PageTest.browser.quit()
    PageTest.server.stop()


class Documents(PageTest):
    def ask(self, model, document, question, **state):
        self.open(model=model, **{"input.document": document, "input.question": question}, **state)
        self.answered()

    def answered(self):
        self.wait(lambda: self.idle() and self.all(".pane-body:not([hidden]) .view > *") and not self.all(".dc[aria-busy]"))

    def sentence(self, number):
        return self.one(f"[data-sentence='{number}']")

    def answer(self):
        return self.one(".headline .answer").text

    def phone(self):
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                     {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True})
        self.addCleanup(self.browser.execute_cdp_cmd, "Emulation.clearDeviceMetricsOverride", {})

    def seen_both_ways(self, name):
        self.shot(f"documents-{name}")
        self.one("#theme").click()
        self.shot(f"documents-{name}-dark")
        self.one("#theme").click()
        self.phone()
        self.browser.refresh()
        self.answered()
        self.assertLessEqual(self.script("return document.documentElement.scrollWidth"), 390)
        self.script("document.querySelector('.pane').scrollIntoView()")
        self.shot(f"documents-{name}-phone")

    # asking

    def test_a_document_and_a_question_are_typed_and_the_next_question_keeps_it(self):
        self.open(model="reader")
        self.one("#input-document").send_keys("Ada sat in the garden. Bob slept in the kitchen.")
        self.one("#input-question").send_keys("where was Bob ?", Keys.ENTER)
        self.answered()
        self.assertEqual(self.answer(), "the kitchen")
        self.assertIn("input.question", self.browser.current_url)
        field = self.one("#input-question")
        field.send_keys(Keys.CONTROL + "a")
        field.send_keys("where was Ada ?")
        self.assertIn("outdated", self.one("#answers").get_attribute("class"), "the answer below is to another question")
        field.send_keys(Keys.ENTER)
        self.wait(lambda: self.idle() and self.answer() == "the garden")
        self.assertNotIn("outdated", self.one("#answers").get_attribute("class") or "")
        self.assertIn("Bob slept", self.one("#input-document").get_attribute("value"))
        self.browser.refresh()
        self.answered()
        self.assertEqual(self.answer(), "the garden", "the address has it all")

    def test_what_is_missing_is_named(self):
        self.open(model="reader")
        self.one("#input-question").send_keys(WHO, Keys.ENTER)
        self.assertEqual(self.one("#texts-entry .error").text, "Enter a document first.")
        self.assertEqual(self.script("return document.activeElement.id"), "input-document")
        self.one("#input-document").send_keys("Somebody built it.")
        self.one("#input-question").send_keys(Keys.CONTROL + "a")
        self.one("#input-question").send_keys(Keys.DELETE)
        self.one("#texts-entry .main").click()
        self.assertEqual(self.one("#texts-entry .error").text, "Enter a question first.")

    def test_a_text_file_is_dropped_or_chosen(self):
        self.open(model="reader")
        field = self.one("#input-document")
        self.script(DROP, canned.ISLAND, "island.txt", "text/plain")
        self.wait(lambda: field.get_attribute("value") == canned.ISLAND)
        self.assertEqual(self.one(".picture-name").text, "island.txt")
        self.assertEqual(self.script("return document.activeElement.id"), "input-question")
        self.script(DROP, "x", "photo.png", "image/png")
        self.wait(lambda: self.one("#texts-entry .error").text == "photo.png is no text file.")
        self.assertEqual(field.get_attribute("value"), canned.ISLAND)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "story.txt")
            path.write_text(canned.STORY.replace("\n", "\r\n"))
            self.browser.find_element(By.CSS_SELECTOR, "#texts-entry input[type=file]").send_keys(str(path))
            self.wait(lambda: field.get_attribute("value") == canned.STORY)
            path.write_bytes(b"\xff\xfe\x00")
            self.browser.find_element(By.CSS_SELECTOR, "#texts-entry input[type=file]").send_keys(str(path))
            self.wait(lambda: self.one("#texts-entry .error").text == "story.txt is not UTF-8.")

    def test_a_long_document_is_not_in_the_address(self):
        long = " ".join(f"Number {number} is here." for number in range(140))
        self.ask("reader", long, "what is here ?")
        self.assertIn("input.document", self.browser.current_url)
        self.script("arguments[0].value = arguments[1]", self.one("#input-document"), f"{long} {long}"[:4500])
        self.one("#input-question").send_keys(Keys.ENTER)
        self.answered()
        self.wait(lambda: "input.document" not in self.browser.current_url)
        self.assertIn("input.question", self.browser.current_url)

    def test_validation_questions_are_suggested_and_listed(self):
        self.open(model="reader")
        self.wait(lambda: self.all("#suggestions button"))
        self.all("#suggestions button")[0].click()
        self.answered()
        self.assertEqual(self.one("#input-question").get_attribute("value"), WHO)
        self.assertEqual(self.texts(".headline .facts span")[-1], "that is right")
        self.view("gallery")
        self.wait(lambda: len(self.all(".gallery li")) == 2)
        self.assertEqual(self.texts(".gallery .source"), ["when did it burn down ?", WHO])

    def test_other_models_have_their_own_entry(self):
        self.ask("reader", canned.ISLAND, WHO)
        self.assertFalse(self.one("#composer").is_displayed())
        self.choose("model", "memory")
        self.assertEqual(self.one("#input-document").get_attribute("value"), canned.ISLAND, "it reads the same")
        self.choose("model", "recurrent")
        self.assertTrue(self.one("#composer").is_displayed())
        self.assertFalse(self.one("#texts-entry").is_displayed())
        options = self.texts("#compare option")
        self.assertNotIn("reader", options)
        self.choose("model", "reader")
        self.assertEqual(self.texts("#compare option"), ["nothing", "reader", "memory"])

    # spans

    def test_a_span_is_marked_and_shaded_by_start_and_end(self):
        self.ask("reader", canned.ISLAND, WHO)
        self.assertEqual(self.answer(), "Søren Kjær")
        self.assertEqual(self.texts(".dc-found"), ["Søren", "Kjær."])
        self.assertEqual(self.script("return document.querySelector('.dc-text').textContent"), canned.ISLAND,
                         "as it was typed, with its spaces and line breaks")
        levels = self.script(LEVELS)
        self.assertEqual(max(levels, key=lambda one: one[1])[0], "Søren")
        self.assertEqual(max(levels, key=lambda one: one[2])[0], "Kjær.")
        self.assertEqual(self.texts(".lk-label")[0], "Søren Kjær")
        ActionChains(self.browser).move_to_element(self.all(".dc-said")[1]).perform()
        self.wait(lambda: self.one(".dc-readout").text.startswith("end looked at Kjær."))
        self.assertTrue(all(start == 0 for _, start, _ in self.script(LEVELS)), "only where it ends")
        lit = self.script("return [...document.querySelectorAll('.hm-grid th.hm-lit')].map((node) => node.textContent)")
        self.assertEqual(lit, ["Kjær."], "the map is lit with it")
        ActionChains(self.browser).move_to_element(self.one("#share")).perform()
        self.seen_both_ways("span")

    def test_the_passage_scrolls_into_view(self):
        filler = " ".join(f"Nothing happened on day {day}." for day in range(100))
        self.ask("reader", f"{filler} The lighthouse was built by Søren Kjær. {filler}", WHO)
        places = self.script("""const box = document.querySelector('.dc-box').getBoundingClientRect();
                                const word = document.querySelector('.dc-found').getBoundingClientRect();
                                return [box.top, word.top, word.bottom, box.bottom]""")
        self.assertEqual(places, sorted(places), "within its box")

    # evidence

    def test_a_sentence_is_left_out_and_brought_back(self):
        self.ask("reader", canned.ISLAND, WHO)
        self.sentence(1).click()
        self.wait(lambda: self.texts(".left-out .after") == ["Søren Kjær", "the island"])
        self.assertEqual(self.texts(".dc-struck"), ["Its old lighthouse was built in 1881 by Søren Kjær."])
        self.assertEqual(self.texts(".dc-found"), ["the", "island."], "shading follows the new answer")
        self.assertEqual(self.one(".left-out .verdict").text, "The answer is another one.")
        self.assertEqual(self.answer(), "Søren Kjær", "what was asked is still answered above")
        self.shot("documents-left-out")
        self.sentence(0).click()
        self.wait(lambda: "without those 2 sentences" in self.texts(".left-out th"))
        self.sentence(0).click()
        self.sentence(1).click()
        self.wait(lambda: not self.all(".left-out table"))
        self.assertEqual(self.all(".dc-struck"), [])
        self.assertEqual(self.texts(".dc-found"), ["Søren", "Kjær."])

    def test_a_sentence_that_does_not_matter_changes_nothing(self):
        self.ask("reader", canned.ISLAND, WHO)
        self.sentence(2).click()
        self.wait(lambda: self.all(".left-out table"))
        self.assertEqual(self.one(".left-out .verdict").text, "The answer stays the same.")
        self.one(".left-out button").click()
        self.wait(lambda: not self.all(".left-out table"))

    def test_sentences_can_be_left_out_with_keys(self):
        self.ask("memory", canned.STORY, MILK)
        self.assertEqual(self.answer(), "office")
        self.script("document.querySelector('[data-sentence][tabindex=\"0\"]').focus()")
        ActionChains(self.browser).send_keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ENTER).perform()
        self.wait(lambda: self.texts(".left-out .after")[:2] == ["office", "kitchen"])
        self.assertEqual(self.texts(".dc-struck"), ["Joe travelled to the office."])
        self.assertEqual(self.script("return document.activeElement.dataset.sentence"), "3", "it keeps the focus")
        self.assertEqual(self.sentence(3).get_attribute("aria-pressed"), "true")
        ActionChains(self.browser).send_keys(" ").perform()
        self.wait(lambda: not self.all(".dc-struck"))

    def test_one_sentence_has_to_stay(self):
        self.ask("reader", "Ada sat here. Bob slept there.", "where ?")
        self.sentence(0).click()
        self.wait(lambda: self.all(".left-out table"))
        self.sentence(1).click()
        self.wait(lambda: "One sentence has to stay." in self.texts(".error"))

    # hops

    def test_hops_are_columns_of_sentences(self):
        self.ask("memory", canned.STORY, MILK)
        self.assertEqual(self.texts(".dc-hops thead th"), ["hop 1", "hop 2", "hop 3", "sentence"])
        self.assertEqual(self.texts(".dc-hops tbody th"), canned.STORY.split("\n"))
        trace = self.server.explain(model="memory", document=canned.STORY, question=MILK, method="attention")
        for hop in range(3):
            row = trace["sites"][hop]["weights"][0][0]
            shown = self.texts(f".dc-hops tbody td:nth-child({hop + 1})")
            self.assertEqual(shown, [support.percent(value) for value in row])
            most = self.script("return [...document.querySelectorAll('.dc-hops tbody tr')].findIndex((row) => "
                               "row.cells[arguments[0]].classList.contains('dc-most'))", hop)
            self.assertEqual(most, row.index(max(row)))
        self.seen_both_ways("hops")

    # summaries

    def test_a_summary_marks_what_was_copied_and_shades_where_it_looked(self):
        self.open(model="headlines", text=NEWS)
        self.answered()
        words = canned.headline(NEWS)
        self.assertEqual(self.texts(".dc-said .dc-name"), words)
        self.assertEqual(self.texts(".dc-copied .dc-name"), [word for word in words if word != "shakes"])
        self.assertIn("tall", self.one("#text").get_attribute("class"))
        self.all(".dc-said")[0].click()
        strongest = max(self.script(LEVELS), key=lambda one: one[1])[0]
        self.assertEqual(strongest.strip(".,"), words[0])
        self.assertEqual(self.all(".dc-said")[0].get_attribute("aria-pressed"), "true")
        ActionChains(self.browser).send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT).perform()
        self.wait(lambda: self.one(".dc-readout").text.startswith(f"{words[2]} looked at {words[2]}"))
        self.assertTrue(self.one(".yours").is_displayed(), "it can still be edited")
        self.seen_both_ways("summary")


if __name__ == "__main__":
    unittest.main()
