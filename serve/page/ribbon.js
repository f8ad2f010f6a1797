// The two sentences, one above the other. A word that is pointed at or focused lights up what it belongs to in the other
// sentence, with the share in figures, and lines between them; a click keeps it lit.

import { draw, make, rove } from "./dom.js";
import { percent as percentOf } from "./numbers.js";

const SHOWN = 0.01; // of the row's largest value: below, a word stays unlit
const LINE_FROM = 0.08; // of what counts as full: below, there is no line
const IDLE_FROM = 0.5; // while nothing is pointed at, only those that say something, of sentences that one can take in
const IDLE_WORDS = 40;
const DOUBT = 0.3; // a word that the model found less likely is marked
const OTHER = { source: "target", target: "source" };

export class Ribbon {
  // `picked(side, index)` is told what is lit; index −1: nothing.
  constructor(picked) {
    this.picked = picked;
    this.pinned = null;
    this.lines = { source: this.#line("source", "The sentence"), target: this.#line("target", "Its translation") };
    this.links = draw("svg", { class: "links", "aria-hidden": "true" });
    this.readout = make("p", { class: "readout" });
    this.element = make("div", { class: "ribbon" }, this.links, this.lines.source, this.lines.target);
    this.element.addEventListener("pointerleave", () => this.#show(this.pinned));
    new ResizeObserver(() => this.map && this.#show(this.lit, true)).observe(this.element);
  }

  // While an answer is being made: words without a map.
  say(source, target, growing = true) {
    this.map = null;
    this.pinned = null;
    this.#clear();
    this.lines.source.replaceChildren(make("span", { class: "plain" }, source));
    this.lines.target.replaceChildren(make("span", { class: growing ? "plain growing" : "plain" }, target));
    this.readout.textContent = "";
  }

  // `map` is a matrix [target][source]; `write` gives a value's text, `percent` says that rows are shares; `chances` has the
  // probability of each target word, `unknown` the places of source words that the vocabulary does not know.
  render({ source, target, map, percent, attention, write, chances, unknown }) {
    Object.assign(this, { map, percent, attention, write, names: { source, target }, lit: null });
    this.words = { source: this.#words(source), target: this.#words(target) };
    this.words.source.forEach((word, index) => {
      if (unknown.has(index))
        mark(word, "unknown", "the vocabulary does not know it: the model sees only that it is unknown");
    });
    this.words.target.forEach((word, index) => {
      if (chances[index] < DOUBT) mark(word, "doubted", `the model gave it ${percentOf(chances[index])}`);
    });
    for (const side of ["source", "target"]) this.lines[side].replaceChildren(...this.words[side]);
    this.element.classList.toggle("long", Math.max(source.length, target.length) > IDLE_WORDS);
    if (this.pinned && this.pinned.index >= this.words[this.pinned.side].length) this.pinned = null;
    this.#show(this.pinned, true);
  }

  // Lights up what the word looked at (target) or who looked at it (source); index −1: what is pinned, or nothing.
  light(side, index) {
    this.#show(index < 0 ? this.pinned : { side, index });
  }

  // Keeps a word lit; a second time lets go of it.
  pin(side, index) {
    const same = this.pinned && this.pinned.side === side && this.pinned.index === index;
    this.pinned = same ? null : { side, index };
    this.#show(this.pinned ?? { side, index }, true);
  }

  #line(side, label) {
    const line = make("div", { class: `line ${side}`, role: "group", "aria-label": label });
    const at = (event) => {
      const word = event.target.closest(".word");
      return word ? this.words[side].indexOf(word) : -1;
    };
    const show = (event) => at(event) >= 0 && this.#show({ side, index: at(event) });
    line.addEventListener("pointerover", show);
    line.addEventListener("focusin", show);
    line.addEventListener("focusout", () => this.#show(this.pinned));
    line.addEventListener("click", (event) => at(event) >= 0 && this.pin(side, at(event)));
    line.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.pinned = null;
      if (rove(this.words?.[side] ?? [], event.key, event.target)) event.preventDefault();
    });
    return line;
  }

  #words(names) {
    return names.map((name, index) =>
      make(
        "button",
        { type: "button", class: "word", tabindex: index ? -1 : 0, "aria-pressed": "false" },
        make("span", { class: "name" }, name),
        make("span", { class: "share", "aria-hidden": "true" }),
      ),
    );
  }

  // What one word has to do with each of the other side.
  #values({ side, index }) {
    return side === "target" ? (this.map[index] ?? []) : this.map.map((row) => row[index]);
  }

