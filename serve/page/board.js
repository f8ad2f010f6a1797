// A board to draw on with a mouse, a pen or a finger: white on black, as the digits are that a network learned from.

import { bare } from "./bytes.js";
import { make } from "./dom.js";

const SIDE = 280; // pixels, about
const PAUSE = 350; // milliseconds after a stroke: a 4 has two
const PEN = 2.4; // pixels of what the network sees; thicker where it sees many
const PEN_SHARE = 0.045;
const SMALL = 32; // pixels; digits of such images fill the middle of them

export class Board {
  // `drawn(data)`: what is on it, as PNG in base64, when the pen has rested; `cleared()`.
  constructor(drawn, cleared) {
    Object.assign(this, { drawn, cleared });
    this.canvas = make("canvas", {
      class: "board",
      role: "img",
      "aria-label": "A board to draw on with a mouse, a pen or a finger. With a keyboard, choose a file or a validation image.",
    });
    const listen = (name, act) => this.canvas.addEventListener(name, act);
    listen("pointerdown", (event) => this.#begin(event));
    listen("pointermove", (event) => this.#move(event));
    for (const name of ["pointerup", "pointercancel"]) listen(name, () => this.#end());
    const clear = make("button", { type: "button", class: "quiet", click: () => this.#wipe() }, "Clear");
    this.guide = make("div", { class: "guide", "aria-hidden": "true" });
    this.said = make("span", { class: "hint" });
    this.say("");
    const frame = make("div", { class: "board-frame" }, this.canvas, this.guide);
    this.element = make(
      "div",
      { class: "board-box" },
      frame,
      make("div", { class: "board-foot" }, this.said, clear),
    );
  }

  // For a network that sees `size` × `size` pixels.
  fit(size) {
    const scale = Math.max(1, Math.round(SIDE / size));
    this.canvas.width = this.canvas.height = size * scale;
    this.pen = scale * Math.max(PEN, PEN_SHARE * size);
    this.guide.hidden = size > SMALL;
    this.clear();
  }

  // What was made of the drawing; "": nothing yet.
  say(text) {
    this.said.textContent = text || "Draw here";
    this.said.classList.toggle("spoken", text !== "");
  }

  clear() {
    clearTimeout(this.timer);
    const context = this.canvas.getContext("2d");
    context.fillStyle = "#000000";
    context.fillRect(0, 0, this.canvas.width, this.canvas.height);
  }

  #wipe() {
    this.clear();
    this.cleared();
  }

  #at({ offsetX, offsetY }) {
    const scale = this.canvas.width / this.canvas.clientWidth;
    return [offsetX * scale, offsetY * scale];
  }

  #begin(event) {
    if (event.button !== 0) return;
    event.preventDefault();
    clearTimeout(this.timer);
    this.canvas.setPointerCapture(event.pointerId);
    this.last = this.middle = this.#at(event);
    this.#line([this.last, this.last]); // a dot
  }

  #move(event) {
    if (!this.last) return;
    const moves = event.getCoalescedEvents?.() ?? [];
    for (const move of moves.length ? moves : [event]) {
      const to = this.#at(move);
      const middle = [(this.last[0] + to[0]) / 2, (this.last[1] + to[1]) / 2];
      this.#line([this.middle, this.last, middle]);
      Object.assign(this, { last: to, middle });
    }
  }

  #end() {
    if (!this.last) return;
    this.#line([this.middle, this.last]);
    this.last = null;
    this.timer = setTimeout(() => this.drawn(bare(this.canvas.toDataURL("image/png"))), PAUSE);
  }

  // Straight between two points; of three, the one in the middle bends it.
  #line([from, by, to = by]) {
    const context = this.canvas.getContext("2d");
    Object.assign(context, { strokeStyle: "#ffffff", lineWidth: this.pen, lineCap: "round", lineJoin: "round" });
    context.beginPath();
    context.moveTo(...from);
    context.quadraticCurveTo(...by, ...to);
    context.stroke();
  }
}
