// What a trace's first map says, as the sentences show it.
//
//   sceneOf(trace, unit) → {source, target (names), map [target][source], percent, attention, write(value) → text,
//                           chances (probability of each of the target), unknown (places of the source)}

import { gridOf, shown } from "./grid.js";

const LOOKS = ["attention", "rollout"];

export function sceneOf(trace, unit) {
  const grid = gridOf(trace, { map: 0, level: unit }),
    width = grid.columns.length;
  return {
    source: grid.columns,
    target: grid.rows,
    percent: grid.percent,
    attention: LOOKS.includes(trace.maps[0].method),
    write: (value) => shown(grid, value),
    map: grid.rows.map((_, row) => Array.from(grid.values.subarray(row * width, (row + 1) * width))),
    chances: chances(trace.target, unit),
    unknown: unknown(trace.source, unit),
  };
}

// Places of the words or tokens that the vocabulary does not know.
function unknown({ unknown: tokens = [], word_of }, unit) {
  return new Set(unit === "tokens" ? tokens : tokens.map((token) => word_of[token]).filter((word) => word >= 0));
}

// The probability of each word or token of the answer.
function chances(target, unit) {
  if (unit === "tokens") return target.log_probabilities.map(Math.exp);
  const logs = target.words.map(() => 0);
  target.word_of.forEach((word, token) => {
    if (word >= 0) logs[word] += target.log_probabilities[token];
  });
  return logs.map(Math.exp);
}
