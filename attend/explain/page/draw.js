// What the parts of the view draw with: elements, and the theme's colours.
//
//   make(name, properties, …children) → element
//   paletteOf(element, grid) → {of(value) → [r, g, b], list (of the ramp), ink, faint, accent, font}   read once per drawing
//   imageOf(grid, palette) → canvas with one pixel per cell

export function make(name, properties = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key in node) node[key] = value;
    else node.setAttribute(key, value);
  }
  node.append(...children);
  return node;
}

function stops(element, names) {
  const style = getComputedStyle(element);
  return names.map((name) => {
    const hex = style.getPropertyValue(name).trim();
    return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
  });
}

function between(list, place) {
  const at = Math.min(list.length - 1, Math.max(0, place * (list.length - 1)));
  const low = Math.min(list.length - 2, Math.floor(at));
  return [0, 1, 2].map((i) => Math.round(list[low][i] + (at - low) * (list[low + 1][i] - list[low][i])));
}

/** The theme's colours, read once per drawing: of(value) → [r, g, b]. */
export function paletteOf(element, grid) {
  const themed = element.isConnected ? element : document.documentElement; // an element that is not on the page yet has no style
  const heat = [0, 1, 2, 3, 4, 5, 6, 7, 8].map((i) => `--heat-${i}`);
  const sides = [4, 3, 2, 1].map((i) => `--against-${i}`).concat("--even", [1, 2, 3, 4].map((i) => `--for-${i}`));
  const list = stops(themed, grid.signed ? sides : heat);
  const most = grid.most || 1;
  const share = (value) => (Number.isFinite(value) ? value / most : 0);
  const of = (value) => between(list, grid.signed ? 0.5 + share(value) / 2 : share(value));
  const style = getComputedStyle(themed);
  const named = (name) => style.getPropertyValue(name).trim();
  return { list, of, ink: named("--ink"), faint: named("--faint"), accent: named("--accent"), font: style.fontFamily };
}

export const css = ([r, g, b]) => `rgb(${r},${g},${b})`;

/** Black or white, whichever is easier to read on it. */
export function inkOn([r, g, b]) {
  const linear = [r, g, b].map((x) => (x <= 10 ? x / 3295 : ((x / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] > 0.179 ? "#000000" : "#ffffff";
}

/** One pixel per cell: drawn once, scaled whenever it is shown. */
export function imageOf(grid, palette) {
  const canvas = make("canvas", { width: grid.columns.length || 1, height: grid.rows.length || 1 });
  const context = canvas.getContext("2d");
  const image = context.createImageData(canvas.width, canvas.height);
  grid.values.forEach((value, i) => {
    const [r, g, b] = palette.of(value);
    image.data.set([r, g, b, 255], 4 * i);
  });
  context.putImageData(image, 0, 0);
  return canvas;
}
