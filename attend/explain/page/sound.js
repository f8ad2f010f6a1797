// The view of what was heard of a sound: its spectrogram, below it letters and words over the stretch that each heard, gold times,
// CTC's posteriors and the map, all in one strip that scrolls, with a cursor that moves over them while it plays.
//
//   new SoundView(picked), a Pointing (pointing.js) whose targets are words or tokens of the answer, and sources its places
//     view.element, view.readout
//     view.render({trace, unit, choice})   choice: as of gridOf; null: the first map, if that is over the sound
//     view.play(from, to), view.pause()    in seconds; both may be left out
//     view.destroy()
//     The element gets the events "soundtime" {time, playing} and "soundplay" {begin, end}.
//   renderSound(element, {trace, level, heads}) → view   with controls of what is shown; view.update(changes), view.destroy()
//
// Style: theme.css, heatmap.css and sound.css.
import { css, imageOf, make, paletteOf } from "./draw.js";
import { gridOf, placeIn, shown, sitesOf } from "./grid.js";
import { heardOf, levelsOf, listened, overSound, peaksOf, placeBegin, samplesOf, SPACE } from "./heard.js";
import { controlsOf, headsOf, rampOf } from "./heatmap.js";
import { Player } from "./player.js";
import { Pointing } from "./pointing.js";
import { onTheme, switchOf } from "./switches.js";

const NARROWEST_SECOND = 130; // pixels
const WIDEST_SECOND = 640;
const ROW = { words: [14, 20], tokens: [7, 14] }; // pixels of a row of the map: least, most
const MOST_MAP = 420; // pixels; a map of more rows follows the time that is shown
const NAMED_ROW = 10; // pixels; the names of lower ones would touch
const LEAST_HEARD = 0.16; // seconds that are played of a letter: less is a click
const LEAST_POSTERIOR = 0.02;
const NAMED_PEAK = 0.25;
const MOST_FRAMES = 8000; // of the picture of a spectrogram; browsers have their limits
const STEPS = [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 60];
const GOLDEN = 137.508; // degrees between the hues of labels

const sayToken = (token) => (token === SPACE ? "␣" : token === "" ? "∅" : token);
const inSeconds = (seconds) => seconds.toFixed(2);
const spanText = ([begin, end]) => `${inSeconds(begin)}–${inSeconds(end)} s`;
const rgba = ([r, g, b], alpha) => `rgba(${r},${g},${b},${alpha})`;
const hexParts = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

/** Where two overlap, they meet halfway. */
function apartParts(parts) {
  const own = parts.map((part) => ({ ...part }));
  for (let i = 1; i < own.length; ++i) {
    const [before, after] = [own[i - 1], own[i]];
    if (before.end <= after.begin) continue;
    const low = (before.begin + before.end) / 2;
    const high = Math.max(low, (after.begin + after.end) / 2);
    before.end = after.begin = Math.min(high, Math.max(low, (before.end + after.begin) / 2));
  }
  return own;
}

/** A canvas as wide as what is seen of the strip, drawn anew when that changes: draw(context, width, height, from). */
class Layer {
  constructor(view, name, title, draw) {
    Object.assign(this, { view, draw });
    this.canvas = make("canvas", { className: "sd-canvas" });
    this.canvas.setAttribute("aria-hidden", "true");
    this.row = make("div", { className: `sd-row ${name}` }, this.canvas);
    this.name = make("div", { className: `sd-name ${name}`, textContent: title });
  }

  paint() {
    const width = this.view.scroll.clientWidth;
    const height = this.row.clientHeight;
    if (!width || !height) return;
    const sharp = window.devicePixelRatio || 1;
    const { canvas } = this;
    if (canvas.width !== Math.round(width * sharp) || canvas.height !== Math.round(height * sharp)) {
      canvas.width = Math.round(width * sharp);
      canvas.height = Math.round(height * sharp);
      canvas.style.width = `${width}px`;
      canvas.style.height = `${height}px`;
    }
    const context = canvas.getContext("2d");
    context.setTransform(sharp, 0, 0, sharp, 0, 0);
    context.clearRect(0, 0, width, height);
    this.draw(context, width, height, this.view.scroll.scrollLeft);
  }
}

