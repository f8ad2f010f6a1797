// A document as running text, shaded by where an answer was looked for in it: what each word of the answer looked at; of a span
// where it starts and ends; of a memory how much each hop looked at each sentence, as a table.
//
//   documentOf(trace) → true if it is shown so, as explain/document.h has it
//   new DocumentView(picked, {struck}), a Pointing (pointing.js) whose targets and sources are words (sources of hops: sentences)
//     view.element, view.readout, view.render({trace, source, removed})
//     struck(sentence): a sentence was chosen, to be left out or brought back; without it sentences cannot be chosen
//     source, removed: what the trace is of without its `removed` sentences (a Set of numbers); they are shown struck through
//   reducedText(side, removed) → the text of a source without these sentences
//
// Style: theme.css and document.css.
import { make } from "./draw.js";
import { gridOf, shown } from "./grid.js";
import { fullOf, Pointing, told } from "./pointing.js";

const LONG_SOURCE = 60; // words
const MUCH_LONGER = 2.5; // than the answer
const COPIED = 0.5; // from here on a word counts as copied
const UNSEEN = 0.03; // of the largest value: below, a word is not shaded
const ENDS = ["start", "end"]; // of a span
const OWN_PICTURE = ["tags", "tree"];

/** Whether a trace is shown as a document: by its places, whatever its task. */
export function documentOf({ source, target, inputs = [], maps }) {
  const [map] = maps;
  if (!source.words.length || source.word_ranges?.length !== source.words.length) return false;
  if (OWN_PICTURE.includes(target.kind) || !map?.words) return false;
  const { queries = "target", keys = "source" } = map;
  if (queries !== "target" || !["source", "sentences"].includes(keys)) return false;
  const long = source.words.length > LONG_SOURCE && source.words.length > MUCH_LONGER * target.words.length;
  return inputs.length > 0 || Boolean(target.copied) || target.kind === "span" || long;
}

/** Positions in bytes → in the units of a string. */
function unitsOf(text) {
  const bytes = new TextEncoder().encode(text);
  const units = new Uint32Array(bytes.length + 1);
  let unit = 0;
  bytes.forEach((byte, i) => {
    units[i] = unit; // within a letter: where the next one begins
    if ((byte & 0xc0) === 0x80) return;
    unit += byte >= 0xf0 ? 2 : 1;
  });
  units[bytes.length] = text.length;
  return ([begin, end]) => [units[begin], units[end]];
}

/** The sentence of each word; −1: none. */
function sentenceOfWords({ word_ranges: words, sentences = [] }) {
  let at = 0;
  return words.map(([begin]) => {
    while (at < sentences.length && sentences[at][1] <= begin) ++at;
    return at < sentences.length && sentences[at][0] <= begin ? at : -1;
  });
}

export function reducedText({ text, sentences }, removed) {
  const place = unitsOf(text);
  const kept = sentences.map((range, i) => [i, ...place(range)]).filter(([i]) => !removed.has(i));
  // Between two that are kept stays what stood before the second of them.
  return kept
    .map(([i, begin, end], order) => {
      const before = order > 0 && i > 0 ? text.slice(place(sentences[i - 1])[1], begin) : "";
      return before + text.slice(begin, end);
    })
    .join("");
}

/** The largest magnitude, and where it is. */
const largest = (values) => values.reduce((most, value) => (Math.abs(value) > most ? Math.abs(value) : most), 0);
function strongestIn(values) {
  const most = largest(values);
  return values.findIndex((value) => Math.abs(value) === most);
}

/** How far each word of the answer was copied; null where nothing copies. */
function copiedShares({ words, word_of: wordOf, copied }) {
  if (!copied) return null;
  return words.map((_, word) => {
    const own = copied.filter((_share, token) => wordOf[token] === word);
    return own.reduce((sum, share) => sum + share, 0) / Math.max(1, own.length);
  });
}

/** What each hop looked at, sentence by sentence; none: the trace has no weights of hops. */
function hopsOf(trace) {
  const hops = trace.sites.filter(({ keys, weights }) => keys === "sentences" && weights);
  return hops
    .sort((a, b) => a.layer - b.layer)
    .map(({ layer, weights }) => {
      const rows = weights.flat();
      const mean = rows[0].map((_, s) => rows.reduce((sum, row) => sum + (row[s] ?? 0), 0) / rows.length);
      return { name: `hop ${layer + 1}`, values: mean };
    });
}

