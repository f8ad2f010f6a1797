// Runs beside the page, where sound arrives: hands on what the microphone hears, a twentieth of a second at a time.

const PART = 1 / 20; // seconds

class Listener extends AudioWorkletProcessor {
  constructor() {
    super();
    this.part = new Float32Array(Math.ceil(PART * sampleRate));
    this.filled = 0;
  }

  process([[channel]]) {
    for (const x of channel ?? []) {
      this.part[this.filled++] = x;
      if (this.filled < this.part.length) continue;
      this.port.postMessage(this.part.slice());
      this.filled = 0;
    }
    return true;
  }
}

registerProcessor("listener", Listener);
