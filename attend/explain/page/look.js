// The view of what a network saw of an image, step by step: a word of a caption, a glance, a way to show a map.
//
//   renderLook(element, {look, step, play}) → view
//     fills the element; docs/traces.md describes `look`. `play` steps through it once, unless the reader asked for
//     less motion.
//     view.show(step), view.play(), view.pause(), view.destroy()
//     The element gets the event "lookstep" {step, text}.
//
// Style: theme.css, heatmap.css and look.css.
import { css, make, paletteOf } from "./draw.js";
import { cellShares, percent, placeName, smoothShares, tileShares } from "./shares.js";
import { onTheme } from "./switches.js";

const VEIL = [70, 78, 150]; // as in explain/raster.h
const OPACITY = 0.8;
const FADE = 250; // milliseconds from one veil to the next
const STEP = 1100; // milliseconds that a step is shown
const UNITS = 400; // width of the drawing over the image
const FEW = 100; // pixels of a side; up to this, a picture is enlarged without smoothing
const FINE = 192; // most pixels of a veil's longer side

const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
const pngUrl = (png) => `data:image/png;base64,${png}`;

function svg(name, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "style") node.style.cssText = value; // as an attribute, a page's policy may forbid it
    else node.setAttribute(key, value);
  }
  node.append(...children);
  return node;
}

/** The image, and on it a veil or a map that fades from one step to the next. */
class Stage {
  constructor(image) {
    const picture = make("img", { src: pngUrl(image.png), alt: "", draggable: false });
    if (Math.max(image.width, image.height) <= FEW) picture.classList.add("lk-few");
    this.cover = make("canvas", { className: "lk-cover" });
    this.element = make("div", { className: "lk-stage", tabIndex: 0 }, picture, this.cover);
    this.element.setAttribute("role", "img");
    this.element.style.aspectRatio = `${image.width} / ${image.height}`;
    this.element.style.setProperty("--shape", image.width / image.height);
    const scale = FINE / Math.max(image.width, image.height);
    this.cover.width = Math.max(1, Math.round(image.width * scale));
    this.cover.height = Math.max(1, Math.round(image.height * scale));
    this.colours = new Float32Array(4 * this.cover.width * this.cover.height);
  }

  /** of(i) → [r, g, b, opacity] of each pixel of the cover. */
  fade(of) {
    const from = this.colours;
    const to = new Float32Array(from.length);
    for (let i = 0; 4 * i < to.length; ++i) to.set(of(i), 4 * i);
    cancelAnimationFrame(this.asked);
    const begin = performance.now();
    const frame = (now) => {
      const share = calm() ? 1 : Math.min(1, Math.max(0, (now - begin) / FADE));
      this.colours = share === 1 ? to : from.map((value, i) => value + share * (to[i] - value));
      this.paint();
      if (share < 1) this.asked = requestAnimationFrame(frame);
    };
    frame(this.painted ? begin : Infinity);
    this.painted = true;
  }

  paint() {
    const context = this.cover.getContext("2d");
    const pixels = context.createImageData(this.cover.width, this.cover.height);
    this.colours.forEach((value, i) => {
      pixels.data[i] = i % 4 === 3 ? 255 * value : value;
    });
    context.putImageData(pixels, 0, 0);
  }

  veil(shares) {
    this.fade((i) => [...VEIL, OPACITY * (1 - shares[i])]);
  }

  destroy() {
    cancelAnimationFrame(this.asked);
  }
}

function chips(view, labels, shares) {
  const list = labels.map((label, i) => {
    const chip = make(
      "button",
      { type: "button", className: "hm-chip" },
      make("bdi", { className: "hm-word", textContent: label || "∅" }),
    );
    if (shares.length > 0) chip.append(make("span", { className: "hm-share", textContent: shares[i] }));
    else chip.classList.add("lk-plain");
    chip.addEventListener("click", () => {
      view.pause();
      view.show(i);
    });
    return chip;
  });
  const light = (step) =>
    list.forEach((chip, i) => {
      chip.classList.toggle("hm-lit", i === step);
      chip.classList.toggle("lk-later", i > step);
      if (i === step) chip.setAttribute("aria-current", "step");
      else chip.removeAttribute("aria-current");
    });
  return { element: make("div", { className: "hm-words lk-words" }, ...list), light };
}

// Each kind: {steps, what (one of them is called), side (elements beside the stage), show(step), texts(step)}

