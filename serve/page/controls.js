// What the map shows: by which method, of which layer and head, in words or in tokens.

import { choice, make } from "./dom.js";
import { mainSites } from "./sites.js";

export const METHODS = {
  attention: "Attention: what was read",
  rollout: "Rollout: attention through the layers",
  saliency: "Saliency: gradient × input",
  jacobian: "Jacobian: the slope itself",
  occlusion: "Occlusion: each word left out",
};

const numbered = (name, size) => Array.from({ length: size }, (_, index) => [index, `${name} ${index}`]);

export function controls(pane) {
  const { settings, model } = pane;
  const layers = mainSites(model);
  const heads = layers[0]?.heads ?? 0;
  const attention = settings.method === "attention";
  const several = (settings.layer < 0 && layers.length > 1) || (settings.head < 0 && heads > 1);
  const pick = (name, number) => (value) => pane.look({ [name]: number ? Number(value) : value });
  return make(
    "div",
    { class: "controls" },
    choice(
      "method",
      "Method",
      model.methods.map((name) => [name, METHODS[name] ?? name]),
      settings.method,
      pick("method"),
    ),
    attention &&
      layers.length > 1 &&
      choice(
        "layer",
        "Layer",
        [[-1, "All layers"], ...numbered("Layer", layers.length)],
        settings.layer,
        pick("layer", true),
      ),
    attention &&
      heads > 1 &&
      choice("head", "Head", [[-1, "All heads"], ...numbered("Head", heads)], settings.head, pick("head", true)),
    attention &&
      several &&
      choice(
        "combine",
        "Combined by",
        [
          ["mean", "Mean"],
          ["max", "Max"],
        ],
        settings.combine,
        pick("combine"),
      ),
    choice(
      "unit",
      "Cells are",
      [
        ["words", "Words"],
        ["tokens", "Tokens"],
      ],
      pane.unit,
      pick("unit"),
    ),
  );
}
