// Views of an answer, behind tabs. One is made when it is looked at, and made anew when the answer has changed.

import * as api from "./api.js";
import { make, rove, showError } from "./dom.js";

let panes = 0;

export class Tabs {
  // `rows`: by its name in the address, {name, has(model), show(pane, place, signal)} of each view. What show gives may have
  // light(side, row), of what is pointed at in the answer, and stop().
  constructor(pane, rows) {
    Object.assign(this, { pane, rows });
    const id = `pane-${++panes}`;
    this.tabs = Object.entries(rows).map(([view, { name }]) => this.#tab(id, view, name));
    this.error = make("p", { class: "error", role: "alert", hidden: true });
    this.place = make("div", { class: "view" });
    this.panel = make("div", { role: "tabpanel", id: `${id}-panel`, class: "panel" }, this.error, this.place);
    const list = make("div", { role: "tablist", class: "tabs", "aria-label": "What to look at" }, this.tabs);
    list.hidden = this.tabs.length < 2;
    list.addEventListener("keydown", (event) => rove(this.#shown(), event.key, event.target)?.click());
    this.element = make("div", { class: "views" }, list, this.panel);
    this.#mark();
  }

  // What is seen of an answer; null: there is none.
  show(seen) {
    this.seen = seen;
    this.refresh();
  }

  refresh() {
    if (this.seen && this.#current) this.#open();
    else this.#mark();
  }

  stop() {
    this.asking?.abort();
    this.view?.stop?.();
    this.view = null;
  }

  light(side, row) {
    this.view?.light?.(side, row);
  }

  #shown() {
    return this.tabs.filter((tab) => this.rows[tab.dataset.view].has(this.pane.model));
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
          this.refresh();
        },
      },
      name,
    );
  }

  #mark() {
    const shown = this.#shown();
    this.element.hidden = !shown.length;
    for (const tab of this.tabs) {
      const current = tab.dataset.view === this.#current;
      tab.hidden = !shown.includes(tab);
      tab.setAttribute("aria-selected", String(current));
      tab.tabIndex = current ? 0 : -1;
      if (current) this.panel.setAttribute("aria-labelledby", tab.id);
    }
  }

  async #open() {
    this.stop();
    const { signal } = (this.asking = new AbortController());
    this.#mark();
    showError(this.error, null);
    try {
      const view = await this.rows[this.#current].show(this.pane, this.place, signal);
      if (signal.aborted) view?.stop?.();
      else this.view = view;
    } catch (error) {
      if (!api.cancelled(error)) showError(this.error, error);
    }
  }
}
