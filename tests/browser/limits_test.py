"""The page at its limits, with made-up answers: a long text, refusals, an answer that grows."""

import unittest

import support
from support import PageTest

LONG = 500

PAINTED = """
const [text, done] = arguments;
const field = document.getElementById("text");
field.value = text;
const words = text.split(" ").length;
const watch = new MutationObserver(() => {
  if (document.querySelectorAll(".line.source .word").length !== words || !document.querySelector(".hm-canvas")) return;
  watch.disconnect();
  requestAnimationFrame(() => requestAnimationFrame(() => {
    const answer = performance.getEntriesByType("resource").filter(({name}) => name.includes("v1/explain")).at(-1);
    done([performance.now() - answer.responseEnd, answer.decodedBodySize]);
  }));
});
watch.observe(document.body, {childList: true, subtree: true});
document.querySelector("#composer .main").click();
"""

HOVERED = """
const done = arguments[0], words = [...document.querySelectorAll(".line.target .word")].slice(0, 120), times = [];
const step = (index) => {
  if (index === words.length) return done(times);
  const from = performance.now();
  words[index].dispatchEvent(new PointerEvent("pointerover", {bubbles: true}));
  document.body.getBoundingClientRect();  // styles and layout belong to it
  times.push(performance.now() - from);
  requestAnimationFrame(() => step(index + 1));
};
step(0);
"""

GROWN = """
window.seen = [];
new MutationObserver(() => {
  const growing = document.querySelector(".plain.growing");
  if (growing) window.seen.push(growing.textContent);
}).observe(document.getElementById("answers"), {childList: true, subtree: true, characterData: true});
"""


def setUpModule():
    PageTest.server = support.fake_server()
    PageTest.server.start()
    PageTest.browser = support.open_browser()
    PageTest.browser.set_script_timeout(support.PATIENCE)


def tearDownModule():
    PageTest.browser.quit()
    PageTest.server.stop()


