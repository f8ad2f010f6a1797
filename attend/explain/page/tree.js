// The tree that a parser made of a text: words below, brackets above them. A bracket that is pointed at shades the words that
// were looked at when it was opened; a word, the brackets that looked at it.
//
//   treeOf(trace) → root bracket {label, token, close, first, last (words), word (of a part of speech, else −1), children, …},
//     or null if the answer's tokens are not a tree over the text's words
//   new TreeView(picked), a Pointing (pointing.js) whose targets are tokens and whose sources are words
//     view.element, view.readout, view.render({trace, map})
//
// Style: theme.css and tree.css.
import { gridOverWords, shown } from "./grid.js";
import { fullOf, Pointing, told } from "./pointing.js";

// A name, not an address: in two parts, as a page that loads nothing has none in it.
const SVG = ["http", "//www.w3.org/2000/svg"].join(":");

const TREE_ROW = 46; // pixels from one level to the next
const LABEL_FONT = "600 13px";
const WORD_FONT = "400 16px";
const PADDING = 7; // of a label, to each side
const LEAF_GAP = 10; // between words
const TREE_MARGIN = 8;
const BOX = 24; // height of a label
const BEND = (BOX + TREE_ROW) / 2; // below a label, where its lines turn to what is under it
const SHARES = 18; // room for figures below the words
const LEAST_SHOWN = 0.01; // of the largest value: below, nothing is lit
const DOUBTED = 0.3;
const CLOSED = ")";
const ENDED = "</s>";

/** As in data::tree_of: "(X" opens a bracket, ")" closes the one opened last, anything else is the next word's tag. */
export function treeOf({ source, target }) {
  if (target.kind !== "tree") return null;
  const top = { children: [] };
  const open = [top];
  let words = 0;
  for (const [token, text] of target.tokens.entries()) {
    const parent = open.at(-1);
    const node = { label: text, token, close: -1, parent: parent === top ? null : parent, children: [], word: -1 };
    if (text === ENDED) break;
    if (text === CLOSED) {
      if (parent === top || parent.children.length === 0) return null;
      parent.close = token;
      open.pop();
    } else if (text.startsWith("(") && text.length > 1) {
      node.label = text.slice(1);
      parent.children.push(node);
      open.push(node);
    } else {
      node.word = words++;
      parent.children.push(node);
    }
  }
  if (open.length > 1 || top.children.length !== 1 || words !== source.words.length) return null;
  return measured(top.children[0]);
}

/** With its height above the words, and the words that it spans. */
function measured(node) {
  for (const child of node.children) measured(child);
  const [first, last] = [node.children[0], node.children.at(-1)];
  Object.assign(node, first ? { first: first.first, last: last.last } : { first: node.word, last: node.word });
  node.height = 1 + Math.max(0, ...node.children.map(({ height }) => height));
  return node;
}

/** All brackets and parts of speech, in the order of their tokens. */
const allOf = (node) => [node, ...node.children.flatMap(allOf)];

/** Positions: x of each node's middle. A label wider than what is below it pushes that apart. */
function spread(node, left, widthOf) {
  const own = widthOf(node);
  const inner = node.children.reduce((sum, child) => sum + roomOf(child, widthOf), 0);
  const room = Math.max(own, inner);
  let at = left + (room - inner) / 2;
  for (const child of node.children) {
    spread(child, at, widthOf);
    at += roomOf(child, widthOf);
  }
  const [first, last] = [node.children[0], node.children.at(-1)];
  node.x = first ? (first.x + last.x) / 2 : left + room / 2;
}

const roomOf = (node, widthOf) =>
  Math.max(
    widthOf(node),
    node.children.reduce((sum, child) => sum + roomOf(child, widthOf), 0),
  );

function drawn(name, attributes = {}, ...children) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

