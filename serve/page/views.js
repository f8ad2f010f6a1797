// The views of an answer, behind tabs. One is made when it is looked at, and made anew when the answer has changed.

import * as api from "./api.js";
import { controls } from "./controls.js";
import { showCurves } from "./curves.js";
import { make, rove, showError } from "./dom.js";
import { showEvidence } from "./evidence.js";
import { showGallery } from "./gallery.js";
import { crosses, showHeads } from "./heads.js";
import { MapView } from "./mapview.js";
import { showTree } from "./tree.js";

const NAMES = {
  map: "Map",
  heads: "Heads",
  search: "Search",
  evidence: "Evidence",
  training: "Training",
  gallery: "Hard sentences",
};
let panes = 0;

export class Views {
  constructor(pane) {
    this.pane = pane;
    const id = `pane-${++panes}`;
    this.map = new MapView((side, index) => this.pane.ribbon.light(side, index));
    this.tabs = Object.entries(NAMES).map(([view, name]) => this.#tab(id, view, name));
    this.error = make("p", { class: "error", role: "alert", hidden: true });
    this.place = make("div", { class: "view" });
    this.panel = make("div", { role: "tabpanel", id: `${id}-panel`, class: "panel" }, this.error, this.place);
    const list = make("div", { role: "tablist", class: "tabs", "aria-label": "What to look at" }, this.tabs);
    list.addEventListener("keydown", (event) => rove(this.tabs, event.key, event.target)?.click());
    this.element = make("div", { class: "views" }, list, this.panel);
    this.#mark();
  }

  // What is lit in the sentences is lit in the map.
  light(side, index) {
    this.map.light(side, index);
  }

  show(trace) {
    this.trace = trace;
    this.refresh();
  }

  refresh() {
    if (this.trace) this.#open(this.pane.settings.view);
  }

  stop() {
    this.asking?.abort();
  }

  #tab(id, view, name) {
    return make(
      "button",
      {
        type: "button",
        role: "tab",
        id: `${id}-${view}`,
        "aria-controls": `${id}-panel`,
        "data-view": view,
        click: () => {
          this.pane.settings.view = view;
          this.pane.app.changed();
          this.#mark();
          this.refresh();
        },
      },
      name,
    );
  }

  #mark() {
    for (const tab of this.tabs) {
      const current = tab.dataset.view === this.pane.settings.view;
      tab.setAttribute("aria-selected", String(current));
      tab.tabIndex = current ? 0 : -1;
      if (current) this.panel?.setAttribute("aria-labelledby", tab.id);
    }
  }

  async #open(view) {
    this.asking?.abort();
    const { signal } = (this.asking = new AbortController());
    this.#mark();
    showError(this.error, null);
    try {
      await this[`_${view}`](signal);
    } catch (error) {
      if (!api.cancelled(error)) showError(this.error, error);
    }
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
