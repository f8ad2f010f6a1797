// The view of a trace: its sentences as words to point at, the grid of weights, and choices of what is shown.
//
//   renderHeatmap(element, {trace, map, level, site, layer, head, combine, controls, sentences, heads}) → view
//     fills the element. All but `trace` may be left out: map 0 at words level, with controls and sentences, heads folded
//     away. A page that shows the sentences in its own way leaves ours out.
//     view.grid            what is shown (grid.js)
//     view.update(changes) other options; the rest stay
//     view.focus(row, column)   lights a cell; column −1 a row, row −1 a column, both −1 nothing
//     view.destroy()
//     The element gets events: "heatfocus" {row, column, text}, and "heatchoice" {map, site, layer, head, combine, level}.
//   controlsOf(options, update), headsOf(options, update), rampOf(grid, palette) → element   parts of it, for views of other places
//   renderHeads(element, {trace, site, level, onpick}) → nothing
//     small pictures of all layers × heads of a site; onpick(layer, head) when one is chosen
//
// Style: theme.css and heatmap.css. Each import is on its own line, so that a single-file page can leave them out.
import { CanvasGrid } from "./canvas.js";
import { css, imageOf, inkOn, make, paletteOf } from "./draw.js";
import { gridOf, phrase, rightToLeft, shown, sitesOf, strongestOf } from "./grid.js";
import { choice, onTheme, switchOf } from "./switches.js";

const LARGE = 3600; // cells; more are drawn on a canvas

/** A line runs the way that most of its words do. */
const directionOf = (labels) => (2 * labels.filter(rightToLeft).length > labels.length ? "rtl" : "ltr");

const word = (text) => make("bdi", { textContent: text === "" ? "∅" : text });

// The grid as a table with real cells, for screen readers too.

class TableGrid {
  constructor(view) {
    this.view = view;
    const { grid } = view;
    const short = grid.columns.length <= 12 && grid.columns.every((label) => label.length <= 8);
    this.table = make("table", { className: short ? "hm-grid" : "hm-grid hm-upright" });
    this.table.setAttribute("role", "grid");
    this.table.setAttribute("aria-label", `${grid.label}: ${grid.rowSide} down, ${grid.columnSide} across`);
    this.heads = grid.columns.map((label, c) => this.label(label, "col", { column: c }));
    this.table.append(make("thead", {}, make("tr", {}, make("td", { className: "hm-corner" }), ...this.heads)));
    this.labels = [];
    this.cells = [];
    this.table.append(make("tbody", {}, ...grid.rows.map((_, row) => this.row(row))));
    this.box = make("div", { className: "hm-box" }, this.table);
    this.colour();
    this.listen();
    if (this.cells[0] && this.cells[0][0]) this.cells[0][0].tabIndex = 0;
  }

  label(text, scope, data) {
    const head = make("th", { scope, title: text }, make("span", {}, word(text)));
    Object.assign(head.dataset, data);
    return head;
  }

  row(row) {
    const { grid, strongest } = this.view;
    this.labels.push(this.label(grid.rows[row], "row", { row }));
    this.cells.push(grid.columns.map((_, column) => this.cell(row, column, strongest[row] === column)));
    return make("tr", {}, this.labels[row], ...this.cells[row]);
  }

  cell(row, column, strongest) {
    const { grid } = this.view;
    const value = grid.values[row * grid.columns.length + column];
    const text = shown(grid, value);
    const cell = make("td", { tabIndex: -1, title: phrase(grid, row, column) });
    cell.append(make("span", { textContent: text.replace(" %", "").replace("< 1", "0") }));
    cell.setAttribute("role", "gridcell");
    cell.setAttribute("aria-label", phrase(grid, row, column));
    Object.assign(cell.dataset, { row, column });
    if (strongest) cell.classList.add("hm-most");
    if (grid.hard && value > 0) {
      cell.classList.add("hm-dot");
      cell.style.setProperty("--size", Math.sqrt(value / (grid.most || 1)));
    }
    this.window(cell, row, column);
    return cell;
  }

