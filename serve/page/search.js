// The tree of a search: one column per step, the answer's own path in the first row, below it what else was thought of. A
// node's width of bar is the probability of its token after those before it. Choosing one makes the model go on from there.

import { draw, make } from "./dom.js";
import { plainToken, probability } from "./numbers.js";

const COLUMN = 136,
  ROW = 54,
  WIDTH = 112,
  HEIGHT = 42; // pixels
const MOST_ROWS = 7,
  FIRST_STEPS = 40;

const FATES = { grown: "went on", ended: "an answer", cut: "too long", passed: "passed over" };

// Each node with its depth, its children, and whether it is on the way to the answer.
function grow(trace) {
  const nodes = trace.beam.map((node, index) => ({ ...node, index, children: [], depth: 0, chosen: false }));
  for (const node of nodes) {
    if (node.parent < 0) continue;
    node.depth = nodes[node.parent].depth + 1;
    nodes[node.parent].children.push(node);
  }
  for (let at = trace.answers[0]?.node ?? -1; at >= 0; at = nodes[at].parent) nodes[at].chosen = true;
  return nodes;
}

// Rows of a column: the answer's path first, then in the order of their parents, so that lines cross little.
function place(nodes, steps) {
  const columns = Array.from({ length: steps }, () => []);
  for (const node of nodes) if (node.depth < steps) columns[node.depth].push(node);
  columns.forEach((column) => {
    const kept = [...column]
      .sort((a, b) => b.chosen - a.chosen || (a.fate === "passed") - (b.fate === "passed") || b.total - a.total)
      .slice(0, MOST_ROWS);
    const above = (node) => (node.chosen ? -1 : node.parent < 0 ? 0 : (nodes[node.parent].row ?? Infinity));
    kept.sort((a, b) => above(a) - above(b) || b.total - a.total);
    const first = kept[0]?.chosen ? 0 : 1; // where the answer has ended, its row stays empty
    kept.forEach((node, row) => {
      node.row = first + row;
    });
  });
  return columns.map((column) => column.filter((node) => node.row !== undefined).sort((a, b) => a.row - b.row));
}

export function pathIds(beam, index) {
  const ids = [];
  for (; index >= 0; index = beam[index].parent) ids.unshift(beam[index].id);
  return ids;
}

// `taken(ids, index)` is called with the tokens up to the node that was chosen; `focused(step)` with a step of the answer.
export function showSearch(trace, taken, focused) {
  if (!trace.beam?.length) return none(trace);
  const frame = make("div", { class: "tree-frame" });
  const depth = 1 + Math.max(...grow(trace).map((node) => node.depth));
  const render = (steps) => {
    const more =
      depth > steps &&
      make("button", { type: "button", class: "quiet", click: () => render(depth) }, `Show all ${depth} steps`);
    frame.replaceChildren(tree(trace, Math.min(depth, steps), taken, focused), ...(more ? [more] : []));
  };
  render(FIRST_STEPS);
  return make(
    "div",
    {},
    make(
      "p",
      { class: "hint" },
      "Each column is a step. Figures are the probability of a word after those before it. " +
        "The answer is the first row; choose any other word and the model goes on from there.",
    ),
    frame,
  );
}

const none = (trace) =>
  make(
    "p",
    { class: "hint" },
    trace.target.given ? "There was no search: the answer is yours." : "This answer came without a search.",
  );

function tree(trace, steps, taken, focused) {
  const nodes = grow(trace),
    columns = place(nodes, steps);
  const marked = nodes.some((node) => node.token.startsWith("▁"));
  const rows = 1 + Math.max(...columns.flat().map((node) => node.row));
  const size = { width: steps * COLUMN, height: rows * ROW };
  const list = make("div", { class: "tree", role: "tree", "aria-label": "The search, step by step" });
  list.style.width = `${size.width}px`;
  list.style.height = `${size.height}px`;
  list.append(
    draw(
      "svg",
      { class: "edges", "aria-hidden": "true", ...size },
      columns.flat().map((node) => edge(node, nodes)),
    ),
  );
  const buttons = new Map(
    columns
      .flat()
      .map((node) => [node, leaf(node, marked, columns[node.depth].indexOf(node) + 1, columns[node.depth].length)]),
  );
  list.append(...buttons.values());
  const at = (event) => [...buttons].find(([, button]) => button === event.target.closest(".node"))?.[0];
  list.addEventListener("click", (event) => {
    const node = at(event);
    // The end cannot be gone on from.
    if (node && !node.chosen && node.token !== "</s>") taken(pathIds(trace.beam, node.index), node.index);
    else if (node) focused(node.depth);
  });
  list.addEventListener("keydown", (event) => {
    const to = neighbour(at(event), event.key, nodes, columns);
    if (!to) return;
    event.preventDefault();
    for (const button of buttons.values()) button.tabIndex = -1;
    buttons.get(to).tabIndex = 0;
    buttons.get(to).focus();
  });
  (buttons.get(columns[0][0]) ?? list).tabIndex = 0;
  return make("div", { class: "tree-scroll" }, list);
}

function neighbour(node, key, nodes, columns) {
  if (!node) return null;
  const column = columns[node.depth];
  switch (key) {
    case "ArrowRight":
      return node.children.filter((child) => child.row !== undefined).sort((a, b) => a.row - b.row)[0];
    case "ArrowLeft":
      return nodes[node.parent];
    case "ArrowDown":
      return column[column.indexOf(node) + 1];
    case "ArrowUp":
      return column[column.indexOf(node) - 1];
    case "Home":
      return columns[0][0];
    default:
      return null;
  }
}

function edge(node, nodes) {
  const parent = nodes[node.parent];
  if (!parent || parent.row === undefined) return null;
  const x = (node.depth - 1) * COLUMN + WIDTH,
    y = parent.row * ROW + HEIGHT / 2;
  const u = node.depth * COLUMN,
    v = node.row * ROW + HEIGHT / 2,
    half = (x + u) / 2;
  return draw("path", {
    d: `M${x} ${y} C${half} ${y} ${half} ${v} ${u} ${v}`,
    class: node.chosen ? "chosen" : node.fate,
  });
}

function leaf(node, marked, place, siblings) {
  const name = plainToken(node.token, marked),
    chance = probability(node.log_probability);
  const fate = node.chosen ? "in the answer" : (FATES[node.fate] ?? node.fate);
  const button = make(
    "button",
    {
      type: "button",
      role: "treeitem",
      tabindex: -1,
      class: `node ${node.fate}${node.chosen ? " chosen" : ""}`,
      "aria-level": node.depth + 1,
      "aria-posinset": place,
      "aria-setsize": siblings,
      "aria-selected": String(node.chosen),
      "aria-label": `${name}, ${chance}, ${fate}`,
      title: `${fate}; log-probability up to here ${node.total.toFixed(2)}`,
      "data-node": node.index,
    },
    make("span", { class: "token" }, name),
    make("span", { class: "chance" }, chance),
    make("span", { class: "bar" }),
  );
  button.style.left = `${node.depth * COLUMN}px`;
  button.style.top = `${node.row * ROW}px`;
  button.style.setProperty("--chance", Math.exp(node.log_probability).toFixed(4));
  return button;
}
