// Sounds as WAV files, made in the page.
//
//   encodeWav(samples, rate) → Blob      one channel, 16 bits; samples from −1 to 1
//   decoded(bytes, rate) → promise of Float32Array   any file that this browser can play, as one channel at that rate
//   resampled(samples, from, to) → promise of Float32Array

export function encodeWav(samples, rate) {
  const bytes = 2 * samples.length;
  const view = new DataView(new ArrayBuffer(44 + bytes));
  const word = (at, text) => [...text].forEach((letter, i) => view.setUint8(at + i, letter.charCodeAt(0)));
  word(0, "RIFF");
  view.setUint32(4, 36 + bytes, true);
  word(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true); // PCM
  view.setUint16(22, 1, true);
  view.setUint32(24, rate, true);
  view.setUint32(28, 2 * rate, true);
  view.setUint16(32, 2, true);
  view.setUint16(34, 16, true);
  word(36, "data");
  view.setUint32(40, bytes, true);
  samples.forEach((x, i) => view.setInt16(44 + 2 * i, Math.max(-32767, Math.min(32767, Math.round(32768 * x))), true));
  return new Blob([view.buffer], { type: "audio/wav" });
}

export async function decoded(bytes, rate) {
  const sound = await new OfflineAudioContext(1, 1, rate).decodeAudioData(bytes); // at the rate of the context
  const channels = Array.from({ length: sound.numberOfChannels }, (_, i) => sound.getChannelData(i));
  return channels[0].map((_, i) => channels.reduce((sum, channel) => sum + channel[i], 0) / channels.length);
}

export async function resampled(samples, from, to) {
  if (from === to || !samples.length) return samples;
  const context = new OfflineAudioContext(1, Math.ceil((samples.length * to) / from), to);
  const buffer = context.createBuffer(1, samples.length, from);
  buffer.copyToChannel(samples, 0);
  const node = context.createBufferSource();
  node.buffer = buffer;
  node.connect(context.destination);
  node.start();
  return (await context.startRendering()).getChannelData(0);
}
