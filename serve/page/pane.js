// One model's answer to what was given, and everything that can be seen of how it came about. How it is asked depends on what it
// reads (questions.js), how the answer is shown on what it answers with (answers.js), and what can be looked at on both
// (views.js).

import { answerOf, Plain } from "./answers.js";
import * as api from "./api.js";
import { choice, make, showError } from "./dom.js";
import { isSound } from "./heard.js";
import { kindOf, readText } from "./kinds.js";
import { count } from "./numbers.js";
import { QUESTIONS } from "./questions.js";
import { mainSites } from "./sites.js";
import { Tabs } from "./tabs.js";
import { VIEWS } from "./views.js";
import { Yours } from "./yours.js";

// "BLEU 31.2", "Accuracy 97.1 %"
const scoreText = ({ title, value }) =>
  title.endsWith(" %") ? `${title.slice(0, -2)} ${value.toFixed(1)} %` : `${title} ${value.toFixed(1)}`;

export class Pane {
  // `settings` are this pane's part of the state, `shared` is the whole of it. `app` has entry, changed(), takeKind(name),
  // open(row) and announce(text); one that shows a single model in its own way also has title, an element in place of the choice
  // of a model, and views.
  constructor(models, settings, shared, app) {
    Object.assign(this, { models, settings, shared, app });
    if (!this.model) settings.model = models[0].name;
    this.about = make("p", { class: "about" });
    this.error = make("p", { class: "error", role: "alert", hidden: true });
    this.draft = new Plain(this);
    this.place = make("div", { class: "said-place" });
    this.notes = make("ul", { class: "notes", hidden: true });
    this.yours = new Yours((text) => this.takeTarget(text));
    this.views = new Tabs(this, (app.views ?? VIEWS)[kindOf(this.model)]);
    this.body = make(
      "div",
      { class: "pane-body", hidden: true },
      this.place,
      this.notes,
      !app.views && this.yours.element,
      this.views.element,
    );
    const head = make("header", { class: "pane-head" }, app.title ?? this.#chooser(), this.about);
    this.element = make("section", { class: "pane" }, head, this.error, this.body);
    this.#settle();
  }

  get model() {
    return this.models.find((model) => model.name === this.settings.model);
  }

  // Cells are words, unless a sound was spelled, or one side is a single word of several tokens, as letters are of one that is to be pronounced.
  get unit() {
    const { trace } = this.seen ?? {};
    if (this.settings.unit !== "auto" || !trace) return this.settings.unit;
    const spelled = ({ words, word_of }) => words.length === 1 && word_of.filter((word) => word === 0).length > 1;
    if (isSound(trace)) return "tokens";
    return spelled(trace.source) || spelled(trace.target) ? "tokens" : "words";
  }

  #chooser() {
    const mixed = this.models.some((model) => readText(model) !== readText(this.models[0]));
    const label = (model) => (mixed ? `${model.name} (${readText(model)})` : model.name);
    const options = this.models.map((model) => [model.name, label(model)]);
    return choice("model", "Model", options, this.settings.model, (name) => this.takeModel(name));
  }

