// Where the models of an experiment are tried: what is entered (as in the explorer, depending on what they read), sliders, and the
// answers of up to three of them side by side.

import * as api from "./api.js";
import { make } from "./dom.js";
import { ImageEntry } from "./image_entry.js";
import { kindOf } from "./kinds.js";
import { examplesOf, sliderOf, slidersIn } from "./lab_sliders.js";
import { Tests } from "./lab_tests.js";
import { Pane } from "./pane.js";
import { SoundEntry } from "./sound_entry.js";
import { newPane, readState, writeState } from "./state.js";
import { TextEntry } from "./text_entry.js";
import { TextsEntry } from "./texts_entry.js";
import { MAP_ALONE } from "./views.js";

const MOST = 3; // models side by side
const find = (id) => document.getElementById(id);

export class Live {
  // `announce(text)` is told of answers.
  constructor(announce) {
    this.announce = announce;
    this.element = find("live");
    this.parking = this.element.parentElement;
    this.state = readState("");
    this.panes = [];
    this.settings = []; // the choice of an example, and sliders
    this.descriptions = new Map(); // by a model's name: what is told of it, or why that is not known
    this.entries = {
      text: new TextEntry(this),
      texts: new TextsEntry(this),
      image: new ImageEntry(this),
      sound: new SoundEntry(this),
    };
  }

  // The element of a block, which there is once on the page. What was entered stays while the models are those of the same block.
  enter(story, block) {
    find("live-text").textContent = block.text;
    const { runs } = block;
    this.models = runs.map((run) => story.models.find((model) => model.run === run && model.kept) ?? { run, kept: false });
    const key = `${story.name} ${runs.join()}`;
    if (this.key !== key) {
      Object.assign(this, { key, story, block, tests: new Tests(story.tests, runs) });
      this.state = readState("");
      this.chosen = this.models.filter(({ kept }) => kept).slice(0, block.sliders.includes("model") ? 1 : 2);
      this.begun = false;
    }
    this.#load();
    return this.element;
  }

  leave() {
    for (const pane of this.panes) pane.stop?.();
    this.loading = null;
    this.parking.append(this.element);
  }

  // The chosen models, in the order of the block; only what reads the same can stand side by side.
  async #load() {
    const loading = (this.loading = {});
    this.#showRuns();
    find("live-entry").hidden = !this.chosen.length;
    if (!this.chosen.length) return this.#showNone();
    await Promise.all(this.chosen.map((model) => this.#describe(model)));
    if (this.loading !== loading) return;
    const [first] = this.chosen.map(({ name }) => this.descriptions.get(name)).filter(({ reads }) => reads);
    this.kind = first ? kindOf(first) : "";
    find("live-entry").hidden = !first;
    this.panes = [];
    find("answers").replaceChildren(...this.chosen.map((model) => this.#pane(model)));
    find("answers").dataset.models = this.chosen.length;
    for (const [name, entry] of Object.entries(this.entries)) entry.show(name === this.kind);
    if (!first) return;
    this.entry = this.entries[this.kind];
    if (!this.begun) await this.#begin(first);
    if (this.loading !== loading) return;
    this.#showSettings();
    this.entry.load();
    this.answer();
  }

  // Anew only where there are others: one of them may be held.
  #showSettings() {
    const names = slidersIn(this);
    const key = [this.key, this.kind, ...names].join();
    if (this.settingsKey === key) return this.#refresh();
    this.settingsKey = key;
    this.settings = [examplesOf(this), ...names.map((name) => sliderOf(this, name))].filter(Boolean);
    return find("live-settings").replaceChildren(...this.settings.map(({ element }) => element));
  }

  #refresh() {
    for (const { refresh } of this.settings) refresh();
  }

  #showNone() {
    this.panes = [];
    const why = "The models of this step have not been kept. The same command trains them again:";
    const again = make("pre", {}, make("code", {}, `${this.story.command} --out DIR`));
    find("answers").replaceChildren(make("p", { class: "missing" }, why), again);
  }

  async #describe({ name }) {
    if (this.descriptions.get(name)?.reads) return;
    this.descriptions.set(name, await api.model(name).catch((error) => ({ error })));
  }

  // An example to begin with: one of the test, or what the first model was validated with.
  async #begin(first) {
    this.begun = true;
    const row = this.tests.typical();
    if (row && this.kind.startsWith("text")) return this.#put(row);
    if (this.kind === "text" || this.kind === "texts") return null;
    const { images, sounds } = await api.gallery(first.name).catch(() => ({}));
    const last = (images ?? sounds ?? []).at(-1);
    if (last) this.state[this.kind] = last.name; // which its entry opens
    return null;
  }

  #put(row) {
    Object.assign(this.state, { text: row.source, inputs: row.inputs ?? {} });
    this.row = this.entry.row = row;
  }

  #pane({ run, name }) {
    const description = this.descriptions.get(name);
    const fits = description.reads && kindOf(description) === this.kind;
    if (!fits) {
      const why = description.error?.message ?? "It reads something else than the model beside it.";
      return make("section", { class: "pane" }, make("h4", {}, run), make("p", { class: "missing" }, why));
    }
    const look = make("a", { class: "look-closer", href: "./" }, "Look closer");
    const app = {
      entry: this.#entryFor(run),
      views: MAP_ALONE,
      title: make("div", { class: "run-head" }, make("h4", {}, run), look),
      announce: (text) => this.announce(text),
      changed: () => {},
    };
    const pane = new Pane([description], newPane(name), this.state, app);
    pane.closer = look;
    this.panes.push(pane);
    return pane.element;
  }

  // What is entered is the same for all; what would be right may not be.
  #entryFor(run) {
    const live = this;
    return {
      get given() {
        return live.entry.given;
      },
      get asked() {
        return live.entry.asked;
      },
      get reference() {
        return live.kind === "text" ? live.tests.reference(run, live.state.text) : live.entry.reference;
      },
    };
  }

  #showRuns() {
    const chip = (model) =>
      make(
        "button",
        {
          type: "button",
          class: "run",
          "aria-pressed": String(this.chosen.includes(model)),
          disabled: !model.kept,
          title: model.kept ? null : "this model has not been kept",
          click: () => this.toggle(model),
        },
        model.run,
        !model.kept && make("small", {}, " not kept"),
      );
    const held = this.models.findIndex(({ run }) => run === document.activeElement?.firstChild?.textContent);
    const chips = this.models.map(chip);
    find("live-runs").hidden = chips.length < 2;
    find("live-runs").replaceChildren(make("span", { class: "live-label" }, "Models"), ...chips);
    if (held >= 0) chips[held].focus();
  }

  // In or out; one stays, and of too many the one that has been there longest goes.
  toggle(model) {
    const others = this.chosen.filter((one) => one !== model);
    if (others.length === this.chosen.length) others.push(model);
    if (others.length) this.choose(others.slice(-MOST));
  }

  choose(models) {
    for (const pane of this.panes) pane.stop();
    this.chosen = models;
    this.#load();
  }

  // A row of the test.
  take(row) {
    this.#put(row);
    this.#enter();
  }

  // A text that is made of another.
  takeText(text) {
    this.state.text = text;
    this.#enter();
  }

  #enter() {
    for (const pane of this.panes) pane.forget();
    this.entry.load();
    this.changed();
    this.answer();
  }

  changed() {
    this.#refresh();
    this.entry.follow(this.panes[0].model);
  }

  answer() {
    if (!this.entry.ready) return;
    for (const pane of this.panes) {
      pane.closer.setAttribute("href", `./${writeState({ ...this.state, panes: [pane.settings] })}`);
      pane.answer();
    }
  }
}
