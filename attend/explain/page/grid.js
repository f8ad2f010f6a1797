// What a picture of a trace shows, as plain data: no page is needed for any of it (docs/traces.md has the trace).
//
//   gridOf(trace, choice) → Grid      the numbers that one choice shows, with their words; throws Error if they disagree
//   gridOverWords(trace, number) → Grid   of a map, between tokens of the answer and words of the text; null: it is of others
//   placeIn(side, index, "words", "tokens") → index   the same place, among the other
//   sitesOf(trace) → [{site, layers, heads}]   attentions whose weights the trace has; `layers` are their numbers
//   phrase(grid, row, column) → text  "ghar ← home 93 %"; column −1: the row's strongest; row −1: the column's
//   shown(grid, value) → text         "93 %", or "+0.31" if it is not a share
//
// A choice: {map: 0, level: "words"} is a map of the trace; {site: "decoder.memory", layer: 0, head: 2, level: "tokens"} is an
// attention, where layer or head −1 means all of them, combined by "mean" or "max".
//
// A Grid: {rows, columns (labels), rowSide, columnSide (as queries and keys of a site), values (row by row), signed, hard,
// windows (per row {centre, first, last} in columns, or null), most (largest absolute value), percent, label}.

const BEGIN = "<s>";

/** One after another. */
function joinedAxes(first, second) {
  const later = second.labelOf.map((label) => (label < 0 ? -1 : label + first.labels.length));
  return {
    labels: [...first.labels, ...second.labels],
    labelOf: [...first.labelOf, ...later],
    tokens: first.tokens + second.tokens,
  };
}

/** Each place is a label of its own. */
const numberedAxis = (labels) => ({ labels, labelOf: labels.map((_, i) => i), tokens: labels.length });

/** Its places are in bytes. */
function sentenceTexts({ text, sentences = [] }) {
  const bytes = new TextEncoder().encode(text);
  const decoder = new TextDecoder();
  return sentences.map(([begin, end]) => decoder.decode(bytes.subarray(begin, end)));
}

/** The source, the target, or a further input. */
function sideNamed(trace, name) {
  const found = name === "source" || name === "target" ? trace[name] : trace.inputs?.find((input) => input.name === name);
  if (!found) throw new Error(`trace: expected a side that it has, got ${name}`);
  return found;
}

/** Labels of one side, and for each token its label (−1: none). */
function axisOf(trace, side, level) {
  if (side === "source+before") return joinedAxes(axisOf(trace, "source", level), axisOf(trace, "before", level));
  if (side === "sentences") return numberedAxis(sentenceTexts(trace.source));
  const before = side === "before";
  const from = before ? trace.target : sideNamed(trace, side);
  const tokens = before ? [BEGIN, ...from.tokens.slice(0, -1)] : from.tokens;
  if (level !== "words") return numberedAxis(tokens);
  if (!before) return { labels: from.words, labelOf: from.word_of, tokens: tokens.length };
  const labelOf = tokens.map((_, k) => (k === 0 ? 0 : from.word_of[k - 1] < 0 ? -1 : from.word_of[k - 1] + 1));
  return { labels: [BEGIN, ...from.words], labelOf, tokens: tokens.length };
}

/** A position among tokens → the position among labels: each token has an equal share of its word's cell. */
function placeOf(axis, place) {
  const token = Math.min(axis.tokens - 1, Math.max(0, Math.round(place)));
  let near = token;
  while (near > 0 && axis.labelOf[near] < 0) --near;
  const label = axis.labelOf[near];
  let first = near;
  while (first > 0 && axis.labelOf[first - 1] === label) --first;
  let count = 0;
  while (first + count < axis.tokens && axis.labelOf[first + count] === label) ++count;
  return label - 0.5 + (near - first + Math.min(1, Math.max(0, place - token + 0.5))) / count;
}

/** The window of each row; a word's window is everything that any of its tokens saw. */
function windowsOf(centres, reach, rowAxis, columnAxis) {
  const windows = rowAxis.labels.map(() => null);
  const sums = windows.map(() => ({ sum: 0, count: 0 }));
  centres.forEach((centre, t) => {
    const row = rowAxis.labelOf[t];
    if (row < 0) return;
    const near = Math.max(0, Math.ceil(centre - reach));
    const far = Math.min(columnAxis.tokens - 1, Math.floor(centre + reach));
    const seen = columnAxis.labelOf.slice(near, far + 1).filter((label) => label >= 0);
    if (seen.length === 0) return;
    sums[row].sum += placeOf(columnAxis, centre);
    sums[row].count += 1;
    const had = windows[row];
    windows[row] = {
      centre: sums[row].sum / sums[row].count,
      first: Math.min(had ? had.first : Infinity, ...seen),
      last: Math.max(had ? had.last : -Infinity, ...seen),
    };
  });
  return windows;
}

