// One model's answer to the text, and everything that can be seen of how it came about.

import * as api from "./api.js";
import { Views } from "./views.js";
import { make } from "./dom.js";
import { Frame } from "./frame.js";
import { gridOf, shown } from "./grid.js";
import { decimal, plainTokens, probability } from "./numbers.js";
import { Ribbon } from "./ribbon.js";
import { Yours } from "./yours.js";

export class Pane extends Frame {
  constructor(...given) {
    super(...given);
    this.trace = null;
    this.ribbon = new Ribbon((side, index) => this.views.light(side, index));
    this.views = new Views(this);
    this.yours = new Yours((text) => this.takeTarget(text));
    this.facts = make("div", { class: "facts" });
    this.notes = make("ul", { class: "notes", hidden: true });
    this.body = make(
      "div",
      { class: "pane-body", hidden: true },
      this.ribbon.element,
      this.ribbon.readout,
      this.facts,
      this.notes,
      this.yours.element,
      this.views.element,
    );
    this.element.append(this.body);
    this.settle();
  }

  // Of a link, or of another model's pane, only what this model has is kept.
  settle() {
    const { settings } = this;
    if (!this.model.methods.includes(settings.method)) settings.method = this.model.methods[0];
    const sites = this.model.sites.filter(({ site }) => site === "decoder.memory");
    if (settings.layer >= sites.length) settings.layer = -1;
    if (settings.head >= (sites[0]?.heads ?? 0)) settings.head = -1;
    this.introduce();
  }

  takeTarget(text) {
    this.settings.target = text;
    this.app.changed();
    this.ask(false);
  }

  takeBranch(ids) {
    Object.assign(this.settings, { prefix: ids.join(","), target: "" });
    this.app.changed();
    this.answer();
  }

  // A new text leaves behind what was chosen for the old one.
  forget() {
    Object.assign(this.settings, { prefix: "", target: "" });
  }

  #search() {
    const { beam, temperature, seed } = this.shared,
      { prefix } = this.settings;
    return {
      model: this.settings.model,
      text: this.shared.text,
      ...(temperature > 0
        ? { sample: true, temperature, seed, beam: 1 }
        : { beam: beam || this.model.search?.beam || 1 }),
      ...(prefix ? { prefix_tokens: prefix.split(",").map(Number) } : {}),
    };
  }

  // What gives the trace that is shown; without the target, the model's own answer.
  request(own = false) {
    const { method, layer, head, combine, target } = this.settings;
    return {
      ...this.#search(),
      method,
      weights: false,
      ...(method === "attention" ? { layer, head, combine } : {}),
      ...(target && !own ? { target } : {}),
    };
  }

  async work(signal, anew) {
    if (!this.model.methods.length) return this.#answerOnly(signal);
    if (anew && !this.settings.target) await this.#stream(signal);
    const own = await api.explain(this.request(true), signal);
    const trace = this.settings.target ? await api.explain(this.request(), signal) : own;
    this.#show(trace, own, anew);
  }

  // A network of which nothing can be shown still answers.
  async #answerOnly(signal) {
    const {
      answers: [answer],
      notes,
    } = await this.#stream(signal);
    this.#showNotes(notes);
    this.ribbon.say(this.shared.text, answer.text, false);
    this.facts.replaceChildren(
      `log-probability ${decimal(answer.log_probability)}. This network has no attention to look at.`,
    );
    this.body.classList.remove("growing");
    this.body.classList.add("opaque");
    this.app.announce(`${this.settings.model}: ${answer.text}`);
  }

  async #stream(signal) {
    if (api.seen(this.request(true))) return null;
    const { text } = this.shared;
    this.body.hidden = false;
    this.body.classList.add("growing");
    this.ribbon.say(text, "");
    this.#showNotes([]);
    return api.run(this.#search(), (partial) => this.ribbon.say(text, partial), signal);
  }

  fail(error, anew) {
    // A beginning that the model cannot say would be refused with every text.
    if (error.status === 400 && this.settings.prefix) {
      this.settings.prefix = "";
      this.app.changed();
      error = new Error(`${error.message} (the chosen beginning is given up; ask again without it)`);
    }
    super.fail(error, anew);
  }

  #show(trace, own, anew) {
    Object.assign(this, { trace, own });
    this.body.hidden = false;
    this.body.classList.remove("growing", "opaque");
    if (anew) this.ribbon.pinned = null;
    this.#showRibbon();
    this.#showFacts();
    this.#showNotes(trace.notes);
    this.yours.show(trace, own, this.settings.target !== "");
    this.views.show(trace);
    if (anew) this.app.announce(`${this.settings.model}: ${trace.target.text}`);
  }

  #showRibbon() {
    const grid = gridOf(this.trace, { map: 0, level: this.settings.unit }),
      width = grid.columns.length;
    this.ribbon.render({
      source: grid.columns,
      target: grid.rows,
      percent: grid.percent,
      attention: ["attention", "rollout"].includes(this.trace.maps[0].method),
      write: (value) => shown(grid, value),
      map: grid.rows.map((_, row) => Array.from(grid.values.subarray(row * width, (row + 1) * width))),
      chances: chances(this.trace.target, this.settings.unit),
      unknown: unknown(this.trace.source, this.settings.unit),
    });
  }

  // What to know before one trusts the answer, in the server's words.
  #showNotes(notes = []) {
    this.notes.hidden = !notes.length;
    this.notes.replaceChildren(...notes.map((note) => make("li", {}, note)));
  }

  #showFacts() {
    const { target } = this.trace,
      { prefix } = this.settings,
      forced = prefix ? prefix.split(",").length : 0;
    const per = target.log_probability / Math.max(1, target.tokens.length);
    this.facts.replaceChildren(
      make("span", { title: "the geometric mean over its tokens" }, `${probability(per)} sure per token`),
      make("span", {}, `log-probability ${decimal(target.log_probability)}`),
      ...(target.ended ? [] : [make("span", { class: "warning" }, "cut off: the longest length was reached")]),
      ...(forced && !target.given ? [this.#chip(plainTokens(target.tokens).slice(0, forced).join(" "))] : []),
    );
  }

  #chip(beginning) {
    return make(
      "span",
      { class: "chip" },
      `begins as you chose: ${beginning} `,
      make("button", { type: "button", class: "quiet", click: () => this.takeBranch([]) }, "Undo"),
    );
  }
}

// Places of the words or tokens that the vocabulary does not know.
function unknown({ unknown: tokens = [], word_of }, unit) {
  return new Set(unit === "tokens" ? tokens : tokens.map((token) => word_of[token]));
}

// The probability of each word or token of the answer.
function chances(target, unit) {
  if (unit === "tokens") return target.log_probabilities.map(Math.exp);
  const logs = target.words.map(() => 0);
  target.word_of.forEach((word, token) => {
    if (word >= 0) logs[word] += target.log_probabilities[token];
  });
  return logs.map(Math.exp);
}
