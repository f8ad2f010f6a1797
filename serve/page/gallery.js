// Validation sentences, the worst first: where to look when one wants to know what a model cannot do.

import * as api from "./api.js";
import { make } from "./dom.js";

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