export class TreeView extends Pointing {
  constructor(picked) {
    super(picked);
    this.element = document.createElement("div");
    this.element.className = "tr";
    this.readout = document.createElement("p");
    this.readout.className = "readout tr-readout";
    const show = (event) => this.#at(event) && this.show(this.#at(event));
    this.element.addEventListener("pointerover", show);
    this.element.addEventListener("focusin", show);
    this.element.addEventListener("pointerleave", () => this.show(this.pinned));
    this.element.addEventListener("focusout", () => this.show(this.pinned));
    this.element.addEventListener("click", (event) => {
      const pick = this.#at(event);
      if (pick) this.pin(pick.side, pick.index);
    });
    this.element.addEventListener("keydown", (event) => this.#key(event));
  }

  render({ trace, map = 0 }) {
    Object.assign(this, { trace, root: treeOf(trace), lit: null });
    this.nodes = allOf(this.root);
    this.grid = gridOverWords(trace, map);
    this.attention = ["attention", "rollout"].includes(trace.maps[map]?.method);
    this.write = (value) => shown(this.grid, value);
    this.#place();
    this.#draw();
    const { side, index } = this.pinned ?? {};
    if (this.pinned && !(side === "source" ? this.words[index] : this.#nodeOf(index))) this.pinned = null;
    this.show(this.pinned, true);
  }

  #place() {
    const context = document.createElement("canvas").getContext("2d");
    const family = getComputedStyle(document.body).fontFamily;
    const wide = (text, font) => {
      context.font = `${font} ${family}`;
      return Math.ceil(context.measureText(text).width);
    };
    for (const node of this.nodes) {
      node.wide = wide(node.label, LABEL_FONT) + 2 * PADDING;
      node.wordWide = node.word < 0 ? 0 : Math.max(wide(this.trace.source.words[node.word], WORD_FONT) + 2 * PADDING, 40);
    }
    const widthOf = (node) => Math.max(node.wide, node.wordWide) + LEAF_GAP;
    spread(this.root, TREE_MARGIN, widthOf);
    this.width = roomOf(this.root, widthOf) + 2 * TREE_MARGIN;
    this.height = (this.root.height + 1) * TREE_ROW + SHARES;
    for (const node of this.nodes) node.y = TREE_MARGIN + (this.root.height - node.height) * TREE_ROW;
  }

  #draw() {
    const tree = drawn("svg", { role: "tree", "aria-label": "The tree", width: this.width, height: this.height });
    const edges = drawn("g", { class: "tr-edges", "aria-hidden": "true" });
    const ground = TREE_MARGIN + this.root.height * TREE_ROW;
    for (const node of this.nodes) {
      const down = node.word < 0 ? node.children : [{ x: node.x, y: ground }];
      node.edges = down.map(({ x, y }) => drawn("path", { d: `M${node.x} ${node.y + BOX} V${node.y + BEND} H${x} V${y}` }));
      edges.append(...node.edges);
    }
    const chances = this.trace.target.log_probabilities.map(Math.exp);
    const unknown = new Set((this.trace.source.unknown ?? []).map((token) => this.trace.source.word_of[token]));
    for (const node of this.nodes) node.box = this.#bracket(node, chances[node.token]);
    this.words = this.nodes.filter(({ word }) => word >= 0).map((node) => this.#word(node, ground, unknown.has(node.word)));
    tree.append(edges, ...this.nodes.map(({ box }) => box), ...this.words);
    this.root.box.setAttribute("tabindex", "0");
    this.element.replaceChildren(tree);
  }

  #item(kind, wide, x, y, text, title, level) {
    const box = { class: "tr-box", x: x - wide / 2, y, width: wide, height: BOX, rx: 5 };
    const item = drawn(
      "g",
      { class: kind, role: "treeitem", tabindex: "-1", "aria-level": level, "aria-label": title, "aria-selected": "false" },
      drawn("title", {}, title),
      drawn("rect", box),
      drawn("text", { class: "tr-name", x, y: y + 17 }, text),
    );
    return item;
  }

  #bracket(node, chance) {
    const { source } = this.trace;
    const doubted = chance < DOUBTED ? `; the model gave it ${Math.round(100 * chance)} %` : "";
    const title = `${node.label}: ${source.words.slice(node.first, node.last + 1).join(" ")}${doubted}`;
    const kind = `tr-node${node.word >= 0 ? " tr-tag" : ""}${doubted ? " tr-doubted" : ""}`;
    const item = this.#item(kind, node.wide, node.x, node.y, node.label, title, this.#depth(node));
    item.dataset.token = node.token;
    return item;
  }

