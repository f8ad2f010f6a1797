// An answer that was found in a document: what it is and how sure the model is of it, the likeliest others, and the document,
// shaded by where it was looked for. Choosing a sentence leaves it out, and what becomes of the answer is shown.

import * as api from "./api.js";
import { DocumentView, reducedText } from "./document.js";
import { make, showError } from "./dom.js";
import { compared, cutOff, fact } from "./facts.js";
import { placeIn } from "./grid.js";
import { percent, probability } from "./numbers.js";

const MOST = 5; // answers
const NOTHING = "(no answer)";

const chance = ({ log_probability: log }) => Math.exp(log);
const named = (text) => text || NOTHING;

export class Found {
  // The answers that are asked for: what is searched for has one.
  static asks = ({ searches, labels }) => (searches ? {} : { n_best: Math.min(MOST, labels?.length || MOST) });

  constructor(pane) {
    this.pane = pane;
    this.said = make("div", { class: "headline" });
    this.hint = make("p", { class: "hint" }, "Choose a sentence to leave it out, and again to bring it back.");
    this.evidence = make("div", { class: "left-out", "aria-live": "polite" });
    this.error = make("p", { class: "error", role: "alert", hidden: true });
    this.view = new DocumentView((side, index) => this.#picked(side, index));
    const place = make("div", { class: "found" }, this.view.element, this.view.readout);
    this.element = make("div", {}, this.said, place, this.hint, this.error, this.evidence);
  }

  show({ answers, trace, own }) {
    this.asking?.abort();
    Object.assign(this, { trace, own, source: trace.source, removed: new Set(), answers });
    showError(this.error, null);
    this.#allowStriking(true);
    this.#headline(answers);
    this.view.render({ trace });
    this.hint.hidden = trace.source.sentences.length < 2;
    this.#compare(null);
  }

  #headline(answers) {
    const [best] = answers;
    const { reference } = this.pane.app.entry;
    const facts = [fact(`${probability(best.log_probability)} sure`), ...cutOff(best.ended), ...compared(best.text, reference, true)];
    const bars = answers.length > 1 && this.#bars(answers);
    this.said.replaceChildren(
      make("div", {}, make("p", { class: "answer" }, named(best.text)), make("div", { class: "facts" }, facts)),
      ...(bars ? [bars] : []),
    );
  }

  #bars(answers) {
    const row = (answer, index) => {
      const fill = make("i");
      fill.style.width = `${100 * chance(answer)}%`;
      return make(
        "div",
        { class: index ? "lk-bar" : "lk-bar lk-said-it", role: "listitem" },
        make("span", { class: "lk-label", title: named(answer.text) }, named(answer.text)),
        make("span", { class: "lk-room", "aria-hidden": "true" }, fill),
        make("span", { class: "lk-number" }, percent(chance(answer))),
      );
    };
    return make("div", { class: "lk-bars", role: "list", "aria-label": "Likeliest answers" }, answers.map(row));
  }

  // The document without the sentences that were chosen is asked the same.
  async #strike(sentence) {
    const removed = new Set(this.removed);
    if (!removed.delete(sentence)) removed.add(sentence);
    if (removed.size === this.source.sentences.length) {
      return showError(this.error, new Error("One sentence has to stay."));
    }
    this.asking?.abort();
    const asking = (this.asking = new AbortController());
    this.removed = removed;
    showError(this.error, null);
    this.view.element.setAttribute("aria-busy", "true");
    try {
      const trace = removed.size ? await api.explain(this.#without(removed), asking.signal) : this.trace;
      if (this.asking !== asking) return;
      // Of a long document that is read again, another window may have the answer: it is shown as it is.
      const elsewhere = removed.size > 0 && trace.source.text !== reducedText(this.source, removed);
      this.#allowStriking(!elsewhere);
      this.view.render(elsewhere ? { trace } : { trace, source: this.source, removed });
      this.#compare(removed.size ? trace : null, elsewhere);
    } catch (error) {
      if (!api.cancelled(error)) showError(this.error, error);
    } finally {
      if (this.asking === asking) this.view.element.removeAttribute("aria-busy");
    }
  }

  // Of a long document, the trace has the window that the answer is from.
  #without(removed) {
    const [{ name }] = this.pane.model.inputs;
    const asked = this.pane.request(true);
    const at = asked[name].indexOf(this.source.text);
    const around = at < 0 ? ["", ""] : [asked[name].slice(0, at), asked[name].slice(at + this.source.text.length)];
    return { ...asked, [name]: around[0] + reducedText(this.source, removed) + around[1] };
  }

  #allowStriking(may) {
    this.view.struck = may ? (sentence) => this.#strike(sentence) : null;
  }

  // The answer before and after; null: nothing is left out. Elsewhere: in another part of a long document.
  #compare(trace, elsewhere = false) {
    if (!trace) return this.evidence.replaceChildren();
    const [before] = this.answers;
    const [after] = trace.answers;
    const still = trace.answers.find(({ text }) => text === before.text);
    const count = this.removed.size;
    const row = (what, answer) => {
      const bar = make("span", { class: "bar" });
      bar.style.setProperty("--chance", chance(answer).toFixed(4));
      return make(
        "tr",
        {},
        make("th", { scope: "row" }, what),
        make("td", { class: "after" }, named(answer.text)),
        make("td", { class: "figure" }, probability(answer.log_probability), bar),
      );
    };
    const without = count === 1 ? "without that sentence" : `without those ${count} sentences`;
    const rows = [row("with everything", before), row(without, after)];
    if (after.text !== before.text && still) rows.push(row("the first answer there", still));
    const verdict = after.text === before.text ? "The answer stays the same." : "The answer is another one.";
    return this.evidence.replaceChildren(
      make("p", { class: "verdict" }, elsewhere ? `${verdict} Above is the part of the document that it is from now.` : verdict),
      make("table", { class: "evidence" }, make("tbody", {}, rows)),
      make("button", { type: "button", class: "quiet", click: () => this.#restore() }, "Bring everything back"),
    );
  }

  #restore() {
    this.asking?.abort();
    this.removed = new Set();
    this.#allowStriking(true);
    this.view.render({ trace: this.trace, source: this.source });
    this.view.sentences[this.view.held ?? 0]?.focus({ preventScroll: true });
    this.#compare(null);
  }

  // Places of the map are words or tokens, those of the view words; sentences are the same in both.
  #place(side, index, from, to) {
    const same = side === "source" && this.view.bySentence;
    return same ? index : placeIn(this.trace[side], index, from, to);
  }

  #picked(side, index) {
    if (!this.removed?.size) this.pane.views.light(side, this.#place(side, index, "words", this.pane.unit));
  }

  light(side, row) {
    if (!this.removed.size) this.view.light(side, this.#place(side, row, this.pane.unit, "words"));
  }

  pin(step) {
    this.view.pin("target", placeIn(this.trace.target, step, "tokens", "words"));
  }
}
