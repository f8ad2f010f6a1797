// Where a sound comes from: the microphone, a file that is chosen, dropped or pasted, or a validation sound.

import * as api from "./api.js";
import { make, showError } from "./dom.js";
import { DropZone } from "./drop_zone.js";
import { Player } from "./player.js";
import { Recorder } from "./recorder.js";
import { clipOf, clipOfSamples, MOST_SECONDS, samplesOfClip } from "./sounds.js";
import { onTheme } from "./switches.js";

const RATE = 16000; // samples a second, of a model that does not say what it hears
const SAMPLES = 8;
const BARS = 96; // of the small picture of a sound
const LONGEST = 20; // seconds that are recorded
const find = (id) => document.getElementById(id);

export class SoundEntry {
  // `app` has state, panes, changed() and answer(). The sound is state.clip {data, name, …}; the address has only the names of
  // validation sounds.
  constructor(app) {
    this.app = app;
    this.recorder = null;
    this.record = make("button", { type: "button", class: "main record", click: () => this.#toggle() });
    this.meter = make("meter", { class: "level", min: "0", max: "1", value: "0", "aria-label": "loudness" });
    this.said = make("span", { class: "hint", "aria-live": "polite" });
    const impossible = "Recording needs a page of https, or of this machine.";
    const hint = Recorder.possible ? "Speak, and press again when you are done." : impossible;
    this.microphone = make(
      "div",
      { class: "microphone" },
      this.record,
      this.meter,
      make("p", { class: "hint" }, hint),
      make("div", { class: "board-foot" }, this.said),
    );
    this.record.disabled = !Recorder.possible;
    this.play = make("button", { type: "button", class: "quiet round", hidden: true, click: () => this.#play() });
    this.wave = make("canvas", { class: "wave", width: 4 * BARS, height: 96, hidden: true, "aria-hidden": "true" });
    this.drop = new DropZone({
      kind: "audio",
      ask: "Choose a sound",
      hint: "or drop one here, or paste it",
      preview: make("div", { class: "clip" }, this.play, this.wave),
      taken: (file) => this.#read(file),
    });
    this.error = make("p", { class: "error", role: "alert", hidden: true });
    this.samples = make("div", { class: "samples", role: "group", "aria-label": "Validation sounds" });
    const others = make("div", { class: "others" }, this.drop.element, this.samples);
    find("sound-entry").append(make("div", { class: "sources" }, this.microphone, others), this.error);
    onTheme(() => this.#drawWave());
    this.#face();
  }

  show(shown) {
    this.drop.shown = shown;
    find("sound-entry").hidden = !shown;
    if (!shown) this.#cancel();
  }

  // As the address has it: a validation sound by its name. An own one stays while the page does.
  load() {
    this.model = "";
    this.#mark();
    this.follow(this.app.panes[0].model);
  }

  get ready() {
    return Boolean(this.app.state.clip);
  }

  // What is sent, and the right answer to it, where that is known.
  get given() {
    return { sound: this.app.state.clip.data };
  }
  get reference() {
    return this.app.state.clip?.reference ?? "";
  }
  get asked() {
    return this.app.state.clip?.name ?? "";
  }
  get rate() {
    return this.app.panes[0]?.model.rate ?? RATE;
  }

  // Another model has other validation sounds.
  async follow(model) {
    if (model.name === this.model) return;
    this.model = model.name;
    this.samples.replaceChildren();
    const { sounds = [] } = await api.gallery(model.name).catch(() => ({}));
    if (this.model !== model.name) return;
    const rows = sounds.slice(-SAMPLES);
    if (rows.length) {
      this.samples.replaceChildren(
        make("p", { class: "hint" }, "Or one that it was validated with"),
        make(
          "div",
          { class: "strip" },
          rows.map((row) => this.#sample(row)),
        ),
      );
    }
    this.#mark();
    const { state } = this.app;
    const named = sounds.find(({ name }) => name === state.sound);
    if (state.sound && !state.clip && named) this.open(named);
  }

  // What the panes answered, also where the microphone is: on a phone they are far from it.
  heard() {
    if (!this.app.state.clip?.recorded) return;
    const answers = this.app.panes.filter(({ spoken }) => spoken).map(({ model, spoken }) => `${model.name}: ${spoken}`);
    this.said.textContent = answers.join(" · ");
  }

  // A row of the gallery.
  open({ name, sound, reference }) {
    this.#take({ data: sound, name, reference, sample: true });
  }

  #sample(row) {
    const said = row.reference ? `${row.name}: ${row.reference}` : row.name;
    const attributes = { type: "button", class: "quiet said-sample", title: said, "data-name": row.name };
    return make("button", { ...attributes, click: () => this.open(row) }, row.reference || row.name);
  }

  // The microphone

  async #toggle() {
    if (this.recorder) return this.#done();
    showError(this.error, null);
    this.player?.pause();
    const recorder = new Recorder({
      most: Math.min(LONGEST, MOST_SECONDS(this.rate)),
      rate: this.rate,
      heard: (seconds, level) => this.#hears(recorder, seconds, level),
      ended: () => this.#done(),
    });
    this.recorder = recorder;
    this.said.textContent = "";
    this.#face();
    try {
      await recorder.start();
    } catch (error) {
      this.#cancel();
      showError(this.error, error);
    }
  }

  #hears(recorder, seconds, level) {
    if (this.recorder !== recorder) return;
    this.meter.value = level;
    this.record.textContent = `■ Stop, ${seconds.toFixed(1)} s`;
  }

  async #done() {
    const { recorder } = this;
    this.recorder = null;
    this.#face();
    try {
      const { samples, rate } = await recorder.stop();
      this.#take({ ...(await clipOfSamples(samples, rate, "your recording")), recorded: true });
    } catch (error) {
      showError(this.error, error);
    }
  }

  #cancel() {
    this.recorder?.stop();
    this.recorder = null;
    this.#face();
  }

  #face() {
    const on = this.recorder !== null;
    this.record.textContent = on ? "■ Stop" : "● Record";
    this.record.setAttribute("aria-pressed", String(on));
    this.meter.value = 0;
  }

