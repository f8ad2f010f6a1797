// Records from the microphone.
//
//   Recorder.possible → whether this page may: browsers give the microphone to pages of https and of this machine only
//   new Recorder({most, rate, heard, ended})
//     heard(seconds, level) is called twenty times a second, level from 0 to 1; ended() when `most` seconds are full
//   recorder.start() → promise; refused by whoever owns the microphone, it is an Error in plain words
//   recorder.stop() → promise of {samples, rate}

import { resampled } from "./wav.js";

const REFUSED = {
  NotAllowedError: "The microphone may not be used: the browser, or you, refused it.",
  NotFoundError: "There is no microphone.",
  NotReadableError: "Another program has the microphone.",
};
// As it was said: what makes calls easier to follow changes what a network hears.
const AS_IT_IS = { channelCount: 1, echoCancellation: false, noiseSuppression: false, autoGainControl: false };

export class Recorder {
  static get possible() {
    return Boolean(navigator.mediaDevices?.getUserMedia && window.AudioWorkletNode);
  }

  constructor({ most, rate, heard, ended }) {
    Object.assign(this, { most, rate, heard, ended, parts: [], length: 0 });
  }

  async start() {
    try {
      this.stream = await navigator.mediaDevices.getUserMedia({ audio: AS_IT_IS });
    } catch (error) {
      throw new Error(REFUSED[error.name] ?? `The microphone cannot be used: ${error.message}`);
    }
    this.context = new AudioContext();
    await this.context.resume();
    await this.context.audioWorklet.addModule("recorder_worklet.js");
    const source = this.context.createMediaStreamSource(this.stream);
    const listener = new AudioWorkletNode(this.context, "listener", { numberOfOutputs: 0 });
    listener.port.onmessage = ({ data }) => this.#take(data);
    source.connect(listener);
  }

  get seconds() {
    return this.context ? this.length / this.context.sampleRate : 0;
  }

  #take(part) {
    if (this.over || this.seconds >= this.most) return;
    this.parts.push(part);
    this.length += part.length;
    this.heard(
      this.seconds,
      part.reduce((most, x) => Math.max(most, Math.abs(x)), 0),
    );
    if (this.seconds >= this.most) this.ended();
  }

  async stop() {
    this.over = true;
    for (const track of this.stream?.getTracks() ?? []) track.stop();
    const samples = new Float32Array(this.length);
    let at = 0;
    for (const part of this.parts) {
      samples.set(part, at);
      at += part.length;
    }
    const from = this.context?.sampleRate ?? this.rate;
    await this.context?.close();
    return { samples: await resampled(samples, from, this.rate), rate: this.rate };
  }
}