  window(cell, row, column) {
    const one = this.view.grid.windows && this.view.grid.windows[row];
    if (!one || column < one.first || column > one.last) return;
    cell.classList.add("hm-seen");
    if (column === one.first) cell.classList.add("hm-first");
    if (column === one.last) cell.classList.add("hm-last");
    if (Math.round(one.centre) !== column) return;
    cell.classList.add("hm-centre");
    cell.style.setProperty("--place", `${100 * (one.centre - column + 0.5)}%`);
  }

  colour() {
    const { grid, palette } = this.view;
    this.cells.forEach((cells, row) =>
      cells.forEach((cell, column) => {
        const value = grid.values[row * grid.columns.length + column];
        const colour = palette.of(grid.hard ? 0 : value);
        cell.style.backgroundColor = css(colour);
        cell.style.setProperty("--on", inkOn(colour));
      }),
    );
  }

  listen() {
    const at = (event) => {
      const node = event.target.closest("[data-row],[data-column]");
      return node ? [Number(node.dataset.row ?? -1), Number(node.dataset.column ?? -1)] : [-1, -1];
    };
    this.table.addEventListener("pointerover", (event) => this.view.focus(...at(event)));
    this.table.addEventListener("pointerleave", () => this.view.focus(-1, -1));
    this.table.addEventListener("focusin", (event) => this.view.focus(...at(event)));
    this.table.addEventListener("keydown", (event) => {
      const next = this.view.moved(event, ...at(event));
      if (next) this.cells[next[0]][next[1]].focus();
    });
  }

  light(row, column) {
    for (const lit of this.table.querySelectorAll(".hm-lit, .hm-here")) lit.classList.remove("hm-lit", "hm-here");
    if (row >= 0) [this.labels[row], ...this.cells[row]].forEach((node) => node.classList.add("hm-lit"));
    if (column >= 0 && row < 0) {
      [this.heads[column], ...this.cells.map((cells) => cells[column])].forEach((n) => n.classList.add("hm-lit"));
    }
    if (row < 0 || column < 0) return;
    this.heads[column].classList.add("hm-lit");
    const cell = this.cells[row][column];
    cell.classList.add("hm-here");
    for (const old of this.table.querySelectorAll('td[tabindex="0"]')) old.tabIndex = -1;
    cell.tabIndex = 0;
  }

  destroy() {}
}

// Sentences: each word can be pointed at, and shows how it relates to the one that is.

class Sentences {
  constructor(view) {
    this.view = view;
    const { grid } = view;
    this.lines = {
      column: this.line(grid.columnSide, grid.columns, "column"),
      row: this.line(grid.rowSide, grid.rows, "row"),
    };
    this.node = make("div", { className: "hm-sentences" }, this.lines.column.node, this.lines.row.node);
  }

  line(side, labels, axis) {
    const names = { source: "source", target: axis === "row" ? "output" : "target", before: "read before" };
    names["source+before"] = "source, read before";
    const list = make("div", { className: "hm-words", dir: directionOf(labels) });
    const chips = labels.map((text, i) => {
      const chip = make("button", { type: "button", className: "hm-chip", tabIndex: i === 0 ? 0 : -1, title: text });
      chip.append(make("span", { className: "hm-word", dir: rightToLeft(text) ? "rtl" : "ltr" }, word(text)));
      chip.append(make("small", { className: "hm-share", dir: "ltr" }));
      chip.dataset[axis] = i;
      return chip;
    });
    list.append(...chips);
    const at = (event) => {
      const chip = event.target.closest(".hm-chip");
      return chip ? chips.indexOf(chip) : -1;
    };
    const point = (i) => (axis === "row" ? this.view.focus(i, -1) : this.view.focus(-1, i));
    list.addEventListener("pointerover", (event) => point(at(event)));
    list.addEventListener("pointerleave", () => this.view.focus(-1, -1));
    list.addEventListener("focusin", (event) => point(at(event)));
    list.addEventListener("keydown", (event) => this.key(event, axis, at(event)));
    const node = make("div", { className: "hm-line" }, make("span", { className: "hm-side" }, names[side] ?? side), list);
    node.setAttribute("role", "group");
    node.setAttribute("aria-label", names[side] ?? side);
    return { node, chips, list };
  }