  #word(node, y, unknown) {
    const text = this.trace.source.words[node.word];
    const title = unknown ? `${text}: the vocabulary does not know it` : text;
    const item = this.#item(`tr-word${unknown ? " tr-unknown" : ""}`, node.wordWide, node.x, y, text, title, this.#depth(node) + 1);
    item.append(drawn("text", { class: "tr-share", x: node.x, y: y + BOX + 13, "aria-hidden": "true" }));
    if (unknown) {
      const half = node.wordWide / 2 - PADDING;
      item.append(drawn("line", { class: "tr-dots", x1: node.x - half, x2: node.x + half, y1: y + BOX - 3, y2: y + BOX - 3 }));
    }
    item.dataset.word = node.word;
    return item;
  }

  #depth(node) {
    return node.parent ? this.#depth(node.parent) + 1 : 1;
  }

  #at(event) {
    const item = event.target.closest?.("[data-token], [data-word]");
    if (!item) return null;
    const { token, word } = item.dataset;
    return token === undefined ? { side: "source", index: Number(word) } : { side: "target", index: Number(token) };
  }

  /** The bracket that a token opens or closes. */
  #nodeOf(token) {
    return this.nodes.find((node) => node.token === token || node.close === token);
  }

  #itemOf({ side, index }) {
    return side === "source" ? this.words[index] : this.#nodeOf(index)?.box;
  }

  #key(event) {
    const pick = this.#at(event);
    if (!pick) return;
    if (event.key === "Enter" || event.key === " ") this.pin(pick.side, pick.index);
    else if (event.key === "Escape") this.pinned = null;
    const next = this.#neighbour(pick, event.key);
    if (next) {
      for (const item of this.element.querySelectorAll('[tabindex="0"]')) item.setAttribute("tabindex", "-1");
      next.setAttribute("tabindex", "0");
      next.focus();
    }
    if (next || event.key === "Enter" || event.key === " ") event.preventDefault();
  }

  /** Up and down the tree, and to either side on the same level. */
  #neighbour({ side, index }, key) {
    const word = side === "source";
    const node = word ? this.nodes.find((one) => one.word === index) : this.#nodeOf(index);
    const row = word ? this.words : this.nodes.filter(({ height }) => height === node.height).map(({ box }) => box);
    const at = row.indexOf(word ? this.words[index] : node.box);
    const to = {
      ArrowUp: word ? node.box : node.parent?.box,
      ArrowDown: word ? null : node.word >= 0 ? this.words[node.word] : node.children[0]?.box,
      ArrowLeft: row[at - 1],
      ArrowRight: row[at + 1],
      Home: this.root.box,
    };
    return to[key] ?? null;
  }

  shine(pick) {
    const item = this.#itemOf(pick);
    if (!item) return;
    const target = pick.side === "target";
    const node = target ? this.#nodeOf(pick.index) : null;
    item.classList.add("tr-active");
    item.setAttribute("aria-selected", String(this.pinned === pick));
    if (node) this.#markSpan(node);
    this.#reveal(item);
    if (!this.grid) return;
    const width = this.grid.columns.length;
    const values = target
      ? Array.from(this.grid.values.subarray(node.token * width, (node.token + 1) * width))
      : this.nodes.map(({ token }) => this.grid.values[token * width + pick.index]);
    const others = target ? this.words : this.nodes.map(({ box }) => box);
    this.#shade(others, values, target);
    const { words } = this.trace.source;
    const over = ({ first, last }) => (first === last ? words[first] : `${words[first]} … ${words[last]}`);
    const names = target ? words : this.nodes.map((one) => `${one.label} over ${over(one)}:`);
    const name = target ? node.label : words[pick.index];
    const text = told(pick.side, names, values, this);
    const strong = document.createElement("strong");
    strong.textContent = name;
    this.readout.replaceChildren(strong, ` ${text}`);
    item.setAttribute("aria-label", `${item.querySelector("title").textContent}; ${text}`);
  }

  #markSpan(node) {
    for (const one of allOf(node)) for (const edge of one.edges) edge.classList.add("tr-under");
  }

  #shade(items, values, figures) {
    const most = Math.max(1e-9, ...values.map(Math.abs));
    const full = fullOf(values, this.grid.percent);
    values.forEach((value, i) => {
      if (!(Math.abs(value) >= LEAST_SHOWN * most)) return;
      items[i].classList.add("tr-lit");
      items[i].classList.toggle("tr-against", value < 0);
      items[i].classList.toggle("tr-strongest", Math.abs(value) === most);
      items[i].style.setProperty("--level", (Math.abs(value) / full).toFixed(3));
      if (figures) items[i].querySelector(".tr-share").textContent = this.write(value);
    });
  }

  #reveal(item) {
    const box = item.getBoundingClientRect();
    const frame = this.element.getBoundingClientRect();
    if (box.left >= frame.left && box.right <= frame.right) return;
    this.element.scrollLeft += (box.left + box.right) / 2 - (frame.left + frame.right) / 2;
  }

  rest() {
    this.readout.textContent = this.grid ? "Point at a bracket to see the words that it looked at." : "";
  }

  clear() {
    for (const item of this.element.querySelectorAll(".tr-lit, .tr-active")) {
      item.classList.remove("tr-lit", "tr-active", "tr-against", "tr-strongest");
      item.setAttribute("aria-selected", "false");
      item.style.removeProperty("--level");
    }
    for (const share of this.element.querySelectorAll(".tr-share")) share.textContent = "";
    for (const edge of this.element.querySelectorAll(".tr-under")) edge.classList.remove("tr-under");
  }
}
