// Where several texts come from: a long one that is typed, pasted, or dropped as a file, and what is asked about it. The long one
// stays for the next question.

import * as api from "./api.js";
import { make, showError } from "./dom.js";
import { textOf } from "./text_files.js";

const SUGGESTIONS = 3;
const find = (id) => document.getElementById(id);
const capital = (name) => name.charAt(0).toUpperCase() + name.slice(1);
const held = ({ items }) => [...(items ?? [])].some(({ kind }) => kind === "file");

export class TextsEntry {
  // `app` has state, panes, changed() and answer(). What was entered is state.inputs, by the names of the model's inputs.
  constructor(app) {
    this.app = app;
    this.form = find("texts-entry");
    this.file = make("input", { type: "file", accept: ".txt,.md,text/plain", class: "unseen", tabindex: "-1", "aria-hidden": "true" });
    this.file.addEventListener("change", () => {
      if (this.file.files[0]) this.#read(this.file.files[0]);
      this.file.value = ""; // the same one may be chosen again
    });
    this.name = make("p", { class: "picture-name", "aria-live": "polite" });
    this.error = make("p", { class: "error", role: "alert", hidden: true });
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.take();
    });
    this.#listen();
  }

  show(shown) {
    this.shown = shown;
    this.form.hidden = !shown;
    if (!shown) find("suggestions").hidden = true;
  }

  // As the address has it.
  load() {
    this.follow(this.app.panes[0].model);
    for (const [name, field] of this.fields) field.value = this.app.state.inputs[name] ?? "";
    this.name.textContent = "";
    find("suggestions").hidden = true;
    if (!this.ready) this.#suggest();
  }

  // What is sent, and the right answer to it, where that is known.
  get given() {
    return Object.fromEntries([...this.fields.keys()].map((name) => [name, this.app.state.inputs[name]]));
  }
  get reference() {
    const same = this.row?.inputs && Object.entries(this.given).every(([name, text]) => this.row.inputs[name] === text);
    return same ? (this.row.reference ?? "") : "";
  }
  // What it is called in lists, as the first is long.
  get asked() {
    return Object.values(this.given).at(-1);
  }
  get ready() {
    return [...this.fields.keys()].every((name) => this.app.state.inputs[name]);
  }

  // A model with other inputs has other fields.
  follow({ inputs }) {
    const names = inputs.map(({ name }) => name).join(" ");
    if (this.names === names) return;
    this.names = names;
    this.fields = new Map(inputs.map(({ name }, i) => [name, this.#field(name, i === 0)]));
    const [long, ...others] = [...this.fields.entries()];
    const choose = make("button", { type: "button", class: "quiet", click: () => this.file.click() }, "Choose a text file");
    const ask = make("button", { type: "submit", class: "main" }, "Ask");
    this.form.replaceChildren(
      make("label", { for: long[1].id }, capital(long[0])),
      long[1],
      make("div", { class: "from-file" }, choose, make("span", { class: "hint" }, "or drop one here"), this.name, this.file),
      ...others.flatMap(([name, field], i) => [
        make("label", { for: field.id }, capital(name)),
        make("div", { class: "entry" }, field, i === others.length - 1 && ask),
      ]),
      this.error,
    );
  }

  heard() {}

  #field(name, long) {
    const field = make("textarea", {
      id: `input-${name}`,
      name,
      rows: long ? 7 : 1,
      class: long ? "tall" : "asked",
      autocomplete: "off",
      spellcheck: "false",
      input: () => this.#markOutdated(),
      keydown: (event) => {
        const sends = event.key === "Enter" && !event.isComposing && (long ? event.ctrlKey || event.metaKey : !event.shiftKey);
        if (!sends) return;
        event.preventDefault();
        this.take();
      },
    });
    return field;
  }

  #listen() {
    addEventListener("dragover", (event) => {
      if (!this.shown || !held(event.dataTransfer)) return;
      event.preventDefault();
      this.form.classList.add("over");
    });
    addEventListener("dragleave", (event) => {
      if (!event.relatedTarget) this.form.classList.remove("over");
    });
    addEventListener("drop", (event) => {
      this.form.classList.remove("over");
      if (!this.shown || !event.dataTransfer.files.length) return;
      event.preventDefault();
      this.#read(event.dataTransfer.files[0]);
    });
  }

  async #read(file) {
    const [long, asked] = this.fields.values();
    try {
      long.value = await textOf(file);
      showError(this.error, null);
      this.name.textContent = file.name;
      this.#markOutdated();
      asked.focus();
    } catch (error) {
      showError(this.error, error);
    }
  }

  // What is shown below answers what was asked before.
  #markOutdated() {
    const { inputs } = this.app.state;
    const outdated = [...this.fields].some(([name, field]) => inputs[name] && field.value.trim() !== inputs[name]);
    find("answers").classList.toggle("outdated", outdated);
  }

  // Asks what was entered; of what is missing, the first is named.
  take() {
    const { state, panes } = this.app;
    const entered = Object.fromEntries([...this.fields].map(([name, field]) => [name, field.value.trim()]));
    const missing = Object.keys(entered).find((name) => !entered[name]);
    showError(this.error, missing ? new Error(`Enter a ${missing} first.`) : null);
    if (missing) return this.fields.get(missing).focus();
    const changed = Object.keys(entered).some((name) => entered[name] !== state.inputs[name]);
    if (changed) for (const pane of panes) pane.forget();
    state.inputs = entered;
    this.#markOutdated();
    find("suggestions").hidden = true;
    this.app.changed();
    this.app.answer();
  }

  // For whoever does not know what to ask: validation questions, of which the list has the best last.
  async #suggest() {
    const { state, panes } = this.app;
    const { sentences = [] } = await api.gallery(panes[0].settings.model).catch(() => ({}));
    const shown = sentences.filter(({ inputs }) => inputs).slice(-SUGGESTIONS);
    if (state !== this.app.state || this.ready || !shown.length) return;
    const button = (row) => make("button", { type: "button", class: "quiet", click: () => this.open(row) }, row.source);
    shown.reverse();
    find("suggestions").replaceChildren("Or try ", ...shown.map(button));
    find("suggestions").hidden = false;
  }

  // A row of the gallery.
  open(row) {
    this.row = row;
    for (const [name, field] of this.fields) field.value = row.inputs[name] ?? "";
    this.name.textContent = "";
    this.take();
    this.form.scrollIntoView({ block: "nearest" });
    [...this.fields.values()].at(-1).focus({ preventScroll: true });
  }
}
