// Elements in one line. Attributes that are functions listen; false and null leave an attribute out.

const SVG = "http://www.w3.org/2000/svg";

export const make = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
export const draw = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === false || value === null || value === undefined) continue;
    if (typeof value === "function") node.addEventListener(name, value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

// A choice among `options`, pairs of value and label, under a visible label.
export function choice(name, label, options, value, changed) {
  const select = make(
    "select",
    { name, change: () => changed(select.value) },
    options.map(([key, text]) => make("option", { value: key, selected: String(key) === String(value) }, text)),
  );
  return make("label", { class: "choice" }, make("span", {}, label), select);
}

// The message of a failure, near where it arose; nothing where there is none.
export function showError(place, error) {
  place.hidden = !error;
  place.textContent = error ? error.message : "";
}

// Arrow keys move the focus among `items`, of which one at a time is in the tab order.
export function rove(items, key, current) {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[key];
  const at = items.indexOf(current);
  const to = key === "Home" ? 0 : key === "End" ? items.length - 1 : step ? at + step : -1;
  if (at < 0 || to < 0 || to >= items.length) return null;
  current.tabIndex = -1;
  items[to].tabIndex = 0;
  items[to].focus();
  return items[to];
}
