// Where a file is chosen, dropped or pasted: anywhere on the page while this is shown.

import { make } from "./dom.js";

const held = ({ items }) => [...(items ?? [])].some(({ kind }) => kind === "file");

export class DropZone {
  // `kind`: "image" or "audio", of files to choose or paste; `ask` and `hint` in words; `preview`: what shows the file that was
  // taken; `taken(file)`.
  constructor({ kind, ask, hint, preview, taken }) {
    Object.assign(this, { kind, taken, shown: false });
    this.file = make("input", { type: "file", accept: `${kind}/*`, class: "unseen", tabindex: "-1", "aria-hidden": "true" });
    this.file.addEventListener("change", () => {
      if (this.file.files[0]) this.taken(this.file.files[0]);
      this.file.value = ""; // the same one may be chosen again
    });
    const choose = make("button", { type: "button", class: "main", click: () => this.file.click() }, ask);
    this.name = make("p", { class: "picture-name", "aria-live": "polite" });
    const text = make("div", { class: "drop-text" }, choose, make("p", { class: "hint" }, hint), this.name);
    this.element = make("div", { class: "drop" }, preview, text, this.file);
    this.#listen();
  }

  #listen() {
    addEventListener("dragover", (event) => {
      if (!this.shown || !held(event.dataTransfer)) return;
      event.preventDefault();
      this.element.classList.add("over");
    });
    addEventListener("dragleave", (event) => {
      if (!event.relatedTarget) this.element.classList.remove("over");
    });
    addEventListener("drop", (event) => {
      this.element.classList.remove("over");
      if (!this.shown || !event.dataTransfer.files.length) return;
      event.preventDefault();
      this.taken(event.dataTransfer.files[0]);
    });
    addEventListener("paste", (event) => {
      const file = this.shown && [...event.clipboardData.files].find(({ type }) => type.startsWith(`${this.kind}/`));
      if (!file) return;
      event.preventDefault();
      this.taken(file);
    });
  }
}
