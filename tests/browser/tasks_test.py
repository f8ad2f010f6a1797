"""Models that answer a text with a label, tags, a tree or phonemes, with made-up answers: what is shown, and what lights up."""

import unittest

import support
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from support import PageTest, percent

SENTENCE = "the old man in a blue shirt stands on the ladder and the dog barks ."
LEVELS = "return [...document.querySelectorAll(arguments[0])].map((node) => +node.style.getPropertyValue('--level') || 0)"
PLACES = "return [...document.querySelectorAll(arguments[0])].map((node) => { " \
         "const {left, right, top, bottom} = node.getBoundingClientRect(); return {left, right, top, bottom}; })"
COLOURS = "return [...document.querySelectorAll(arguments[0])].map((node) => getComputedStyle(node).backgroundColor)"


def setUpModule():
    PageTest.server = support.fake_server()
    PageTest.server.start()
    PageTest.browser = support.open_browser()


def tearDownModule():
    PageTest.browser.quit()
    PageTest.server.stop()


class Tasks(PageTest):
    def setUp(self):
        super().setUp()
        self.models = {model["name"]: model for model in self.server.get("v1/models")["models"]}

    def ask(self, model, text, **state):
        self.open(model=model, text=text, **state)
        self.wait(lambda: self.idle() and self.all(".pane-body:not(.growing) .view > *"))
        return self.trace(model, text)

    def trace(self, model, text, **asked):
        return self.server.explain(model=model, text=text, **{"method": self.models[model]["methods"][0], **asked})

    def hover(self, selector, index=0):
        ActionChains(self.browser).move_to_element(self.all(selector)[index]).perform()

    def press(self, *keys):
        ActionChains(self.browser).send_keys(*keys).perform()

    def tabs(self):
        return [tab.text for tab in self.all("[role=tab]") if tab.is_displayed()]

    def phone(self):
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                     {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True})
        self.addCleanup(self.browser.execute_cdp_cmd, "Emulation.clearDeviceMetricsOverride", {})

    def seen_both_ways(self, name, model, text, **state):
        """Pictures in the dark and on a phone, which has no need to scroll sideways."""
        self.one("#theme").click()
        self.shot(f"tasks-{name}-dark")
        self.one("#theme").click()
        self.phone()
        self.ask(model, text, **state)
        self.browser.refresh()
        self.wait(lambda: self.idle() and self.all(".pane-body:not(.growing) .view > *"))
        self.assertLessEqual(self.script("return document.documentElement.scrollWidth"), 390)
        self.shot(f"tasks-{name}-phone")
        self.script("document.querySelector('.pane').scrollIntoView()")
        self.shot(f"tasks-{name}-phone-answer")

    # a label

    def test_a_label_has_bars_and_shades_the_text(self):
        text = "a charming and funny film with a zyxplot"
        trace = self.ask("opinions", text)
        self.assertEqual(self.texts(".answer"), ["very good"])
        ranked = self.trace("opinions", text, n_best=5)["answers"]
        self.assertEqual(self.texts(".lk-label"), [answer["text"] for answer in ranked])
        bars = [share.replace("\u202f", " ").replace("<1", "< 1") for share in self.texts(".lk-number")]
        self.assertEqual(bars, [percent(answer["score"]) for answer in ranked])
        row = trace["maps"][0]["words"][0]
        self.assertEqual(self.texts(".word .share"), [percent(value) for value in row])
        levels = self.script(LEVELS, ".word")
        self.assertEqual(sorted(levels), sorted(levels, key=lambda level: row[levels.index(level)]))
        self.assertEqual(levels.index(max(levels)), row.index(max(row)), "the darkest is what was looked at most")
        self.assertEqual(self.texts(".word.unknown .name"), ["zyxplot"])
        self.assertIn("very good looked at charming", self.one(".readout").text)
        self.assertEqual(self.tabs(), ["Map", "Heads", "Evidence", "Training", "Hard sentences"], "a label is not searched for")
        self.assertFalse(self.one("#beam").is_displayed())
        self.assertFalse(self.one(".yours").is_displayed())
        self.hover(".word", 3)
        self.wait(lambda: self.one(".readout").text == f"funny was looked at by very good {percent(row[3])}")
        lit = self.script("return [...document.querySelectorAll('.hm-grid td.hm-lit')].map(({dataset}) => +dataset.column)")
        self.assertEqual(lit, [3])
        self.shot("tasks-label")
        self.seen_both_ways("label", "opinions", text)

    def test_another_label_can_be_asked_for(self):
        text = "a charming but dull film"
        self.ask("opinions", text)
        self.assertEqual(self.all("button.lk-bar"), [], "attention is the same for all labels")
        self.choose("method", "occlusion")
        self.assertEqual(self.one("button.lk-bar[aria-pressed=true]").text.split("\n")[0], "good")
        self.one("button.lk-bar[aria-pressed=false]").click()
        self.wait(lambda: self.idle() and "depended on" in self.one(".readout").text and
                  not self.one(".readout").text.startswith("good"))
        self.assertEqual(self.texts(".answer"), ["good"])
        self.assertIn("target=", self.browser.current_url)
        self.assertTrue(self.all(".word.against"), "some words speak against it")
        self.shot("tasks-label-other")
        self.one("button.lk-bar").click()
        self.wait(lambda: self.idle() and self.one(".readout").text.startswith("good"))
        self.assertNotIn("target=", self.browser.current_url)

    def test_a_validation_text_says_what_was_wanted(self):
        self.ask("opinions", "a great film", view="gallery")
        self.wait(lambda: len(self.all(".gallery li")) == 3)
        self.assertEqual(self.texts(".gallery .score"), ["wrong", "right", "right"])
        self.all(".gallery button")[0].click()
        self.wait(lambda: self.texts(".answer") == ["very bad"] and self.idle())
        self.assertEqual(self.texts(".facts .warning"), ["wanted: good"])
        field = self.one("#text")
        field.clear()
        field.send_keys("a great film\n")
        self.wait(lambda: self.texts(".answer") == ["very good"] and self.idle())
        self.assertNotIn("wanted", self.one(".facts").text)

    # tags

    def test_words_have_their_tags_beneath(self):
        text = "the young girl plays a zyxbig guitar ."
        trace = self.ask("parts-of-speech", text)
        self.assertEqual(self.texts(".word .name"), text.split())
        self.assertEqual(self.texts(".band"), trace["target"]["words"])
        for word, tag in zip(self.script(PLACES, ".word"), self.script(PLACES, ".band")):
            self.assertGreaterEqual(tag["top"], word["bottom"] - 1)
            self.assertLess(tag["left"], word["right"])
            self.assertGreater(tag["right"], word["left"])
        colours = dict(zip(self.texts(".band"), self.script(COLOURS, ".band")))
        self.assertEqual(len(set(colours.values())), len(colours), "each tag has its own colour")
        self.assertEqual(self.texts(".word.unknown .name"), ["zyxbig"])
        self.assertEqual(self.tabs(), ["Map", "Heads", "Training", "Hard sentences"])
        self.hover(".word", 2)
        row = trace["maps"][0]["words"][2]
        self.wait(lambda: self.texts(".word.strongest .name") == [trace["source"]["words"][row.index(max(row))]])
        self.assertIn("girl NN depended on", self.one(".readout").text)
        self.shot("tasks-tags")
        self.view("heads")
        self.wait(lambda: len(self.all(".hm-head")) == 4)
        self.assertIn("The text looks at itself", self.one(".site h3").text)
        self.view("map")
        self.seen_both_ways("tags", "parts-of-speech", text)

    def test_a_span_is_one_band(self):
        text = "Ada Lovelace walked along the River Thames in London"
        self.ask("names", text)
        self.assertEqual([tag for tag in self.texts(".band") if tag != "·"], ["PER", "LOC", "LOC"])
        spans = self.script("return [...document.querySelectorAll('.span')].map((span) => span.querySelectorAll('.word').length)")
        self.assertEqual(spans, [2, 1, 1, 1, 2, 1, 1])
        person, *_, river, _, london = self.script(COLOURS, ".band")
        self.assertEqual(river, london)
        self.assertNotEqual(river, person)
        band, (first, second) = self.script(PLACES, ".band")[0], self.script(PLACES, ".word")[:2]
        self.assertLess(band["left"], first["left"] + 5)
        self.assertGreater(band["right"], second["right"] - 5)
        self.assertEqual(self.all(".word")[1].get_attribute("title"), "I-PER")
        self.shot("tasks-spans")
        self.seen_both_ways("spans", "names", text)

    def test_wrong_tags_are_marked(self):
        self.ask("names", "Turing visited London", view="gallery")
        self.wait(lambda: len(self.all(".gallery li")) == 3)
        self.all(".gallery button")[0].click()
        self.wait(lambda: self.texts(".word.wrong .name") == ["IBM"])
        self.assertIn("wanted: O", self.one(".word.wrong").get_attribute("title"))
        self.shot("tasks-wrong")

    def test_tags_can_be_edited_and_are_refused_where_one_is_missing(self):
        self.forgiven = ("400",)
        self.ask("parts-of-speech", "the dog barks .")
        self.assertEqual(self.one(".yours summary").text, "Edit the tags")
        self.one(".yours summary").click()
        field = self.one(".yours textarea")
        field.clear()
        field.send_keys("DT NN NN .\n")
        self.wait(lambda: self.texts(".band") == ["DT", "NN", "NN", "."] and self.idle())
        self.assertIn("likelier", self.one(".verdict").text)
        field.clear()
        field.send_keys("DT NN\n")
        self.wait(lambda: "one for each of 4 words, got 2" in self.one(".pane > .error").text)

    # a tree

    def test_a_tree_stands_over_its_words(self):
        trace = self.ask("parser", SENTENCE)
        self.assertEqual(self.texts(".tr-word .tr-name"), SENTENCE.split())
        opened = [token.lstrip("(") for token in trace["target"]["tokens"] if token not in (")", "</s>")]
        self.assertEqual(self.texts(".tr-node .tr-name"), opened)
        words, nodes = self.script(PLACES, ".tr-word .tr-name"), self.script(PLACES, ".tr-node .tr-box")
        self.assertEqual(len({round(word["top"]) for word in words if word["bottom"] - word["top"] > 8}), 1, "words on one line")
        self.assertTrue(all(before["right"] < after["left"] for before, after in zip(words, words[1:])), "side by side")
        root, rest = nodes[0], nodes[1:]
        self.assertTrue(all(node["top"] > root["bottom"] for node in rest), "the root is on top")
        for one, first in enumerate(nodes):
            for second in nodes[one + 1:]:
                apart = first["right"] <= second["left"] or second["right"] <= first["left"] or \
                    first["bottom"] <= second["top"] or second["bottom"] <= first["top"]
                self.assertTrue(apart, "no label covers another")

    def row_over_words(self, trace, token):
        """What a token of the answer looked at, by words of the text."""
        sums = [0.0] * len(trace["source"]["words"])
        for value, word in zip(trace["maps"][0]["tokens"][token], trace["source"]["word_of"]):
            sums[word] += value
        return sums

    def test_a_bracket_shades_the_words_that_it_looked_at(self):
        trace = self.ask("parser", SENTENCE)
        tokens = trace["target"]["tokens"]
        for token in (0, tokens.index("(PP"), tokens.index("VBZ")):
            self.hover(f"[data-token='{token}'] .tr-box")
            row = self.row_over_words(trace, token)
            most = max(row)
            wanted = [percent(value) if value >= 0.01 * most else "" for value in row]
            self.wait(lambda: self.texts(".tr-word .tr-share") == wanted, f"{wanted}, {self.texts('.tr-word .tr-share')}")
            self.assertEqual(self.texts(".tr-word.tr-strongest .tr-name"), [trace["source"]["words"][row.index(most)]])
            lit = self.script("return [...document.querySelectorAll('.hm-grid tr:has(td.hm-lit)')].map((row) => row.rowIndex - 1)")
            self.assertEqual(lit, [token], "and its row of the map")
        self.assertIn("VBZ looked at", self.one(".readout").text)
        self.shot("tasks-tree")
        self.hover(".tr-word .tr-box", 7)
        self.wait(lambda: self.one(".readout").text.startswith("stands was looked at by"))
        self.assertTrue(self.all(".tr-node.tr-lit"))
        ActionChains(self.browser).move_to_element(self.one("td[data-row='1'][data-column='2']")).perform()
        self.wait(lambda: self.script("return document.querySelector('.tr-active')?.dataset.token") == "1")
        self.hover(".tr-node .tr-box", 2)
        self.seen_both_ways("tree", "parser", SENTENCE)

    def test_a_tree_can_be_walked_with_keys(self):
        trace = self.ask("parser", "the dog barks .")
        for _ in range(20):
            self.press(Keys.TAB)
            if "tr-node" in (self.script("return document.activeElement.getAttribute('class')") or ""):
                break
        at = "return document.activeElement.querySelector('.tr-name').textContent"
        walked = [self.script(at)]
        for key in (Keys.ARROW_DOWN, Keys.ARROW_RIGHT, Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_UP, Keys.ARROW_UP, Keys.HOME):
            self.press(key)
            walked.append(self.script(at))
        self.assertEqual(walked, ["S", "NP", "VP", "VBZ", "barks", "VBZ", "VP", "S"])
        self.press(Keys.ARROW_DOWN)
        row = self.row_over_words(trace, 1)
        self.assertIn(f"NP: the dog; looked at {trace['source']['words'][row.index(max(row))]} {percent(max(row))}",
                      self.script("return document.activeElement.ariaLabel"))
        self.press(Keys.ENTER)
        self.press(Keys.TAB)
        self.assertEqual(self.script("return document.querySelector('.tr-active .tr-name').textContent"), "NP", "it stays lit")
        self.assertEqual(self.one("[aria-selected=true].tr-node").get_attribute("data-token"), "1")

    def test_a_long_sentence_scrolls(self):
        text = " and ".join(["the old man in a blue shirt stands on the big ladder"] * 5)
        self.ask("parser", text)
        inside, frame = self.script("const tree = document.querySelector('.tr'); return [tree.scrollWidth, tree.clientWidth]")
        self.assertGreater(inside, frame)
        self.assertLessEqual(self.script("return document.documentElement.scrollWidth"), support.DESK[0])
        self.all(".tr-node")[0].click()
        last = len(text.split()) - 1
        self.script("document.querySelector(`[data-word='${arguments[0]}']`).focus()", last)
        box = self.script(PLACES, f"[data-word='{last}'] .tr-box")[0]
        self.assertLessEqual(box["right"], support.DESK[0], "what has the focus is in sight")
        self.shot("tasks-tree-long")

    def test_a_tree_can_be_edited(self):
        self.forgiven = ("400",)
        self.ask("parser", "the dog barks .")
        self.one(".yours summary").click()
        field = self.one(".yours textarea")
        field.clear()
        field.send_keys("(S (NP (DT the)) (NN dog) (VP (VBZ barks) (. .)))\n")
        self.wait(lambda: self.texts(".tr-node .tr-name") == "S NP DT NN VP VBZ .".split() and self.idle())
        field.clear()
        field.send_keys("(S (NP\n")
        self.wait(lambda: "expected a bracketed tree" in self.one(".pane > .error").text)

    def test_a_tree_grows_and_its_search_can_be_seen(self):
        trace = self.ask("parser", "the dog barks .", view="search", beam=3)
        self.wait(lambda: self.all(".node.chosen"))
        self.assertEqual(self.texts(".node.chosen .token")[:3], ["(S", "(NP", "DT"])
        self.all(".node.chosen")[1].click()
        self.wait(lambda: self.script("return document.querySelector('.tr-active')?.dataset.token") == "1")
        self.assertEqual(trace["target"]["tokens"][1], "(NP")

    def test_what_is_no_tree_is_shown_in_words(self):
        self.open(model="parser")
        self.one(".pane")
        shown = self.browser.execute_async_script("""
            const done = arguments[0];
            import("/tree.js").then(({treeOf}) => {
              const side = (tokens, kind) => ({tokens, words: tokens, kind});
              const source = side(["a", "b"], "words");
              const fits = (text, kind = "tree") => Boolean(treeOf({source, target: side(text.split(" "), kind)}));
              done([fits("(S X Y ) </s>"), fits("(S X Y"), fits("(S X )"), fits("(S ( ) X Y )"), fits("(S X Y ) )"),
                    fits("(S X ) (T Y )"), fits("(S X Y )", "words")]);
            });""")
        self.assertEqual(shown, [True, False, False, False, False, False, False])

    # phonemes are words

    def test_phonemes_are_lined_up_with_letters(self):
        trace = self.ask("phonemes", "attention")
        self.assertEqual(self.words("target")[:-1], ["AH", "T", "T", "EH", "N", "SH", "AH", "N"])
        self.assertEqual(self.words("source"), list("attention"), "of one word, its letters")
        self.hover(".line.target .word", 5)
        row = trace["maps"][0]["tokens"][5]
        self.wait(lambda: self.texts(".line.source .word .share")[row.index(max(row))] == percent(max(row)))
        self.shot("tasks-phonemes")
        self.choose("unit", "words")
        self.wait(lambda: self.words("source") == ["attention"])
        self.seen_both_ways("phonemes", "phonemes", "attention")

    # all of them

    def test_another_task_takes_the_same_text(self):
        text = "the dog barks ."
        self.ask("transformer", text)
        for model, selector in (("parser", ".tr-node"), ("parts-of-speech", ".band"), ("opinions", ".lk-bar"),
                                ("transformer", ".line.target .word")):
            self.choose("model", model)
            self.wait(lambda: self.idle() and self.all(selector))
            self.assertEqual(len(self.all(".pane-body .said-place > *")), 1)
            self.assertIn(f"model={model}", self.browser.current_url)

    def test_two_tasks_side_by_side(self):
        self.ask("parser", "the young girl plays a big guitar .")
        support.Select(self.one("#compare select")).select_by_value("parts-of-speech")
        self.wait(lambda: self.all(".pane:nth-child(2) .band") and self.idle())
        self.assertTrue(self.all(".pane:nth-child(1) .tr-node"))
        self.assertTrue(self.one("#beam").is_displayed(), "the parser searches")
        self.shot("tasks-two")

    def test_each_has_its_training_and_hard_sentences(self):
        for model, title in (("opinions", "Accuracy %"), ("parser", "F1 %"), ("phonemes", "PER %")):
            self.ask(model, "the dog barks .", view="training")
            self.wait(lambda: [text for text in self.texts(".plot figcaption strong") if text == f"{title} on validation"])
            self.view("gallery")
            self.wait(lambda: len(self.all(".gallery li")) == 3)
        self.assertIn("PER 7.9 %", self.one(".about").text)


if __name__ == "__main__":
    unittest.main()