export class SoundView extends Pointing {
  constructor(picked) {
    super(picked);
    this.cursor = make("div", { className: "sd-cursor" });
    this.space = make("div", { className: "sd-space" });
    this.scroll = make("div", { className: "sd-scroll" }, this.space);
    this.names = make("div", { className: "sd-names" });
    this.names.setAttribute("aria-hidden", "true");
    this.stage = make("div", { className: "sd-stage" }, this.names, this.scroll);
    this.button = make("button", { type: "button", className: "hm-theme sd-play" });
    this.button.addEventListener("click", () => (this.player.playing ? this.pause() : this.play()));
    this.clock = make("span", { className: "sd-clock" });
    const speeds = [["1", "1×"], ["0.5", "½×"]];
    this.speed = "1";
    this.speeds = make("span");
    this.setSpeed = (value) => {
      this.speed = value;
      this.speeds.replaceChildren(switchOf("speed", speeds, value, this.setSpeed));
      if (!this.player) return;
      this.player.speed = Number(value);
      if (this.player.playing) this.player.seek(this.player.time);
    };
    this.setSpeed("1");
    this.zooms = switchOf("size of a second", [["smaller", "−"], ["larger", "+"]], "", (key) => this.zoom(key === "larger" ? 1.5 : 1 / 1.5));
    this.bar = make("div", { className: "sd-bar" }, this.button, this.clock, this.speeds, this.zooms);
    this.legend = make("div", { className: "hm-legend" });
    this.readout = make("p", { className: "readout hm-live" });
    this.readout.setAttribute("aria-live", "polite");
    this.element = make("div", { className: "sd" }, this.bar, this.stage, this.legend);
    this.second = 0;
    this.#listen();
    this.watch = new ResizeObserver(() => this.#resized());
    this.watch.observe(this.scroll);
    this.ignoreTheme = onTheme(() => this.#recolour());
  }

  // What is shown

  render({ trace, unit = "words", choice = null }) {
    this.clear();
    const anew = this.trace !== trace;
    const { sound } = trace.source;
    Object.assign(this, { trace, unit, sound, heard: heardOf(trace), lit: null });
    this.grid = this.#gridOf(choice);
    this.depended = this.#dependedOn(choice);
    if (anew) {
      this.pinned = null;
      this.second = 0;
      this.player?.destroy();
      const played = samplesOf(sound);
      this.player = played?.samples.length ? new Player(played, (time, playing) => this.#moved(time, playing)) : null;
      if (this.player) this.player.speed = Number(this.speed);
    }
    if (this.pinned && this.pinned.index >= this.#labels().length) this.pinned = null;
    this.button.hidden = this.clock.hidden = this.speeds.hidden = !this.player;
    this.#build();
    this.#resized();
    if (anew) this.scroll.scrollLeft = 0;
    this.#moved(this.player?.time ?? 0, this.player?.playing ?? false);
    this.show(this.pinned, true);
  }

  #gridOf(choice) {
    if (this.heard.labelled) return null;
    const wanted = choice ?? { map: this.trace.maps.findIndex(overSound) };
    if (wanted.map < 0 && (wanted.site ?? null) === null) return null;
    const grid = gridOf(this.trace, { ...wanted, level: this.unit });
    return overSound({ queries: grid.rowSide, keys: grid.columnSide }) ? grid : null;
  }

  /** What all rows have of each place, of a map of what the answer depends on. Attention is read row by row: together its rows
      only say where something was said. */
  #dependedOn(choice) {
    const number = choice?.map ?? this.trace.maps.findIndex(overSound);
    const attention = (choice?.site ?? null) !== null || ["attention", "rollout"].includes(this.trace.maps[number]?.method);
    if (!this.grid || attention) return null;
    const width = this.grid.columns.length;
    const sums = new Float32Array(width);
    this.grid.values.forEach((value, i) => (sums[i % width] += Number.isFinite(value) ? Math.abs(value) : 0));
    return sums;
  }

  #labels() {
    return this.heard.labelled ? this.heard.labelled.map(({ label }) => label) : this.trace.target[this.unit];
  }

  /** Where a word or token of the answer was heard: by its times, otherwise by the row that is shown. */
  stretch(index, unit = this.unit) {
    if (this.heard.labelled) return [this.heard.labelled[index].begin, this.heard.labelled[index].end];
    const own = this.heard[unit][index];
    return own ?? (unit === this.unit && this.grid ? listened(this.#row(index), this.sound) : null);
  }

  #row(index) {
    const width = this.grid.columns.length;
    return this.grid.values.subarray(index * width, (index + 1) * width);
  }

  // The layers, from above

  #build() {
    const { sound, heard, trace } = this;
    this.layers = [];
    const rows = [];
    const names = [];
    const add = ({ row, name }) => {
      rows.push(row);
      names.push(name);
    };
    const layer = (name, title, draw) => {
      const made = new Layer(this, name, title, draw);
      this.layers.push(made);
      add(made);
      return made;
    };
    this.picture = layer("sd-sound", "", (...how) => this.#drawSound(...how));
    this.picture.name.append(...this.#pitches());
    this.#asSlider(this.picture.row);
    this.bands = [];
    if (heard.labelled) {
      add(this.#coloured("heard", heard.labelled, true));
      if (heard.gold.length) add(this.#coloured("gold", heard.gold, false));
      if (heard.gold.length) add(this.#differences());
    } else {
      const letters = trace.target.tokens.filter((token, i) => token !== "</s>" || i + 1 < trace.target.tokens.length);
      const both = letters.length !== trace.target.words.length;
      if (both) add(this.#band("tokens", "heard", letters));
      add(this.#band("words", both ? "words" : "heard", trace.target.words));
      if (sound.words?.length) add(this.#gold("gold", sound.words));
      if (sound.phonemes?.length) add(this.#gold("phonemes", sound.phonemes));
    }
    if (sound.posteriors && !heard.labelled) layer("sd-curves", "CTC", (...how) => this.#drawCurves(...how));
    this.map = null;
    if (this.grid) {
      this.map = layer("sd-map", "", (...how) => this.#drawMap(...how));
      this.rowLabels = make("canvas", { className: "sd-labels" });
      this.map.name.append(this.rowLabels);
    }
    this.axis = make("div", { className: "sd-row sd-axis" });
    add({ row: this.axis, name: make("div", { className: "sd-name sd-axis", textContent: "seconds" }) });
    this.space.replaceChildren(...rows, this.cursor);
    this.names.replaceChildren(...names);
    this.#legend();
  }

  /** Ticks of pitch, where it is known which bands are which. */
  #pitches() {
    const mel = (hertz) => 2595 * Math.log10(1 + hertz / 700);
    const { low, high } = this.sound;
    if (!high) return [];
    return [500, 1000, 2000, 4000, 8000].flatMap((hertz) => {
      const share = (mel(hertz) - mel(low)) / (mel(high) - mel(low));
      if (share < 0.1 || share > 1.001) return [];
      const tick = make("span", { className: "sd-pitch", textContent: hertz >= 8000 ? "8 kHz" : String(hertz / 1000) });
      tick.style.bottom = `${100 * Math.min(0.93, share)}%`;
      return [tick];
    });
  }

  #asSlider(row) {
    row.tabIndex = 0;
    row.setAttribute("role", this.player ? "slider" : "img");
    row.setAttribute("aria-label", this.player ? "spectrogram: position in the sound" : "spectrogram of the sound");
    if (!this.player) return;
    row.setAttribute("aria-valuemin", "0");
    row.setAttribute("aria-valuemax", this.sound.seconds.toFixed(2));
  }

  /** Letters or words as buttons over what they heard. */
  #band(unit, title, labels) {
    const parts = labels.flatMap((label, index) => {
      const heard = this.heard[unit][index];
      return heard && label !== SPACE ? [{ label, index, begin: heard[0], end: heard[1], told: heard }] : [];
    });
    const buttons = apartParts(parts).map((part, i) => {
      const button = make("button", { type: "button", className: "sd-part", tabIndex: i === 0 ? 0 : -1 });
      button.append(make("bdi", { textContent: part.label }));
      button.title = `${part.label}, ${spanText(part.told)}${this.player ? ": click to hear it" : ""}`;
      button.classList.toggle("sd-odd", i % 2 === 1);
      button.dataset.index = part.index;
      return Object.assign(button, { sdPart: part });
    });
    return this.#listed(unit, title, buttons);
  }

  #listed(unit, title, buttons) {
    const row = make("div", { className: "sd-row sd-band" }, ...buttons);
    row.setAttribute("role", "group");
    row.setAttribute("aria-label", unit === "tokens" ? "letters that were heard" : "what was heard");
    row.dataset.unit = unit;
    this.bands.push({ unit, buttons });
    return { row, name: make("div", { className: "sd-name sd-band", textContent: title }) };
  }

  /** Gold times as thin bars with their labels. */
  #gold(title, times) {
    const parts = times.map(([label, begin, end]) => {
      const part = make("span", { className: "sd-gold-part", title: `gold: ${label}, ${spanText([begin, end])}` }, make("bdi", { textContent: label }));
      return Object.assign(part, { sdPart: { begin, end } });
    });
    const row = make("div", { className: "sd-row sd-gold" }, ...parts);
    this.bands.push({ unit: null, buttons: parts });
    return { row, name: make("div", { className: "sd-name sd-gold", textContent: title }) };
  }

  /** A label for each place: stretches of one label in a colour of its own, as those of the gold ones. */
  #coloured(title, times, pointed) {
    this.hues ??= new Map();
    const parts = times.map(({ label, begin, end }, index) => {
      if (!this.hues.has(label)) this.hues.set(label, (40 + GOLDEN * this.hues.size) % 360);
      const part = make(pointed ? "button" : "span", { className: "sd-part sd-label" }, make("bdi", { textContent: label }));
      part.style.setProperty("--hue", this.hues.get(label).toFixed(1));
      part.title = `${pointed ? "" : "gold: "}${label}, ${spanText([begin, end])}`;
      if (pointed) Object.assign(part, { type: "button", tabIndex: index === 0 ? 0 : -1 });
      if (pointed) part.dataset.index = index;
      return Object.assign(part, { sdPart: { begin, end } });
    });
    if (pointed) return this.#listed("labelled", title, parts);
    this.bands.push({ unit: null, buttons: parts });
    return { row: make("div", { className: "sd-row sd-band" }, ...parts), name: make("div", { className: "sd-name sd-band", textContent: title }) };
  }

  #differences() {
    const { labelled, gold } = this.heard;
    const parts = gold.flatMap((right) =>
      labelled
        .filter((one) => one.label !== right.label && Math.min(one.end, right.end) - Math.max(one.begin, right.begin) > 1e-6)
        .map((one) => {
          const range = { begin: Math.max(one.begin, right.begin), end: Math.min(one.end, right.end) };
          const title = `${one.label}, gold ${right.label}, ${spanText([range.begin, range.end])}`;
          return Object.assign(make("span", { className: "sd-wrong", title }), { sdPart: range });
        }),
    );
    this.bands.push({ unit: null, buttons: parts });
    return { row: make("div", { className: "sd-row sd-differs" }, ...parts), name: make("div", { className: "sd-name sd-differs", textContent: "differs" }) };
  }

  #legend() {
    const { grid, sound } = this;
    const parts = [];
    if (grid) parts.push(make("span", { className: "hm-method", textContent: grid.label }), rampOf(grid, paletteOf(this.element, grid)));
    if (this.depended) parts.push(make("span", { className: "hm-key", textContent: "veiled: what the answer did not depend on" }));
    const gold = (sound.words?.length || sound.phonemes?.length) && !this.heard.labelled;
    if (gold) parts.push(make("span", { className: "hm-key" }, make("i", { className: "sd-key-gold" }), "gold times"));
    if (sound.posteriors && !this.heard.labelled) parts.push(make("span", { className: "hm-key" }, make("i", { className: "sd-key-blank" }), "blank"));
    this.legend.replaceChildren(...parts);
    this.legend.hidden = parts.length === 0;
  }

  // Size and place

  x(seconds) {
    return seconds * this.second;
  }

  zoom(by) {
    const middle = (this.scroll.scrollLeft + this.scroll.clientWidth / 2) / this.second;
    this.second = Math.min(2000, Math.max(this.least, this.second * by));
    this.#resized();
    this.scroll.scrollLeft = this.x(middle) - this.scroll.clientWidth / 2;
  }

  #resized() {
    if (!this.sound || !this.scroll.clientWidth) return;
    const seconds = Math.max(this.sound.seconds, 1e-3);
    const fit = Math.min(WIDEST_SECOND, this.scroll.clientWidth / seconds);
    this.least = Math.min(fit, NARROWEST_SECOND / 2);
    if (!this.second || this.second < fit || this.fitted) {
      this.second = Math.max(fit, NARROWEST_SECOND);
      this.fitted = true;
    }
    if (this.second > Math.max(fit, NARROWEST_SECOND) * 1.001) this.fitted = false;
    this.space.style.width = `${Math.max(1, this.x(seconds))}px`;
    for (const { buttons } of this.bands) {
      for (const button of buttons) {
        const { begin, end } = button.sdPart;
        button.style.left = `${this.x(begin)}px`;
        button.style.width = `${Math.max(3, this.x(end) - this.x(begin))}px`;
        const wide = this.x(end) - this.x(begin);
        button.classList.toggle("sd-narrow", wide < 10);
        button.classList.toggle("sd-sliver", wide < 6);
      }
    }
    this.#sizeMap();
    this.#ticks(seconds);
    this.#place();
    this.paint();
  }

  /** Rows as high as lets those be seen together that listen at what is seen at a time. */
  #sizeMap() {
    if (!this.map) return;
    const [least, most] = ROW[this.unit];
    const share = Math.min(1, this.scroll.clientWidth / this.x(this.sound.seconds));
    const together = Math.max(1, share * this.grid.rows.length);
    this.rowHigh = Math.min(most, Math.max(least, Math.floor(MOST_MAP / together)));
    const high = Math.min(MOST_MAP, this.grid.rows.length * this.rowHigh);
    for (const part of [this.map.row, this.map.name]) part.style.height = `${high}px`;
  }

  #ticks(seconds) {
    const step = STEPS.find((one) => this.x(one) >= 64) ?? 60;
    const ticks = [];
    for (let i = 0; i * step <= seconds + 1e-9; ++i) {
      const tick = make("span", { className: "sd-tick", textContent: Number((i * step).toFixed(2)) });
      tick.style.left = `${this.x(i * step)}px`;
      ticks.push(tick);
    }
    this.axis.replaceChildren(...ticks);
  }

  paint() {
    if (this.painting) return;
    this.painting = requestAnimationFrame(() => {
      this.painting = 0;
      for (const layer of this.layers ?? []) layer.paint();
      this.#paintLabels();
    });
  }

  #recolour() {
    this.image = this.mapImage = null;
    if (this.sound) this.#legend();
    this.paint();
  }

