// What every pane has, whatever its model reads: the choice of the model, what is known of it, and one question at a time.

import * as api from "./api.js";
import { choice, make, showError } from "./dom.js";
import { count } from "./numbers.js";

const SCORES = { bleu: "BLEU", accuracy: "accuracy", bleu4: "BLEU-4" };

export class Frame {
  // `settings` are this pane's part of the state, `shared` is the whole of it. `app` has changed(), takeKind(name), open(what)
  // and announce(text). Whoever derives has settle(), views, body, and work(signal, anew), which asks and shows.
  constructor(models, settings, shared, app) {
    Object.assign(this, { models, settings, shared, app });
    if (!this.model) settings.model = models[0].name;
    this.about = make("p", { class: "about" });
    this.error = make("p", { class: "error", role: "alert", hidden: true });
    const head = make("header", { class: "pane-head" }, this.#chooser(), this.about);
    this.element = make("section", { class: "pane" }, head, this.error);
  }

  get model() {
    return this.models.find((model) => model.name === this.settings.model);
  }

  introduce() {
    const { network, parameters, name } = this.model;
    const scores = Object.entries(SCORES)
      .filter(([field]) => this.model[field])
      .map(([field, label]) => `${label} ${this.model[field].toFixed(1)}`);
    this.about.textContent = [network, `${count(parameters)} parameters`, ...scores].join(" · ");
    this.element.setAttribute("aria-label", `The answer of ${name}`);
  }

  #chooser() {
    const mixed = this.models.some(({ reads }) => reads !== this.models[0].reads);
    const label = ({ name, reads }) => (mixed ? `${name} (${reads === "image" ? "images" : "text"})` : name);
    const options = this.models.map((model) => [model.name, label(model)]);
    return choice("model", "Model", options, this.settings.model, (name) => this.takeModel(name));
  }

  takeModel(name) {
    if (this.app.takeKind(name)) return;
    Object.assign(this.settings, { model: name, layer: -1, head: -1, prefix: "", target: "" });
    this.settle();
    this.views.refresh();
    this.app.changed();
    this.answer();
  }

  // Another way to look at the same answer.
  look(changes) {
    Object.assign(this.settings, changes);
    this.settle();
    this.app.changed();
    this.ask(false);
  }

  answer() {
    return this.ask(true);
  }

  stop() {
    this.asking?.abort();
    this.views.stop();
  }

  // A newer question ends the one before it.
  async ask(anew) {
    this.asking?.abort();
    const asking = (this.asking = new AbortController());
    this.element.setAttribute("aria-busy", "true");
    showError(this.error, null);
    try {
      await this.work(asking.signal, anew);
    } catch (error) {
      if (!api.cancelled(error)) this.fail(error, anew);
    } finally {
      if (this.asking === asking) this.element.removeAttribute("aria-busy");
    }
  }

  fail(error, anew) {
    if (anew) this.body.hidden = true;
    showError(this.error, error);
  }
}