class Limits(PageTest):
    def work(self, script, *values):
        """What a script gives, and what the page did meanwhile: counts, which no busy machine changes."""
        def counts():
            metrics = self.browser.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
            return {one["name"]: one["value"] for one in metrics}

        self.browser.execute_cdp_cmd("Performance.enable", {})
        before = counts()
        result = self.browser.execute_async_script(script, *values)
        after = counts()
        self.browser.execute_cdp_cmd("Performance.disable", {})
        return result, {name: after[name] - before[name] for name in before}

    def test_a_long_text_opens_smoothly(self):
        self.open(model="recurrent")
        self.one(".pane")
        text = " ".join(f"word{number}" for number in range(LONG))
        (painted, size), opening = self.work(PAINTED, text)
        times, hovering = self.work(HOVERED)
        elements = self.script("return document.getElementsByTagName('*').length")
        print(f"\n{LONG} tokens, {size / 1e6:.1f} MB of answer, {elements} elements: painted {painted:.0f} ms after it came, "
              f"{opening['LayoutCount']} layouts; a hover takes {sorted(times)[len(times) // 2]:.1f} ms, "
              f"{hovering['LayoutCount'] / len(times):.1f} layouts")
        # A page that measured each word by itself would lay out as often as there are words, one that made an element of each
        # weight would have LONG² of them.
        self.assertLess(elements, 20 * LONG)
        for name in ("LayoutCount", "RecalcStyleCount"):
            self.assertLess(opening[name], 50, name)
            self.assertLessEqual(hovering[name], 3 * len(times), name)
        seen = "const box = arguments[0].getBoundingClientRect(), line = arguments[0].parentElement.getBoundingClientRect();" \
               "return box.top >= line.top - 1 && box.bottom <= line.bottom + 1"
        self.assertTrue(self.script(seen, self.one(".line.source .strongest")), "what is lit is scrolled to")
        self.shot("explorer-long")

    def test_heads_of_a_long_text_come_one_at_a_time(self):
        self.open(model="transformer", view="heads", text=" ".join(f"word{number}" for number in range(120)))
        self.wait(lambda: len(self.all(".hm-head")) == 12)
        sizes = self.script("return performance.getEntriesByType('resource').filter(({name}) => name.includes('v1/explain'))"
                            ".map(({decodedBodySize}) => decodedBodySize)")
        self.assertGreaterEqual(len(sizes), 13)  # the map, then each head
        self.assertLess(max(sizes), 3e6)

    def test_a_refusal_is_told_in_the_servers_words(self):
        self.forgiven = ("400",)  # browsers log each of them
        self.open(model="transformer", text="word " * 700)
        self.wait(lambda: "1 to 600 tokens" in self.one(".pane > .error").text)
        field = self.one("#text")
        field.clear()
        field.send_keys("two dogs\n")
        self.wait_for_words(["zwei", "hunde"])
        self.assertFalse(self.one(".pane > .error").is_displayed())

    def test_an_empty_text_is_asked_for(self):
        self.open(model="transformer")
        self.one(".pane")
        self.one("#composer .main").click()
        self.wait(lambda: self.one("#text-error").text == "Type a text first.")

    def test_an_answer_grows(self):
        self.open(model="transformer")
        self.one(".pane")
        self.script(GROWN)
        self.one("#text").send_keys("two dogs run through the snow and the unbelievable window\n")
        self.wait(lambda: len(self.words("target")) == 10)
        seen = list(dict.fromkeys(self.script("return window.seen")))
        self.assertGreater(len(seen), 3)
        self.assertTrue(all(late.startswith(early) for early, late in zip(seen, seen[1:])), seen)

    def test_typing_asks_once(self):
        self.open(model="recurrent")
        self.one(".pane")
        self.one("#text").send_keys("two dogs run through the snow")
        self.wait_for_words(["zwei", "hunde", "rennen", "durch", "der", "schnee"])
        asked = self.script("return performance.getEntriesByType('resource').filter(({name}) => name.includes('v1/run')).length")
        self.assertLessEqual(asked, 2)

    def test_evidence_is_measured_on_demand(self):
        self.open(model="transformer", text="two dogs", view="evidence")
        self.one(".view .main").click()
        rows = self.wait(lambda: self.texts(".evidence tbody tr"))
        self.assertEqual(len(rows), 2)
        self.assertIn("12", rows[0])  # exp(−2.1) of a hundred

    def test_curves_and_gallery(self):
        self.open(model="transformer", text="two dogs", view="training")
        self.wait(lambda: len(self.all(".plot")) == 2)
        self.view("gallery")
        self.wait(lambda: len(self.all(".gallery li")) == 3)
        self.all(".gallery button")[1].click()
        self.wait_for_words(["ein", "junger", "mädchen", "spielt", "der", "gitarre"])

    def test_a_beginning_that_cannot_be_said_is_given_up(self):
        self.forgiven = ("400",)
        self.open(model="transformer", text="two dogs", prefix="99999")
        self.wait(lambda: "got 99999" in self.one(".pane > .error").text)
        self.assertNotIn("prefix", self.browser.current_url)
        self.one("#composer .main").click()
        self.wait_for_words(["zwei", "hunde"])

    def test_a_fault_is_told_and_not_asked_again(self):
        self.open(model="transformer", text="two brokenanswer")
        self.wait(lambda: self.one(".pane > .error").is_displayed())
        self.script("dispatchEvent(new Event('online'))")  # ends every pause before something is asked again
        self.settle()
        self.assertEqual(self.server.get("broken"), 1)
        self.assertFalse(self.one("#banner").is_displayed())

    def test_unknown_words_are_marked_and_told(self):
        self.open(model="transformer", text="two zyxdogs run")
        self.wait_for_words(["zwei", "zyxdogs", "rennen"])
        self.assertEqual(self.texts(".line.source .word.unknown .name"), ["zyxdogs"])
        self.assertIn("vocabulary", self.one(".word.unknown").get_attribute("title"))
        self.assertEqual(self.texts(".notes li"), ["The vocabulary does not know some words."])
        self.shot("explorer-notes")
        field = self.one("#text")
        field.clear()
        field.send_keys("two dogs\n")
        self.wait_for_words(["zwei", "hunde"])
        self.assertFalse(self.one(".notes").is_displayed())

    def test_examples_are_offered_where_there_are_some(self):
        self.open(model="transformer")
        self.wait(lambda: len(self.all("#suggestions button")) == 3)
        self.shot("explorer-examples")
        first = self.all("#suggestions button")[0]
        self.assertEqual(first.text, "a man is cleaning the window")
        first.click()
        self.wait_for_words(["ein", "mann", "putzt", "der", "fenster"])
        self.assertEqual(self.one("#text").get_attribute("value"), "a man is cleaning the window")
        self.assertFalse(self.one("#suggestions").is_displayed())
        self.browser.get("about:blank")
        self.open(model="recurrent")  # has kept no validation sentences
        self.wait(lambda: self.script("return performance.getEntriesByType('resource')"
                                      ".some(({name}) => name.endsWith('recurrent/gallery'))"))
        self.settle()
        self.assertFalse(self.one("#suggestions").is_displayed())

    def test_nonsense_in_a_link_is_forgiven(self):
        self.open(model="nobody", view="nowhere", layer="99", beam="many", prefix="x", text="two dogs")
        self.wait_for_words(["zwei", "hunde"])


if __name__ == "__main__":
    unittest.main()
