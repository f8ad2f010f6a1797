// Validation sentences and images, the worst first: where to look when one wants to know what a model cannot do.

import * as api from "./api.js";
import { make } from "./dom.js";
import { urlOf } from "./pictures.js";

const FIRST = 20;

export async function showGallery(place, model, opened, signal) {
  const { sentences = [], note } = await api.gallery(model, signal);
  if (!sentences.length) {
    place.replaceChildren(make("p", { class: "hint" }, note ?? "There are no validation sentences."));
    return;
  }
  const list = make(
    "ol",
    { class: "gallery" },
    sentences.slice(0, FIRST).map((row) => item(row, opened)),
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
          list.append(...rest.map((row) => item(row, opened)));
          more.remove();
        },
      },
      `Show ${rest.length} more`,
    );
  place.replaceChildren(
    make("p", { class: "hint" }, "Validation sentences, worst first. Choose one to look into it."),
    list,
    ...(more ? [more] : []),
  );
}

function item({ source, reference, output, chrf }, opened) {
  return make(
    "li",
    {},
    make(
      "button",
      { type: "button", click: () => opened(source) },
      make(
        "span",
        { class: "score", title: "chrF, 0 to 100" },
        make("span", { class: "figure" }, (chrf ?? 0).toFixed(0)),
        " chrF",
      ),
      make("span", { class: "source" }, source),
      make("span", { class: "said" }, make("span", { class: "tag" }, "said "), output),
      make("span", { class: "wanted" }, make("span", { class: "tag" }, "wanted "), reference),
    ),
  );
}

// `opened(row)`: {name, image, …} of the image that was chosen.
export async function showImages(place, model, opened, signal) {
  const { images = [], note } = await api.gallery(model, signal);
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
