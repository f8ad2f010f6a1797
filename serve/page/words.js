// Words of a text that can be pointed at, and lit by how much each has to do with what is.

import { make, rove } from "./dom.js";
import { percent } from "./numbers.js";

const SHOWN = 0.01; // of the largest value: below, a word stays unlit
const DOUBT = 0.3; // what the model found less likely is marked

export const wordsOf = (names) =>
  names.map((name, index) =>
    make(
      "button",
      { type: "button", class: "word", tabindex: index ? -1 : 0, "aria-pressed": "false" },
      make("span", { class: "name" }, name),
      make("span", { class: "share", "aria-hidden": "true" }),
    ),
  );

export function mark(word, kind, title) {
  word.classList.add(kind);
  word.title = [word.title, title].filter(Boolean).join("; ");
}

export function markUnknown(words, places) {
  for (const place of places)
    mark(words[place], "unknown", "the vocabulary does not know it: the model sees only that it is unknown");
}

export function markDoubted(words, chances) {
  words.forEach((word, index) => {
    if (chances[index] < DOUBT) mark(word, "doubted", `the model gave it ${percent(chances[index])}`);
  });
}

// Gives the word that has most.
export function lightUp(words, values, full, write) {
  const most = Math.max(1e-9, ...values.map(Math.abs));
  const strongest = values.findIndex((value) => Math.abs(value) === most);
  values.forEach((value, index) => {
    if (Math.abs(value) < SHOWN * most) return;
    const kinds = ["lit", value < 0 && "against", index === strongest && "strongest"];
    words[index].classList.add(...kinds.filter(Boolean));
    words[index].style.setProperty("--level", (Math.abs(value) / full).toFixed(3));
    words[index].querySelector(".share").textContent = write(value);
  });
  return words[strongest];
}

export function putOut(element) {
  for (const word of element.querySelectorAll(".word.lit, .word.active")) {
    word.classList.remove("lit", "active", "against", "strongest");
    word.setAttribute("aria-pressed", "false");
    word.style.removeProperty("--level");
    word.querySelector(".share").textContent = "";
  }
}

export function activate(word, text, pinned) {
  word.classList.add("active");
  word.setAttribute("aria-pressed", String(pinned));
  word.setAttribute("aria-label", text);
}

// Pointer, focus and keys of the words in `line` light them in `view`, a Pointing, as places of that side.
export function listen(line, side, view, words) {
  const at = (event) => words().indexOf(event.target.closest(".word"));
  const show = (event) => at(event) >= 0 && view.show({ side, index: at(event) });
  line.addEventListener("pointerover", show);
  line.addEventListener("focusin", show);
  line.addEventListener("focusout", () => view.show(view.pinned));
  line.addEventListener("click", (event) => at(event) >= 0 && view.pin(side, at(event)));
  line.addEventListener("keydown", (event) => {
    if (event.key === "Escape") view.pinned = null;
    if (rove(words(), event.key, event.target)) event.preventDefault();
  });
}

// Of a long text only a part is seen; what is lit should be in it.
export function reveal(word, line) {
  if (!word || line.scrollHeight <= line.clientHeight) return;
  const top = word.offsetTop - line.offsetTop - line.scrollTop;
  if (top < 0 || top + word.offsetHeight > line.clientHeight) line.scrollTop += top - line.clientHeight / 2;
}
