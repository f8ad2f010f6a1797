// Plays a sound, or a stretch of it, to the sample: an <audio> stops where it is told to only by chance, and letters are short.
//
//   new Player({samples, rate}, moved) → player
//     moved(seconds, playing) is called while it plays, and when it starts, stops or is set elsewhere
//     player.play(from, to)   both may be left out: from where it is, to the end
//     player.pause(), player.seek(seconds), player.destroy(), player.playing, player.time, player.speed (1: as recorded)

let output = null; // of all players of a page: browsers allow few
const outputOf = () => (output ??= new AudioContext());

export class Player {
  constructor({ samples, rate }, moved) {
    Object.assign(this, { samples, rate, moved, time: 0, speed: 1, node: null });
    this.seconds = samples.length / rate;
  }

  get playing() {
    return this.node !== null;
  }

  #buffer(context) {
    if (!this.made) {
      this.made = context.createBuffer(1, this.samples.length, this.rate);
      this.made.copyToChannel(this.samples, 0);
    }
    return this.made;
  }

  play(from = this.time, to = this.seconds) {
    this.#stop();
    if (!this.samples.length) return;
    const context = outputOf();
    context.resume();
    const begin = from >= to - 1e-3 && to === this.seconds ? 0 : Math.max(0, from); // again, if it is at the end
    const node = context.createBufferSource();
    node.buffer = this.#buffer(context);
    node.playbackRate.value = this.speed;
    node.connect(context.destination);
    node.start(0, begin, Math.max(0, to - begin));
    node.addEventListener("ended", () => {
      if (this.node !== node) return;
      this.time = Math.min(to, this.seconds);
      this.pause();
    });
    Object.assign(this, { node, begin, to, started: context.currentTime });
    this.#tick();
  }

  /** Where one hears it now: what is given to the loudspeaker is heard a little later. */
  #tick() {
    const context = outputOf();
    const late = context.outputLatency || 0;
    const passed = Math.max(0, context.currentTime - this.started - late) * this.speed;
    this.time = Math.min(this.to, this.begin + passed);
    this.moved(this.time, true);
    this.asked = requestAnimationFrame(() => this.node && this.#tick());
  }

  #stop() {
    cancelAnimationFrame(this.asked);
    const { node } = this;
    this.node = null;
    node?.stop();
    node?.disconnect();
  }

  pause() {
    this.#stop();
    this.moved(this.time, false);
  }

  seek(seconds) {
    const { playing } = this;
    this.#stop();
    this.time = Math.min(this.seconds, Math.max(0, seconds));
    if (playing) this.play();
    else this.moved(this.time, false);
  }

  destroy() {
    this.#stop();
    this.moved = () => {};
  }
}
