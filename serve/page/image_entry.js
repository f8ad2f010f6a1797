// Where an image comes from: a file that is chosen, dropped or pasted, a drawing, or a validation image.

import * as api from "./api.js";
import { Board } from "./board.js";
import { make, showError } from "./dom.js";
import { DropZone } from "./drop_zone.js";
import { pictureOf, urlOf } from "./pictures.js";

const SAMPLES = 8;
const find = (id) => document.getElementById(id);

export class ImageEntry {
  // `app` has state, panes, changed() and answer(). The image is state.picture {data, name, …}; the address has only the names
  // of validation images.
  constructor(app) {
    this.app = app;
    this.board = new Board(
      (data) => this.#take({ data, name: "your drawing", drawn: true }),
      () => this.#forget(),
    );
    this.preview = make("img", { class: "preview", alt: "", hidden: true, error: ({ target }) => (target.hidden = true) });
    this.drop = new DropZone({
      kind: "image",
      ask: "Choose an image",
      hint: "or drop one here, or paste it",
      preview: this.preview,
      taken: (file) => this.#read(file),
    });
    this.error = make("p", { class: "error", role: "alert", hidden: true });
    this.samples = make("div", { class: "samples", role: "group", "aria-label": "Validation images" });
    const others = make("div", { class: "others" }, this.drop.element, this.samples);
    find("image-entry").append(make("div", { class: "sources" }, this.board.element, others), this.error);
  }

  show(shown) {
    this.drop.shown = shown;
    find("image-entry").hidden = !shown;
  }

  // As the address has it: a validation image by its name. An own one stays while the page does.
  load() {
    this.model = "";
    this.#mark();
    this.follow(this.app.panes[0].model);
  }

  get ready() {
    return Boolean(this.app.state.picture);
  }

  // What is sent, and the right answer to it, where that is known.
  get given() {
    return { image: this.app.state.picture.data };
  }
  get reference() {
    return this.app.state.picture.reference ?? "";
  }

  // Another model has other validation images, and may see colours, which the board has not.
  async follow(model) {
    if (model.name === this.model) return;
    this.model = model.name;
    this.board.element.hidden = model.channels !== 1;
    if (this.size !== model.size) this.board.fit((this.size = model.size));
    this.samples.replaceChildren();
    const { images = [] } = await api.gallery(model.name).catch(() => ({}));
    if (this.model !== model.name) return;
    const rows = images.slice(-SAMPLES);
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
    const named = images.find(({ name }) => name === state.image);
    if (state.image && !state.picture && named) this.open(named);
  }

  // What the panes answered, also where the drawing is: on a phone they are far from it.
  heard() {
    if (!this.app.state.picture?.drawn) return;
    const answers = this.app.panes.filter(({ spoken }) => spoken).map(({ model, spoken }) => `${model.name}: ${spoken}`);
    this.board.say(answers.join(" · "));
  }

  // A row of the gallery.
  open({ name, image, reference }) {
    this.board.clear();
    this.#take({ data: image, name, reference, sample: true });
  }

  #sample(row) {
    const said = row.reference ? `${row.name}: ${row.reference}` : row.name;
    return make(
      "button",
      { type: "button", class: "sample", title: said, "aria-label": said, "data-name": row.name, click: () => this.open(row) },
      make("img", { src: urlOf(row.image), alt: "", class: row.width <= 100 && "lk-few" }),
    );
  }

  async #read(file) {
    try {
      const picture = await pictureOf(file);
      this.board.clear();
      this.#take(picture);
    } catch (error) {
      showError(this.error, error);
    }
  }

  #take(picture) {
    const { state, panes } = this.app;
    showError(this.error, null);
    Object.assign(state, { picture, image: picture.sample ? picture.name : "" });
    for (const pane of panes) pane.forget();
    this.#mark();
    this.app.changed();
    this.app.answer();
  }

  // An empty board asks nothing; the answer to the drawing before it is taken away.
  #forget() {
    const { state, panes } = this.app;
    if (!state.picture?.drawn) return;
    state.picture = null;
    for (const pane of panes) pane.clear();
    this.#mark();
  }

  #mark() {
    const { picture } = this.app.state;
    this.drop.name.textContent = picture ? [picture.name, picture.note].filter(Boolean).join(", ") : "";
    this.preview.hidden = !picture || Boolean(picture.drawn);
    this.board.say("");
    if (picture) this.preview.src = urlOf(picture.data);
    else this.preview.removeAttribute("src");
    for (const sample of this.samples.querySelectorAll(".sample")) {
      sample.setAttribute("aria-pressed", String(picture?.sample === true && sample.dataset.name === picture.name));
    }
  }
}
