"""The explorer with a model that listens: the microphone (Chromium is given a file for it), files, playing, and what each letter
heard. The listener is the one of tones.py, which says which tones it heard."""

import base64
import pathlib
import re
import tempfile
import unittest

import support
import tones
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from support import PageTest

WORK = tempfile.TemporaryDirectory()
SPOKEN = "low mid high"
DROP = """
const [letters, name] = arguments;
const bytes = Uint8Array.from(atob(letters), (letter) => letter.charCodeAt(0));
const transfer = new DataTransfer();
transfer.items.add(new File([bytes], name));
for (const type of ["dragover", "drop"]) {
  document.body.dispatchEvent(new DragEvent(type, {dataTransfer: transfer, bubbles: true, cancelable: true}));
}
"""
# Whatever is played and wherever the cursor is, from now on.
WATCH = """
window.played = [];
window.times = [];
const view = document.querySelector(".sd");
view.addEventListener("soundplay", ({detail}) => window.played.push([detail.begin, detail.end]));
view.addEventListener("soundtime", ({detail}) => window.times.push([detail.time, detail.playing]));
"""
CURSOR = "return new DOMMatrix(getComputedStyle(document.querySelector('.sd-cursor')).transform).e"


def setUpModule():
    microphone = pathlib.Path(WORK.name, "microphone.wav")
    microphone.write_bytes(tones.wav(SPOKEN, rate=48000))
    PageTest.server = support.fake_server()
    PageTest.server.start()
    PageTest.browser = support.open_browser("use-fake-device-for-media-stream", "use-fake-ui-for-media-stream",
                                            f"use-file-for-fake-audio-capture={microphone}")


def tearDownModule():
    PageTest.browser.quit()
    PageTest.server.stop()
    WORK.cleanup()


