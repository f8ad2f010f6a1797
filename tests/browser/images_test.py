"""The explorer with models that look at images, as a person uses it; the models are trained in its set-up."""

import base64
import json
import pathlib
import subprocess
import tempfile
import unittest
import urllib.error
import urllib.request

import support
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from support import PageTest

WORK = tempfile.TemporaryDirectory()
CALM = {"features": [{"name": "prefers-reduced-motion", "value": "reduce"}]}
# name: task, steps and what is different; models that know next to nothing are enough
MODELS = {
    "digits": ("glimpse", "60"),
    "classifier": ("glimpse", "10", "--model.name", "image_classifier", "--model.encoder.stages", "8,16"),
    "shapes": ("caption", "20", "--batch.images", "16", "--model.hidden", "64", "--model.embedding", "32",
               "--model.encoder.stages", "8,16,32"),
    "autoencoder": ("autoencode", "40"),
    "text": ("reverse", "20"),
}
DROP = """
const [letters, name] = arguments;
const bytes = Uint8Array.from(atob(letters), (letter) => letter.charCodeAt(0));
const transfer = new DataTransfer();
transfer.items.add(new File([bytes], name, {type: "image/png"}));
for (const type of ["dragover", "drop"]) {
  document.querySelector(".drop").dispatchEvent(
    new DragEvent(type, {dataTransfer: transfer, bubbles: true, cancelable: true}));
}
"""
PASTE = """
const bytes = Uint8Array.from(atob(arguments[0]), (letter) => letter.charCodeAt(0));
const transfer = new DataTransfer();
transfer.items.add(new File([bytes], "image.png", {type: "image/png"}));
document.body.dispatchEvent(new ClipboardEvent("paste", {clipboardData: transfer, bubbles: true, cancelable: true}));
"""
BIG = """
const canvas = document.createElement("canvas");
canvas.width = 3000, canvas.height = 2000;
const context = canvas.getContext("2d");
context.fillStyle = "red";
context.fillRect(500, 500, 900, 900);
return canvas.toDataURL("image/png").split(",")[1];
"""
ON_BOARD = """
const canvas = document.querySelector(".board");
const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
const bright = [];
for (let i = 0; i < data.length; i += 4) bright.push(data[i]);
const grey = bright.filter((value) => value > 0 && value < 255).length;
return {white: bright.filter((value) => value === 255).length, grey, side: canvas.width};
"""
PLACE = "return new DOMMatrix(getComputedStyle(document.querySelector('.lk-eye')).transform).e"


