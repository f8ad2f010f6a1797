// The shared heat map without its sentences, which the page shows itself, in both directions.

import { make } from "./dom.js";
import { renderHeatmap } from "./heatmap.js";

export class MapView {
  // `pointed(side, index)`: what is pointed at in the grid; −1: nothing.
  constructor(pointed) {
    this.element = make("div", { class: "map" });
    this.quiet = false; // while it is the page that points
    this.element.addEventListener("heatfocus", ({ detail: { row, column } }) => {
      if (this.quiet) return;
      this.quiet = true;
      if (row < 0 && column >= 0) pointed("source", column);
      else pointed("target", row);
      this.quiet = false;
    });
  }

  show(options) {
    this.quiet = true;
    if (this.view) this.view.update(options);
    else this.view = renderHeatmap(this.element, { ...options, controls: false, sentences: false });
    this.quiet = false;
  }

  light(side, index) {
    if (this.quiet || !this.view) return;
    this.quiet = true;
    this.view.focus(side === "target" ? index : -1, side === "source" ? index : -1);
    this.quiet = false;
  }
}
