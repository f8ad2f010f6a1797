// What is looked at, kept in the address: a link opens the same view. Only what differs from the defaults is written.

export const VIEWS = ["map", "heads", "search", "evidence", "training", "gallery"];

const SHARED = { text: "", image: "", sound: "", beam: 0, temperature: 0, seed: 1 }; // beam 0: what the model was trained to be searched with
const PANE = {
  model: "",
  view: "map",
  method: "attention",
  layer: -1,
  head: -1,
  combine: "mean",
  unit: "auto",
  target: "",
  prefix: "",
};
const ALLOWED = { view: VIEWS, combine: ["mean", "max"], unit: ["auto", "words", "tokens"] };
const LIMITS = { beam: [0, 12], temperature: [0, 2], seed: [1, 1e9], layer: [-1, 999], head: [-1, 999] };
const MOST_PANES = 2;
const INPUT = "input."; // of a model that reads several texts, followed by its name
const MOST_LETTERS = 4000; // of a text that is part of the address

export const newPane = (model) => ({ ...PANE, model });

// Whoever edits a link may write anything; what makes no sense becomes the default.
function parsed(name, text, otherwise) {
  if (text === null) return otherwise;
  if (typeof otherwise === "number") {
    const number = Number(text),
      [least, most] = LIMITS[name];
    return Number.isFinite(number) && number >= least && number <= most ? number : otherwise;
  }
  if (name === "prefix" && !/^(\d+(,\d+)*)?$/.test(text)) return otherwise;
  return ALLOWED[name] && !ALLOWED[name].includes(text) ? otherwise : text;
}

const readFields = (fields, find) =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, parsed(name, find(name), value)]));

export function readState(hash) {
  const found = new URLSearchParams(hash.replace(/^#/, ""));
  const state = readFields(SHARED, (name) => found.get(name));
  state.inputs = {};
  for (const [name, text] of found) if (name.startsWith(INPUT)) state.inputs[name.slice(INPUT.length)] = text;
  state.panes = [];
  for (let number = 1; number <= MOST_PANES; ++number) {
    const pane = readFields(PANE, (name) => found.get(name + (number > 1 ? number : "")));
    if (number === 1 || pane.model) state.panes.push(pane);
  }
  return state;
}

export function writeState(state) {
  const out = new URLSearchParams();
  const write = (fields, values, suffix) => {
    for (const [name, otherwise] of Object.entries(fields)) {
      if (values[name] !== otherwise) out.set(name + suffix, values[name]);
    }
  };
  write(SHARED, state, "");
  for (const [name, text] of Object.entries(state.inputs ?? {})) {
    if (text && text.length <= MOST_LETTERS) out.set(INPUT + name, text);
  }
  state.panes.forEach((pane, index) => write(PANE, pane, index ? String(index + 1) : ""));
  return `#${out}`;
}
