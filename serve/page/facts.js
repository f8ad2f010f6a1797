// What is known of an answer besides what it is, in short.

import { make } from "./dom.js";
import { decimal, plainTokens, probability } from "./numbers.js";

export const fact = (text, warns = false) => make("span", { class: warns && "warning" }, text);

export const cutOff = (ended) => (ended ? [] : [fact("cut off: the longest length was reached", true)]);

// Of a trace's target: how sure the model was of it.
export function sureness({ log_probability, tokens, ended }, each = "token") {
  const per = log_probability / Math.max(1, tokens.length);
  return [
    make("span", { title: "the geometric mean of their probabilities" }, `${probability(per)} sure per ${each}`),
    fact(`log-probability ${decimal(log_probability)}`),
    ...cutOff(ended),
  ];
}

// Beside what would have been right, where that is known. `only`: nothing else is right.
export function compared(text, reference, only) {
  if (!reference) return [];
  return [text === reference ? fact("that is right") : fact(`wanted: ${reference}`, only)];
}

// That the answer begins as the reader chose among the branches of the search, which can be undone.
export function chosen(pane, { tokens, given }) {
  const count = pane.settings.prefix ? pane.settings.prefix.split(",").length : 0;
  if (!count || given) return [];
  return [
    make(
      "span",
      { class: "chip" },
      `begins as you chose: ${plainTokens(tokens).slice(0, count).join(" ")} `,
      make("button", { type: "button", class: "quiet", click: () => pane.takeBranch([]) }, "Undo"),
    ),
  ];
}
