// Sounds as they are sent: bytes of a file in base64, small enough for the server.
//
//   clipOf(file, rate) → promise of {name, data, note}   `note`: what was done to it
//   clipOfSamples(samples, rate, name) → promise of the same
//   samplesOfClip(clip, rate) → promise of Float32Array, to be played; null: this browser cannot
//   MOST_SECONDS   that are sent at a rate

import { inBase64, MOST_BYTES } from "./bytes.js";
import { decoded, encodeWav } from "./wav.js";

const SENT_AS_THEY_ARE = /\.(wav|flac|ogg|oga|opus)$/i;
const HEADER = 44; // bytes of a WAV

export const MOST_SECONDS = (rate) => Math.floor((MOST_BYTES - HEADER) / 2 / rate);

export async function clipOfSamples(samples, rate, name, note = "") {
  if (!samples.length) throw new Error(`${name} has no sound in it.`);
  const most = MOST_SECONDS(rate);
  if (samples.length > most * rate) {
    throw new Error(`${name} is ${(samples.length / rate).toFixed(0)} seconds long; this page sends up to ${most}. \`attend run\` takes any length.`);
  }
  return { name, data: await inBase64(encodeWav(samples, rate)), note };
}

// WAV, FLAC and OGG files of a modest size are sent as they are. Others, such as MP3, are decoded here, if this browser can.
export async function clipOf(file, rate) {
  const name = file.name || "pasted sound";
  if (SENT_AS_THEY_ARE.test(name) && file.size <= MOST_BYTES) return { name, data: await inBase64(file), note: "" };
  let samples = null;
  try {
    samples = await decoded(await file.arrayBuffer(), rate);
  } catch {
    throw new Error(`${name} is no sound that this browser can read.`);
  }
  return clipOfSamples(samples, rate, name, `sent as WAV, ${rate / 1000} kHz`);
}

export async function samplesOfClip({ data }, rate) {
  try {
    return await decoded(Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0)).buffer, rate);
  } catch {
    return null;
  }
}
