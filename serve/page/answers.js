// How an answer is shown, by what the model read and what it answers with.
//
// Each is a class or made of one: new Shown(pane), with its element; show(seen, anew) of what questions.js gives; and, where the
// answer has a map, light(side, row) of what is pointed at there (−1: nothing) and pin(step), a token that is to stay lit.

import { documentOf, DocumentView } from "./document.js";
import { make } from "./dom.js";
import { chosen, compared, cutOff, fact, sureness } from "./facts.js";
import { Found } from "./found.js";
import { placeIn } from "./grid.js";
import { kindOf } from "./kinds.js";
import { Label } from "./label.js";
import { decimal, probability } from "./numbers.js";
import { urlOf } from "./pictures.js";
import { Ribbon } from "./ribbon.js";
import { Tagged } from "./tags.js";
import { treeOf, TreeView } from "./tree.js";

// Views of a trace whose places are rows and columns of its map: whether they can show it, and whether the places of source and
// target are words or tokens, given what the map's are.
const RIBBON = { View: Ribbon, fits: () => true, levels: (unit) => ({ source: unit, target: unit }) };
const DOCUMENT = { View: DocumentView, fits: documentOf, levels: () => ({ source: "words", target: "words" }) };
const TAGGED = {
  View: Tagged,
  fits: ({ source, target }) => source.words.length === target.words.length,
  levels: () => ({ source: "words", target: "words" }),
};
const TREE = { View: TreeView, fits: treeOf, levels: () => ({ source: "words", target: "tokens" }) };

// An answer in a view that is lit together with the map: the first that fits. `each` is what the model was sure of one by one;
// `only`: an answer that is not the reference is wrong.
class Placed {
  constructor(pane, views, { each, only }) {
    Object.assign(this, { pane, views, each, only });
    this.made = new Map();
    this.facts = make("div", { class: "facts" });
    this.element = make("div");
  }

  show({ trace }, anew) {
    this.trace = trace;
    const row = this.views.find(({ fits }) => fits(trace));
    if (!this.made.has(row)) this.made.set(row, new row.View((side, index) => this.#picked(side, index)));
    Object.assign(this, { row, view: this.made.get(row) });
    this.element.replaceChildren(this.view.element, this.view.readout, this.facts);
    if (anew) this.view.pinned = null;
    const { unit, app } = this.pane;
    this.view.render({ trace, unit, reference: app.entry.reference });
    this.facts.replaceChildren(
      ...sureness(trace.target, this.each),
      ...compared(trace.target.text, app.entry.reference, this.only),
      ...chosen(this.pane, trace.target),
    );
  }

  #level(side) {
    return this.row.levels(this.pane.unit)[side];
  }

  #picked(side, index) {
    const { unit, views } = this.pane;
    views.light(side, placeIn(this.trace[side], index, this.#level(side), unit));
  }

  light(side, row) {
    this.view.light(side, placeIn(this.trace[side], row, this.pane.unit, this.#level(side)));
  }

  pin(step) {
    this.view.pin("target", placeIn(this.trace.target, step, "tokens", this.#level("target")));
  }
}

// A text and an answer in plain words: while it is made, and of a network of which nothing more can be shown.
export class Plain {
  constructor(pane) {
    this.pane = pane;
    this.lines = make("div", { class: "ribbon" });
    this.facts = make("div", { class: "facts" });
    this.element = make("div", {}, this.lines, make("p", { class: "readout" }), this.facts);
  }

  say(text, answer, growing) {
    const line = (side, words, more = "") =>
      make("div", { class: `line ${side}` }, make("span", { class: `plain ${more}` }, words));
    this.lines.replaceChildren(line("source", text), line("target", answer, growing && "growing"));
    this.facts.replaceChildren();
  }

  show({ answers: [best] }) {
    this.say(this.pane.app.entry.asked ?? this.pane.shared.text, best.text, false);
    const { log_probability: log, ended } = best;
    this.facts.append(
      ...cutOff(ended),
      fact(`log-probability ${decimal(log)}. Nothing can be shown of how this network came to it.`),
    );
  }
}

// What an image shows, in words; where each looked is in the view below.
class Caption {
  constructor(pane) {
    this.pane = pane;
    this.element = make("div", { class: "headline" });
  }

  show({ answers: [best] }) {
    const sure = `${probability(best.log_probability)} sure of the whole · log-probability ${decimal(best.log_probability)}`;
    const facts = [fact(sure), ...cutOff(best.ended), ...compared(best.text, this.pane.app.entry.reference, false)];
    const text = make("p", { class: "answer" }, best.text || "(nothing)");
    this.element.replaceChildren(make("div", {}, text, make("div", { class: "facts" }, facts)));
  }
}

// What was said in a sound; when and where it was heard is in the view below. Of a label for each place those that are the same
// are said once.
class Heard extends Caption {
  show(seen) {
    const [best] = seen.answers;
    const labels = best.text.split(" ");
    const once = this.pane.model.answers === "tags" ? labels.filter((label, i) => label !== labels[i - 1]).join(" ") : best.text;
    super.show({ ...seen, answers: [{ ...best, text: once }] });
  }
}

// Its places are no words that could be shaded.
class HeardLabel extends Label {
  show(seen) {
    super.show({ ...seen, trace: null });
  }
}

// An image, and what the network makes of it.
class Figures {
  constructor(pane) {
    this.pane = pane;
    this.element = make("div", { class: "headline" });
  }

  show({ answers: [best] }) {
    const figure = (data, text) =>
      make("figure", {}, make("img", { src: urlOf(data), alt: text, class: "lk-few" }), make("figcaption", {}, text));
    this.element.replaceChildren(
      figure(this.pane.shared.picture.data, "the image"),
      figure(best.image, "what it makes of it"),
      make("div", { class: "facts" }, "This network answers with an image; there is nothing to show of where it looked."),
    );
  }
}

const placed = (views, how) => (pane) => new Placed(pane, views, how);
const made = (Shown) => (pane) => new Shown(pane);

// make(pane) → how it is shown; asks(model) → what is asked for besides; edited: what a reader may write anew; perWord: it has
// as many parts as the text has words, of which therefore none can be taken away; untraced: it needs no trace to be shown.
const ANSWERS = {
  text: {
    words: { make: placed([DOCUMENT, RIBBON], { each: "token" }), edited: "answer" },
    label: { make: made(Label), asks: Label.asks, untraced: true },
    tags: { make: placed([TAGGED, RIBBON], { each: "word", only: true }), edited: "tags", perWord: true },
    tree: { make: placed([TREE, RIBBON], { each: "token", only: true }), edited: "tree" },
  },
  texts: {
    words: { make: made(Found), asks: Found.asks },
  },
  image: {
    words: { make: made(Caption), untraced: true },
    label: { make: made(Label), asks: Label.asks, untraced: true },
    image: { make: made(Figures), untraced: true },
  },
  sound: {
    words: { make: made(Heard), untraced: true },
    tags: { make: made(Heard), untraced: true },
    label: { make: made(HeardLabel), asks: Label.asks, untraced: true },
  },
};
const PLAIN = { make: made(Plain) };

// What is answered in a way that this page does not know is shown in words.
export function answerOf(model) {
  const rows = ANSWERS[kindOf(model)];
  const row = rows[model.answers] ?? rows.words;
  return row.untraced || model.methods.length ? row : PLAIN;
}
