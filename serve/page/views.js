// The views of the answer to a text.

import * as api from "./api.js";
import { controls } from "./controls.js";
import { showCurves } from "./curves.js";
import { make, showError } from "./dom.js";
import { showEvidence } from "./evidence.js";
import { showGallery } from "./gallery.js";
import { crosses, showHeads } from "./heads.js";
import { MapView } from "./mapview.js";
import { Tabs } from "./tabs.js";
import { showTree } from "./tree.js";

const NAMES = {
  map: "Map",
  heads: "Heads",
  search: "Search",
  evidence: "Evidence",
  training: "Training",
  gallery: "Hard sentences",
};

export class Views extends Tabs {
  constructor(pane) {
    super(pane, NAMES);
    this.map = new MapView((side, index) => this.pane.ribbon.light(side, index));
  }

  // What is lit in the sentences is lit in the map.
  light(side, index) {
    this.map.light(side, index);
  }

  _map() {
    const held = this.place.contains(document.activeElement) && document.activeElement.name;
    this.place.replaceChildren(controls(this.pane), this.map.element);
    if (held) this.place.querySelector(`select[name="${held}"]`)?.focus();
    this.map.show({ trace: this.trace, level: this.pane.settings.unit });
  }

  _heads(signal) {
    const opened = (head, trace) => this.#enlarge(head, trace);
    return showHeads(this.place, this.trace, this.pane.request(), this.pane.settings.unit, opened, signal);
  }

  #enlarge({ site, layer, head }, trace) {
    if (crosses(site)) {
      this.pane.look({ view: "map", method: "attention", layer, head });
      return;
    }
    const large = new MapView(() => {});
    const close = make("button", { type: "button", class: "quiet", click: () => this.refresh() }, "Back to all heads");
    this.place.replaceChildren(close, make("h3", {}, `${site}, layer ${layer}, head ${head}`), large.element);
    large.show({ trace, site, layer, head, level: this.pane.settings.unit });
    close.focus();
  }

  _search() {
    this.place.replaceChildren(
      showTree(
        this.trace,
        (ids) => this.pane.takeBranch(ids),
        (step) => this.pane.ribbon.pin("target", this.#placeOf(step)),
      ),
    );
  }

  // A step of the search is a token; the sentences may show words.
  #placeOf(step) {
    const { settings, trace } = this.pane;
    return settings.unit === "tokens" ? step : Math.max(0, trace.target.word_of[step] ?? 0);
  }

  _evidence(signal) {
    const ask = make(
      "button",
      {
        type: "button",
        class: "main",
        click: async () => {
          ask.disabled = true;
          ask.textContent = "Measuring…";
          try {
            const trace = await api.explain({ ...this.pane.request(), evidence: true }, signal);
            this.place.replaceChildren(showEvidence(trace.evidence));
          } catch (error) {
            if (!api.cancelled(error)) showError(this.error, error);
            ask.disabled = false;
            ask.textContent = "Measure it";
          }
        },
      },
      "Measure it",
    );
    this.place.replaceChildren(
      make("h3", {}, "Is the attention telling the truth?"),
      make(
        "p",
        { class: "hint" },
        "A map can look right and mean nothing. This takes away the words that were looked at most, then others, " +
          "and sees what becomes of the answer.",
      ),
      ask,
    );
  }

  _training(signal) {
    return showCurves(this.place, this.pane.settings.model, signal);
  }

  _gallery(signal) {
    return showGallery(this.place, this.pane.settings.model, (text) => this.pane.app.open(text), signal);
  }
}