  // What was taken

  async #read(file) {
    try {
      this.#take(await clipOf(file, this.rate));
    } catch (error) {
      showError(this.error, error);
    }
  }

  #take(clip) {
    const { state, panes } = this.app;
    showError(this.error, null);
    Object.assign(state, { clip, sound: clip.sample ? clip.name : "" });
    for (const pane of panes) pane.forget();
    this.#mark();
    this.app.changed();
    this.app.answer();
  }

  #mark() {
    const { clip } = this.app.state;
    this.drop.name.textContent = clip ? [clip.name, clip.note].filter(Boolean).join(", ") : "";
    this.said.textContent = "";
    for (const sample of this.samples.querySelectorAll(".said-sample")) {
      sample.setAttribute("aria-pressed", String(clip?.sample === true && sample.dataset.name === clip.name));
    }
    this.#preview(clip);
  }

  async #preview(clip) {
    if (this.previewed === clip) return;
    this.previewed = clip;
    this.player?.destroy();
    this.player = null;
    this.play.hidden = this.wave.hidden = true;
    const rate = this.rate;
    const samples = clip && (await samplesOfClip(clip, rate));
    if (this.previewed !== clip || !samples?.length) return;
    this.player = new Player({ samples, rate }, (_time, playing) => this.#playFace(playing));
    this.play.hidden = this.wave.hidden = false;
    this.#playFace(false);
    this.drawn = samples;
    this.#drawWave();
    this.drop.name.textContent += `, ${(samples.length / rate).toFixed(1)} s`;
  }

  #play() {
    if (this.player.playing) this.player.pause();
    else this.player.play(0);
  }

  #playFace(playing) {
    this.play.textContent = playing ? "❚❚" : "▶";
    this.play.title = playing ? "pause" : "play it";
    this.play.setAttribute("aria-label", this.play.title);
  }

  #drawWave() {
    const samples = this.drawn;
    if (!samples) return;
    const context = this.wave.getContext("2d");
    const { width, height } = this.wave;
    const most = samples.reduce((largest, x) => Math.max(largest, Math.abs(x)), 1e-3);
    context.clearRect(0, 0, width, height);
    context.fillStyle = getComputedStyle(this.wave).color;
    for (let bar = 0; bar < BARS; ++bar) {
      const part = samples.subarray(Math.floor((bar * samples.length) / BARS), Math.floor(((bar + 1) * samples.length) / BARS));
      const high = Math.max(2, (height * part.reduce((largest, x) => Math.max(largest, Math.abs(x)), 0)) / most);
      context.fillRect(4 * bar, (height - high) / 2, 3, high);
    }
  }
}
