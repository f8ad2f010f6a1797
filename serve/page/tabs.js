// Views of an answer, behind tabs. One is made when it is looked at, and made anew when the answer has changed.

import * as api from "./api.js";
import { make, rove, showError } from "./dom.js";

let panes = 0;

export class Tabs {
  // `names`: what each view is called. Whoever derives makes the view v in this.place by `_v(signal)`, of this.trace, and may
  // lack some (`has`).
  constructor(pane, names) {
    this.pane = pane;
    const id = `pane-${++panes}`;
    this.tabs = Object.entries(names).map(([view, name]) => this.#tab(id, view, name));
    this.error = make("p", { class: "error", role: "alert", hidden: true });
    this.place = make("div", { class: "view" });
    this.panel = make("div", { role: "tabpanel", id: `${id}-panel`, class: "panel" }, this.error, this.place);
    const list = make("div", { role: "tablist", class: "tabs", "aria-label": "What to look at" }, this.tabs);
    list.addEventListener("keydown", (event) => rove(this.#shown(), event.key, event.target)?.click());
    this.element = make("div", { class: "views" }, list, this.panel);
    this.#mark();
  }

  show(trace) {
    this.trace = trace;
    this.refresh();
  }

  refresh() {
    if (this.trace) this.#open();
  }

  stop() {
    this.asking?.abort();
  }

  has() {
    return true;
  }

  #shown() {
    return this.tabs.filter((tab) => this.has(tab.dataset.view));
  }

  // What the address names, where there is such a view.
  get #current() {
    const shown = this.#shown().map((tab) => tab.dataset.view);
    return shown.includes(this.pane.settings.view) ? this.pane.settings.view : shown[0];
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
      const current = tab.dataset.view === this.#current;
      tab.hidden = !this.has(tab.dataset.view);
      tab.setAttribute("aria-selected", String(current));
      tab.tabIndex = current ? 0 : -1;
      if (current) this.panel.setAttribute("aria-labelledby", tab.id);
    }
  }

  async #open() {
    this.asking?.abort();
    const { signal } = (this.asking = new AbortController());
    this.#mark();
    showError(this.error, null);
    try {
      await this[`_${this.#current}`](signal);
    } catch (error) {
      if (!api.cancelled(error)) showError(this.error, error);
    }
  }
}
