// Where a text comes from: what is typed, or a validation sentence.

import * as api from "./api.js";
import { make, showError } from "./dom.js";

const PAUSE = 600; // milliseconds without a key, before a text is sent
const SUGGESTIONS = 3;
const FEW_WORDS = /^\S+(\s+\S+){2,13}$/;
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
    find("text").value = state.text;
    find("suggestions").hidden = true;
    if (!state.text) this.#suggest();
  }

  // Nothing of it depends on the model or on its answer.
  follow() {}
  heard() {}

  get ready() {
    return this.app.state.text !== "";
  }

  // For whoever does not know what to type: validation sentences, of which the list has the best last.
  async #suggest() {
    const { state, panes } = this.app;
    const { sentences = [] } = await api.gallery(panes[0].settings.model).catch(() => ({}));
    const short = sentences.filter(({ source }) => FEW_WORDS.test(source));
    const shown = (short.length < SUGGESTIONS ? sentences : short).slice(-SUGGESTIONS).map(({ source }) => source);
    if (state !== this.app.state || state.text || !shown.length) return;
    const button = (text) => make("button", { type: "button", class: "quiet", click: () => this.open(text) }, text);
    shown.reverse();
    find("suggestions").replaceChildren("Or try ", ...shown.map(button));
    find("suggestions").hidden = false;
  }

  // The text to translate, once it is certain that it is wanted.
  take(text) {
    const { state, panes } = this.app;
    const wanted = text.trim().replace(/\s+/g, " ");
    showError(find("text-error"), wanted ? null : new Error("Type a sentence first."));
    if (!wanted) return;
    if (wanted !== state.text) for (const pane of panes) pane.forget();
    state.text = wanted;
    find("suggestions").hidden = true;
    this.app.changed();
    this.app.answer();
  }

  open(text) {
    find("text").value = text;
    this.take(text);
    find("text").scrollIntoView({ block: "center" });
    find("text").focus({ preventScroll: true });
  }
}
