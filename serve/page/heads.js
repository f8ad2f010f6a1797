// Every head of every attention as a small picture: which of them look alike, which do something of their own.

import * as api from "./api.js";
import { make } from "./dom.js";
import { renderHeads } from "./heatmap.js";
import { crosses } from "./sites.js";

// Numbers that are asked for in one piece. Above it, heads come one at a time, and only those that look from one side to
// the other: a long text should not make the page or the server hold its breath.
const AT_ONCE = 400000;

const TITLES = {
  "target source": "The answer looks at the text",
  "target source+before": "The answer looks at the text, and at what it has said",
  "source source": "The text looks at itself",
  "target before": "The answer looks at what it has said",
};

// `opened({site, layer, head, crossing}, trace)` is called with the head that was chosen and a trace that has its weights.
export async function showHeads(place, pane, opened, signal) {
  const { trace } = pane.seen,
    { unit } = pane,
    { methods } = pane.model;
  if (!trace.sites.length) {
    place.replaceChildren(make("p", { class: "hint" }, "This network does not attend to anything."));
    return;
  }
  const whole = numbersOf(trace) <= AT_ONCE;
  const part = { method: "attention", layer: -1, head: -1, combine: "mean" };
  const asked = { ...pane.request(), ...(methods.includes("attention") ? part : {}) };
  const full = whole
    ? await api.explain({ ...asked, weights: true }, signal)
    : await oneByOne(place, trace, asked, signal);
  const sites = [...new Map(full.sites.map((one) => [one.site, one])).values()];
  sites.sort((a, b) => crosses(b) - crosses(a));
  place.replaceChildren(hint(whole));
  for (const site of sites) addSection(place, site, full, unit, opened);
}

const hint = (whole) =>
  make(
    "p",
    { class: "hint" },
    "Rows are what looks, columns what is looked at; choose a head to see it large." +
      (whole ? "" : " The text is long, so only the attention from one side to the other is shown."),
  );

// On the page before it is drawn: off it, an element knows no colours.
function addSection(place, found, trace, level, opened) {
  const { site, queries, keys } = found;
  const pictures = make("div");
  const title = make("h3", {}, TITLES[`${queries} ${keys}`] ?? site, make("small", {}, ` ${site}`));
  place.append(make("section", { class: "site" }, title, pictures));
  const onpick = (layer, head) => opened({ site, layer, head, crossing: crosses(found) }, trace);
  renderHeads(pictures, { trace, site, level, onpick });
}

function numbersOf({ source, target, sites }) {
  const size = { source: source.tokens.length, target: target.tokens.length, before: target.tokens.length };
  size["source+before"] = size.source + size.before;
  return sites.reduce((sum, site) => sum + site.heads * size[site.queries] * size[site.keys], 0);
}

// The trace with the weights of its attentions from one side to the other, which are maps of their own.
async function oneByOne(place, trace, request, signal) {
  const sites = trace.sites.filter(crosses);
  const total = sites.reduce((sum, { heads }) => sum + heads, 0),
    told = make("p", { class: "hint" });
  place.replaceChildren(told);
  let had = 0;
  const found = [];
  for (const site of sites) {
    const weights = [];
    for (let head = 0; head < site.heads; ++head) {
      told.textContent = `Head ${++had} of ${total}…`;
      const one = await api.explain({ ...request, site: site.site, layer: site.layer, head }, signal);
      weights.push(one.maps[0].tokens);
    }
    found.push({ ...site, weights });
  }
  return { ...trace, sites: found };
}