def train(name):
    task, steps, *flags = MODELS[name]
    folder = str(pathlib.Path(WORK.name) / name)
    scored = ["--valid-sentences", "20"] if task == "reverse" else ["--scored-images", "60"]
    subprocess.run([support.BINARY, "train", task, "--out", folder, "--train.steps", steps, "--threads", "1", *scored, *flags],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return folder


def setUpModule():
    if not support.REAL:
        raise unittest.SkipTest("the program is not there")
    folders = [train(name) for name in MODELS]
    PageTest.server = support.Server(lambda port: [support.BINARY, "serve", *folders, "--port", str(port)])
    PageTest.server.start()
    PageTest.browser = support.open_browser()
    PageTest.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", CALM)


def tearDownModule():
    PageTest.browser.quit()
    PageTest.server.stop()
    WORK.cleanup()


class Images(PageTest):
    def setUp(self):
        super().setUp()
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", CALM)
        self.models = {model["name"]: model for model in self.server.get("v1/models")["models"]}

    def gallery(self, model):
        return self.server.get(f"v1/models/{model}/gallery")["images"]

    def run_api(self, model, image, **more):
        request = urllib.request.Request(self.server.url + "v1/run",
                                         json.dumps({"model": model, "image": image, **more}).encode(),
                                         {"Content-Type": "application/json"})
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)["answers"][0]

    def look(self, model, image, **more):
        method = self.models[model]["methods"][0]
        search = {"beam": 4} if model == "shapes" else {}
        return self.server.explain(model=model, image=image, **{"method": method, **search, **more})

    def open_sample(self, model, index=0, **state):
        row = self.gallery(model)[index]
        self.open(model=model, image=row["name"], **state)
        self.wait(lambda: self.texts(".pane .answer") and self.idle())
        return row["image"]

    def wait_for_answer(self, text, pane=1):
        self.wait(lambda: self.texts(f".pane:nth-child({pane}) .answer") == [text or "(nothing)"] and self.idle(),
                  f"{text} is wanted, the page has {self.texts('.pane .answer')}")

    def wait_for_step(self, step):
        self.wait(lambda: self.texts(".lk-count") == [step])

    def draw(self, *strokes):
        """Each a list of points, in shares of the board."""
        board = self.one(".board")
        self.script("arguments[0].scrollIntoView({block: 'center'})", board)
        width, height = board.size["width"], board.size["height"]
        for stroke in strokes:
            chain = ActionChains(self.browser, duration=20)
            for number, (x, y) in enumerate(stroke):
                chain.move_to_element_with_offset(board, (x - 0.5) * width, (y - 0.5) * height)
                if number == 0:
                    chain.click_and_hold()
            chain.release().perform()

    # where images come from

    def test_a_chosen_file_is_answered_as_the_api_answers_it(self):
        self.open(model="digits")
        image = self.gallery("digits")[3]["image"]
        file = pathlib.Path(WORK.name) / "digit.png"
        file.write_bytes(base64.b64decode(image))
        self.one("#image-entry input[type=file]").send_keys(str(file))
        best = self.run_api("digits", image, n_best=10)[0]
        self.wait_for_answer(best["text"])
        self.assertIn("digit.png", self.one(".picture-name").text)
        self.assertIn(f"{int(100 * best['score'] + 0.5)}", self.one(".facts").text)
        self.assertIn(best["text"], self.texts("#news")[0])

    def test_a_dropped_and_a_pasted_file(self):
        self.open(model="classifier")
        rows = self.gallery("classifier")
        for script, row, name in ((DROP, rows[0], "dropped.png"), (PASTE, rows[1], "image.png")):
            self.one(".drop")
            self.script(script, row["image"], name)
            self.wait(lambda: name in self.one(".picture-name").text)
            said = self.run_api("classifier", row["image"], n_best=10)
            self.wait_for_answer(said[0]["text"])
            self.assertEqual(self.texts(".headline .lk-label"), [answer["text"] for answer in said])
        self.assertEqual(self.all(".drop.over"), [])

    def test_a_large_image_is_made_smaller_and_a_broken_one_refused(self):
        self.forgiven = ("400",)
        self.open(model="shapes")
        self.one(".drop")
        self.script(DROP, self.script(BIG), "big.png")
        self.wait(lambda: self.all(".pane .answer") and self.idle())
        self.assertIn("sent as 1024 × 683", self.one(".picture-name").text)
        self.script(DROP, base64.b64encode(b"no image at all").decode(), "broken.png")
        self.wait(lambda: self.one(".pane .error").is_displayed())
        self.assertIn("expected a PNG or JPEG image, got a file that begins with 0x6e6f", self.one(".pane .error").text)
        self.shot("images-broken")
        self.all(".sample")[0].click()
        self.wait(lambda: self.texts(".pane .answer") and self.idle() and not self.one(".pane .error").is_displayed())

    def test_a_drawing_is_answered_and_taken_away(self):
        self.forgiven = ("willReadFrequently",)
        self.open(model="digits")
        self.one(".board")
        self.draw([(0.35, 0.25), (0.65, 0.25), (0.45, 0.75)], [(0.4, 0.5), (0.6, 0.5)])
        self.wait(lambda: self.texts(".pane .answer") and self.idle())
        board = self.script(ON_BOARD)
        self.assertEqual(board["side"], 280)
        self.assertGreater(board["white"], 2000)
        self.assertGreater(board["grey"], 200, "its edges are smooth")
        sent = self.script("return document.querySelector('.board').toDataURL('image/png').split(',')[1]")
        self.wait_for_answer(self.run_api("digits", sent)[0]["text"])
        self.assertEqual(self.one(".picture-name").text, "your drawing")
        self.assertIn("digits: ", self.one(".board-foot .spoken").text)
        self.shot("images-drawing")
        self.one(".board-foot button").click()
        self.wait(lambda: not self.one(".pane-body").is_displayed())
        self.assertEqual(self.script(ON_BOARD)["white"], 0)
        self.assertEqual(self.one(".picture-name").get_attribute("textContent"), "")

    def test_colours_have_no_board_and_labels_no_beam(self):
        self.open(model="shapes")
        self.wait(lambda: self.all(".sample"))
        self.assertFalse(self.one(".board").is_displayed())
        self.assertTrue(self.one("#beam").is_displayed())
        self.assertFalse(self.one("#composer").is_displayed())
        self.open(model="digits")
        self.browser.refresh()
        self.wait(lambda: self.all(".sample"))
        self.assertTrue(self.one(".board").is_displayed())
        self.assertFalse(self.one("#beam").is_displayed())
        self.assertEqual(len(self.all(".sample")), 8)
        self.shot("images-start")

    # what is looked at

    def test_glances_are_where_the_api_says(self):
        look = self.look("digits", self.open_sample("digits", 2))
        glances = look["glimpses"]["glances"]
        self.wait_for_step(f"1 / {len(glances)}")
        scale = 400 / look["image"]["width"]
        for number, glance in enumerate(glances):
            if number:
                self.one(".lk-stage").send_keys(Keys.ARROW_RIGHT)
            self.wait_for_step(f"{number + 1} / {len(glances)}")
            self.assertAlmostEqual(self.script(PLACE), glance["x"] * scale, delta=0.1)
            self.assertEqual(len(self.all(".lk-dot")), number + 1)
            self.assertIn(f"({round(glance['x'])}, {round(glance['y'])})", self.one(".lk-live").text)
            shown = self.script("return document.querySelectorAll('.lk-patches img').length")
            self.assertEqual(shown, len(glance["patches"]))
        best = max(glances[-1]["probabilities"])
        self.assertEqual(self.one(".lk-said-it .lk-number").text, support.percent(best))
        self.wait_for_answer(look["glimpses"]["answer"])
        self.shot("images-glimpses")
        self.one("[aria-label='previous glance']").click()
        self.wait_for_step(f"{len(glances) - 1} / {len(glances)}")
        self.view("training")
        self.wait(lambda: self.all(".plot"))
        self.view("map")
        self.wait_for_step(f"{len(glances) - 1} / {len(glances)}")

    def test_words_of_a_caption_light_up_and_move_the_veil(self):
        look = self.look("shapes", self.open_sample("shapes", 5))
        words = look["caption"]["words"]
        self.assertGreater(len(words), 1, "a caption to walk through")
        self.wait_for_answer(" ".join(words))
        self.assertEqual(self.texts(".lk-words .hm-word"), words)
        self.forgiven = ("willReadFrequently",)
        veil = "return document.querySelector('.lk-cover').toDataURL()"
        seen = self.script(veil)
        self.assertEqual(self.one(".lk-words .hm-lit .hm-word").text, words[0])
        self.one("[aria-label='next word']").click()
        self.wait_for_step(f"2 / {len(words)}")
        self.assertEqual(self.one(".lk-words .hm-lit .hm-word").text, words[1])
        self.assertNotEqual(self.script(veil), seen)
        self.assertIn(f"“{words[1]}” looks", self.one(".lk-live").text)
        self.shot("images-caption")

    def test_methods_can_be_switched(self):
        image = self.open_sample("classifier", 1)
        cells = self.look("classifier", image)
        self.assertIn(cells["saliency"]["label"], self.one(".lk-method").text)
        self.choose("method", "saliency")
        pixels = self.look("classifier", image, method="saliency")
        self.wait(lambda: pixels["saliency"]["label"] in self.one(".lk-method").text)
        self.assertIn("method=saliency", self.browser.current_url)
        self.assertEqual(self.script("return document.activeElement.name"), "method")
        self.shot("images-saliency")
        self.browser.refresh()  # the link has the image and the method
        self.wait(lambda: self.all(".lk-method") and pixels["saliency"]["label"] in self.one(".lk-method").text)

    def test_an_autoencoder_answers_with_an_image(self):
        row = self.gallery("autoencoder")[0]
        self.open(model="autoencoder", image=row["name"])
        self.wait(lambda: len(self.all(".headline img")) == 2 and self.idle())
        sent, made = (image.get_attribute("src") for image in self.all(".headline img"))
        self.assertTrue(sent.endswith(row["image"]))
        self.assertTrue(made.endswith(self.run_api("autoencoder", row["image"])[0]["image"]))
        self.assertFalse(self.one("[data-view=map]").is_displayed())
        self.shot("images-autoencoder")

    def test_hard_images_and_training(self):
        self.open_sample("digits", -1, view="gallery")
        rows = self.gallery("digits")
        self.wait(lambda: len(self.all(".tile")) == len(rows))
        self.shot("images-gallery")
        self.all(".tile")[0].click()
        self.wait_for_answer(self.run_api("digits", rows[0]["image"])[0]["text"])
        self.assertIn(f"wanted: {rows[0]['reference']}", self.one(".facts").text)
        self.view("training")
        self.wait(lambda: any("Accuracy" in text for text in self.texts(".plot figcaption")))

    # two models

    def test_two_models_side_by_side(self):
        image = self.open_sample("digits", 4)
        compared = support.Select(self.one("#compare select"))
        self.assertEqual([option.text for option in compared.options],
                         ["nothing", "digits", "classifier", "shapes", "autoencoder"], "none that reads text")
        compared.select_by_value("classifier")
        self.wait_for_answer(self.run_api("classifier", image)[0]["text"], pane=2)
        self.wait_for_answer(self.run_api("digits", image)[0]["text"], pane=1)
        left, right = (pane.rect for pane in self.all(".pane"))
        self.assertLess(left["x"] + left["width"], right["x"] + 1)
        self.shot("images-two")

    def test_a_link_with_a_text_and_an_image_model_keeps_the_first(self):
        self.open(model="text", text="a b", model2="digits")
        self.wait(lambda: self.words("target") and self.idle())
        self.assertEqual(len(self.all(".pane")), 1)
        self.assertTrue(self.one("#text").is_displayed())

    def test_another_kind_of_model_changes_the_page(self):
        self.open(model="digits")
        self.wait(lambda: self.all(".sample"))
        self.choose("model", "text")
        self.wait(lambda: self.one("#text").is_displayed())
        self.assertFalse(self.one("#image-entry").is_displayed())
        self.one("#text").send_keys("a b c\n")
        self.wait(lambda: self.words("target") and self.idle())
        self.choose("model", "shapes")
        self.wait(lambda: self.all(".sample"))
        self.assertFalse(self.one("#text").is_displayed())
        self.assertNotIn("text=", self.browser.current_url)
        self.all(".sample")[0].click()
        self.wait(lambda: self.texts(".pane .answer") and self.idle())

    # the rest

    def test_a_server_that_goes_away_is_waited_for(self):
        self.forgiven = ("ERR_",)
        self.open_sample("digits", 0)
        sample = self.all(".sample")[3]
        name = sample.get_attribute("data-name")
        image = next(row["image"] for row in self.gallery("digits") if row["name"] == name)
        self.server.stop()
        sample.click()
        self.wait(lambda: "does not answer" in self.one("#banner").text)
        self.shot("images-away")
        self.server.start()
        self.wait_for_answer(self.run_api("digits", image)[0]["text"])
        self.wait(lambda: not self.one("#banner").is_displayed())
        self.assertEqual(self.one(".sample[aria-pressed=true]").get_attribute("data-name"), name)

    def test_keys_alone_are_enough(self):
        self.open(model="digits")
        self.wait(lambda: self.all(".sample"))
        for _ in range(12):
            ActionChains(self.browser).send_keys(Keys.TAB).perform()
            if self.script("return document.activeElement.className") == "sample":
                break
        self.assertIn("digit", self.script("return document.activeElement.ariaLabel"))
        ActionChains(self.browser).send_keys(Keys.ENTER).perform()
        self.wait(lambda: self.texts(".pane .answer") and self.idle())
        for _ in range(20):
            ActionChains(self.browser).send_keys(Keys.TAB).perform()
            if "lk-stage" in self.script("return document.activeElement.className"):
                break
        ActionChains(self.browser).send_keys(Keys.ARROW_RIGHT).perform()
        self.wait(lambda: self.one(".lk-count").text.startswith("2 /"))
        self.assertNotEqual(self.script("return getComputedStyle(document.activeElement).outlineStyle"), "none")

    def test_dark(self):
        self.open_sample("digits", 1)
        self.one("#theme").click()
        self.shot("images-dark")
        self.one("#theme").click()

    def test_a_phone_needs_no_sideways_scroll(self):
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                     {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True})
        try:
            for model in ("digits", "shapes"):
                self.open_sample(model, 6)
                self.browser.refresh()
                self.wait(lambda: self.texts(".pane .answer") and self.idle())
                self.shot(f"images-phone-{model}")
                for view in ("map", "training", "gallery"):
                    self.view(view)
                    self.wait(lambda: self.texts(".view")[0])
                    self.assertLessEqual(self.script("return document.documentElement.scrollWidth"), 390, view)
                self.view("map")
                self.script("document.querySelector('.headline').scrollIntoView()")
                self.shot(f"images-phone-{model}-look")
        finally:
            self.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


if __name__ == "__main__":
    unittest.main()
