// What can be looked at behind an answer.

import { answerOf } from "./answers.js";
import * as api from "./api.js";
import { controls, METHODS } from "./controls.js";
import { showCurves } from "./curves.js";
import { choice, make, showError } from "./dom.js";
import { showEvidence } from "./evidence.js";
import { showImages, showSentences, showSounds } from "./gallery.js";
import { showHeads } from "./heads.js";
import { renderHeatmap } from "./heatmap.js";
import { renderLook } from "./look.js";
import { showSearch } from "./search.js";
import { SoundView } from "./sound.js";

const LOOKS = {
  attention: "Attention: where each word looked",
  glimpses: "Glimpses: where it looked, one by one",
  gradcam: "Grad-CAM: the cells that spoke for it",
  saliency: "Saliency: the pixels that it depends on",
  jacobian: "Jacobian: the pixels that it and what it could have said depend on",
};

// Whoever holds one of the choices still holds it after they were made anew.
function replace(place, ...parts) {
  const held = place.contains(document.activeElement) && document.activeElement.name;
  place.replaceChildren(...parts.filter(Boolean));
  if (held) place.querySelector(`select[name="${held}"]`)?.focus();
}

// The map below its choices, lit together with the answer, in both directions.
function mapBelow(pane, place, choices) {
  const element = make("div", { class: "map" });
  replace(place, choices, element);
  const { trace } = pane.seen;
  const view = renderHeatmap(element, { trace, level: pane.unit, controls: false, sentences: false });
  let quiet = false; // while one of the two lights the other
  const quietly = (act) => {
    if (quiet) return;
    quiet = true;
    act();
    quiet = false;
  };
  element.addEventListener("heatfocus", ({ detail: { row, column } }) =>
    quietly(() => (row < 0 && column >= 0 ? pane.said.light("source", column) : pane.said.light("target", row))),
  );
  return {
    light: (side, index) => quietly(() => view.focus(side === "target" ? index : -1, side === "source" ? index : -1)),
    stop: () => view.destroy(),
  };
}

const showMap = (pane, place) => mapBelow(pane, place, controls(pane));
// Without choices, but with what it is a map of.
const showMapAlone = (pane, place) =>
  mapBelow(pane, place, make("p", { class: "hint" }, METHODS[pane.settings.method] ?? pane.settings.method));

function showLook(pane, place) {
  const { model, settings, seen } = pane;
  const methods = model.methods.map((name) => [name, LOOKS[name] ?? name]);
  const choose = choice("method", "Method", methods, settings.method, (method) => pane.look({ method }));
  const element = make("div", { class: "look" });
  const room = make("div", { class: "look-room" }, element);
  replace(place, methods.length > 1 && make("div", { class: "controls" }, choose), room);
  // It plays once; who comes back to it finds the step that was left.
  const look = renderLook(element, { look: seen.look, step: seen.step ?? 0, play: !seen.played });
  seen.played = true;
  element.addEventListener("lookstep", ({ detail }) => {
    seen.step = detail.step;
  });
  return { stop: () => look.destroy() };
}

// All that is known of a sound, in step with it.
function showHeard(pane, place) {
  const { trace } = pane.seen;
  const view = new SoundView(() => {});
  replace(place, trace.target.kind !== "tags" && controls(pane), view.element, view.readout);
  view.render({ trace, unit: pane.unit });
  return { stop: () => view.destroy() };
}

function showAllHeads(pane, place, signal) {
  const enlarge = ({ site, layer, head, crossing }, trace) => {
    if (crossing) return pane.look({ view: "map", method: "attention", layer, head });
    const close = make("button", { type: "button", class: "quiet", click: () => pane.views.refresh() }, "Back to all heads");
    const large = make("div", { class: "map" });
    place.replaceChildren(close, make("h3", {}, `${site}, layer ${layer}, head ${head}`), large);
    renderHeatmap(large, { trace, site, layer, head, level: pane.unit, controls: false, sentences: false });
    close.focus();
  };
  return showHeads(place, pane, enlarge, signal);
}

function showSteps(pane, place) {
  const taken = (ids) => pane.takeBranch(ids);
  place.replaceChildren(showSearch(pane.seen.trace, taken, (step) => pane.said.pin?.(step)));
}

function askEvidence(pane, place, signal) {
  const failed = make("p", { class: "error", role: "alert", hidden: true });
  const measure = async () => {
    ask.disabled = true;
    ask.textContent = "Measuring…";
    try {
      const trace = await api.explain({ ...pane.request(), evidence: true }, signal);
      place.replaceChildren(showEvidence(trace.evidence));
    } catch (error) {
      if (!api.cancelled(error)) showError(failed, error);
      ask.disabled = false;
      ask.textContent = "Measure it";
    }
  };
  const ask = make("button", { type: "button", class: "main", click: measure }, "Measure it");
  place.replaceChildren(
    make("h3", {}, "Is the attention telling the truth?"),
    make(
      "p",
      { class: "hint" },
      "A map can look right and mean nothing. This takes away the words that were looked at most, then others, " +
        "and sees what becomes of the answer.",
    ),
    failed,
    ask,
  );
}

const always = () => true;
const mapped = ({ methods }) => methods.length > 0;
const training = { name: "Training", has: always, show: (pane, place, signal) => showCurves(place, pane.model, signal) };
const gallery = (name, show) => ({
  name,
  has: always,
  show: (pane, place, signal) => show(place, pane.model, (row) => pane.app.open(row), signal),
});

// By what a model reads.
export const VIEWS = {
  text: {
    map: { name: "Map", has: mapped, show: showMap },
    heads: { name: "Heads", has: (model) => mapped(model) && model.sites.length > 0, show: showAllHeads },
    search: { name: "Search", has: (model) => mapped(model) && model.searches, show: showSteps },
    evidence: {
      name: "Evidence",
      has: (model) => mapped(model) && (model.attends || !answerOf(model).perWord),
      show: askEvidence,
    },
    training,
    gallery: gallery("Hard sentences", showSentences),
  },
  texts: {
    map: { name: "Map", has: mapped, show: showMap },
    heads: { name: "Heads", has: (model) => mapped(model) && model.sites.length > 0, show: showAllHeads },
    search: { name: "Search", has: (model) => mapped(model) && model.searches, show: showSteps },
    training,
    gallery: gallery("Hard questions", showSentences),
  },
  image: {
    map: { name: "Look", has: mapped, show: showLook },
    training,
    gallery: gallery("Hard images", showImages),
  },
  sound: {
    map: { name: "Listen", has: mapped, show: showHeard },
    heads: { name: "Heads", has: (model) => mapped(model) && model.sites.length > 0, show: showAllHeads },
    search: { name: "Search", has: (model) => mapped(model) && model.searches, show: showSteps },
    training,
    gallery: gallery("Hard sounds", showSounds),
  },
};

// Of a pane that has little room.
const mapAlone = { map: { name: "Map", has: mapped, show: showMapAlone } };
export const MAP_ALONE = {
  text: mapAlone,
  texts: mapAlone,
  image: { map: VIEWS.image.map },
  sound: { map: VIEWS.sound.map },
};
