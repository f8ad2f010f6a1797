// What an answer heard of a sound, as plain data: the same as in explain/heard.cc.
//
//   isSound(trace) → true if its source is a sound
//   samplesOf(sound) → {samples, rate}, or null if the trace has no sound to play
//   levelsOf(sound) → Uint8Array, [frames][bands] of the spectrogram
//   placeBegin(sound, place) → seconds
//   listened(values, sound) → [begin, end] in seconds, or null: where most of a row's weight is
//   heardOf(trace) → {tokens, words (of each [begin, end] or null), labelled ([{label, begin, end}] of an answer with a label for
//                     each place, or null), gold (the same, what those are compared with)}
//   overSound(map) → true if its rows are the answer's and its columns the sound's places
//   peaksOf(sound, least) → [{label, first, last, place, value}] of CTC, in order of time
import { gridOf } from "./grid.js";

const TAIL = 0.1; // of a row's weight, at either end, that it is not said to have listened to
const LAST = "</s>";
export const SPACE = "▁"; // between two words, where letters are tokens: nothing that was heard

export const isSound = ({ source }) => Boolean(source.sound);
export const overSound = ({ queries = "target", keys = "source" }) => queries === "target" && keys === "source";
export const placeBegin = (sound, place) => sound.place_offset + place * sound.place_seconds;

export const bytesOf = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

const decoded = new WeakMap(); // a trace's sound is decoded once

function once(sound, name, make) {
  if (!decoded.has(sound)) decoded.set(sound, {});
  const known = decoded.get(sound);
  if (!(name in known)) known[name] = make();
  return known[name];
}

export const levelsOf = (sound) => once(sound, "levels", () => bytesOf(sound.spectrogram.levels));

/** A WAV of one channel and 16 bits, as encode_wav writes it. */
function wavSamples(bytes) {
  const view = new DataView(bytes.buffer);
  const rate = view.getUint32(24, true);
  let at = 12;
  while (at + 8 <= bytes.length && view.getUint32(at) !== 0x64617461) at += 8 + view.getUint32(at + 4, true); // "data"
  const count = Math.max(0, Math.min(view.getUint32(at + 4, true), bytes.length - at - 8) >> 1);
  const samples = new Float32Array(count);
  for (let i = 0; i < count; ++i) samples[i] = view.getInt16(at + 8 + 2 * i, true) / 32768;
  return { samples, rate };
}

export const samplesOf = (sound) => (sound.wav ? once(sound, "samples", () => wavSamples(bytesOf(sound.wav))) : null);

export function listened(values, sound) {
  const sizes = Array.from(values, (value) => (Number.isFinite(value) ? Math.abs(value) : 0));
  const all = sizes.reduce((sum, size) => sum + size, 0);
  if (!(all > 0)) return null;
  // The time at which a share of the weight has passed; a place's own passes evenly while it lasts.
  const passed = (share) => {
    let sum = 0;
    let p = 0;
    while (p + 1 < sizes.length && sum + sizes[p] < share * all) sum += sizes[p++];
    const within = sizes[p] > 0 ? Math.min(1, Math.max(0, (share * all - sum) / sizes[p])) : 0;
    return Math.min(sound.seconds, Math.max(0, placeBegin(sound, p) + within * sound.place_seconds));
  };
  return [passed(TAIL), passed(1 - TAIL)];
}

/** One for each of `count`; the times of tokens may be without that of the end. */
const timed = (times, count) => Array.from({ length: count }, (_, i) => (times[i] ? times[i].slice(1) : null));

/** The map that says best where something was heard: an attention's, if there is one. */
function listeningMap(trace) {
  const over = trace.maps.map((map, i) => [map, i]).filter(([map]) => overSound(map) && map.tokens);
  const best = over.find(([{ method }]) => method === "attention") ?? over[0];
  return best ? best[1] : -1;
}

function tokenStretches(trace) {
  const { tokens, times = [] } = trace.target;
  const ended = tokens.at(-1) === LAST ? 1 : 0;
  if (times.length > 0 && (times.length === tokens.length || times.length + ended === tokens.length)) return timed(times, tokens.length);
  const map = listeningMap(trace);
  if (map < 0) return tokens.map(() => null);
  const grid = gridOf(trace, { map, level: "tokens" });
  const width = grid.columns.length;
  return tokens.map((_, row) => listened(grid.values.subarray(row * width, (row + 1) * width), trace.source.sound));
}

function wordStretches({ words, tokens, word_of: wordOf, times = [] }, heard) {
  if (times.length > 0 && times.length === words.length) return timed(times, words.length);
  return words.map((_, word) => {
    const own = heard.filter((stretch, token) => stretch && wordOf[token] === word && tokens[token] !== SPACE);
    return own.length ? [Math.min(...own.map(([begin]) => begin)), Math.max(...own.map(([, end]) => end))] : null;
  });
}

const asTimes = (list = []) => list.map(([label, begin, end]) => ({ label, begin, end }));

/** Runs of one label; "" is none. */
function runsOf({ tokens }, sound) {
  const runs = [];
  tokens.forEach((label, p) => {
    const begin = Math.max(0, placeBegin(sound, p));
    const end = Math.min(placeBegin(sound, p + 1), sound.seconds);
    if (end <= begin || label === "") return;
    if (p > 0 && tokens[p - 1] === label && runs.length) runs.at(-1).end = end;
    else runs.push({ label, begin, end });
  });
  return runs;
}

export function heardOf(trace) {
  const { source, target } = trace;
  const { sound } = source;
  const gold = asTimes(sound.phonemes?.length ? sound.phonemes : sound.words);
  if (target.kind === "tags" && target.tokens.length === source.tokens.length) {
    return { tokens: [], words: [], labelled: runsOf(target, sound), gold };
  }
  const tokens = tokenStretches(trace);
  return { tokens, words: wordStretches(target, tokens), labelled: null, gold };
}

export function peaksOf({ posteriors, labels }, least) {
  const peaks = [];
  for (let label = 1; posteriors && label < labels.length; ++label) {
    let inside = false;
    posteriors.forEach((row, place) => {
      const value = row[label] ?? 0;
      if (!(value > least)) {
        inside = false;
        return;
      }
      if (!inside) peaks.push({ label, first: place, last: place, place, value });
      inside = true;
      const peak = peaks.at(-1);
      peak.last = place;
      if (value > peak.value) Object.assign(peak, { value, place });
    });
  }
  return peaks.sort((a, b) => a.place - b.place);
}