  // Of a link, or of another model's pane, only what this model has is kept; and it answers in its own way.
  #settle() {
    const { settings, model } = this;
    if (!model.methods.includes(settings.method)) settings.method = model.methods[0] ?? "";
    const sites = mainSites(model);
    if (settings.layer >= sites.length) settings.layer = -1;
    if (settings.head >= (sites[0]?.heads ?? 0)) settings.head = -1;
    const { name, network, parameters, scores = [] } = model;
    this.about.textContent = [network, `${count(parameters)} parameters`, ...scores.map(scoreText)].join(" · ");
    this.element.setAttribute("aria-label", `The answer of ${name}`);
    if (this.kind === answerOf(model)) return;
    this.kind = answerOf(model);
    this.said = this.kind.make(this);
    this.#put(this.said);
    this.yours.edits(this.kind.edited);
  }

  takeModel(name) {
    if (this.app.takeKind(name)) return;
    Object.assign(this.settings, { model: name, layer: -1, head: -1, prefix: "", target: "" });
    this.clear();
    this.#settle();
    this.app.changed();
    this.answer();
  }

  // Another way to look at the same answer.
  look(changes) {
    Object.assign(this.settings, changes);
    this.#settle();
    this.app.changed();
    this.#ask(false);
  }

  takeTarget(text) {
    this.settings.target = text;
    this.app.changed();
    this.#ask(false);
  }

  takeBranch(ids) {
    Object.assign(this.settings, { prefix: ids.join(","), target: "" });
    this.app.changed();
    this.answer();
  }

  // Something new to answer leaves behind what was chosen for the old.
  forget() {
    Object.assign(this.settings, { prefix: "", target: "" });
  }

  clear() {
    this.stop();
    this.views.show(null);
    this.element.removeAttribute("aria-busy");
    this.spoken = "";
    this.body.hidden = true;
  }

  stop() {
    this.asking?.abort();
    this.views.stop();
  }

  answer() {
    return this.#ask(true);
  }

  // What is asked, and how its answer is searched for.
  asked() {
    const { beam, temperature, seed } = this.shared,
      { prefix } = this.settings,
      { name, searches, search } = this.model;
    const drawn = { sample: true, temperature, seed, beam: 1 };
    return {
      model: name,
      ...this.app.entry.given,
      ...(searches ? (temperature > 0 ? drawn : { beam: beam || search?.beam || 1 }) : {}),
      ...(prefix ? { prefix_tokens: prefix.split(",").map(Number) } : {}),
    };
  }

  // Beside the best answer, those that are shown with it.
  several() {
    return this.kind.asks?.(this.model) ?? {};
  }

  // What gives the trace that is shown; without the target, that of the model's own answer.
  request(own = false) {
    const { method, layer, head, combine, target } = this.settings;
    return {
      ...this.asked(),
      ...this.several(),
      method,
      weights: false,
      ...(method === "attention" ? { layer, head, combine } : {}),
      ...(target && !own ? { target } : {}),
    };
  }

  // The answer, shown while it is made.
  async grow(signal) {
    const { text } = this.shared;
    const say = (partial) => this.draft.say(text, partial, true);
    this.body.hidden = false;
    this.body.classList.add("growing");
    this.#put(this.draft);
    this.#showNotes([]);
    say("");
    return api.run({ ...this.asked(), ...this.several() }, say, signal);
  }

  // A newer question ends the one before it.
  async #ask(anew) {
    this.asking?.abort();
    const asking = (this.asking = new AbortController());
    this.element.setAttribute("aria-busy", "true");
    showError(this.error, null);
    try {
      const seen = await QUESTIONS[kindOf(this.model)](this, asking.signal, anew);
      this.#show(seen, anew);
    } catch (error) {
      if (!api.cancelled(error)) this.#fail(error, anew);
    } finally {
      if (this.asking === asking) this.element.removeAttribute("aria-busy");
    }
  }

  #fail(error, anew) {
    // A beginning that the model cannot say would be refused each time.
    if (error.status === 400 && this.settings.prefix) {
      this.settings.prefix = "";
      this.app.changed();
      error = new Error(`${error.message} (the chosen beginning is given up; ask again without it)`);
    }
    if (anew) this.body.hidden = true;
    showError(this.error, error);
  }

  #show(seen, anew) {
    this.seen = seen;
    this.body.hidden = false;
    this.body.classList.remove("growing");
    this.#put(this.said);
    this.said.show(seen, anew);
    this.#showNotes(seen.notes);
    this.yours.show(seen, this.settings.target !== "");
    this.views.show(seen);
    const [{ text = "" }] = seen.answers;
    this.spoken = text;
    if (anew) this.app.announce(`${this.model.name}: ${(seen.trace?.target.text ?? text) || "an image"}`);
  }

  // Where it already stands it is left alone: something in it may have the focus.
  #put({ element }) {
    if (element.parentElement !== this.place) this.place.replaceChildren(element);
  }

  // What to know before one trusts the answer, in the server's words.
  #showNotes(notes = []) {
    this.notes.hidden = !notes.length;
    this.notes.replaceChildren(...notes.map((note) => make("li", {}, note)));
  }
}
