// Where a text comes from: what is typed, or a validation sentence.

import * as api from "./api.js";
import { make, showError } from "./dom.js";

const PAUSE = 600; // milliseconds without a key, before a text is sent
const SUGGESTIONS = 3;
const LONG = 200; // tokens
const FEW_WORDS = /^\S+(\s+\S+){2,13}$/;
const spaced = (text) => text.trim().replace(/\s+/g, " ");
const find = (id) => document.getElementById(id);

export class TextEntry {
  // `app` has state, panes, changed() and answer().
  constructor(app) {
    this.app = app;
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
  }

  show(shown) {
    find("composer").hidden = !shown;
    if (!shown) find("suggestions").hidden = true;
  }

  // As the address has it.
  load() {
    const { state } = this.app;
    this.follow(this.app.panes[0].model);
    find("text").value = state.text;
    find("suggestions").hidden = true;
    if (!state.text) this.#suggest();
  }

  // What is sent, and the right answer to it, where that is known.
  get given() {
    return { text: this.app.state.text };
  }
  get reference() {
    return this.row && spaced(this.row.source) === this.app.state.text ? (this.row.reference ?? "") : "";
  }

  // A model that learned from long texts has room for them.
  follow({ longest = 0 }) {
    find("text").classList.toggle("tall", longest >= LONG);
  }
  heard() {}

  get ready() {
    return this.app.state.text !== "";
  }

  // For whoever does not know what to type: validation sentences, of which the list has the best last.
  async #suggest() {
    const { state, panes } = this.app;
    const { sentences = [] } = await api.gallery(panes[0].settings.model).catch(() => ({}));
    const short = sentences.filter(({ source }) => FEW_WORDS.test(source));
    const shown = (short.length < SUGGESTIONS ? sentences : short).slice(-SUGGESTIONS);
    if (state !== this.app.state || state.text || !shown.length) return;
    const button = (row) => make("button", { type: "button", class: "quiet", click: () => this.open(row) }, row.source);
    shown.reverse();
    find("suggestions").replaceChildren("Or try ", ...shown.map(button));
    find("suggestions").hidden = false;
  }

  // The text to answer, once it is certain that it is wanted.
  take(text) {
    const { state, panes } = this.app;
    const wanted = spaced(text);
    showError(find("text-error"), wanted ? null : new Error("Type a text first."));
    if (!wanted) return;
    if (wanted !== state.text) for (const pane of panes) pane.forget();
    state.text = wanted;
    find("suggestions").hidden = true;
    this.app.changed();
    this.app.answer();
  }

  // A row of the gallery.
  open(row) {
    this.row = row;
    find("text").value = row.source;
    this.take(row.source);
    find("text").scrollIntoView({ block: "center" });
    find("text").focus({ preventScroll: true });
  }
}
