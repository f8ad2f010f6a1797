// A large grid on a canvas as large as its box: only what is scrolled into view is drawn.
import { imageOf, make } from "./draw.js";

export class CanvasGrid {
  constructor(view) {
    this.view = view;
    this.canvas = make("canvas", { className: "hm-canvas" });
    this.space = make("div", { className: "hm-space" }, this.canvas);
    this.box = make("div", { className: "hm-box hm-large", tabIndex: 0 }, this.space);
    this.box.setAttribute("role", "application");
    this.box.setAttribute("aria-label", `${view.grid.label}: arrow keys move through the cells`);
    this.at = [-1, -1];
    this.cellSize = 0;
    this.short = new Map(); // label → its shortened text
    this.colour();
    this.listen();
    this.watch = new ResizeObserver(() => this.draw());
    this.watch.observe(this.box);
  }

  colour() {
    this.image = imageOf(this.view.grid, this.view.palette);
    this.draw();
  }

  /** Sizes of a cell and of the room for labels, which are shown if cells are tall enough. */
  measure() {
    const { rows, columns } = this.view.grid;
    if (!this.cellSize) {
      const fit = Math.min((this.box.clientWidth - 130) / columns.length, (this.box.clientHeight - 110) / rows.length);
      this.fit = Math.max(1, Math.min(16, fit));
      this.cellSize = this.fit;
    }
    this.left = 130;
    this.top = 110;
    this.space.style.width = `${this.left + columns.length * this.cellSize}px`;
    this.space.style.height = `${this.top + rows.length * this.cellSize}px`;
  }

  zoom(by) {
    this.cellSize = Math.max(this.fit, Math.min(28, this.cellSize * by));
    this.draw();
    this.reveal(...this.at);
  }

  draw() {
    if (this.asked) return;
    this.asked = requestAnimationFrame(() => {
      this.asked = 0;
      if (this.box.clientWidth > 0) this.paint();
    });
  }

  paint() {
    this.measure();
    const { box, canvas } = this;
    const sharp = window.devicePixelRatio || 1;
    const [width, height] = [box.clientWidth, box.clientHeight];
    if (canvas.width !== Math.round(width * sharp) || canvas.height !== Math.round(height * sharp)) {
      canvas.width = Math.round(width * sharp);
      canvas.height = Math.round(height * sharp);
      canvas.style.width = `${width}px`;
      canvas.style.height = `${height}px`;
    }
    const context = canvas.getContext("2d");
    context.setTransform(sharp, 0, 0, sharp, 0, 0);
    context.clearRect(0, 0, width, height);
    context.save();
    context.beginPath();
    context.rect(this.left, this.top, width, height);
    context.clip();
    context.translate(this.left - box.scrollLeft, this.top - box.scrollTop);
    this.paintCells(context);
    context.restore();
    this.paintLabels(context, width, height);
  }

  paintCells(context) {
    const { grid, palette } = this.view;
    const size = this.cellSize;
    const [wide, high] = [grid.columns.length * size, grid.rows.length * size];
    context.imageSmoothingEnabled = size < 1;
    context.drawImage(this.image, 0, 0, wide, high);
    context.strokeStyle = palette.ink;
    context.fillStyle = palette.ink;
    const first = Math.max(0, Math.floor(this.box.scrollTop / size));
    const last = Math.min(grid.rows.length - 1, Math.ceil((this.box.scrollTop + this.box.clientHeight) / size));
    for (let row = first; row <= last && size >= 4; ++row) {
      const best = this.view.strongest[row];
      if (grid.hard && best >= 0) {
        context.beginPath();
        context.arc((best + 0.5) * size, (row + 0.5) * size, size / 3, 0, 2 * Math.PI);
        context.fill();
      } else if (best >= 0) {
        context.strokeRect(best * size + 0.5, row * size + 0.5, size - 1, size - 1);
      }
      const seen = grid.windows && grid.windows[row];
      if (seen) context.strokeRect(seen.first * size, row * size + 0.5, (seen.last - seen.first + 1) * size, size - 1);
    }
    const [row, column] = this.at;
    context.strokeStyle = palette.accent;
    context.lineWidth = 2;
    const thick = Math.max(size, 3);
    if (row >= 0) context.strokeRect(-1, row * size - 1, wide + 2, thick + 2);
    if (column >= 0) context.strokeRect(column * size - 1, -1, thick + 2, high + 2);
  }