function captionOf(view, { caption, image }, stage) {
  const { words, weights, rows, columns, hard, method = "attention", label } = caption;
  const does = method === "attention" ? "looks" : "depends"; // what a word does to a place
  const on = method === "attention" ? "at" : "on";
  const { width, height } = stage.cover;
  const shares = caption.log_probabilities.map((log) => percent(Math.exp(log)));
  const row = chips(view, words, shares);
  const frame = svg("rect", { class: "lk-line" });
  const edge = svg("rect", { class: "lk-edge" });
  const high = (UNITS * image.height) / image.width;
  if (hard)
    stage.element.append(svg("svg", { viewBox: `0 0 ${UNITS} ${high}`, class: "lk-over", "aria-hidden": "true" }, edge, frame));
  const best = (step) => weights[step].indexOf(Math.max(...weights[step]));
  const side = [row.element];
  if (label) side.push(make("p", { className: "lk-method", textContent: label }));
  if (caption.references.length > 0) {
    const said = caption.references.map((text) => make("li", { textContent: text }));
    side.push(
      make("div", { className: "lk-said" }, make("p", { textContent: "what people said of it" }), make("ul", {}, ...said)),
    );
  }
  return {
    steps: words.length,
    what: "word",
    side,
    show(step) {
      row.light(step);
      stage.veil((hard ? cellShares : smoothShares)(weights[step], rows, columns, height, width));
      const [r, c] = [Math.floor(best(step) / columns), best(step) % columns];
      for (const node of [edge, frame]) {
        node.setAttribute("x", (c * UNITS) / columns);
        node.setAttribute("y", (r * high) / rows);
        node.setAttribute("width", UNITS / columns);
        node.setAttribute("height", high / rows);
      }
    },
    text(step) {
      const cell = best(step);
      const where = placeName(((cell % columns) + 0.5) / columns, (Math.floor(cell / columns) + 0.5) / rows);
      if (hard) return `“${words[step]}” ${does} ${on} the ${where}`;
      return `“${words[step]}” ${does} most ${on} the ${where}, ${percent(weights[step][cell])} of it in one cell of ${rows} × ${columns}`;
    },
  };
}

function barsOf(glimpses) {
  const few = glimpses.labels.length <= 12;
  const bars = new Map();
  const element = make("div", { className: "lk-bars" });
  const add = (i) => {
    const fill = make("i");
    const number = make("span", { className: "lk-number" });
    const label = make("span", { className: "lk-label", textContent: glimpses.labels[i], title: glimpses.labels[i] });
    const row = make("div", { className: "lk-bar" }, label, make("span", { className: "lk-room" }, fill), number);
    row.classList.toggle("lk-said-it", glimpses.labels[i] === glimpses.answer);
    bars.set(i, { row, fill, number });
    return row;
  };
  const top = (probabilities) =>
    [...probabilities.keys()].sort((a, b) => probabilities[b] - probabilities[a]).slice(0, few ? probabilities.length : 6);
  const show = (probabilities) => {
    const shown = few ? [...probabilities.keys()] : top(probabilities);
    if (!few || bars.size === 0) {
      bars.clear();
      element.replaceChildren(...shown.map(add));
    }
    for (const i of shown) {
      bars.get(i).fill.style.width = `${100 * probabilities[i]}%`;
      bars.get(i).number.textContent = percent(probabilities[i]);
    }
  };
  return { element, show, top };
}

