// What is pointed at, and what a click keeps lit: {side: "source" or "target", index}, or null.
//
// A view derives from Pointing and has shine(pick), which lights what relates to a place, rest() for when nothing is pointed at,
// and clear(), which undoes both.

export class Pointing {
  /** `picked(side, index)` is called with what is lit; index −1: nothing. */
  constructor(picked) {
    this.picked = picked;
    this.pinned = null;
    this.lit = null;
  }

  /** Index −1: what is pinned, or nothing. */
  light(side, index) {
    this.show(index < 0 ? this.pinned : { side, index });
  }

  /** Keeps a place lit; a second call releases it. */
  pin(side, index) {
    const again = this.pinned && this.pinned.side === side && this.pinned.index === index;
    this.pinned = again ? null : { side, index };
    this.show(this.pinned ?? { side, index }, true);
  }

  show(pick, again = false) {
    const same = pick && this.lit && pick.side === this.lit.side && pick.index === this.lit.index;
    if (!again && (same || (!pick && !this.lit))) return;
    this.clear();
    this.lit = pick;
    if (pick) this.shine(pick);
    else this.rest();
    this.picked(pick?.side ?? "target", pick?.index ?? -1);
  }
}

/** What is drawn at full strength. Attention that is spread thinly should look so, and not as if it were certain. */
export function fullOf(values, percent) {
  const most = Math.max(1e-9, ...values.map(Math.abs));
  return percent ? Math.max(most, 0.4) : most;
}

/** "looked at home 93 %, am 4 %": how one place relates to those of the other side, the strongest first. */
export function told(side, names, values, { attention, write }) {
  const order = values
    .map((value, other) => [value, other])
    .sort((a, b) => Math.abs(b[0]) - Math.abs(a[0]))
    .slice(0, 3);
  const did = attention ? "looked at" : "depended on"; // gradients do not look
  const list = order.map(([value, other]) => `${names[other]} ${write(value)}`).join(", ");
  return `${side === "target" ? did : `was ${did} by`} ${list}`;
}