class Sounds(PageTest):
    def setUp(self):
        super().setUp()
        self.open(model="tones")
        self.one(".record")

    def drop(self, sound, name="spoken.wav"):
        self.script(DROP, base64.b64encode(sound).decode(), name)

    def answer(self):
        return self.one(".headline .answer").text

    def answered(self, text):
        self.wait(lambda: self.all(".headline .answer") and self.answer() == text and self.idle() and self.all(".sd-part"),
                  f"{text} is wanted")

    def spoken(self, text=SPOKEN):
        self.drop(tones.wav(text))
        self.answered(text)
        self.script(WATCH)

    def parts(self, unit):
        return self.all(f".sd-band[data-unit={unit}] .sd-part")

    def ended(self):
        self.wait(lambda: self.script("return times.length > 0 && !times.at(-1)[1]"), "it does not end")

    def test_a_file_that_is_dropped_is_answered(self):
        self.spoken()
        self.assertEqual([part.text for part in self.parts("words")], SPOKEN.split())
        self.assertEqual("".join(part.text for part in self.parts("tokens")), SPOKEN.replace(" ", ""))
        self.assertIn("spoken.wav", self.one("#sound-entry .picture-name").text)
        self.shot("sounds-dropped")

    def test_the_microphone_is_heard(self):
        self.script("""
            window.loudest = 0;
            const level = document.querySelector(".level");
            new MutationObserver(() => (window.loudest = Math.max(window.loudest, level.value)))
              .observe(level, {attributes: true});""")
        self.one(".record").click()
        self.wait(lambda: re.search(r"Stop, ([3-9]|1\d)\.", self.one(".record").text), "nothing is recorded")
        self.assertEqual(self.one(".record").get_attribute("aria-pressed"), "true")
        self.assertAlmostEqual(self.script("return loudest"), 0.5, delta=0.05)
        self.shot("sounds-recording")
        self.one(".record").click()
        self.wait(lambda: self.all(".headline .answer") and self.idle())
        # The file is played again and again, from wherever it is.
        heard = self.answer()
        self.assertIn(heard, f"{SPOKEN} " * 20)
        self.assertGreaterEqual(len(heard.split()), 4)
        self.assertIn("your recording", self.one("#sound-entry .picture-name").text)
        self.assertEqual(self.one(".record").get_attribute("aria-pressed"), "false")
        self.shot("sounds-recorded")

    def test_what_is_recorded_is_a_wav_of_the_rate_of_the_model(self):
        data = self.browser.execute_async_script("""
            const done = arguments[0];
            (async () => {
              const {Recorder} = await import("./recorder.js");
              const {clipOfSamples} = await import("./sounds.js");
              await new Promise((full) => {
                const recorder = new Recorder({most: 2, rate: 16000, heard: () => {}, ended: full});
                window.recorder = recorder;
                recorder.start();
              });
              const {samples, rate} = await window.recorder.stop();
              done((await clipOfSamples(samples, rate, "it")).data);
            })();""")
        samples, rate = tones.samples_of(base64.b64decode(data))
        self.assertEqual(rate, 16000)
        self.assertAlmostEqual(len(samples) / rate, 2, delta=0.1)
        # Half a sine's loudness, as the file has it; whole tones are as long as they were played.
        self.assertAlmostEqual(max(map(abs, samples)), 0.5, delta=0.05)
        whole = tones.heard(samples, rate)[1:-1]
        self.assertGreaterEqual(len(whole), 1)
        for word, begin, end in whole:
            self.assertAlmostEqual(end - begin, 0.4, delta=0.05, msg=word)

    def test_a_microphone_that_is_refused_is_said_to_be(self):
        self.script("navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('no', 'NotAllowedError'))")
        self.one(".record").click()
        self.wait(lambda: "may not be used" in self.one("#sound-entry .error").text)
        self.assertEqual(self.one(".record").get_attribute("aria-pressed"), "false")

    def test_playing_moves_the_cursor(self):
        self.spoken()
        self.assertEqual(self.script(CURSOR), 0)
        self.one(".sd-play").click()
        self.ended()
        times = self.script("return times")
        self.assertEqual(self.script("return played"), [[0, 2]])
        self.assertEqual([time for time, _ in times], sorted(time for time, _ in times))
        self.assertGreater(len({time for time, _ in times}), 3, "it moves while it plays")
        self.assertAlmostEqual(times[-1][0], 2, delta=0.01)
        width = self.script("return document.querySelector('.sd-space').getBoundingClientRect().width")
        self.assertAlmostEqual(self.script(CURSOR), width, delta=2)

    def test_a_letter_that_is_clicked_is_heard(self):
        self.spoken()
        self.parts("words")[1].click()
        self.ended()
        begin, end = self.script("return played[0]")
        self.assertAlmostEqual(begin, 0.8, delta=0.02)
        self.assertAlmostEqual(end, 1.2, delta=0.02)
        self.assertTrue(all(begin - 0.01 <= time <= end + 0.01 for time, _ in self.script("return times")))
        self.script("times.length = 0")
        self.parts("tokens")[3].click()  # the m of mid
        self.ended()
        begin, end = self.script("return played[1]")
        self.assertLess(abs((begin + end) / 2 - (0.8 + 0.4 / 6)), 0.02)
        self.assertAlmostEqual(end - begin, 0.16, delta=0.02, msg="a little of what is around it")
        self.assertIn("“m” was heard at 0.80–0.93 s", self.one(".sd + .readout").text)

    def test_pointing_at_a_letter_shows_where_it_listened(self):
        self.spoken()
        self.forgiven = ("willReadFrequently",)  # said of the test's own looking
        inked = """const canvas = document.querySelector(".sd-row.sd-sound canvas");
                   const {data, width, height} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
                   const dark = (from, to) => {
                     let sum = 0;
                     for (let y = 0; y < height; ++y) for (let x = Math.floor(from * width); x < to * width; ++x) sum += 255 - data[4 * (y * width + x)];
                     return sum / height / width / (to - from);
                   };
                   return [dark(0.1, 0.3), dark(0.4, 0.6)]"""
        low, mid = self.script(inked)
        self.assertLess(abs(low - mid), 0.5 * low)
        ActionChains(self.browser).move_to_element(self.parts("tokens")[4]).perform()  # the i of mid
        self.wait(lambda: self.script(inked)[0] < 0.6 * low, "what it did not hear is veiled")
        self.assertGreater(self.script(inked)[1], self.script(inked)[0])
        lit = [part.text for part in self.all(".sd-lit")]
        self.assertEqual(lit, ["i", "mid"])
        self.shot("sounds-pointed")

    def test_keys_walk_through_letters_and_time(self):
        self.spoken()
        self.script("arguments[0].focus()", self.parts("tokens")[0])
        active = lambda: self.script("return document.activeElement.textContent")
        press = lambda *keys: ActionChains(self.browser).send_keys(*keys).perform()
        press(Keys.ARROW_RIGHT)
        self.assertEqual(active(), "o")
        press(Keys.ARROW_DOWN)
        self.assertEqual(active(), "low")
        press(Keys.END)
        self.assertEqual(active(), "high")
        press(Keys.ENTER)
        self.ended()
        self.assertAlmostEqual(self.script("return played.at(-1)[0]"), 1.4, delta=0.02)
        self.script("document.querySelector('.sd-row.sd-sound').focus()")
        press(Keys.HOME)
        press(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
        slider = self.one(".sd-row.sd-sound")
        self.assertEqual((slider.get_attribute("role"), slider.get_attribute("aria-valuenow")), ("slider", "0.10"))

    def test_the_address_has_a_validation_sound(self):
        self.wait(lambda: self.all(".said-sample"))
        self.all(".said-sample")[1].click()
        self.answered("high low")
        self.assertIn("sound=high-low.wav", self.browser.current_url)
        self.browser.refresh()
        self.answered("high low")
        self.assertEqual(self.one(".said-sample[aria-pressed=true]").text, "high low")
        self.view("gallery")
        self.wait(lambda: self.all(".gallery button"))
        self.all(".gallery button")[0].click()
        self.wait(lambda: self.answer() == SPOKEN and self.idle())

    def test_other_rates_are_sent_as_wav(self):
        # What the page does with files that it decodes, told by a name that is not sent as it is.
        self.drop(tones.wav(SPOKEN, rate=44100), "spoken.mp3")
        self.answered(SPOKEN)
        self.assertIn("sent as WAV, 16 kHz", self.one("#sound-entry .picture-name").text)

    def test_what_is_no_sound_is_said_to_be_none(self):
        self.drop(b"no sound at all", "notes.txt")
        self.wait(lambda: "notes.txt is no sound that this browser can read" in self.one("#sound-entry .error").text)
        self.drop(tones.wav(" ".join(["low"] * 120), rate=8000), "long.mp3")
        self.wait(lambda: "long.mp3 is 72 seconds long; this page sends up to 21" in self.one("#sound-entry .error").text)
        self.forgiven = ("400",)
        self.drop(b"RIFF and no more", "broken.wav")
        self.wait(lambda: "sound:" in self.one(".pane .error").text)

    def test_a_sound_replaces_a_text_and_the_other_way_round(self):
        self.open(model="recurrent", text="two dogs")
        self.wait(self.idle)
        self.choose("model", "tones")
        self.wait(lambda: self.one("#sound-entry").is_displayed())
        self.assertFalse(self.one("#composer").is_displayed())
        self.spoken()
        self.choose("model", "recurrent")
        self.wait(lambda: self.one("#composer").is_displayed())
        self.assertFalse(self.one("#sound-entry").is_displayed())

    def test_in_the_dark_and_on_a_phone(self):
        self.spoken()
        self.one("#theme").click()
        self.shot("sounds-dark")
        self.one("#theme").click()
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                     {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True})
        self.addCleanup(self.browser.execute_cdp_cmd, "Emulation.clearDeviceMetricsOverride", {})
        self.wait(lambda: self.script("return innerWidth") == 390)
        self.assertLessEqual(self.script("return document.documentElement.scrollWidth"), 390, "nothing is wider than a phone")
        self.shot("sounds-phone")
        self.script("document.querySelector('.sd').scrollIntoView()")
        self.shot("sounds-phone-listen")


if __name__ == "__main__":
    unittest.main()
