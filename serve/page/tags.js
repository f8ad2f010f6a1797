// A tag for each word, beneath it. Tags of spans (B-PER, I-PER, O) are one band beneath all words of the span.

import { make } from "./dom.js";
import { fullOf, Pointing, told } from "./pointing.js";
import { sceneOf } from "./scene.js";
import { activate, lightUp, listen, mark, markDoubted, markUnknown, putOut, reveal, wordsOf } from "./words.js";

const HUES = 12;
const SPAN = /^([BIES])-(.+)$/;
const OUTSIDE = "O";

// Runs of words under one tag: {name, first, last}. An I- that continues nothing begins a span, as seqeval has it.
export function spansOf(tags) {
  const parts = tags.map((tag) => SPAN.exec(tag));
  const spans = tags.every((tag, i) => parts[i] || tag === OUTSIDE) && parts.some(Boolean);
  const found = [];
  tags.forEach((tag, i) => {
    const [, place, name] = (spans && parts[i]) || [null, "", tag === OUTSIDE && spans ? "" : tag];
    const before = found.at(-1);
    const open = i > 0 && parts[i - 1] && !"ES".includes(parts[i - 1][1]);
    if (open && ["I", "E"].includes(place) && before.name === name) before.last = i;
    else found.push({ name, first: i, last: i });
  });
  return found;
}

// The same colour for the same name in each text; where another name of the text has it already, the next one.
export function huesOf(names) {
  const hues = new Map();
  for (const name of new Set(names.filter(Boolean))) {
    let hue = [...name].reduce((sum, letter) => (31 * sum + letter.codePointAt(0)) % 9973, 7) % HUES;
    for (let tried = 0; tried < HUES && [...hues.values()].includes(hue); ++tried) hue = (hue + 5) % HUES;
    hues.set(name, hue);
  }
  return hues;
}

// A text with its tags. A word that is pointed at shades those that its tag depended on.
export class Tagged extends Pointing {
  constructor(picked) {
    super(picked);
    this.line = make("div", { class: "line tagged", role: "group", "aria-label": "The text and its tags" });
    this.readout = make("p", { class: "readout" });
    this.element = make("div", { class: "ribbon" }, this.line);
    this.element.addEventListener("pointerleave", () => this.show(this.pinned));
    listen(this.line, "target", this, () => this.words ?? []);
  }

  // `reference`: the tags that would be right, where that is known.
  render({ trace, reference }) {
    const scene = sceneOf(trace, "words"),
      tags = scene.target;
    this.words = wordsOf(scene.source);
    this.words.forEach((word, i) => (word.title = tags[i]));
    markUnknown(this.words, scene.unknown);
    markDoubted(this.words, scene.chances);
    const right = reference ? reference.split(" ") : tags;
    this.words.forEach((word, i) => right[i] !== tags[i] && mark(word, "wrong", `wanted: ${right[i]}`));
    const spans = spansOf(tags),
      hues = huesOf(spans.map(({ name }) => name));
    this.line.replaceChildren(...spans.map((span) => this.#span(span, hues.get(span.name))));
    this.element.classList.toggle("long", tags.length > 40);
    if (this.pinned && this.pinned.index >= tags.length) this.pinned = null;
    Object.assign(this, { scene, lit: null });
    this.show(this.pinned, true);
  }

  #span({ name, first, last }, hue) {
    const words = make("span", { class: "span-words" }, this.words.slice(first, last + 1));
    const band = make("span", { class: "band" }, name || "·");
    if (name) band.style.setProperty("--hue", (360 * hue) / HUES);
    return make("span", { class: name ? "span" : "span outside" }, words, band);
  }

  shine(pick) {
    const { scene } = this,
      { side, index } = pick;
    const values = side === "target" ? scene.map[index] : scene.map.map((row) => row[index]);
    lightUp(this.words, values, fullOf(values, scene.percent), scene.write);
    const tag = scene.target[index],
      text = told(side, scene.source, values, scene);
    this.readout.replaceChildren(make("strong", {}, scene.source[index]), ` ${tag} ${text}`);
    activate(this.words[index], `${scene.source[index]}, ${tag}, ${text}`, this.pinned === pick);
    reveal(this.words[index], this.line);
  }

  rest() {
    this.readout.textContent = "Point at a word to see which words its tag depends on.";
  }

  clear() {
    putOut(this.element);
  }
}