export class DocumentView extends Pointing {
  constructor(picked, { struck = null } = {}) {
    super(picked);
    this.struck = struck;
    this.answer = make("div", { className: "dc-answer" });
    this.answer.setAttribute("role", "group");
    this.box = make("div", { className: "dc-box", tabIndex: 0 });
    this.box.setAttribute("role", "region");
    this.legend = make("div", { className: "dc-legend" });
    this.readout = make("p", { className: "readout dc-readout" });
    this.element = make("div", { className: "dc" }, this.answer, this.box, this.legend);
    this.listenTo(this.answer, "target", ".dc-said");
    this.listenTo(this.box, "source", "[data-place]");
    this.answer.addEventListener("click", ({ target }) => {
      const chip = target.closest(".dc-said");
      if (chip) this.pin("target", Number(chip.dataset.index));
    });
    this.answer.addEventListener("keydown", (event) => this.move(event, this.said));
    this.box.addEventListener("click", ({ target }) => this.choose(target.closest("[data-sentence]")));
    this.box.addEventListener("keydown", (event) => this.keyed(event));
  }

  listenTo(line, side, selector) {
    const point = ({ target }) => {
      const place = target.closest(selector);
      this.light(side, place && line.contains(place) ? Number(place.dataset.place ?? place.dataset.index) : -1);
    };
    line.addEventListener("pointerover", point);
    line.addEventListener("pointerleave", () => this.light(side, -1));
    line.addEventListener("focusin", point);
    line.addEventListener("focusout", () => this.light(side, -1));
  }