  // Drawing

  /** Quiet is paper, loud is ink: one pixel per frame and band. */
  #imageOfSound() {
    if (this.image?.sdSound === this.sound) return this.image;
    const style = getComputedStyle(this.element);
    const [paper, ink] = ["--paper", "--ink"].map((name) => hexParts(style.getPropertyValue(name).trim()));
    const { frames, bands } = this.sound.spectrogram;
    const levels = levelsOf(this.sound);
    const merged = Math.ceil(frames / MOST_FRAMES);
    const canvas = make("canvas", { width: Math.ceil(frames / merged), height: bands });
    const context = canvas.getContext("2d");
    const pixels = context.createImageData(canvas.width, bands);
    for (let x = 0; x < canvas.width; ++x) {
      for (let b = 0; b < bands; ++b) {
        const share = levels[x * merged * bands + b] / 255;
        const at = 4 * ((bands - 1 - b) * canvas.width + x);
        for (let c = 0; c < 3; ++c) pixels.data[at + c] = paper[c] + share * (ink[c] - paper[c]);
        pixels.data[at + 3] = 255;
      }
    }
    context.putImageData(pixels, 0, 0);
    this.image = Object.assign(canvas, { sdSound: this.sound, sdPaper: paper, sdFrame: merged * this.sound.frame_seconds });
    return this.image;
  }

  #drawSound(context, width, height, from) {
    const image = this.#imageOfSound();
    context.imageSmoothingEnabled = true;
    context.imageSmoothingQuality = "high";
    context.drawImage(image, -from, 0, this.x(image.width * image.sdFrame), height);
    const { lit } = this;
    if (lit?.side !== "target") {
      if (this.depended) this.#veil(context, this.depended, width, height, from, image.sdPaper);
      return;
    }
    const values = this.grid ? this.#row(lit.index) : null;
    if (values) this.#veil(context, values, width, height, from, image.sdPaper);
    const heard = this.stretch(lit.index);
    if (!heard) return;
    if (!values) {
      context.fillStyle = rgba(image.sdPaper, 0.72);
      context.fillRect(0, 0, this.x(heard[0]) - from, height);
      context.fillRect(this.x(heard[1]) - from, 0, width, height);
    }
    context.fillStyle = getComputedStyle(this.element).getPropertyValue("--accent");
    context.fillRect(this.x(heard[0]) - from, height - 3, Math.max(2, this.x(heard[1]) - this.x(heard[0])), 3);
  }

  /** What was not looked at is veiled; what spoke against it has the colour of that. */
  #veil(context, values, width, height, from, paper) {
    const most = values.reduce((largest, value) => (Number.isFinite(value) ? Math.max(largest, Math.abs(value)) : largest), 0);
    const palette = paletteOf(this.element, { ...this.grid, most: this.grid.signed ? most : this.grid.most });
    const share = (p) => (most > 0 && Number.isFinite(values[p]) ? Math.abs(values[p]) / most : 0);
    const first = Math.max(0, Math.floor((from / this.second - this.sound.place_offset) / this.sound.place_seconds) - 1);
    const last = Math.min(values.length - 1, first + Math.ceil(width / this.second / this.sound.place_seconds) + 2);
    const sweep = context.createLinearGradient(0, 0, width, 0);
    const tint = context.createLinearGradient(0, 0, width, 0);
    for (let p = first; p <= last; ++p) {
      const at = (this.x(placeBegin(this.sound, p) + this.sound.place_seconds / 2) - from) / width;
      if (at < 0 || at > 1) continue;
      sweep.addColorStop(at, rgba(paper, 0.8 * (1 - share(p))));
      tint.addColorStop(at, rgba(palette.of(values[p]), 0.45 * share(p)));
    }
    context.fillStyle = sweep;
    context.fillRect(0, 0, width, height);
    context.fillStyle = tint;
    context.fillRect(0, 0, width, height);
  }

  #drawCurves(context, width, height, from) {
    const { sound } = this;
    const style = getComputedStyle(this.element);
    const [accent, faint, ink, line] = ["--accent", "--faint", "--ink", "--line"].map((name) => style.getPropertyValue(name).trim());
    const top = 16;
    const y = (share) => height - 1 - (height - 1 - top) * Math.min(1, Math.max(0, share));
    const middle = (p) => this.x(placeBegin(sound, p) + sound.place_seconds / 2) - from;
    context.strokeStyle = line;
    for (const share of [0, 1]) context.strokeRect(0, y(share) + 0.5, width, 0);
    context.strokeStyle = faint;
    context.setLineDash([2, 3]);
    context.beginPath();
    sound.posteriors.forEach((row, p) => context.lineTo(middle(p), y(row[0] ?? 0)));
    context.stroke();
    context.setLineDash([]);
    context.font = `12px ${style.fontFamily}`;
    context.textAlign = "center";
    this.peaks = this.peaks?.of === sound ? this.peaks : { of: sound, list: peaksOf(sound, LEAST_POSTERIOR) };
    const wide = this.x(sound.place_seconds);
    let taken = -Infinity;
    for (const { label, first, last, place, value } of this.peaks.list) {
      if (middle(last) + wide < 0 || middle(first) - wide > width) continue;
      context.beginPath();
      context.moveTo(middle(first) - wide, y(0));
      for (let p = first; p <= last; ++p) context.lineTo(middle(p), y(sound.posteriors[p][label]));
      context.lineTo(middle(last) + wide, y(0));
      context.fillStyle = rgba(hexParts(accent), 0.28);
      context.fill();
      context.strokeStyle = accent;
      context.stroke();
      const text = sayToken(sound.labels[label]);
      const half = context.measureText(text).width / 2;
      if (value < NAMED_PEAK || middle(place) - half < taken) continue;
      taken = middle(place) + half;
      context.fillStyle = ink;
      context.fillText(text, middle(place), y(value) - 4);
    }
  }

  /** How far a map of many rows is moved up: those that listen at what is seen are in the middle. */
  #above(height) {
    const row = this.rowHigh;
    const most = this.grid.rows.length * row - height;
    if (most <= 0) return 0;
    const [from, to] = [this.scroll.scrollLeft, this.scroll.scrollLeft + this.scroll.clientWidth].map((x) => x / this.second);
    const here = this.grid.rows.flatMap((_, r) => {
      const heard = this.stretch(r);
      const middle = heard ? (heard[0] + heard[1]) / 2 : -1;
      return middle >= from && middle <= to ? [r] : [];
    });
    if (here.length === 0) return Math.min(most, this.over ?? 0);
    const lit = this.lit?.side === "target" && here.includes(this.lit.index) ? this.lit.index : null;
    const centre = lit ?? this.#rowNow(here);
    return Math.min(most, Math.max(0, (centre + 0.5) * row - height / 2));
  }

  /** While it plays the row of that time, otherwise the middle one of those that are seen. */
  #rowNow(here) {
    if (!this.player?.playing) return (here[0] + here.at(-1)) / 2;
    const passed = here.filter((r) => this.stretch(r)[0] <= this.player.time);
    return passed.at(-1) ?? here[0];
  }

  #drawMap(context, width, height, from) {
    const { grid, sound } = this;
    const row = this.rowHigh;
    const palette = paletteOf(this.element, grid);
    if (this.mapImage?.sdGrid !== grid) this.mapImage = Object.assign(imageOf(grid, palette), { sdGrid: grid });
    this.over = this.#above(height);
    context.fillStyle = css(palette.of(0));
    context.fillRect(0, 0, width, height);
    context.imageSmoothingEnabled = false;
    const left = this.x(sound.place_offset) - from;
    const wide = this.x(grid.columns.length * sound.place_seconds);
    context.drawImage(this.mapImage, left, -this.over, wide, grid.rows.length * row);
    const style = getComputedStyle(this.element);
    context.fillStyle = style.getPropertyValue("--paper");
    for (let r = Math.floor(this.over / row); r * row - this.over < height; ++r) context.fillRect(0, r * row - this.over, width, 1);
    context.fillStyle = style.getPropertyValue("--gold");
    context.globalAlpha = 0.45;
    for (const [, begin, end] of sound.words ?? []) {
      for (const t of [begin, end]) context.fillRect(this.x(t) - from - 0.5, 0, 1, height);
    }
    context.globalAlpha = 1;
    const { lit } = this;
    context.strokeStyle = palette.accent;
    context.lineWidth = 2;
    if (lit?.side === "target") context.strokeRect(-2, lit.index * row - this.over, width + 4, row + 1);
    if (lit?.side === "source") context.strokeRect(this.x(placeBegin(sound, lit.index)) - from, -2, this.x(sound.place_seconds), height + 4);
  }

  #paintLabels() {
    if (!this.map) return;
    const [width, height] = [this.map.name.clientWidth, this.map.name.clientHeight];
    if (!width || !height) return;
    const sharp = window.devicePixelRatio || 1;
    const { rowLabels: canvas } = this;
    canvas.width = Math.round(width * sharp);
    canvas.height = Math.round(height * sharp);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const context = canvas.getContext("2d");
    context.setTransform(sharp, 0, 0, sharp, 0, 0);
    const palette = paletteOf(this.element, this.grid);
    const row = this.rowHigh;
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (let r = Math.floor(this.over / row); r < this.grid.rows.length && r * row - this.over < height; ++r) {
      const lit = this.lit?.side === "target" && this.lit.index === r;
      if (row < NAMED_ROW && !lit) continue;
      context.font = `${lit ? "600 " : ""}12px ${palette.font}`;
      context.fillStyle = lit ? palette.ink : palette.faint;
      context.fillText(sayToken(this.grid.rows[r]), width - 8, (r + 0.5) * row - this.over, width - 10);
    }
  }

  // Playing

  play(from, to) {
    if (!this.player) return;
    this.only = to !== undefined;
    const begin = from ?? this.player.time;
    this.element.dispatchEvent(new CustomEvent("soundplay", { detail: { begin, end: to ?? this.sound.seconds } }));
    this.player.play(from, to);
  }

  pause() {
    this.player?.pause();
  }

  /** A letter alone is too short to be told: what is around it is heard too. */
  playStretch([begin, end]) {
    const more = Math.max(0, (LEAST_HEARD - (end - begin)) / 2);
    this.play(Math.max(0, begin - more), Math.min(this.sound.seconds, end + more));
  }

  #moved(time, playing) {
    this.time = time;
    this.#place();
    if (playing && !this.only) this.#follow();
    const named = playing ? "pause" : "play";
    if (this.button.title !== named) {
      this.button.textContent = playing ? "❚❚" : "▶";
      this.button.title = named;
      this.button.setAttribute("aria-label", named);
    }
    this.clock.textContent = `${inSeconds(time)} / ${inSeconds(this.sound.seconds)} s`;
    const slider = this.picture?.row;
    slider?.setAttribute("aria-valuenow", time.toFixed(2));
    slider?.setAttribute("aria-valuetext", `${inSeconds(time)} seconds`);
    for (const { buttons } of this.bands ?? []) {
      for (const button of buttons) {
        const { begin, end } = button.sdPart;
        button.classList.toggle("sd-now", playing && time >= begin && time < end);
      }
    }
    if (playing && this.map) this.paint();
    this.element.dispatchEvent(new CustomEvent("soundtime", { detail: { time, playing } }));
  }

  #place() {
    this.cursor.style.transform = `translateX(${this.x(this.time ?? 0)}px)`;
    this.cursor.hidden = !this.player;
  }

  /** Keeps the cursor in view. */
  #follow() {
    const { scrollLeft, clientWidth } = this.scroll;
    const x = this.x(this.time);
    if (x < scrollLeft || x > scrollLeft + 0.85 * clientWidth) this.scroll.scrollLeft = x - 0.15 * clientWidth;
  }

  // Pointing

  shine(pick) {
    const index = this.#tokenOrWord(pick);
    for (const { unit, buttons } of this.bands) {
      for (const button of buttons) {
        if (unit && pick.side === "target") button.classList.toggle("sd-lit", index[unit]?.includes(Number(button.dataset.index)) ?? false);
      }
    }
    this.readout.textContent = pick.side === "target" ? this.#tell(pick.index) : this.#tellPlace(pick.index);
    this.readout.dataset.hint = "";
    this.#reveal(pick);
    this.paint();
  }

  rest() {
    this.readout.textContent = "";
    const what = this.heard?.labelled ? "label" : this.unit === "words" ? "word" : "letter";
    const hear = this.player ? "; click to hear it" : "";
    this.readout.dataset.hint = `Point at a ${what} to see where it was heard${hear}.`;
    this.paint();
  }

  clear() {
    for (const { buttons } of this.bands ?? []) for (const button of buttons) button.classList.remove("sd-lit");
  }

  /** The words and tokens that a pick means. */
  #tokenOrWord({ side, index }) {
    if (side !== "target") return {};
    if (this.heard.labelled) return { labelled: [index] };
    const { word_of: wordOf } = this.trace.target;
    if (this.unit === "tokens") return { tokens: [index], words: [wordOf[index]] };
    return { words: [index], tokens: wordOf.flatMap((word, token) => (word === index ? [token] : [])) };
  }

  #tell(index) {
    const label = sayToken(this.#labels()[index]);
    const heard = this.stretch(index);
    if (!heard) return `“${label}” was heard nowhere`;
    const told = `“${label}” was heard at ${spanText(heard)}`;
    if (!this.grid) return told;
    const values = this.#row(index);
    const best = values.reduce((most, value, p) => (Math.abs(value) > Math.abs(values[most]) ? p : most), 0);
    return `${told}, most at ${inSeconds(placeBegin(this.sound, best))} s (${shown(this.grid, values[best])})`;
  }

  #tellPlace(place) {
    const begin = placeBegin(this.sound, place);
    const range = spanText([begin, begin + this.sound.place_seconds]);
    if (!this.grid) return range;
    const width = this.grid.columns.length;
    const rows = this.grid.rows
      .map((label, r) => [this.grid.values[r * width + place], label])
      .sort((a, b) => Math.abs(b[0]) - Math.abs(a[0]))
      .slice(0, 3);
    return `${range}: ${rows.map(([value, label]) => `${sayToken(label)} ${shown(this.grid, value)}`).join(", ")}`;
  }

  /** Scrolls to what is lit, unless someone points at the strip. */
  #reveal({ side, index }) {
    if (this.scroll.matches(":hover")) return;
    const heard = side === "target" ? this.stretch(index) : [placeBegin(this.sound, index), placeBegin(this.sound, index + 1)];
    if (!heard) return;
    const { scrollLeft, clientWidth } = this.scroll;
    if (this.x(heard[0]) < scrollLeft || this.x(heard[1]) > scrollLeft + clientWidth) this.scroll.scrollLeft = this.x(heard[0]) - clientWidth / 3;
  }

  /** Of a letter or word of a band, the place among those of this.unit. */
  #pickOf(button) {
    const { unit } = button.closest("[data-unit]").dataset;
    const index = Number(button.dataset.index);
    return unit === "labelled" ? index : placeIn(this.trace.target, index, unit, this.unit);
  }

  #timeAt(event) {
    return Math.min(this.sound.seconds, Math.max(0, (event.clientX - this.space.getBoundingClientRect().left) / this.second));
  }

  #mapRow(event) {
    const y = event.clientY - this.map.row.getBoundingClientRect().top + this.over;
    return Math.min(this.grid.rows.length - 1, Math.max(0, Math.floor(y / this.rowHigh)));
  }

  #listen() {
    const { space, scroll } = this;
    scroll.addEventListener("scroll", () => this.paint(), { passive: true });
    space.addEventListener("pointerover", ({ target }) => {
      const button = target.closest(".sd-part[data-index]");
      if (button) this.light("target", this.#pickOf(button));
    });
    space.addEventListener("pointermove", (event) => {
      if (this.map?.row.contains(event.target)) this.light("target", this.#mapRow(event));
      else if (!event.target.closest(".sd-part[data-index]")) this.light("target", -1);
    });
    scroll.addEventListener("pointerleave", () => this.light("target", -1));
    space.addEventListener("focusin", ({ target }) => {
      const button = target.closest(".sd-part[data-index]");
      if (button) this.light("target", this.#pickOf(button));
    });
    space.addEventListener("focusout", () => this.light("target", -1));
    space.addEventListener("click", (event) => this.#clicked(event));
    space.addEventListener("pointerdown", (event) => this.#scrub(event));
    space.addEventListener("keydown", (event) => this.#key(event));
  }

  #clicked(event) {
    const button = event.target.closest(".sd-part[data-index]");
    if (button) {
      this.pin("target", this.#pickOf(button));
      const { unit } = button.closest("[data-unit]").dataset;
      this.playStretch(this.stretch(Number(button.dataset.index), unit === "labelled" ? this.unit : unit));
    } else if (this.map?.row.contains(event.target)) {
      const row = this.#mapRow(event);
      const heard = this.stretch(row);
      this.pin("target", row);
      if (heard) this.playStretch(heard);
    }
  }

  /** The cursor goes where the spectrogram is touched, and along. */
  #scrub(event) {
    const { row } = this.picture;
    if (!this.player || !row.contains(event.target) || event.button !== 0) return;
    row.setPointerCapture(event.pointerId);
    const seek = (move) => {
      this.only = false;
      this.player.seek(this.#timeAt(move));
    };
    seek(event);
    row.addEventListener("pointermove", seek);
    const end = () => row.removeEventListener("pointermove", seek);
    for (const name of ["pointerup", "pointercancel"]) row.addEventListener(name, end, { once: true });
  }

  #key(event) {
    if (event.key === "Escape") {
      this.pinned = null;
      this.show(null);
      return;
    }
    const button = event.target.closest(".sd-part[data-index]");
    if (button) this.#walk(event, button);
    else if (event.target === this.picture.row && this.player) this.#seekBy(event);
  }

  /** Arrow keys move among the letters; those of another band are above or below. */
  #walk(event, button) {
    const bands = this.bands.filter(({ unit, buttons }) => unit && buttons.length);
    const at = bands.findIndex(({ buttons }) => buttons.includes(button));
    const { buttons } = bands[at];
    const i = buttons.indexOf(button);
    const near = (others) => {
      const middle = (one) => (one.sdPart.begin + one.sdPart.end) / 2;
      return others && others.reduce((best, one) => (Math.abs(middle(one) - middle(button)) < Math.abs(middle(best) - middle(button)) ? one : best));
    };
    const next = {
      ArrowRight: buttons[i + 1],
      ArrowLeft: buttons[i - 1],
      Home: buttons[0],
      End: buttons.at(-1),
      ArrowDown: near(bands[at + 1]?.buttons),
      ArrowUp: near(bands[at - 1]?.buttons),
    }[event.key];
    if (!next) return;
    event.preventDefault();
    for (const one of buttons) one.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }

  #seekBy(event) {
    const step = event.shiftKey ? 0.5 : 0.05;
    const to = { ArrowRight: this.time + step, ArrowLeft: this.time - step, Home: 0, End: this.sound.seconds }[event.key];
    if (to !== undefined) {
      this.only = false;
      this.player.seek(to);
      this.#follow();
    } else if (event.key === " " || event.key === "Enter") {
      this.button.click();
    } else return;
    event.preventDefault();
  }

  destroy() {
    this.player?.destroy();
    this.watch.disconnect();
    this.ignoreTheme();
    cancelAnimationFrame(this.painting);
  }
}

class SoundPage {
  constructor(element, options) {
    this.element = element;
    this.view = new SoundView(() => {});
    this.options = { map: 0, level: "words", site: null, layer: -1, head: -1, combine: "mean", ...options };
    element.classList.add("hm");
    this.render();
  }

  update(changes) {
    Object.assign(this.options, changes);
    this.render();
  }

  render() {
    const { trace, level, map, site, layer, head, combine } = this.options;
    const update = (changes) => this.update(changes);
    const labelled = trace.target.kind === "tags";
    const choice = site === null ? { map } : { site, layer, head, combine };
    const held = this.element.contains(document.activeElement) && document.activeElement;
    const again = held && (held.name ? `[name="${held.name}"]` : held.dataset.value && `[data-value="${held.dataset.value}"]`);
    const parts = [this.view.element, this.view.readout];
    if (!labelled) parts.unshift(controlsOf(this.options, update));
    if (!labelled && sitesOf(trace).length) parts.push(headsOf(this.options, update));
    this.element.replaceChildren(...parts.filter(Boolean));
    this.view.render({ trace, unit: level, choice: trace.maps.length || site !== null ? choice : null });
    if (again) this.element.querySelector(again)?.focus();
  }

  destroy() {
    this.view.destroy();
    this.element.replaceChildren();
    this.element.classList.remove("hm");
  }
}

export const renderSound = (element, options) => new SoundPage(element, options);
