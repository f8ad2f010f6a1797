// Validation sentences, images and sounds, the worst first: where to look when one wants to know what a model cannot do.

import * as api from "./api.js";
import { make } from "./dom.js";
import { urlOf } from "./pictures.js";

const FIRST = 20;

// `opened(row)`: {source, reference, …} of the sentence that was chosen.
export async function showSentences(place, { name, answers }, opened, signal) {
  const { sentences = [], note } = await api.gallery(name, signal);
  showRows(place, sentences, { note, answers, opened, what: "sentences" });
}

// `opened(row)`: {name, sound, …} of the sound that was chosen.
export async function showSounds(place, { name, answers }, opened, signal) {
  const { sounds = [], note } = await api.gallery(name, signal);
  const rows = sounds.map((row) => ({ ...row, source: row.name }));
  showRows(place, rows, { note, answers, opened, what: "sounds" });
}

function showRows(place, sentences, { note, answers, opened, what }) {
  if (!sentences.length) {
    place.replaceChildren(make("p", { class: "hint" }, note ?? `There are no validation ${what}.`));
    return;
  }
  const list = make(
    "ol",
    { class: "gallery" },
    sentences.slice(0, FIRST).map((row) => item(row, answers, opened)),
  );
  const rest = sentences.slice(FIRST);
  const more =
    rest.length > 0 &&
    make(
      "button",
      {
        type: "button",
        class: "quiet",
        click: () => {
          list.append(...rest.map((row) => item(row, answers, opened)));
          more.remove();
        },
      },
      `Show ${rest.length} more`,
    );
  place.replaceChildren(
    make("p", { class: "hint" }, `Validation ${what}, worst first. Choose one to look into it.`),
    list,
    ...(more ? [more] : []),
  );
}

// How good an answer in words is, is a matter of degree; others are right or wrong.
const graded = ({ chrf }) =>
  make(
    "span",
    { class: "score", title: "chrF, 0 to 100" },
    make("span", { class: "figure" }, (chrf ?? 0).toFixed(0)),
    " chrF",
  );
const judged = ({ output, reference }) =>
  make("span", { class: output === reference ? "score" : "score wrong" }, output === reference ? "right" : "wrong");
const GRADES = { words: graded };

function item(row, answers, opened) {
  const { source, reference, output } = row;
  return make(
    "li",
    {},
    make(
      "button",
      { type: "button", click: () => opened(row) },
      (GRADES[answers] ?? judged)(row),
      make("span", { class: "source" }, source),
      make("span", { class: "said" }, make("span", { class: "tag" }, "said "), output),
      make("span", { class: "wanted" }, make("span", { class: "tag" }, "wanted "), reference),
    ),
  );
}

// `opened(row)`: {name, image, …} of the image that was chosen.
export async function showImages(place, { name }, opened, signal) {
  const { images = [], note } = await api.gallery(name, signal);
  if (!images.length) {
    place.replaceChildren(make("p", { class: "hint" }, note ?? "There are no validation images."));
    return;
  }
  place.replaceChildren(
    make("p", { class: "hint" }, "Validation images, worst first. Choose one to look into it."),
    make(
      "ol",
      { class: "tiles" },
      images.map((row) => make("li", {}, tile(row, opened))),
    ),
  );
}

function tile(row, opened) {
  const { name, image, width, reference, output } = row;
  const line = (tag, text, wrong) =>
    text && make("span", { class: wrong && "wrong" }, make("span", { class: "tag" }, `${tag} `), text);
  return make(
    "button",
    { type: "button", class: "tile", "data-name": name, click: () => opened(row) },
    make("img", { src: urlOf(image), alt: name, class: width <= 100 && "lk-few" }),
    line("said", output, output !== reference),
    line("wanted", reference, false),
  );
}
