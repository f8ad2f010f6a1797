// Pictures as they are sent: bytes in base64, small enough for the server.
//
//   pictureOf(file) → {name, data, note}   `note`: what was done to it
//   urlOf(data) → address for an <img>

import { inBase64, MOST_BYTES } from "./bytes.js";

const MOST_SIDE = 1024; // pixels; a network sees fewer
const SENT_AS_THEY_ARE = ["image/png", "image/jpeg"];

export const urlOf = (data) => `data:image/${data.startsWith("/9j/") ? "jpeg" : "png"};base64,${data}`;

const toBlob = (canvas, type, quality) => new Promise((resolve) => canvas.toBlob(resolve, type, quality));

async function shrunk(bitmap) {
  const scale = Math.min(1, MOST_SIDE / Math.max(bitmap.width, bitmap.height));
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(bitmap.width * scale));
  canvas.height = Math.max(1, Math.round(bitmap.height * scale));
  const context = canvas.getContext("2d");
  context.fillStyle = "#ffffff"; // what is transparent lies over white, as on the server
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.imageSmoothingQuality = "high";
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  const exact = await toBlob(canvas, "image/png");
  const blob = exact.size <= MOST_BYTES ? exact : await toBlob(canvas, "image/jpeg", 0.9);
  return { blob, note: `sent as ${canvas.width} × ${canvas.height}` };
}

// PNG and JPEG files of a modest size are sent as they are. Others are drawn anew, if this browser can read them; if not, the
// server says what is wrong with them.
export async function pictureOf(file) {
  const name = file.name || "pasted image";
  let bitmap = null;
  try {
    bitmap = await createImageBitmap(file);
  } catch {
    if (file.size > MOST_BYTES) throw new Error(`${name} is no image that this browser can read.`);
  }
  const small = bitmap && Math.max(bitmap.width, bitmap.height) <= MOST_SIDE && file.size <= MOST_BYTES;
  if (!bitmap || (small && SENT_AS_THEY_ARE.includes(file.type))) return { name, data: await inBase64(file), note: "" };
  const { blob, note } = await shrunk(bitmap);
  return { name, data: await inBase64(blob), note };
}
