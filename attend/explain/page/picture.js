// A page with everything in one file: traces to choose from, and the view of one. It stands behind heatmap.js in the same
// script; `#traces` and `#options` hold JSON.
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

function show(number) {
  const trace = traces[number];
  document.getElementById("model").textContent = modelLine(trace);
  if (heatmap) heatmap.update({ trace, map: 0, site: null, layer: -1, head: -1 });
  else heatmap = renderHeatmap(view, { trace, level: options.level, heads: options.heads });
  evidence.replaceChildren(...(trace.evidence.length > 0 ? [evidenceTable(trace)] : []));
}

const chooser = document.getElementById("chooser");
if (traces.length > 1) {
  const list = traces.map((trace, i) => [String(i), `${i + 1}. ${trace.source.text} → ${trace.target.text}`]);
  chooser.append(choice("sentence", "trace", list, 0, (value) => show(Number(value))));
}
const leftOut = document.getElementById("left-out");
leftOut.textContent = options.leftOut;
leftOut.hidden = options.leftOut === "";
document.getElementById("theme").append(themeButton());
show(0);