  key(event, axis, i) {
    const { chips, list } = this.lines[axis];
    const forward = list.dir === "rtl" ? "ArrowLeft" : "ArrowRight";
    const backward = list.dir === "rtl" ? "ArrowRight" : "ArrowLeft";
    const places = { [forward]: i + 1, [backward]: i - 1, Home: 0, End: chips.length - 1 };
    const other = { ArrowDown: "row", ArrowUp: "column" }[event.key];
    let next = chips[places[event.key]];
    if (other && other !== axis) next = this.lines[other].chips[Math.min(i, this.lines[other].chips.length - 1)];
    if (event.key === "Escape") this.view.focus(-1, -1);
    if (!next) return;
    event.preventDefault();
    chips[i].tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }

  light(row, column) {
    const { grid } = this.view;
    const width = grid.columns.length;
    for (const chip of this.lit ?? []) chip.classList.remove("hm-lit");
    this.lit = [this.lines.row.chips[row], this.lines.column.chips[column]].filter(Boolean);
    for (const chip of this.lit) chip.classList.add("hm-lit");
    const byColumn = column >= 0 && row < 0;
    this.lines.row.chips.forEach((chip, r) => this.share(chip, byColumn ? grid.values[r * width + column] : null));
    this.lines.column.chips.forEach((chip, c) => this.share(chip, row >= 0 ? grid.values[row * width + c] : null));
    this.reveal("row", row);
    this.reveal("column", column >= 0 || row < 0 ? column : this.view.strongest[row]);
  }

  /** Long texts scroll in their own box, unless someone points at them. */
  reveal(axis, i) {
    const { list, chips } = this.lines[axis];
    if (i < 0 || chips.length < 100 || list.matches(":hover, :focus-within")) return;
    list.scrollTop = chips[i].offsetTop - list.offsetTop - list.clientHeight / 2;
  }

  /** Only what changes is touched: in a long text most words have no share before or after. */
  share(chip, value) {
    const { grid, palette } = this.view;
    const none = value === null;
    const colour = none ? null : palette.of(value);
    const ground = none ? "" : css(colour);
    const text = none || Math.abs(value) < 0.005 * (grid.most || 1) ? "" : shown(grid, value);
    if (chip.hmText !== text) chip.lastChild.textContent = chip.hmText = text;
    if (chip.hmGround === ground) return;
    chip.hmGround = ground;
    chip.style.backgroundColor = ground;
    chip.style.color = none ? "" : inkOn(colour);
  }
}

// Choices

const numbered = (all, list) => [["-1", all], ...list.map((i) => [String(i), String(i + 1)])];

/** Switches and lists of what is shown; update(changes) takes another choice. */
export function controlsOf({ trace, level, map, site, layer, head, combine }, update) {
  const sites = sitesOf(trace);
  const maps = trace.maps.map((one, i) => [`map ${i}`, one.label || one.method]);
  const all = maps.concat(sites.map((one) => [`site ${one.site}`, `weights of ${one.site}`]));
  const pick = (value) => {
    const [kind, name] = [value.slice(0, value.indexOf(" ")), value.slice(value.indexOf(" ") + 1)];
    update(kind === "map" ? { map: Number(name), site: null } : { site: name, layer: -1, head: -1 });
  };
  const bar = make("div", { className: "hm-controls" });
  const levels = [["words", "words"], ["tokens", "tokens"]];
  bar.append(switchOf("level", levels, level, (value) => update({ level: value })));
  if (all.length > 1) bar.append(choice("shown", "what", all, site === null ? `map ${map}` : `site ${site}`, pick));
  const here = sites.find((one) => one.site === site);
  if (here) {
    const number = (name) => (value) => update({ [name]: Number(value) });
    const counted = Array.from({ length: here.heads }, (_, i) => i);
    if (here.layers.length > 1) bar.append(choice("layer", "layer", numbered("all", here.layers), layer, number("layer")));
    if (here.heads > 1) bar.append(choice("head", "head", numbered("all", counted), head, number("head")));
    const several = (here.layers.length > 1 && layer < 0) || (here.heads > 1 && head < 0);
    const ways = [["mean", "mean"], ["max", "max"]];
    if (several) bar.append(switchOf("combined by", ways, combine, (value) => update({ combine: value })));
  }
  return bar;
}

