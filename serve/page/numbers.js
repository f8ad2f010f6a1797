// Numbers as people read them.

const THIN = "\u202f";

export const percent = (p) => (p > 0 && p < 0.005 ? `<1${THIN}%` : `${Math.round(100 * p)}${THIN}%`);

// A probability from its logarithm; small ones keep a digit that counts.
export function probability(log) {
  const p = Math.exp(log);
  return p >= 0.0095 || p === 0
    ? percent(p)
    : `${(100 * p).toPrecision(1)}${THIN}%`.replace(/^.*e.*$/, `<0.001${THIN}%`);
}

export const decimal = (value, digits = 2) => value.toFixed(digits).replace("-", "−");

export function count(number) {
  if (number >= 1e6) return `${(number / 1e6).toFixed(1)} million`;
  return number >= 1e4 ? `${Math.round(number / 1e3)} thousand` : String(number);
}

// Tokens without SentencePiece's mark of a word's beginning. Where a side has such marks, a piece without one continues the
// word before it, and says so with a dot.
export function plainTokens(tokens) {
  const marked = tokens.some((token) => token.startsWith("▁"));
  return tokens.map((token) => plainToken(token, marked));
}

export function plainToken(token, marked) {
  if (token === "</s>") return "end";
  if (token.startsWith("▁")) return token.slice(1) || "␣";
  return marked ? `·${token}` : token === " " ? "␣" : token;
}
