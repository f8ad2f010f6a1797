// The answer as a field: whoever edits it sees where the model would have looked, and how likely it finds that.

import { make } from "./dom.js";
import { decimal, probability } from "./numbers.js";

const PAUSE = 700; // milliseconds without a key, before an edit is sent

export class Yours {
  // `taken(text)`: the text to explain; empty: the model's own.
  constructor(taken) {
    this.taken = taken;
    this.own = "";
    this.field = make("textarea", {
      rows: 1,
      spellcheck: "false",
      autocomplete: "off",
      input: () => this.#later(),
      keydown: (event) => this.#key(event),
    });
    this.summary = make("summary");
    this.verdict = make("p", { class: "verdict", "aria-live": "polite" });
    this.back = make(
      "button",
      { type: "button", class: "quiet", hidden: true, click: () => this.#send("") },
      "Back to the model’s",
    );
    this.element = make(
      "details",
      { class: "yours" },
      this.summary,
      make(
        "p",
        { class: "hint" },
        "Write what you would have said: the map shows where the model would have looked for it.",
      ),
      make("div", { class: "entry" }, this.field, this.back),
      this.verdict,
    );
  }

  // What is edited: "answer", "tags"; nothing: it cannot be.
  edits(what) {
    this.element.hidden = !what;
    this.summary.textContent = `Edit the ${what}`;
    this.field.setAttribute("aria-label", this.summary.textContent);
  }

  show({ trace, own }, given) {
    if (!trace || this.element.hidden) return;
    this.own = own.target.text;
    if (document.activeElement !== this.field) this.field.value = trace.target.text;
    if (given) this.element.open = true;
    this.back.hidden = !given;
    this.verdict.replaceChildren(...(given ? compare(trace.target, own.target) : []));
  }

  #later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#send(this.field.value), PAUSE);
  }

  #key(event) {
    if (event.key !== "Enter" || event.isComposing) return;
    event.preventDefault();
    this.#send(this.field.value);
  }

  #send(text) {
    clearTimeout(this.timer);
    const wanted = text.trim().replace(/\s+/g, " ");
    if (!wanted || wanted === this.own) this.field.value = this.own;
    this.taken(wanted === this.own ? "" : wanted);
  }
}

function compare(yours, own) {
  const difference = own.log_probability - yours.log_probability;
  const times = Math.exp(Math.abs(difference));
  const many =
    times > 1e6
      ? "more than a million times"
      : times >= 10
        ? `${Math.round(times)} times`
        : `${times.toFixed(1)} times`;
  const row = (name, { log_probability: log, tokens }) => {
    const bar = make("span", { class: "bar" });
    bar.style.setProperty("--chance", Math.exp(log / tokens.length).toFixed(4));
    return make(
      "span",
      { class: "contest" },
      make("span", {}, name),
      make("span", { class: "figure" }, decimal(log)),
      make("span", { class: "figure" }, `${probability(log / tokens.length)} per token`),
      bar,
    );
  };
  return [
    row("yours", yours),
    row("the model’s", own),
    make(
      "span",
      { class: "sum" },
      Math.abs(difference) < 0.005
        ? "It finds both equally likely."
        : `It finds ${difference > 0 ? "its own" : "yours"} ${many} likelier.`,
    ),
  ];
}
