// A page with everything in one file: traces to choose from, and the view of one. It follows heatmap.js in the same script;
// `#traces` and `#options` hold JSON.
const traces = JSON.parse(document.getElementById("traces").textContent);
const options = JSON.parse(document.getElementById("options").textContent);

function evidenceTable(trace) {
  const table = make("table", { className: "evidence" });
  table.append(make("caption", { textContent: "what a change does to the mean log-probability of the answer's words" }));
  const heads = ["change", "before", "after", ""].map((text) => make("th", { scope: "col", textContent: text }));
  table.append(make("thead", {}, make("tr", {}, ...heads)));
  const rows = trace.evidence.map((one) => {
    const digits = (value) => (value === null ? "no number" : value.toFixed(2));
    const texts = [one.change, digits(one.before), digits(one.after), one.meaning];
    return make("tr", {}, ...texts.map((text) => make("td", { textContent: text.replace(/^-/, "−") })));
  });
  table.append(make("tbody", {}, ...rows));
  return table;
}

function modelLine({ model, target }) {
  const parts = [model.name, model.task, model.network, `${model.parameters.toLocaleString("en")} parameters`];
  if (target.given) parts.push("the output was given");
  return parts.filter(Boolean).join(" · ");
}

const view = document.getElementById("view");
const evidence = document.getElementById("evidence");
let heatmap = null;

// A tree replaces the sentences, and is lit together with the first map.
let quiet = false; // while one of the two lights the other

function quietly(act) {
  if (quiet) return;
  quiet = true;
  act();
  quiet = false;
}

const tree = new TreeView((side, index) =>
  quietly(() => {
    const { trace, level, site, map } = heatmap.options;
    if (site !== null || map !== 0) return;
    const at = placeIn(trace[side], index, side === "target" ? "tokens" : "words", level);
    heatmap.focus(side === "target" ? at : -1, side === "source" ? at : -1);
  }),
);

view.addEventListener("heatfocus", ({ detail: { row, column } }) =>
  quietly(() => {
    const { trace, level, site, map } = heatmap?.options ?? {};
    if (!tree.element.isConnected || site !== null || map !== 0) return;
    if (row < 0 && column >= 0) tree.light("source", placeIn(trace.source, column, level, "words"));
    else tree.light("target", placeIn(trace.target, row, level, "tokens"));
  }),
);

// A document replaces the sentences, too; its map is below it.
const running = new DocumentView((side, index) =>
  quietly(() => {
    const { level, site, map } = heatmap.options;
    if (site !== null || map !== 0 || level !== "words") return;
    heatmap.focus(side === "target" ? index : -1, side === "source" ? index : -1);
  }),
);

// A sound has a view of its own for all that is known of it.
let listening = null;

function showSound(trace) {
  heatmap?.destroy();
  heatmap = null;
  document.getElementById("above").replaceChildren();
  if (listening) listening.update({ trace, map: 0, site: null, layer: -1, head: -1 });
  else listening = renderSound(view, { trace, level: options.level, heads: options.heads });
}

const titleOf = ({ source, target, inputs = [] }) => `${(inputs[0] ?? source).text} → ${target.text}`;

function show(number) {
  const trace = traces[number];
  document.getElementById("model").textContent = modelLine(trace);
  evidence.replaceChildren(...(trace.evidence.length > 0 ? [evidenceTable(trace)] : []));
  if (isSound(trace)) return showSound(trace);
  listening?.destroy();
  listening = null;
  const parsed = treeOf(trace) !== null;
  const long = !parsed && documentOf(trace);
  const shown = { trace, map: 0, sentences: !parsed && !long };
  if (heatmap) heatmap.update({ ...shown, site: null, layer: -1, head: -1 });
  else heatmap = renderHeatmap(view, { ...shown, level: options.level, heads: options.heads });
  const above = parsed ? tree : long ? running : null;
  document.getElementById("above").replaceChildren(...(above ? [above.element, above.readout] : []));
  if (above) quietly(() => above.render({ trace }));
}

const chooser = document.getElementById("chooser");
if (traces.length > 1) {
  const list = traces.map((trace, i) => [String(i), `${i + 1}. ${titleOf(trace)}`]);
  chooser.append(choice(isSound(traces[0]) ? "sound" : "sentence", "trace", list, 0, (value) => show(Number(value))));
}
const leftOut = document.getElementById("left-out");
leftOut.textContent = options.leftOut;
leftOut.hidden = options.leftOut === "";
document.getElementById("theme").append(themeButton());
show(0);