/** All heads of the site that is shown, or of the map's; if the map is not of attention, of the first. Null: there is one. */
export function headsOf(options, update) {
  const { trace, site, map, level } = options;
  const sites = sitesOf(trace);
  const name = (site ?? trace.maps[map]?.site) || sites[0]?.site;
  const found = sites.find((one) => one.site === name);
  if (!found || found.layers.length * found.heads < 2) return null;
  const list = make("div");
  const more = make("details", { className: "hm-more", open: options.heads ?? false });
  more.append(make("summary", { textContent: `attention: all heads of ${name}` }), list);
  more.addEventListener("toggle", () => (options.heads = more.open));
  const { layer, head } = options;
  const onpick = (l, h) => update({ site: name, layer: l, head: h });
  renderHeads(list, { trace, site: name, level, layer: site && layer, head: site && head, onpick });
  return more;
}

/** The colours, with the values at their ends. */
export function rampOf(grid, palette) {
  const ramp = make("span", { className: "hm-ramp" });
  ramp.style.backgroundImage = `linear-gradient(to right, ${palette.list.map(css).join(", ")})`;
  const ends = grid.signed ? [`${shown(grid, -grid.most)} against`, `${shown(grid, grid.most)} for`] : ["0", shown(grid, grid.most)];
  return make("span", { className: "hm-scale" }, ends[0], ramp, ends[1]);
}

class View {
  constructor(element, options) {
    this.element = element;
    this.options = { map: 0, level: "words", site: null, layer: -1, head: -1, combine: "mean" };
    Object.assign(this.options, { controls: true, sentences: true }, options);
    this.repaint = () => this.recolour();
    this.change = (changes) => this.update(changes);
    this.ignoreTheme = onTheme(this.repaint);
    element.classList.add("hm");
    this.render();
  }

  update(changes) {
    Object.assign(this.options, changes);
    this.render();
    const { map, site, layer, head, combine, level } = this.options;
    const detail = { map, site, layer, head, combine, level };
    this.element.dispatchEvent(new CustomEvent("heatchoice", { detail }));
  }

  render() {
    const held = document.activeElement && this.element.contains(document.activeElement) && document.activeElement;
    const again = held && (held.name ? `[name="${held.name}"]` : `[data-value="${held.dataset.value}"]`);
    this.body?.destroy();
    const { trace } = this.options;
    if (this.options.site === null && trace.maps.length === 0) {
      const [first] = sitesOf(trace);
      if (!first) throw new Error("renderHeatmap: expected a trace with a map or with weights, got one with neither");
      this.options.site = first.site;
    }
    this.grid = gridOf(trace, this.options);
    this.palette = paletteOf(this.element, this.grid);
    this.strongest = strongestOf(this.grid);
    this.sentences = new Sentences(this);
    this.body = this.grid.values.length > LARGE ? new CanvasGrid(this) : new TableGrid(this);
    this.live = make("p", { className: "hm-live" });
    this.live.setAttribute("aria-live", "polite");
    this.legend = this.legendNode();
    const parts = [this.body.box, this.legend, headsOf(this.options, this.change)];
    if (this.options.sentences) parts.unshift(this.sentences.node, this.live);
    if (this.grid.values.length > LARGE) parts.unshift(this.zoomNode());
    if (this.options.controls) parts.unshift(controlsOf(this.options, this.change));
    this.element.replaceChildren(...parts.filter(Boolean));
    this.focus(-1, -1);
    if (again) this.element.querySelector(again)?.focus();
  }

