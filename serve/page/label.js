// One label for all that was read: how sure the model is of it, the likeliest others as bars, and of a text the words that it
// looked at.

import { make } from "./dom.js";
import { compared, fact } from "./facts.js";
import { percent } from "./numbers.js";
import { fullOf, Pointing, told } from "./pointing.js";
import { sceneOf } from "./scene.js";
import { activate, lightUp, listen, markUnknown, putOut, reveal, wordsOf } from "./words.js";

const MOST_LABELS = 10;
const SAME_FOR_ALL = ["attention", "rollout"]; // what was read does not depend on the label that it is asked for

export class Label {
  // The answers that are asked for.
  static asks = ({ labels }) => ({ n_best: Math.min(MOST_LABELS, labels.length) });

  constructor(pane) {
    this.pane = pane;
    this.said = make("div", { class: "headline" });
    this.shaded = new Shaded((side, index) => pane.views.light(side, index));
    this.element = make("div", {}, this.said, this.shaded.element, this.shaded.readout);
  }

  show({ answers, trace, look }) {
    const { app } = this.pane;
    const [best] = answers;
    const facts = [fact(`${percent(best.score)} sure`), ...compared(best.text, app.entry.reference, true)];
    const bars = look?.kind !== "glimpses" && this.#bars(answers); // those have them beside each glance
    this.said.replaceChildren(
      make("div", {}, make("p", { class: "answer" }, best.text), make("div", { class: "facts" }, facts)),
      ...(bars ? [bars] : []),
    );
    for (const part of [this.shaded.element, this.shaded.readout]) part.hidden = !trace;
    if (trace) this.shaded.render(sceneOf(trace, this.pane.unit));
  }

  light(side, index) {
    this.shaded.light("source", side === "source" ? index : -1);
  }

  // Where a label's own map can be had, its bar asks for it.
  #bars(answers) {
    const { model, settings } = this.pane;
    const each = model.methods.length > 0 && !SAME_FOR_ALL.includes(settings.method);
    const row = ({ text, score }, index) => {
      const fill = make("i");
      fill.style.width = `${100 * score}%`;
      const parts = [
        make("span", { class: "lk-label", title: text }, text),
        make("span", { class: "lk-room", "aria-hidden": "true" }, fill),
        make("span", { class: "lk-number" }, percent(score)),
      ];
      const kind = index ? "lk-bar" : "lk-bar lk-said-it";
      if (!each) return make("div", { class: kind, role: "listitem" }, parts);
      const pressed = settings.target ? settings.target === text : index === 0;
      const press = () => this.pane.takeTarget(index ? text : "");
      const title = `What speaks for ${text}`;
      const button = make("button", { type: "button", class: kind, title, "aria-pressed": String(pressed), click: press }, parts);
      return make("div", { role: "listitem" }, button);
    };
    return make("div", { class: "lk-bars", role: "list", "aria-label": "Likeliest labels" }, answers.map(row));
  }
}

// The text, each word shaded by its share in the label.
class Shaded extends Pointing {
  constructor(picked) {
    super(picked);
    this.line = make("div", { class: "line source", role: "group", "aria-label": "The text" });
    this.readout = make("p", { class: "readout" });
    this.element = make("div", { class: "ribbon" }, this.line);
    this.element.addEventListener("pointerleave", () => this.show(this.pinned));
    listen(this.line, "source", this, () => this.words ?? []);
  }

  render(scene) {
    Object.assign(this, { scene, values: scene.map[0] ?? [], pinned: null, lit: null });
    this.words = wordsOf(scene.source);
    markUnknown(this.words, scene.unknown);
    this.line.replaceChildren(...this.words);
    this.element.classList.toggle("long", scene.source.length > 40);
    this.show(null, true);
  }

  shine(pick) {
    const { scene, values } = this,
      word = this.words[pick.index];
    this.#shade();
    const text = told("source", scene.target, [values[pick.index]], scene);
    this.readout.replaceChildren(make("strong", {}, scene.source[pick.index]), ` ${text}`);
    activate(word, `${scene.source[pick.index]} ${text}`, this.pinned === pick);
    reveal(word, this.line);
  }

  rest() {
    reveal(this.#shade(), this.line);
    this.readout.replaceChildren(
      make("strong", {}, this.scene.target[0]),
      ` ${told("target", this.scene.source, this.values, this.scene)}`,
    );
  }

  #shade() {
    return lightUp(this.words, this.values, fullOf(this.values, this.scene.percent), this.scene.write);
  }

  clear() {
    putOut(this.element);
  }
}