/** A number that is not finite is null in JSON. */
const numberOf = (value) => value ?? NaN;

/** The sum over a word's source tokens, the mean over its target tokens. */
function gathered(lists, rowAxis, columnAxis) {
  const width = columnAxis.labels.length;
  const values = new Float32Array(rowAxis.labels.length * width);
  const counts = rowAxis.labels.map((_, row) => rowAxis.labelOf.filter((label) => label === row).length);
  lists.forEach((list, t) => {
    const row = rowAxis.labelOf[t];
    if (row < 0) return;
    list.forEach((value, s) => {
      const column = columnAxis.labelOf[s];
      if (column >= 0) values[row * width + column] += numberOf(value) / counts[row];
    });
  });
  return values;
}

function checkShape(what, lists, rows, columns) {
  if (!Array.isArray(lists) || lists.length !== rows || lists.some((list) => list.length !== columns)) {
    const got = Array.isArray(lists) ? `${lists.length} × ${lists.length ? lists[0].length : 0}` : "none";
    throw new Error(`${what}: expected ${rows} × ${columns} numbers, as the trace has tokens, got ${got}`);
  }
}

function finished(grid) {
  grid.most = grid.values.reduce((most, value) => (Number.isFinite(value) ? Math.max(most, Math.abs(value)) : most), 0);
  grid.percent = !grid.signed && grid.most <= 1.0001;
  return grid;
}

/** The one site and head that a choice means, which may have a window; null if it means several. */
function onlyHead(sites, head) {
  if (sites.length !== 1 || (head < 0 && sites[0].heads !== 1)) return null;
  return { site: sites[0], head: Math.max(0, head) };
}

function gridOfMap(trace, number, preferred) {
  const map = trace.maps[number];
  if (!map) throw new Error(`map: expected a number below ${trace.maps.length}, got ${number}`);
  const level = map[preferred] ? preferred : preferred === "words" ? "tokens" : "words";
  const { queries = "target", keys = "source" } = map;
  const rowAxis = axisOf(trace, queries, level);
  const columnAxis = axisOf(trace, keys, level);
  checkShape(`maps[${number}].${level}`, map[level], rowAxis.labels.length, columnAxis.labels.length);
  const looked = (site) => site.site === map.site && (map.layer < 0 || site.layer === map.layer);
  const sites = map.method === "attention" ? trace.sites.filter(looked) : [];
  const one = onlyHead(sites, map.head);
  return finished({
    rows: rowAxis.labels,
    columns: columnAxis.labels,
    rowSide: queries,
    columnSide: keys,
    values: Float32Array.from(map[level].flat(), numberOf),
    signed: map.signed,
    hard: sites.length > 0 && sites.every((site) => site.hard),
    windows:
      one && one.site.centres ? windowsOf(one.site.centres[one.head], one.site.reach, rowAxis, columnAxis) : null,
    label: map.label,
  });
}

function combined(layers, how) {
  const [first, ...rest] = layers;
  const total = first.map((list) => list.map(numberOf));
  for (const lists of rest) {
    lists.forEach((list, t) =>
      list.forEach((value, s) => {
        total[t][s] = how === "max" ? Math.max(total[t][s], numberOf(value)) : total[t][s] + numberOf(value);
      }),
    );
  }
  if (how === "max") return total;
  return total.map((list) => list.map((value) => value / layers.length));
}

function labelOf({ site, layer, head, combine }, sites) {
  const parts = [layer < 0 && sites.length > 1 ? "all layers" : `layer ${sites[0].layer}`];
  parts.push(head < 0 && sites[0].heads > 1 ? "all heads" : `head ${Math.max(0, head)}`);
  const several = (layer < 0 && sites.length > 1) || (head < 0 && sites[0].heads > 1);
  return `${site}, ${parts.join(" · ")}${several ? `, ${combine}` : ""}`;
}

