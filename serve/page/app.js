// The explorer: a text, and one or two models that answer it.

import * as api from "./api.js";
import { showConnection } from "./connection.js";
import { make, showError } from "./dom.js";
import { Pane } from "./pane.js";
import { newPane, readState, writeState } from "./state.js";
import { startTheme } from "./theme.js";

const PAUSE = 600; // milliseconds without a key, before a text is sent
const SUGGESTIONS = 3;
const FEW_WORDS = /^\S+(\s+\S+){2,13}$/;
const find = (id) => document.getElementById(id);

class App {
  constructor(models) {
    this.models = models;
    this.panes = [];
    this.#listen();
    this.load();
  }

  // Everything as the address has it.
  load() {
    this.state = readState(location.hash);
    const { state } = this;
    find("text").value = state.text;
    find("suggestions").hidden = true;
    for (const pane of this.panes) pane.stop();
    this.panes = state.panes.map((settings) => new Pane(this.models, settings, state, this));
    this.#place();
    if (state.text) this.answer();
    else this.#suggest();
  }

  // For whoever does not know what to type: validation sentences, of which the list has the best last.
  async #suggest() {
    const { state } = this;
    const { sentences = [] } = await api.gallery(this.panes[0].settings.model).catch(() => ({}));
    const short = sentences.filter(({ source }) => FEW_WORDS.test(source));
    const shown = (short.length < SUGGESTIONS ? sentences : short).slice(-SUGGESTIONS).map(({ source }) => source);
    if (state !== this.state || state.text || !shown.length) return;
    const button = (text) => make("button", { type: "button", class: "quiet", click: () => this.open(text) }, text);
    shown.reverse();
    find("suggestions").replaceChildren("Or try ", ...shown.map(button));
    find("suggestions").hidden = false;
  }

  #place() {
    find("answers").replaceChildren(...this.panes.map((pane) => pane.element));
    find("answers").dataset.panes = this.panes.length;
    this.#showSettings();
  }

  #listen() {
    const text = find("text");
    const now = () => {
      clearTimeout(this.timer);
      this.take(text.value);
    };
    text.addEventListener("input", () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(now, PAUSE);
    });
    text.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      now();
    });
    find("composer").addEventListener("submit", (event) => {
      event.preventDefault();
      now();
    });
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
    find("again").hidden = state.temperature === 0;
    const options = [["", "nothing"], ...this.models.map(({ name }) => [name, name])];
    find("compare")
      .querySelector("select")
      .replaceChildren(
        ...options.map(([value, label]) =>
          make("option", { value, selected: value === (this.panes[1]?.settings.model ?? "") }, label),
        ),
      );
  }

  // The text to translate, once it is certain that it is wanted.
  take(text) {
    const wanted = text.trim().replace(/\s+/g, " ");
    showError(find("text-error"), wanted ? null : new Error("Type a sentence first."));
    if (!wanted) return;
    if (wanted !== this.state.text) for (const pane of this.panes) pane.forget();
    this.state.text = wanted;
    find("suggestions").hidden = true;
    this.changed();
    this.answer();
  }

  open(text) {
    find("text").value = text;
    this.take(text);
    find("text").scrollIntoView({ block: "center" });
    find("text").focus({ preventScroll: true });
  }

  answer() {
    if (this.state.text) for (const pane of this.panes) pane.answer();
  }

  // A second model beside the first, or none. The same model twice is of use: with two methods.
  compare(name) {
    this.panes[1]?.stop();
    this.panes.length = this.state.panes.length = 1;
    if (name) {
      this.state.panes.push({ ...newPane(name), view: this.state.panes[0].view });
      this.panes.push(new Pane(this.models, this.state.panes[1], this.state, this));
    }
    this.#place();
    this.changed();
    if (name && this.state.text) this.panes[1].answer();
  }

  // replaceState: going back leads to the page before, not through every head that was looked at.
  changed() {
    history.replaceState(null, "", writeState(this.state));
    if (this.panes[1]) find("compare").querySelector("select").value = this.panes[1].settings.model;
  }

  // Small pictures of heads have the colours of the moment at which they were drawn.
  repaint() {
    for (const pane of this.panes) if (pane.settings.view === "heads") pane.views.refresh();
  }

  announce(text) {
    find("news").textContent = text;
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
    const models = await api.models();
    if (!models.length) throw new Error("The server has no model.");
    app = new App(models);
  } catch (error) {
    find("answers").append(make("p", { class: "error", role: "alert" }, error.message));
  }
}

start();