function glimpsesOf(view, { glimpses, image }, stage) {
  const { glances, labels, tiles } = glimpses;
  const scale = UNITS / image.width;
  const over = svg("svg", { viewBox: `0 0 ${UNITS} ${image.height * scale}`, class: "lk-over", "aria-hidden": "true" });
  const eye = svg("g", { class: "lk-eye" });
  const path = svg("g");
  over.append(eye, path);
  stage.element.append(over);
  const bars = barsOf(glimpses);
  const patches = make("div", { className: "lk-patches" });
  const at = ({ x, y }) => [x * scale, y * scale];

  const arrow = (from, to) => {
    const [[x0, y0], [x1, y1]] = [at(from), at(to)];
    const far = Math.hypot(x1 - x0, y1 - y0);
    if (far < 25) return [];
    const [ux, uy] = [(x1 - x0) / far, (y1 - y0) / far];
    const [ex, ey] = [x1 - 12 * ux, y1 - 12 * uy];
    const side = (turn) => `${ex - 8 * (ux + turn * uy)} ${ey - 8 * (uy - turn * ux)}`;
    const d = `M ${x0 + 11 * ux} ${y0 + 11 * uy} L ${ex} ${ey} M ${side(0.6)} L ${ex} ${ey} L ${side(-0.6)}`;
    return [svg("path", { d, class: "lk-edge" }), svg("path", { d, class: "lk-line" })];
  };
  const dot = (glance, i, last) => {
    const [cx, cy] = at(glance);
    const number = svg("text", { x: cx, y: cy + 5 });
    number.append(String(i + 1));
    return svg("g", { class: last ? "lk-dot" : "lk-dot lk-past" }, svg("circle", { cx, cy, r: 11 }), number);
  };
  const squares = (glance) =>
    glance.sides.flatMap((side, i) => {
      const shape = { x: (-side * scale) / 2, y: (-side * scale) / 2, width: side * scale, height: side * scale };
      const thin = `--thin: ${1 / (1 + 1.2 * i)}`;
      return [svg("rect", { ...shape, class: "lk-edge", style: thin }), svg("rect", { ...shape, class: "lk-line", style: thin })];
    });
  // Of a tile, as far as it lies within the image.
  const frame = (tile) => {
    const [column, row] = [tile % tiles.columns, Math.floor(tile / tiles.columns)];
    const long = (from, pixels) => Math.min(tiles.side, pixels - from * tiles.side) * scale;
    const shape = {
      x: column * tiles.side * scale,
      y: row * tiles.side * scale,
      width: long(column, image.width),
      height: long(row, image.height),
    };
    return [svg("rect", { ...shape, class: "lk-edge" }), svg("rect", { ...shape, class: "lk-line" })];
  };
  const tileText = ({ tiles: shares, drawn }) => {
    const best = shares.indexOf(Math.max(...shares));
    const middle = (i, pixels) => Math.min(1, ((i + 0.5) * tiles.side) / pixels);
    const where = placeName(middle(best % tiles.columns, image.width), middle(Math.floor(best / tiles.columns), image.height));
    const read = drawn.length > 0 ? "the framed tile was read" : "all tiles were read, by their share";
    return `likeliest the tile at the ${where}, ${percent(shares[best])}; ${read}`;
  };
  return {
    steps: glances.length,
    what: "glance",
    side: [patches, bars.element],
    show(step) {
      const glance = glances[step];
      if (tiles) {
        stage.veil(tileShares(glance.tiles, tiles, image, stage.cover.height, stage.cover.width));
        eye.replaceChildren(...glance.drawn.flatMap(frame));
      } else {
        const [x, y] = at(glance);
        eye.replaceChildren(...squares(glance));
        eye.style.transform = `translate(${x}px, ${y}px)`;
        const seen = glances.slice(0, step + 1);
        path.replaceChildren(
          ...seen.slice(1).flatMap((to, i) => arrow(seen[i], to)),
          ...seen.map((one, i) => dot(one, i, i === step)),
        );
      }
      bars.show(glance.probabilities);
      patches.replaceChildren(
        ...glance.patches.map((png, i) => {
          const patch = make("img", { src: pngUrl(png), alt: "", className: "lk-few" });
          return make("figure", {}, patch, make("figcaption", { textContent: `${glance.sides[i]} px` }));
        }),
      );
      if (glance.stop !== undefined) patches.append(make("span", { textContent: `stops here: ${percent(glance.stop)}` }));
    },
    text(step) {
      const { x, y, probabilities, stop } = glances[step];
      const found = bars
        .top(probabilities)
        .slice(0, 3)
        .map((i) => `${labels[i]} (${percent(probabilities[i])})`);
      const place = tiles
        ? tileText(glances[step])
        : `at the ${placeName(x / image.width, y / image.height)} (${Math.round(x)}, ${Math.round(y)})`;
      return `${place}: ${found.join(", ")}${stop === undefined ? "" : `; stops here: ${percent(stop)}`}`;
    },
  };
}

function saliencyOf(view, { saliency }, stage) {
  const { width, height } = stage.cover;
  const cells = Float32Array.from(saliency.map.flat());
  const [rows, columns] = [saliency.map.length, saliency.map[0].length];
  const smooth = smoothShares(cells, rows, columns, height, width);
  const names = ["over the image", "the map alone", "the image alone"];
  const row = chips(view, names, []);
  const ramp = make("span", { className: "hm-ramp" });
  const scale = make("span", { className: "hm-scale" }, "nothing", ramp, "most");
  return {
    steps: names.length,
    what: "view",
    side: [row.element, make("p", { className: "lk-method", textContent: saliency.label || saliency.method }), scale],
    show(step) {
      row.light(step);
      for (const chip of row.element.children) chip.classList.remove("lk-later");
      const palette = paletteOf(stage.element, { most: 1 });
      ramp.style.background = `linear-gradient(to right, ${palette.list.map(css).join(", ")})`;
      scale.hidden = step !== 1;
      if (step === 0) stage.veil(smooth);
      if (step === 1) stage.fade((i) => [...palette.of(smooth[i]), 1]);
      if (step === 2) stage.fade(() => [...VEIL, 0]);
    },
    text: (step) => `${names[step]}${step === 0 ? ": the clearer, the more the answer hung on it" : ""}`,
  };
}