function gridOfSite(trace, choice, level) {
  const { site, layer, head } = choice;
  const sites = trace.sites.filter((one) => one.site === site && one.weights && (layer < 0 || one.layer === layer));
  if (sites.length === 0) throw new Error(`site: expected one with weights, got ${site}, layer ${layer}`);
  const rowAxis = axisOf(trace, sites[0].queries, level);
  const columnAxis = axisOf(trace, sites[0].keys, level);
  const picked = sites.flatMap((one) => (head < 0 ? one.weights : one.weights.slice(head, head + 1)));
  if (picked.length === 0) throw new Error(`head: expected a number below ${sites[0].heads}, got ${head}`);
  picked.forEach((lists) => checkShape(site, lists, rowAxis.tokens, columnAxis.tokens));
  const one = onlyHead(sites, head);
  return finished({
    rows: rowAxis.labels,
    columns: columnAxis.labels,
    rowSide: sites[0].queries,
    columnSide: sites[0].keys,
    values: gathered(combined(picked, choice.combine), rowAxis, columnAxis),
    signed: false,
    hard: sites.every((part) => part.hard),
    windows:
      one && one.site.centres ? windowsOf(one.site.centres[one.head], one.site.reach, rowAxis, columnAxis) : null,
    label: labelOf(choice, sites),
  });
}

/** A map of the trace with tokens of the answer as rows and words of the text as columns; null if its sides are different. */
export function gridOverWords(trace, number) {
  const { queries = "target", keys = "source", tokens } = trace.maps[number] ?? {};
  if (!tokens || queries !== "target" || keys !== "source") return null;
  const grid = gridOfMap(trace, number, "tokens");
  const { words, word_of: wordOf } = trace.source;
  const values = new Float32Array(grid.rows.length * words.length);
  grid.values.forEach((value, i) => {
    const word = wordOf[i % grid.columns.length];
    if (word >= 0) values[Math.floor(i / grid.columns.length) * words.length + word] += value;
  });
  return finished({ ...grid, columns: words, values, windows: null });
}

export function gridOf(trace, choice = {}) {
  const { map = 0, level = "words", site = null, layer = -1, head = -1, combine = "mean" } = choice;
  return site === null ? gridOfMap(trace, map, level) : gridOfSite(trace, { site, layer, head, combine }, level);
}

/** A place among words as one among tokens (the first of the word), or the other way round; `side` is one of a trace. */
export function placeIn(side, index, from, to) {
  if (from === to || index < 0) return index;
  return to === "words" ? (side.word_of[index] ?? -1) : side.word_of.indexOf(index);
}

export function sitesOf(trace) {
  const found = new Map();
  for (const one of trace.sites) {
    if (!one.weights) continue;
    if (!found.has(one.site)) found.set(one.site, { site: one.site, layers: [], heads: one.heads });
    found.get(one.site).layers.push(one.layer);
  }
  return [...found.values()];
}

export function shown(grid, value) {
  if (!Number.isFinite(value)) return "no number";
  if (grid.percent) {
    const share = 100 * value;
    return share > 0 && share < 0.5 ? "< 1 %" : `${Math.round(share)} %`;
  }
  const digits = Math.abs(value) < 0.005 ? "0" : value.toPrecision(2).replace("-", "−");
  return grid.signed && value > 0 && digits !== "0" ? `+${digits}` : digits;
}

const RTL = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

export const rightToLeft = (text) => RTL.test(text);

/** Words of any direction keep their place next to the arrow and the number. */
const apart = (text) => (rightToLeft(text) ? `\u2068${text}\u2069` : text);

export function phrase(grid, row, column) {
  const width = grid.columns.length;
  if (row >= 0 && column >= 0) {
    return `${apart(grid.rows[row])} ← ${apart(grid.columns[column])} ${shown(grid, grid.values[row * width + column])}`;
  }
  const line = row >= 0 ? grid.columns : grid.rows;
  const value = (i) => (row >= 0 ? grid.values[row * width + i] : grid.values[i * width + column]);
  const strongest = line
    .map((_, i) => i)
    .sort((a, b) => Math.abs(value(b)) - Math.abs(value(a)))
    .slice(0, 3)
    .filter((i, place) => place === 0 || Math.abs(value(i)) >= 0.01 * grid.most);
  const list = strongest.map((i) => `${apart(line[i])} ${shown(grid, value(i))}`).join(", ");
  return row >= 0 ? `${apart(grid.rows[row])} ← ${list}` : `${apart(grid.columns[column])} → ${list}`;
}

/** The largest of each row, for signed values the largest magnitude; −1 if a row has nothing. */
export function strongestOf(grid) {
  const width = grid.columns.length;
  const size = (row, c) => (grid.signed ? Math.abs(grid.values[row * width + c]) : grid.values[row * width + c]);
  return grid.rows.map((_, row) => {
    let best = -1;
    for (let c = 0; c < width; ++c) {
      if (size(row, c) > (best < 0 ? 0 : size(row, best))) best = c;
    }
    return best;
  });
}
