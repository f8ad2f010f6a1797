// A text and the answer in words, one above the other. A word that is pointed at or focused lights up what it belongs to in the
// other line, with the share in figures, and lines between them; a click keeps it lit.

import { draw, make } from "./dom.js";
import { fullOf, Pointing, told } from "./pointing.js";
import { sceneOf } from "./scene.js";
import { activate, lightUp, listen, markDoubted, markUnknown, putOut, reveal, wordsOf } from "./words.js";

const LINE_FROM = 0.08; // of what counts as full: below, there is no line
const IDLE_FROM = 0.5; // while nothing is pointed at, only those that say something, of sentences that one can take in
const IDLE_WORDS = 40;
const OTHER = { source: "target", target: "source" };

export class Ribbon extends Pointing {
  constructor(picked) {
    super(picked);
    this.lines = { source: this.#line("source", "The text"), target: this.#line("target", "The answer") };
    this.links = draw("svg", { class: "links", "aria-hidden": "true" });
    this.readout = make("p", { class: "readout" });
    this.element = make("div", { class: "ribbon" }, this.links, this.lines.source, this.lines.target);
    this.element.addEventListener("pointerleave", () => this.show(this.pinned));
    new ResizeObserver(() => this.scene && this.show(this.lit, true)).observe(this.element);
  }

  render({ trace, unit }) {
    const scene = sceneOf(trace, unit);
    Object.assign(this, { scene, lit: null });
    this.words = { source: wordsOf(scene.source), target: wordsOf(scene.target) };
    markUnknown(this.words.source, scene.unknown);
    markDoubted(this.words.target, scene.chances);
    for (const side of ["source", "target"]) this.lines[side].replaceChildren(...this.words[side]);
    this.element.classList.toggle("long", this.#long);
    if (this.pinned && this.pinned.index >= this.words[this.pinned.side].length) this.pinned = null;
    this.show(this.pinned, true);
  }

  get #long() {
    return Math.max(this.scene.source.length, this.scene.target.length) > IDLE_WORDS;
  }

  #line(side, label) {
    const line = make("div", { class: `line ${side}`, role: "group", "aria-label": label });
    listen(line, side, this, () => this.words?.[side] ?? []);
    return line;
  }

  // What one word has to do with each of the other side.
  #values({ side, index }) {
    return side === "target" ? (this.scene.map[index] ?? []) : this.scene.map.map((row) => row[index]);
  }

  shine(pick) {
    const { scene } = this,
      other = OTHER[pick.side],
      values = this.#values(pick);
    const full = fullOf(values, scene.percent);
    const strongest = lightUp(this.words[other], values, full, scene.write);
    const word = this.words[pick.side][pick.index],
      name = scene[pick.side][pick.index];
    const text = told(pick.side, scene[other], values, scene);
    this.readout.replaceChildren(make("strong", {}, name), ` ${text}`);
    activate(word, `${name} ${text}`, this.pinned === pick);
    reveal(strongest, this.lines[other]);
    reveal(word, this.lines[pick.side]);
    const line = this.#pencil();
    const lines = values.map(
      (value, index) => Math.abs(value) >= LINE_FROM * full && line(word, this.words[other][index], value / full),
    );
    this.links.classList.remove("idle");
    this.links.replaceChildren(...lines.filter(Boolean));
  }

  // Nothing is pointed at: the alignment at a glance.
  rest() {
    this.readout.textContent = "Point at a word to see what it belongs to.";
    if (this.#long) return;
    const { map, percent } = this.scene,
      full = fullOf(map.flat(), percent);
    const line = this.#pencil();
    const lines = map.flatMap((row, t) =>
      row.map(
        (value, s) => value >= IDLE_FROM * full && line(this.words.target[t], this.words.source[s], value / full),
      ),
    );
    this.links.classList.add("idle");
    this.links.replaceChildren(...lines.filter(Boolean));
  }

  // Draws lines between two words; none to one that is scrolled out of sight.
  #pencil() {
    const base = this.element.getBoundingClientRect();
    const frames = new Map(Object.values(this.lines).map((line) => [line, line.getBoundingClientRect()]));
    const end = (word) => {
      const box = word.getBoundingClientRect(),
        frame = frames.get(word.parentElement);
      if (box.bottom > frame.bottom + 1 || box.top < frame.top - 1) return null;
      const above = word.parentElement === this.lines.source;
      const y = !above
        ? box.top
        : word.lastChild.textContent
          ? box.bottom
          : word.firstChild.getBoundingClientRect().bottom + 3;
      return [box.left + box.width / 2 - base.left, y - base.top];
    };
    return (one, other, strength) => {
      const from = end(one),
        to = end(other);
      if (!from || !to) return null;
      const half = (from[1] + to[1]) / 2;
      return draw("path", {
        d: `M${from} C${from[0]} ${half} ${to[0]} ${half} ${to}`,
        class: strength < 0 ? "against" : false,
        "stroke-width": (1 + 4 * Math.abs(strength)).toFixed(2),
      });
    };
  }

  clear() {
    this.links.replaceChildren();
    putOut(this.element);
    this.lit = null;
  }
}
