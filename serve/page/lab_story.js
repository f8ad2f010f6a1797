// The blocks of a step: text, checks, table, figure, command, and the place at which models are tried.

import * as api from "./api.js";
import { make } from "./dom.js";

const SIGNS = { held: "✓", "held in part": "◐", refuted: "✗" };

export const verdictOf = (verdict) =>
  make(
    "span",
    { class: "verdict-mark", "data-verdict": verdict },
    make("span", { "aria-hidden": "true" }, SIGNS[verdict] ?? "·"),
    ` ${verdict}`,
  );

const textOf = (_, { text }) => make("p", {}, text);

function checksOf({ checks }) {
  const row = ({ expected, measured, held }) =>
    make(
      "li",
      { "data-held": String(held) },
      make("span", { class: "check-sign", "aria-hidden": "true" }, held ? "✓" : "✗"),
      make(
        "div",
        {},
        make("p", { class: "check-claim" }, expected),
        make("p", { class: "check-measured" }, make("strong", {}, held ? "It held: " : "It did not: "), measured),
      ),
    );
  return make("ul", { class: "checks" }, checks.map(row));
}

function tableOf(_, { title, head, rows, words }) {
  const cells = (row) => row.slice(1).map((cell) => make("td", {}, cell));
  return make(
    "div",
    { class: "table-scroll", tabindex: 0, role: "region", "aria-label": title || "Table" },
    make(
      "table",
      { class: words ? "lab-table words" : "lab-table" },
      title && make("caption", {}, title),
      make("thead", {}, make("tr", {}, head.map((cell) => make("th", { scope: "col" }, cell)))),
      make("tbody", {}, rows.map((row) => make("tr", {}, make("th", { scope: "row" }, row[0] ?? ""), cells(row)))),
    ),
  );
}

// As an image, in which no script runs.
function figureOf({ name: experiment }, { name, caption }) {
  const why = `The picture ${name}.svg is missing from the experiment's folder.`;
  const missing = () => picture.replaceWith(make("p", { class: "missing" }, why));
  const picture = make("img", { alt: caption, error: missing });
  api.figureAddress(experiment, name).then((address) => picture.setAttribute("src", address), missing);
  return make("figure", { class: "lab-figure" }, picture, make("figcaption", {}, caption));
}

const commandOf = (_, { text, command }) =>
  make("div", { class: "command" }, make("p", {}, text), make("pre", { tabindex: 0 }, make("code", {}, command)));

const liveOf = (story, block, live) => live.enter(story, block);

const KINDS = { text: textOf, checks: checksOf, table: tableOf, figure: figureOf, command: commandOf, live: liveOf };

// What this page does not know is left out.
export const blocksOf = (story, blocks, live) =>
  blocks.filter(({ kind }) => KINDS[kind]).map((block) => KINDS[block.kind](story, block, live));