  paintLabels(context, width, height) {
    const { grid, palette } = this.view;
    const size = this.cellSize;
    const font = palette.font || "sans-serif";
    const every = Math.max(1, Math.ceil(12 / size)); // a label takes 12 pixels across
    const put = (text, lit, place) => {
      context.save();
      place();
      context.font = `${lit ? "600 " : ""}${Math.min(13, Math.max(11, size * 0.8))}px ${font}`;
      context.fillStyle = lit ? palette.ink : palette.faint;
      context.fillText(this.shortened(context, text, 100), 0, 0);
      context.restore();
    };
    context.textBaseline = "middle";
    const [row, column] = this.at;
    const crowded = (i, lit) => i !== lit && (i % every !== 0 || (lit >= 0 && Math.abs(i - lit) * size < 13));
    grid.rows.forEach((text, i) => {
      const y = this.top - this.box.scrollTop + (i + 0.5) * size;
      if (y < this.top || y > height || crowded(i, row)) return;
      put(text, i === row, () => {
        context.textAlign = "right";
        context.translate(this.left - 8, y);
      });
    });
    grid.columns.forEach((text, i) => {
      const x = this.left - this.box.scrollLeft + (i + 0.5) * size;
      if (x < this.left || x > width || crowded(i, column)) return;
      put(text, i === column, () => {
        context.textAlign = "left";
        context.translate(x, this.top - 8);
        context.rotate(-Math.PI / 2);
      });
    });
  }

  shortened(context, text, width) {
    const known = this.short.get(text);
    if (known !== undefined) return known;
    const signs = [...text];
    let short = text;
    while (signs.length > 1 && context.measureText(short).width > width) {
      signs.pop();
      short = `${signs.join("")}…`;
    }
    this.short.set(text, short);
    return short;
  }

  hit(event) {
    const box = this.canvas.getBoundingClientRect();
    const place = (at, room, scrolled, count) => {
      if (at < room) return -1;
      const i = Math.floor((at - room + scrolled) / this.cellSize);
      return i < count ? i : -1;
    };
    const { rows, columns } = this.view.grid;
    const column = place(event.clientX - box.left, this.left, this.box.scrollLeft, columns.length);
    const row = place(event.clientY - box.top, this.top, this.box.scrollTop, rows.length);
    return [row, column];
  }

  listen() {
    this.box.addEventListener("scroll", () => this.draw(), { passive: true });
    this.box.addEventListener("pointermove", (event) => this.view.focus(...this.hit(event)));
    this.box.addEventListener("pointerleave", () => this.view.focus(-1, -1));
    this.box.addEventListener("focus", () => {
      if (this.at[0] < 0 && this.box.matches(":focus-visible")) this.view.focus(0, 0);
    });
    this.box.addEventListener("keydown", (event) => {
      const next = this.view.moved(event, ...this.at);
      if (!next) return;
      this.view.focus(...next);
      this.reveal(...next);
    });
  }

  reveal(row, column) {
    const show = (i, room, seen, scrolled) => {
      const near = i * this.cellSize;
      return Math.max(near + this.cellSize - (seen - room), Math.min(near, scrolled));
    };
    if (row >= 0) this.box.scrollTop = show(row, this.top, this.box.clientHeight, this.box.scrollTop);
    if (column >= 0) this.box.scrollLeft = show(column, this.left, this.box.clientWidth, this.box.scrollLeft);
  }

  light(row, column) {
    this.at = [row, column];
    this.draw();
  }

  destroy() {
    this.watch.disconnect();
    cancelAnimationFrame(this.asked);
  }
}
