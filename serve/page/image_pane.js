// One model's answer to the image, and where it looked meanwhile.

import * as api from "./api.js";
import { showCurves } from "./curves.js";
import { choice, make } from "./dom.js";
import { Frame } from "./frame.js";
import { showImages } from "./gallery.js";
import { renderLook } from "./look.js";
import { decimal, percent, probability } from "./numbers.js";
import { urlOf } from "./pictures.js";
import { Tabs } from "./tabs.js";

const MOST_LABELS = 10;
const NAMES = { map: "Look", training: "Training", gallery: "Hard images" };
const METHODS = {
  attention: "Attention: where each word looked",
  glimpses: "Glimpses: where it looked, one by one",
  gradcam: "Grad-CAM: the cells that spoke for it",
  saliency: "Saliency: the pixels that it hung on",
};

class ImageViews extends Tabs {
  constructor(pane) {
    super(pane, NAMES);
  }

  has(view) {
    return view !== "map" || this.pane.model.methods.length > 0;
  }

  stop() {
    super.stop();
    this.#end();
  }

  #end() {
    this.look?.destroy();
    this.look = null;
  }

  refresh() {
    this.#end();
    super.refresh();
  }

  _map() {
    const { look } = this.trace;
    if (!look) return; // it is being asked for
    const { model, settings } = this.pane;
    const held = this.place.contains(document.activeElement) && document.activeElement.name;
    const methods = model.methods.map((name) => [name, METHODS[name] ?? name]);
    const choose = choice("method", "Method", methods, settings.method, (method) => this.pane.look({ method }));
    const element = make("div", { class: "look" });
    const room = make("div", { class: "look-room" }, element);
    this.place.replaceChildren(...(methods.length > 1 ? [make("div", { class: "controls" }, choose)] : []), room);
    if (held) this.place.querySelector(`select[name="${held}"]`)?.focus();
    // It plays once; who comes back to it finds the step that was left.
    const { step = 0, played = false } = this.trace;
    this.look = renderLook(element, { look, step, play: !played });
    this.trace.played = true;
    element.addEventListener("lookstep", ({ detail }) => {
      this.trace.step = detail.step;
    });
  }

  _training(signal) {
    return showCurves(this.place, this.pane.settings.model, signal);
  }

  _gallery(signal) {
    return showImages(this.place, this.pane.settings.model, (row) => this.pane.app.open(row), signal);
  }
}

export class ImagePane extends Frame {
  constructor(...given) {
    super(...given);
    this.views = new ImageViews(this);
    this.said = make("div", { class: "said-of-image" });
    this.facts = make("div", { class: "facts" });
    this.body = make("div", { class: "pane-body", hidden: true }, this.said, this.views.element);
    this.element.append(this.body);
    this.settle();
  }

  settle() {
    const { settings, model } = this;
    if (!model.methods.includes(settings.method)) settings.method = model.methods[0] ?? "";
    this.introduce();
  }

  forget() {}

  clear() {
    this.asking?.abort();
    this.views.stop();
    this.element.removeAttribute("aria-busy");
    this.spoken = "";
    this.body.hidden = true;
  }

  #asked() {
    const { beam, temperature, seed, picture } = this.shared;
    const drawn = { sample: true, temperature, seed, beam: 1 };
    const search = temperature > 0 ? drawn : { beam: beam || this.model.search.beam };
    return { model: this.model.name, image: picture.data, ...(this.model.answers === "caption" ? search : {}) };
  }

  async work(signal, anew) {
    if (!this.shared.picture) return;
    const { model, settings } = this;
    const { picture } = this.shared;
    const several = model.answers === "label" ? { n_best: Math.min(MOST_LABELS, model.labels.length) } : {};
    const answers = await api.answer({ ...this.#asked(), ...several }, signal);
    const look = model.methods.length ? await api.explain({ ...this.#asked(), method: settings.method }, signal) : null;
    this.#show(picture, answers, look);
    this.views.show({ look });
    this.spoken = answers[0].text ?? "";
    if (anew) this.app.announce(`${model.name}: ${answers[0].text ?? "an image"}`);
  }

  #show(picture, answers, look) {
    this.body.hidden = false;
    const [best] = answers;
    const { answers: kind } = this.model;
    if (kind === "image") {
      const figure = (data, text) =>
        make("figure", {}, make("img", { src: urlOf(data), alt: text, class: "lk-few" }), make("figcaption", {}, text));
      this.facts.replaceChildren("This network answers with an image; there is nothing to show of where it looked.");
      this.said.replaceChildren(figure(picture.data, "the image"), figure(best.image, "what it makes of it"), this.facts);
      return;
    }
    // The glances have the probabilities beside them.
    const bars = kind === "label" && look?.kind !== "glimpses" && barsOf(answers);
    this.facts.replaceChildren(...this.#factsOf(picture, best));
    const text = make("p", { class: "answer" }, best.text || "(nothing)");
    this.said.replaceChildren(make("div", { class: "in-words" }, text, this.facts), ...(bars ? [bars] : []));
  }

  #factsOf({ reference }, best) {
    const sure =
      this.model.answers === "label"
        ? `${percent(best.score)} sure`
        : `${probability(best.log_probability)} sure of the whole · log-probability ${decimal(best.log_probability)}`;
    const right = best.text === reference;
    const wrong = !right && this.model.answers === "label"; // of captions, others are right as well
    return [
      make("span", {}, sure),
      ...(best.ended ? [] : [make("span", { class: "warning" }, "cut off: the longest length was reached")]),
      ...(reference ? [make("span", { class: wrong && "warning" }, right ? "that is right" : `wanted: ${reference}`)] : []),
    ];
  }
}

function barsOf(answers) {
  const row = ({ text, score }, index) => {
    const fill = make("i");
    fill.style.width = `${100 * score}%`;
    return make(
      "div",
      { class: index ? "lk-bar" : "lk-bar lk-said-it", role: "listitem" },
      make("span", { class: "lk-label", title: text }, text),
      make("span", { class: "lk-room", "aria-hidden": "true" }, fill),
      make("span", { class: "lk-number" }, percent(score)),
    );
  };
  return make("div", { class: "lk-bars", role: "list", "aria-label": "Likeliest labels" }, answers.map(row));
}
