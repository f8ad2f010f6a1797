// What is set at a place at which models are tried: an example of the test, and sliders. Each gives {element, refresh()}, the
// latter for what was changed elsewhere. A slider is a row: its label, range(live) → {least, most, value} or null where it would
// change nothing, say(live, value) → text, and take(live, value).

import { choice, make } from "./dom.js";
import { mainSites } from "./sites.js";

const PAUSE = 200; // milliseconds without a move, before models are asked

const headsOf = ({ panes }) => Math.max(0, ...panes.map(({ model }) => mainSites(model)[0]?.heads ?? 0));

const SLIDERS = {
  length: {
    label: "Length",
    range({ kind, tests, state, block }) {
      if (kind !== "text") return null;
      const value = tests.length(state.text);
      return { least: 1, most: Math.max(block.longest, tests.longest, value), value };
    },
    say: ({ tests }, value) => `${value} ${value === 1 ? tests.unit.slice(0, -1) : tests.unit}`,
    take: (live, value) => live.takeText(live.tests.ofLength(value, live.state.text)),
  },
  head: {
    label: "Head",
    range(live) {
      const heads = headsOf(live);
      return heads > 1 ? { least: -1, most: heads - 1, value: live.panes[0].settings.head } : null;
    },
    say: (_, value) => (value < 0 ? "all, their mean" : `head ${value}`),
    take: ({ panes }, head) => panes.forEach((pane) => pane.look({ head })),
  },
  model: {
    label: "Model",
    range({ models, chosen }) {
      const kept = models.filter(({ kept: there }) => there);
      return kept.length > 1 ? { least: 0, most: kept.length - 1, value: kept.indexOf(chosen[0]) } : null;
    },
    say: ({ models }, value) => models.filter(({ kept }) => kept)[value].run,
    take(live, value) {
      const model = live.models.filter(({ kept }) => kept)[value];
      live.choose([model, ...live.chosen.slice(1).filter((one) => one !== model)]);
    },
  },
};

// Those that the block asks for, and that change something with these models.
export const slidersIn = (live) => live.block.sliders.filter((name) => SLIDERS[name]?.range(live));

export function sliderOf(live, name) {
  const row = SLIDERS[name];
  const said = make("output", {});
  const input = make("input", { type: "range", name: `slider-${name}`, step: 1 });
  const say = () => {
    said.textContent = row.say(live, Number(input.value));
    input.setAttribute("aria-valuetext", said.textContent);
  };
  const refresh = () => {
    const range = row.range(live);
    if (range) Object.assign(input, { min: range.least, max: range.most, value: range.value });
    say();
  };
  let timer = 0;
  input.addEventListener("input", () => {
    say();
    clearTimeout(timer);
    timer = setTimeout(() => input.isConnected && row.take(live, Number(input.value)), PAUSE);
  });
  refresh();
  return { element: make("label", { class: "slider" }, make("span", {}, row.label), said, input), refresh };
}

const OWN = "own";
const short = (text) => (text.length > 60 ? `${text.slice(0, 59)}…` : text);

export function examplesOf(live) {
  const { rows } = live.tests;
  if (live.kind !== "text" || !rows.length) return null;
  const options = [[OWN, "(another text)"], ...rows.map(({ source }, index) => [index, short(source)])];
  const take = (value) => value !== OWN && live.take(rows[Number(value)]);
  const element = choice("example", "An example of the test", options, OWN, take);
  const select = element.querySelector("select");
  const refresh = () => {
    const at = rows.findIndex(({ source }) => source === live.state.text);
    select.options[0].hidden = at >= 0;
    select.value = at < 0 ? OWN : at;
  };
  refresh();
  return { element, refresh };
}
