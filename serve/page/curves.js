// Small plots of how a model learned: loss and score over steps.

import * as api from "./api.js";
import { draw, make } from "./dom.js";
import { decimal } from "./numbers.js";

const WIDTH = 420,
  HEIGHT = 190,
  LEFT = 40,
  BOTTOM = 26,
  TOP = 12,
  RIGHT = 14;
const TICKS = 4;

export async function showCurves(place, { name: model, scores: known = [] }, signal) {
  const { train = [], valid = [] } = await api.curves(model, signal);
  const loss = [line("training", train, "loss"), line("validation", valid, "valid_loss")].filter(Boolean);
  const scores = known.map(({ name, title }) =>
    plot(`${title} on validation`, [line(title, valid, name)].filter(Boolean)),
  );
  const plots = [plot("Loss", loss), ...scores].filter(Boolean);
  place.replaceChildren(
    plots.length
      ? make("div", { class: "plots" }, plots)
      : make("p", { class: "hint" }, "No log of the training was kept with this model."),
  );
}

function line(name, rows, field) {
  const points = rows.filter((row) => Number.isFinite(row[field])).map((row) => [row.step, row[field]]);
  return points.length ? { name, points } : null;
}

// Round numbers, at least two, that cover low … high in about TICKS steps.
function ticks(low, high) {
  const rough = (high - low || Math.abs(high) || 1) / TICKS,
    power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((digit) => digit * power).find((size) => size >= rough);
  const first = Math.floor(low / step) * step,
    marks = [];
  for (let at = first; at < high + step || marks.length < 2; at += step) marks.push(Number(at.toPrecision(12)));
  return marks;
}

function plot(title, lines) {
  if (!lines.length) return null;
  const all = lines.flatMap(({ points }) => points);
  const ys = ticks(Math.min(...all.map(([, y]) => y)), Math.max(...all.map(([, y]) => y)));
  const lastStep = Math.max(1, ...all.map(([x]) => x));
  const xOf = (step) => LEFT + ((WIDTH - LEFT - RIGHT) * step) / lastStep;
  const yOf = (value) => HEIGHT - BOTTOM - ((HEIGHT - BOTTOM - TOP) * (value - ys[0])) / (ys.at(-1) - ys[0]);
  const grid = ys.map((y) => [
    draw("line", { class: "rule", x1: LEFT, x2: WIDTH - RIGHT, y1: yOf(y), y2: yOf(y) }),
    draw("text", { x: LEFT - 8, y: yOf(y) + 4, "text-anchor": "end" }, String(y)),
  ]);
  const steps = ticks(0, lastStep)
    .filter((step) => step <= lastStep)
    .map((step) =>
      draw(
        "text",
        { x: xOf(step), y: HEIGHT - 6, "text-anchor": step ? "middle" : "start" },
        step.toLocaleString("en"),
      ),
    );
  const paths = lines.map(({ points }, number) =>
    draw("polyline", {
      class: `curve curve-${number}`,
      points: points.map(([x, y]) => `${xOf(x).toFixed(1)},${yOf(y).toFixed(1)}`).join(" "),
    }),
  );
  const read = make("figcaption", {});
  const mark = draw("line", { class: "mark", y1: TOP, y2: HEIGHT - BOTTOM, visibility: "hidden" });
  const svg = draw(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": summary(title, lines) },
    grid.flat(),
    steps,
    paths,
    mark,
  );
  const show = (step) =>
    read.replaceChildren(make("strong", {}, title), ...lines.map((line, number) => legend(line, number, step)));
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect();
    const step = ((((event.clientX - box.left) / box.width) * WIDTH - LEFT) / (WIDTH - LEFT - RIGHT)) * lastStep;
    const at = nearest(lines[0].points, step)[0];
    mark.setAttribute("x1", xOf(at));
    mark.setAttribute("x2", xOf(at));
    mark.setAttribute("visibility", "visible");
    show(at);
  });
  svg.addEventListener("pointerleave", () => {
    mark.setAttribute("visibility", "hidden");
    show(Infinity);
  });
  show(Infinity);
  return make("figure", { class: "plot" }, read, svg);
}

const nearest = (points, step) =>
  points.reduce((best, point) => (Math.abs(point[0] - step) < Math.abs(best[0] - step) ? point : best));

function legend({ name, points }, number, step) {
  const [at, value] = step === Infinity ? points.at(-1) : nearest(points, step);
  return make("span", { class: `key key-${number}` }, `${name} ${decimal(value)} at step ${at.toLocaleString("en")}`);
}

const summary = (title, lines) =>
  `${title}: ` +
  lines
    .map(
      ({ name, points }) =>
        `${name} from ${decimal(points[0][1])} at step ${points[0][0]} to ${decimal(points.at(-1)[1])} at step ${points.at(-1)[0]}`,
    )
    .join("; ");
