// Maps over an image, as plain data: the same as in explain/raster.cc.
//
//   smoothShares(cells, rows, columns, height, width) → Float32Array   0 … 1 of the largest, by cubic B-splines between cells
//   cellShares(cells, rows, columns, height, width) → Float32Array     the same without smoothing
//   tileShares(tiles, {columns, side}, image, height, width) → Float32Array   tiles, of the likeliest one
//   placeName(x, y) → "upper left", "centre" …    of shares of the image's width and height
//   percent(share) → "93 %", "< 1 %"

function spline(at, size, cells) {
  const place = ((at + 0.5) * cells) / size - 0.5;
  const low = Math.floor(place);
  const t = place - low;
  const s = 1 - t;
  const weight = [s ** 3 / 6, (3 * t ** 3 - 6 * t ** 2 + 4) / 6, (3 * s ** 3 - 6 * s ** 2 + 4) / 6, t ** 3 / 6];
  return { weight, cell: [0, 1, 2, 3].map((i) => Math.min(cells - 1, Math.max(0, low - 1 + i))) };
}

/** Of many cells, the largest among the lowest 199 in 200: a single bright pixel would leave all others dark. */
function sharesOf(values, cells) {
  const sorted = Float32Array.from(values).sort().reverse();
  const most = sorted[cells < 1000 ? 0 : Math.floor(sorted.length / 200)] || sorted[0];
  return values.map((value) => (most > 0 ? Math.min(1, value / most) : 0));
}

export function smoothShares(cells, rows, columns, height, width) {
  const wide = new Float32Array(rows * width);
  for (let x = 0; x < width; ++x) {
    const { weight, cell } = spline(x, width, columns);
    for (let r = 0; r < rows; ++r) {
      for (let i = 0; i < 4; ++i) wide[r * width + x] += weight[i] * cells[r * columns + cell[i]];
    }
  }
  const shares = new Float32Array(height * width);
  for (let y = 0; y < height; ++y) {
    const { weight, cell } = spline(y, height, rows);
    for (let x = 0; x < width; ++x) {
      for (let i = 0; i < 4; ++i) shares[y * width + x] += weight[i] * wide[cell[i] * width + x];
    }
  }
  return sharesOf(shares, cells.length);
}

export function cellShares(cells, rows, columns, height, width) {
  const shares = new Float32Array(height * width);
  shares.forEach((_, i) => {
    const row = Math.floor((Math.floor(i / width) * rows) / height);
    shares[i] = cells[row * columns + Math.floor(((i % width) * columns) / width)];
  });
  return sharesOf(shares, cells.length);
}

/** Tiles {columns, side} over an image of image.width × image.height, as shares of the likeliest. */
export function tileShares(tiles, { columns, side }, image, height, width) {
  const most = Math.max(...tiles);
  const shares = new Float32Array(height * width);
  shares.forEach((_, i) => {
    const row = Math.floor((Math.floor(i / width) * image.height) / height / side);
    const column = Math.floor(((i % width) * image.width) / width / side);
    shares[i] = most > 0 ? tiles[row * columns + column] / most : 0;
  });
  return shares;
}

export function placeName(x, y) {
  const third = (share) => Math.min(2, Math.max(0, Math.floor(3 * share)));
  return [
    ["upper left", "top", "upper right"],
    ["left", "centre", "right"],
    ["lower left", "bottom", "lower right"],
  ][third(y)][third(x)];
}

export const percent = (share) => (share > 0 && share < 0.005 ? "< 1 %" : `${Math.round(100 * share)} %`);