  #show(pick, again = false) {
    if (!this.map) return;
    const same = pick && this.lit && pick.side === this.lit.side && pick.index === this.lit.index;
    if (!again && (same || (!pick && !this.lit))) return;
    this.#clear();
    this.lit = pick;
    if (pick) this.#light(pick);
    else this.#rest();
    this.picked(pick?.side ?? "target", pick?.index ?? -1);
  }

  #light(pick) {
    const values = this.#values(pick),
      others = this.words[OTHER[pick.side]];
    const most = Math.max(1e-9, ...values.map(Math.abs)),
      full = this.#full(most);
    const strongest = values.findIndex((value) => Math.abs(value) === most);
    values.forEach((value, index) => {
      if (Math.abs(value) < SHOWN * most) return;
      others[index].classList.add(
        "lit",
        ...(value < 0 ? ["against"] : []),
        ...(index === strongest ? ["strongest"] : []),
      );
      others[index].style.setProperty("--level", (Math.abs(value) / full).toFixed(3));
      others[index].lastChild.textContent = this.write(value);
    });
    const word = this.words[pick.side][pick.index];
    word.classList.add("active");
    word.setAttribute("aria-pressed", String(this.pinned === pick));
    this.#say(pick, values, word);
    reveal(others[strongest]);
    reveal(word);
    const line = this.#pencil();
    const lines = values.map(
      (value, other) => Math.abs(value) >= LINE_FROM * full && line(word, others[other], value / full),
    );
    this.links.classList.remove("idle");
    this.links.replaceChildren(...lines.filter(Boolean));
  }

  #say({ side, index }, values, word) {
    const order = values
      .map((value, other) => [value, other])
      .sort((a, b) => Math.abs(b[0]) - Math.abs(a[0]))
      .slice(0, 3);
    const list = order.map(([value, other]) => `${this.names[OTHER[side]][other]} ${this.write(value)}`).join(", ");
    const name = this.names[side][index];
    const did = this.attention ? "looked at" : "leant on"; // gradients do not look
    const verb = side === "target" ? did : `was ${did} by`;
    this.readout.replaceChildren(make("strong", {}, name), ` ${verb} ${list}`);
    word.setAttribute("aria-label", `${name} ${verb} ${list}`);
  }

  // Nothing is pointed at: the alignment at a glance.
  #rest() {
    this.readout.textContent = "Point at a word to see what it belongs to.";
    if (this.map.length > IDLE_WORDS || this.words.source.length > IDLE_WORDS) return;
    const most = Math.max(1e-9, ...this.map.flat().map(Math.abs)),
      full = this.#full(most);
    const line = this.#pencil();
    const lines = this.map.flatMap((row, t) =>
      row.map(
        (value, s) => value >= IDLE_FROM * full && line(this.words.target[t], this.words.source[s], value / full),
      ),
    );
    this.links.classList.add("idle");
    this.links.replaceChildren(...lines.filter(Boolean));
  }

  // The value that is drawn in full. Attention that is spread thinly should look so, and not like one that is sure.
  #full(most) {
    return this.percent ? Math.max(most, 0.4) : most;
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

  #clear() {
    this.links.replaceChildren();
    for (const word of this.element.querySelectorAll(".lit, .active")) {
      word.classList.remove("lit", "active", "against", "strongest");
      word.setAttribute("aria-pressed", "false");
      word.style.removeProperty("--level");
      word.lastChild.textContent = "";
    }
    this.lit = null;
  }
}

function mark(word, kind, title) {
  word.classList.add(kind);
  word.title = title;
}

// Of a long sentence only a part is seen; what is lit should be in it.
function reveal(word) {
  const line = word?.parentElement;
  if (!line || line.scrollHeight <= line.clientHeight) return;
  const top = word.offsetTop - line.offsetTop - line.scrollTop;
  if (top < 0 || top + word.offsetHeight > line.clientHeight) line.scrollTop += top - line.clientHeight / 2;
}
