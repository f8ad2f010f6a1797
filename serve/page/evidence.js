// Whether the map tells the truth: what became of the answer when that which was looked at was changed.

import { make } from "./dom.js";
import { decimal, probability } from "./numbers.js";

export function showEvidence(rows) {
  if (!rows?.length) return make("p", { class: "hint" }, "Nothing could be measured for this answer.");
  return make(
    "div",
    { class: "table-scroll" },
    make(
      "table",
      { class: "evidence" },
      make("caption", {}, "How likely the model finds its answer, per word"),
      make(
        "thead",
        {},
        make(
          "tr",
          {},
          ["What was changed", "Before", "After", "What it says"].map((name) => make("th", { scope: "col" }, name)),
        ),
      ),
      make(
        "tbody",
        {},
        rows.map((row) =>
          make(
            "tr",
            {},
            make("th", { scope: "row" }, row.change),
            cell(row.before),
            cell(row.after),
            make("td", {}, row.meaning),
          ),
        ),
      ),
    ),
  );
}

// The logarithm as well: changes may be smaller than a hundredth.
function cell(log) {
  const bar = make("span", { class: "bar" });
  bar.style.setProperty("--chance", Math.exp(Math.min(0, log)).toFixed(4));
  return make("td", { class: "figure" }, probability(log), make("small", {}, ` log ${decimal(log)}`), bar);
}