  /** Arrow keys move among items, of which one at a time is in the tab order. */
  move(event, items) {
    const at = items.indexOf(event.target);
    const steps = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 };
    const next = items[steps[event.key]];
    if (at < 0 || !next) return;
    event.preventDefault();
    for (const item of items) item.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }

  keyed(event) {
    if (!this.struck) return;
    this.move(event, this.sentences);
    const chosen = event.target.closest("[data-sentence]");
    if (!chosen || (event.key !== "Enter" && event.key !== " ")) return;
    event.preventDefault();
    this.choose(chosen);
  }

  choose(sentence) {
    if (!this.struck || !sentence) return;
    this.held = Number(sentence.dataset.sentence);
    this.struck(this.held);
  }

  render({ trace, source = trace.source, removed = new Set() }) {
    const again = this.source === source; // the same text: who has scrolled stays there
    const focused = this.box.contains(document.activeElement) && document.activeElement !== this.box;
    Object.assign(this, { trace, source, removed, pinned: again ? this.pinned : null, lit: null });
    this.grid = gridOf(trace, { map: 0, level: "words" });
    this.bySentence = this.grid.columnSide === "sentences";
    this.percent = this.grid.percent;
    this.attention = ["attention", "rollout"].includes(trace.maps[0].method);
    this.sentenceOf = sentenceOfWords(source);
    this.span = trace.target.kind === "span" && this.grid.rows.length === 2 && !this.grid.signed && !this.bySentence;
    this.setPlaces();
    this.showAnswer();
    const scrolled = this.box.scrollTop;
    if (this.bySentence) this.showSentences();
    else this.showText();
    this.box.setAttribute("aria-label", source.name ? `The ${source.name}` : "The text");
    this.showLegend();
    if (again) this.box.scrollTop = scrolled;
    this.show(this.pinned, true);
    if (focused) this.sentences[this.held ?? 0]?.focus({ preventScroll: true });
  }

  /** Columns of the trace → places of the whole source: those of its sentences that are still there. */
  setPlaces() {
    const { source, removed, sentenceOf } = this;
    const all = this.bySentence ? source.sentences.map((_, i) => i) : source.words.map((_, i) => i);
    const kept = all.filter((i) => !removed.has(this.bySentence ? i : sentenceOf[i]));
    this.placeOf = kept.length === this.grid.columns.length ? kept : [];
    this.names = this.bySentence ? source.sentences.map((_, i) => this.sentenceText(i)) : source.words;
    this.hops = this.bySentence ? hopsOf(this.trace) : [];
  }

  sentenceText(i) {
    this.units = this.unitsFor === this.source ? this.units : unitsOf(this.source.text);
    this.unitsFor = this.source;
    return this.source.text.slice(...this.units(this.source.sentences[i]));
  }

  /** Of a row of the grid, in places of the whole source. */
  spread(values) {
    const all = new Array(this.names.length).fill(0);
    this.placeOf.forEach((place, column) => (all[place] = values[column] ?? 0));
    return all;
  }

  rowOf(row) {
    const wide = this.grid.columns.length;
    return this.spread(this.grid.values.subarray(row * wide, (row + 1) * wide));
  }

  /** What the answer as a whole looked at. */
  total() {
    const wide = this.grid.columns.length;
    const sums = new Array(wide).fill(0);
    this.grid.values.forEach((value, i) => (sums[i % wide] += value));
    return this.spread(this.grid.percent ? sums.map((sum) => sum / Math.max(1, this.grid.rows.length)) : sums);
  }

  // The answer, word by word; of a span where it starts and where it ends.

  showAnswer() {
    const { grid, trace } = this;
    const copied = copiedShares(trace.target);
    const single = grid.rows.length < 2; // a label: there is nothing to choose
    this.said = (single ? [] : grid.rows).map((word, index) => {
      const name = this.span ? ENDS[index] : word;
      const chip = make("button", { type: "button", className: "dc-said", tabIndex: index ? -1 : 0 });
      chip.append(make("bdi", { className: "dc-name", textContent: name }));
      chip.append(make("small", { className: "dc-share" }));
      chip.dataset.index = index;
      chip.setAttribute("aria-pressed", "false");
      if (copied?.[index] >= COPIED) {
        chip.classList.add("dc-copied");
        chip.title = `copied, ${Math.round(100 * copied[index])} %`;
      }
      return chip;
    });
    this.answer.hidden = single;
    this.answer.classList.toggle("dc-ends", this.span);
    this.answer.setAttribute("aria-label", this.span ? "Where the answer starts and ends" : "The answer");
    this.answer.replaceChildren(...this.said);
  }

  // Running text: paragraphs are the text's own.

  sentenceNode(i) {
    const node = make("span", { className: "dc-sentence" });
    if (!this.struck || i < 0) return node;
    node.dataset.sentence = i;
    node.setAttribute("role", "button");
    node.setAttribute("aria-pressed", String(this.removed.has(i)));
    node.tabIndex = -1;
    node.title = this.removed.has(i) ? "Bring this sentence back" : "Leave this sentence out, and see what becomes of the answer";
    node.classList.toggle("dc-struck", this.removed.has(i));
    return node;
  }

  showText() {
    const { source } = this;
    const place = unitsOf(source.text);
    this.words = [];
    this.sentences = [];
    const text = make("div", { className: "dc-text", dir: "auto" });
    let [at, sentence, node] = [0, -2, text];
    source.word_ranges.forEach((range, w) => {
      const [begin, end] = place(range);
      const between = source.text.slice(at, begin);
      if (this.sentenceOf[w] !== sentence) {
        sentence = this.sentenceOf[w];
        node = this.sentenceNode(sentence);
        if (sentence >= 0) this.sentences[sentence] = node;
        text.append(between, node);
      } else {
        node.append(between);
      }
      const word = make("span", { className: "dc-word", textContent: source.text.slice(begin, end) });
      word.dataset.place = w;
      this.words.push(word);
      node.append(word);
      at = end;
    });
    this.focusable();
    this.markFound();
    this.box.replaceChildren(text);
  }

  /** One of the sentences is in the tab order. */
  focusable() {
    const chosen = this.sentences[this.held ?? 0] ?? this.sentences[0];
    if (this.struck && chosen) chosen.tabIndex = 0;
  }

  /** The words that the answer is, where it is a stretch of the text. */
  markFound() {
    const { found } = this.trace.target;
    this.first = null;
    if (!found) return;
    this.trace.source.word_ranges.forEach(([begin, end], w) => {
      if (begin >= found[1] || end <= found[0] || this.placeOf[w] === undefined) return;
      const word = this.words[this.placeOf[w]];
      word.classList.add("dc-found");
      this.first ??= word;
    });
  }

  // Sentences as rows, hops as columns.

  showSentences() {
    this.first = null;
    this.words = [];
    this.sentences = [];
    const looks = this.hops.length ? this.hops : [{ name: "share", values: this.grid.values }];
    const columns = looks.map(({ values }) => this.spread(values));
    const mosts = columns.map((values) => largest(values));
    const most = Math.max(1e-9, ...mosts);
    const head = [...looks.map(({ name }) => name), "sentence"].map((name) => make("th", { scope: "col", textContent: name }));
    const rows = this.names.map((name, s) => {
      const gone = this.removed.has(s);
      const cells = columns.map((values, hop) => {
        const strongest = !gone && values[s] === mosts[hop];
        const cell = make("td", { className: strongest ? "dc-cell dc-most" : "dc-cell" });
        cell.textContent = gone ? "" : shown(this.grid, values[s]);
        cell.style.setProperty("--a", (values[s] / most).toFixed(3));
        return cell;
      });
      const sentence = this.sentenceNode(s);
      sentence.append(make("bdi", { textContent: name }));
      this.sentences[s] = sentence;
      const row = make("tr", {}, ...cells, make("th", { scope: "row" }, sentence));
      row.dataset.place = s;
      this.words.push(row);
      return row;
    });
    this.focusable();
    const table = make("table", { className: "dc-hops" }, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows));
    this.box.replaceChildren(table);
  }

  showLegend() {
    const key = (kind, text) => make("span", { className: "dc-key" }, make("i", { className: kind }), text);
    const keys = [];
    const least = this.grid.signed;
    if (this.span) keys.push(key("dc-key-a", "where it starts"), key("dc-key-b", "where it ends"));
    else if (!this.bySentence) keys.push(key("dc-key-a", this.attention ? "looked at" : "spoke for it"));
    if (least) keys.push(key("dc-key-b", "spoke against it"));
    if (this.trace.target.found) keys.push(key("dc-key-found", "the answer"));
    if (this.trace.target.copied) keys.push(key("dc-key-copied", "copied from the text"));
    this.legend.replaceChildren(...keys);
  }

  // What lights up. Values a and b are the two halves of a word's ground, of which only spans need the second.

  shade(a, b = null) {
    const size = (values) => fullOf(values.filter(Number.isFinite), this.percent);
    const full = Math.max(size(a), b ? size(b) : 0);
    const most = Math.max(largest(a), b ? largest(b) : 0);
    const level = (value) => (Math.abs(value) < UNSEEN * most || !Number.isFinite(value) ? 0 : Math.abs(value) / full);
    this.words.forEach((word, i) => {
      const [left, right] = b ? [level(a[i]), level(b[i])] : a[i] < 0 ? [0, level(a[i])] : [level(a[i]), 0];
      const halves = Boolean(b) && right > 0;
      const kind = `${left.toFixed(3)} ${right.toFixed(3)} ${halves}`;
      if (word.dcKind === kind) return; // in a long text most words stay as they are
      word.dcKind = kind;
      word.style.setProperty("--a", left.toFixed(3));
      word.style.setProperty("--b", right.toFixed(3));
      word.classList.toggle("dc-lit", left > 0 || right > 0);
      word.classList.toggle("dc-halves", Boolean(b));
    });
    return strongestIn(a);
  }

  rest() {
    if (this.bySentence) return this.tell(-1);
    const strongest = this.span ? this.shade(this.rowOf(0), this.rowOf(1)) : this.shade(this.total());
    this.reveal(this.first ?? this.words[strongest]);
    return this.tell(-1);
  }

  shine({ side, index }) {
    if (side === "target" && this.said[index]) {
      const values = this.rowOf(index);
      const strongest = this.span && index === 1 ? this.shade(values.map(() => 0), values) : this.shade(values);
      const at = this.span ? strongestIn(values) : strongest;
      this.said[index].classList.add("dc-active");
      this.said[index].setAttribute("aria-pressed", String(this.pinned?.index === index));
      this.reveal(this.words[at]);
      this.tell(index);
    }
    if (side === "source" && this.words[index]) this.shineSource(index);
  }

  shineSource(place) {
    const column = this.placeOf.indexOf(place);
    this.words[place].classList.add("dc-active");
    if (this.bySentence || column < 0) return;
    if (this.span) this.shade(this.rowOf(0), this.rowOf(1));
    else this.shade(this.total());
    const wide = this.grid.columns.length;
    const values = this.grid.rows.map((_, row) => this.grid.values[row * wide + column]);
    this.said.forEach((chip, row) => (chip.lastChild.textContent = shown(this.grid, values[row])));
    const text = told("source", this.span ? ENDS : this.grid.rows, values, { attention: this.attention, write: (value) => shown(this.grid, value) });
    this.readout.replaceChildren(make("strong", { textContent: this.names[place] }), ` ${text}`);
  }

  tell(row) {
    const names = this.names;
    const how = { attention: this.attention, write: (value) => shown(this.grid, value) };
    if (this.bySentence) return this.readout.replaceChildren();
    const said = (name, values) => [make("strong", { textContent: name }), ` ${told("target", names, values, how)} `];
    const name = this.span ? ENDS[row] : this.grid.rows[row];
    if (row >= 0) return this.readout.replaceChildren(...said(name, this.rowOf(row)));
    if (this.span) return this.readout.replaceChildren(...ENDS.flatMap((end, i) => said(end, this.rowOf(i))));
    return this.readout.replaceChildren(...said(this.trace.target.text, this.total()));
  }

  /** Scrolls the text in its box, unless someone points at it. */
  reveal(word) {
    if (!word || this.box.matches(":hover, :focus-within")) return;
    const by = word.getBoundingClientRect().top - this.box.getBoundingClientRect().top - this.box.clientHeight / 3;
    if (Math.abs(by) > this.box.clientHeight / 4) this.box.scrollTop += by;
  }

  clear() {
    for (const node of this.element.querySelectorAll(".dc-active")) node.classList.remove("dc-active");
    for (const chip of this.said) {
      chip.setAttribute("aria-pressed", "false");
      chip.lastChild.textContent = "";
    }
  }
}