class LookView {
  constructor(element, { look, step = 0, play = false }) {
    this.element = element;
    element.classList.add("lk");
    this.stage = new Stage(look.image);
    this.kind = { caption: captionOf, glimpses: glimpsesOf, saliency: saliencyOf }[look.kind](this, look, this.stage);
    this.live = make("p", { className: "hm-live lk-live" });
    this.live.setAttribute("aria-live", "polite");
    const side = make("div", { className: "lk-side" }, ...this.kind.side);
    const parts = this.kind.steps > 1 && look.kind !== "saliency" ? [this.controls()] : [];
    element.replaceChildren(make("div", { className: "lk-left" }, this.stage.element, ...parts, this.live), side);
    this.keys = (event) => this.key(event);
    element.addEventListener("keydown", this.keys);
    this.ignoreTheme = onTheme(() => this.kind.steps > 0 && this.kind.show(this.step));
    if (this.kind.steps === 0) return;
    this.show(step);
    if (play && parts.length > 0 && !calm()) this.play();
  }

  controls() {
    const button = (name, sign, act) => {
      const one = make("button", { type: "button", className: "hm-theme", textContent: sign, title: name });
      one.setAttribute("aria-label", name);
      one.addEventListener("click", act);
      return one;
    };
    const go = (by) => () => {
      this.pause();
      this.show(this.step + by);
    };
    this.toggle = button("play", "▶", () => (this.timer ? this.pause() : this.play()));
    this.slider = make("input", { type: "range", min: 0, max: this.kind.steps - 1, step: 1, value: 0 });
    this.slider.setAttribute("aria-label", this.kind.what);
    this.slider.addEventListener("input", () => {
      this.pause();
      this.show(Number(this.slider.value));
    });
    this.count = make("span", { className: "lk-count" });
    const parts = [button(`previous ${this.kind.what}`, "‹", go(-1)), this.toggle, button(`next ${this.kind.what}`, "›", go(1))];
    return make("div", { className: "lk-controls" }, ...parts, this.slider, this.count);
  }

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target === this.slider) return;
    const to = { ArrowLeft: this.step - 1, ArrowRight: this.step + 1, Home: 0, End: this.kind.steps - 1 }[event.key];
    if (to !== undefined) {
      this.pause();
      this.show(to);
    } else if (event.key === " " && event.target === this.stage.element && this.toggle) {
      this.toggle.click();
    } else return;
    event.preventDefault();
  }

  show(step) {
    this.step = Math.min(this.kind.steps - 1, Math.max(0, step));
    this.kind.show(this.step);
    const counted = this.toggle ? `${this.kind.what} ${this.step + 1} of ${this.kind.steps}, ` : "";
    const text = counted + this.kind.text(this.step);
    this.live.textContent = text;
    this.stage.element.setAttribute("aria-label", text);
    if (this.toggle) {
      this.slider.value = this.step;
      this.slider.setAttribute("aria-valuetext", text);
      this.count.textContent = `${this.step + 1} / ${this.kind.steps}`;
    }
    this.element.dispatchEvent(new CustomEvent("lookstep", { detail: { step: this.step, text } }));
  }

  /** From the beginning, if it is at the end. */
  play() {
    if (!this.toggle || this.timer) return;
    if (this.step === this.kind.steps - 1) this.show(0);
    this.timer = setInterval(() => {
      this.show(this.step + 1);
      if (this.step === this.kind.steps - 1) this.pause();
    }, STEP);
    this.face();
  }

  pause() {
    clearInterval(this.timer);
    this.timer = 0;
    this.face();
  }

  face() {
    if (!this.toggle) return;
    this.toggle.textContent = this.timer ? "❚❚" : "▶";
    this.toggle.title = this.timer ? "pause" : "play";
    this.toggle.setAttribute("aria-label", this.toggle.title);
    this.live.setAttribute("aria-live", this.timer ? "off" : "polite"); // automatic changes are not read out
  }

  destroy() {
    this.pause();
    this.stage.destroy();
    this.ignoreTheme();
    this.element.removeEventListener("keydown", this.keys);
    this.element.replaceChildren();
    this.element.classList.remove("lk");
  }
}

export function renderLook(element, options) {
  return new LookView(element, options);
}