  recolour() {
    this.palette = paletteOf(this.element, this.grid);
    this.body.colour();
    const legend = this.legendNode();
    this.legend.replaceWith(legend);
    this.legend = legend;
    const heads = this.element.querySelector(".hm-more");
    if (heads) heads.replaceWith(headsOf(this.options, this.change));
  }

  zoomNode() {
    const by = { smaller: 1 / 1.5, larger: 1.5 };
    return switchOf("size of cells", [["smaller", "−"], ["larger", "+"]], "", (key) => this.body.zoom(by[key]));
  }

  legendNode() {
    const { grid, palette } = this;
    const legend = make("div", { className: "hm-legend" });
    legend.append(make("span", { className: "hm-method", textContent: grid.label }));
    if (!grid.hard) legend.append(rampOf(grid, palette));
    const key = (kind, text) => make("span", { className: "hm-key" }, make("i", { className: kind }), text);
    if (grid.hard) legend.append(key("hm-key-dot", "the choice"));
    else legend.append(key("hm-key-most", grid.signed ? "largest of its row, for or against" : "largest of its row"));
    if (grid.windows) legend.append(key("hm-key-window", "window, its centre a line"));
    return legend;
  }

  /** Where an arrow key goes from a cell; null for other keys. */
  moved(event, row, column) {
    const [rows, columns] = [this.grid.rows.length, this.grid.columns.length];
    const page = 10;
    const steps = {
      ArrowUp: [-1, 0],
      ArrowDown: [1, 0],
      ArrowLeft: [0, -1],
      ArrowRight: [0, 1],
      PageUp: [-page, 0],
      PageDown: [page, 0],
      Home: [0, -columns],
      End: [0, columns],
    };
    if (event.key === "Escape") this.focus(-1, -1);
    const step = steps[event.key];
    if (!step || rows === 0 || columns === 0) return null;
    event.preventDefault();
    const within = (i, count) => Math.min(count - 1, Math.max(0, i));
    return [within(row + step[0], rows), within(column + step[1], columns)];
  }

  focus(row, column) {
    if (this.lit && this.lit[0] === row && this.lit[1] === column && this.litGrid === this.grid) return;
    this.lit = [row, column];
    this.litGrid = this.grid;
    this.body.light(row, column);
    if (this.options.sentences) this.sentences.light(row, column);
    const nothing = row < 0 && column < 0;
    const text = nothing ? "" : phrase(this.grid, row, column);
    this.live.textContent = text;
    this.live.dataset.hint = nothing ? "Point at a word, or walk through the cells with the arrow keys." : "";
    this.element.dispatchEvent(new CustomEvent("heatfocus", { detail: { row, column, text } }));
  }

  destroy() {
    this.body.destroy();
    this.ignoreTheme();
    this.element.replaceChildren();
    this.element.classList.remove("hm");
  }
}

export function renderHeatmap(element, options) {
  return new View(element, options);
}

export function renderHeads(element, { trace, site, level = "words", layer = -1, head = -1, onpick }) {
  const found = sitesOf(trace).find((one) => one.site === site);
  if (!found) throw new Error(`renderHeads: expected a site with weights, got ${site}`);
  element.classList.add("hm-heads");
  const grids = found.layers.flatMap((l) =>
    Array.from({ length: found.heads }, (_, h) => ({ l, h, grid: gridOf(trace, { site, layer: l, head: h, level }) })),
  );
  const most = Math.max(...grids.map(({ grid }) => grid.most)); // one scale for all, to make them comparable
  const small = grids.map(({ l, h, grid }) => {
    const name = `layer ${l} · head ${h}`;
    const canvas = imageOf(grid, paletteOf(element, { ...grid, most }));
    canvas.setAttribute("aria-hidden", "true");
    const button = make("button", { type: "button", className: "hm-head" }, canvas, make("span", { textContent: name }));
    button.dataset.value = name;
    button.setAttribute("aria-pressed", String(l === layer && h === head));
    button.addEventListener("click", () => onpick?.(l, h));
    return button;
  });
  element.style.setProperty("--heads", found.heads);
  element.replaceChildren(...small);
}
