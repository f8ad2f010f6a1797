// The explorer: a text, an image or a sound, and one or two models that answer it.

import * as api from "./api.js";
import { showConnection } from "./connection.js";
import { make } from "./dom.js";
import { ImageEntry } from "./image_entry.js";
import { Pane } from "./pane.js";
import { kindOf } from "./kinds.js";
import { SoundEntry } from "./sound_entry.js";
import { newPane, readState, writeState } from "./state.js";
import { TextEntry } from "./text_entry.js";
import { TextsEntry } from "./texts_entry.js";
import { startTheme } from "./theme.js";

const find = (id) => document.getElementById(id);

class App {
  constructor(models) {
    this.models = models;
    this.panes = [];
    this.entries = {
      text: new TextEntry(this),
      texts: new TextsEntry(this),
      image: new ImageEntry(this),
      sound: new SoundEntry(this),
    };
    this.#listen();
    this.load();
  }

  // Everything as the address has it. What stands side by side reads the same; the first decides what.
  load() {
    const { picture = null, clip = null, inputs = {} } = this.state ?? {};
    const state = (this.state = readState(location.hash));
    const first = this.#named(state.panes[0].model) ?? this.models[0];
    const kind = kindOf(first);
    state.inputs = { ...inputs, ...state.inputs }; // a long document is not in the address
    state.picture = !state.image || picture?.name === state.image ? picture : null;
    state.clip = !state.sound || clip?.name === state.sound ? clip : null;
    state.panes = state.panes.filter(({ model }, index) => index === 0 || this.#alike(this.#named(model), first));
    for (const pane of this.panes) pane.stop();
    this.panes = [];
    for (const settings of state.panes) this.#add(settings);
    for (const [name, entry] of Object.entries(this.entries)) entry.show(name === kind);
    this.entry = this.entries[kind];
    this.#place();
    this.entry.load();
    this.answer();
  }

  #named(name) {
    return this.models.find((model) => model.name === name);
  }

  // Whether two models can answer the same.
  #alike(one, other) {
    const names = ({ inputs = [] }) => inputs.map(({ name }) => name).join(" ");
    return one && kindOf(one) === kindOf(other) && (kindOf(one) !== "texts" || names(one) === names(other));
  }

  // Models that can stand beside the first.
  get #beside() {
    return this.models.filter((model) => this.#alike(model, this.panes[0].model));
  }

  #add(settings) {
    const models = this.panes.length ? this.#beside : this.models;
    this.panes.push(new Pane(models, settings, this.state, this));
  }

  // True where the model reads something else than what is asked now: the page begins anew with it.
  takeKind(name) {
    if (this.#alike(this.#named(name), this.panes[0].model)) return false;
    const { beam, temperature, seed } = this.state;
    const state = { ...readState(""), beam, temperature, seed, panes: [newPane(name)] };
    history.replaceState(null, "", writeState(state));
    this.state.picture = this.state.clip = null;
    this.load();
    document.querySelector(".pane select[name=model]").focus();
    return true;
  }

  #place() {
    find("answers").replaceChildren(...this.panes.map((pane) => pane.element));
    find("answers").dataset.panes = this.panes.length;
    this.#showSettings();
  }

  #listen() {
    this.#slider("beam");
    this.#slider("temperature");
    find("again").addEventListener("click", () => this.#set({ seed: this.state.seed + 1 }));
    find("compare")
      .querySelector("select")
      .addEventListener("change", (event) => this.compare(event.target.value));
    // Not by its address, which is where the state is.
    document.querySelector(".skip").addEventListener("click", (event) => {
      event.preventDefault();
      find("answers").focus();
    });
    find("share").addEventListener("click", () => this.#share());
    addEventListener("hashchange", () => this.load());
  }

  #slider(name) {
    const slider = find(name);
    slider.addEventListener("input", () => this.#showSlider(name, Number(slider.value)));
    slider.addEventListener("change", () => this.#set({ [name]: Number(slider.value) }));
  }

  #set(changes) {
    Object.assign(this.state, changes);
    this.#showSettings();
    this.changed();
    this.answer();
  }

  #showSlider(name, value) {
    const words =
      name === "temperature" ? (value > 0 ? value.toFixed(1) : "0, search") : value === 1 ? "1, greedy" : String(value);
    find(`${name}-value`).textContent = words;
    find(name).setAttribute("aria-valuetext", words);
  }

  #showSettings() {
    const { state } = this,
      beam = state.beam || this.panes[0].model.search?.beam || 1;
    find("beam").value = beam;
    find("temperature").value = state.temperature;
    this.#showSlider("beam", beam);
    this.#showSlider("temperature", state.temperature);
    find("beam").disabled = state.temperature > 0;
    const searches = this.panes.some(({ model }) => model.searches);
    for (const name of ["beam", "temperature"]) find(name).parentElement.hidden = !searches;
    find("again").hidden = state.temperature === 0 || !searches;
    const options = [["", "nothing"], ...this.#beside.map(({ name }) => [name, name])];
    find("compare")
      .querySelector("select")
      .replaceChildren(
        ...options.map(([value, label]) =>
          make("option", { value, selected: value === (this.panes[1]?.settings.model ?? "") }, label),
        ),
      );
  }

  // A row of the gallery.
  open(row) {
    this.entry.open(row);
  }

  answer() {
    if (this.entry.ready) for (const pane of this.panes) pane.answer();
  }

  // A second model beside the first, or none. The same model twice is of use: with two methods.
  compare(name) {
    this.panes[1]?.stop();
    this.panes.length = this.state.panes.length = 1;
    if (name) {
      this.state.panes.push({ ...newPane(name), view: this.state.panes[0].view });
      this.#add(this.state.panes[1]);
    }
    this.#place();
    this.changed();
    if (name && this.entry.ready) this.panes[1].answer();
  }

  // replaceState: going back leads to the page before, not through every head that was looked at.
  changed() {
    history.replaceState(null, "", writeState(this.state));
    this.#showSettings();
    this.entry.follow(this.panes[0].model);
  }

  // Small pictures of heads have the colours of the moment at which they were drawn.
  repaint() {
    for (const pane of this.panes) if (pane.settings.view === "heads") pane.views.refresh();
  }

  announce(text) {
    find("news").textContent = text;
    this.entry.heard();
  }

  async #share() {
    const button = find("share"),
      label = button.textContent;
    try {
      await navigator.clipboard.writeText(location.href);
      button.textContent = "Copied";
    } catch {
      button.textContent = "The address bar has it";
    }
    setTimeout(() => {
      button.textContent = label;
    }, 2000);
  }
}

let app = null;

async function start() {
  showConnection(find("banner"));
  startTheme(find("theme"), () => app?.repaint());
  try {
    const { models, experiments = 0 } = await api.served();
    models.push(...(await ofTheLab()));
    if (!models.length && experiments) return location.replace("lab");
    if (!models.length) throw new Error("The server has no model.");
    find("lab").hidden = !experiments;
    app = new App(models);
  } catch (error) {
    find("answers").append(make("p", { class: "error", role: "alert" }, error.message));
  }
  return null;
}

// Models of the lab are in no list: those that the address names are asked for.
async function ofTheLab() {
  const named = readState(location.hash).panes.map(({ model }) => model).filter((name) => name.startsWith("lab/"));
  return Promise.all([...new Set(named)].map((name) => api.model(name)));
}

start();
