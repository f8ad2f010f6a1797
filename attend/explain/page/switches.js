// Controls of a page.
//
//   choice(title, name, [[value, text], …], value, onchange) → a list to pull down, with its title
//   switchOf(title, [[value, text], …], value, onchange) → buttons of which one is pressed
//   themeButton() → button     switches between light and dark
//   onTheme(repaint) → stop    calls it whenever the page gets darker or lighter, until stop() is called
import { make } from "./draw.js";

export function choice(title, name, options, value, onchange) {
  const select = make("select", { name });
  for (const [key, text] of options) select.append(make("option", { value: key, textContent: text }));
  select.value = String(value);
  select.addEventListener("change", () => onchange(select.value));
  return make("label", { className: "hm-choice" }, make("span", { textContent: title }), select);
}

export function switchOf(title, options, value, onchange) {
  const set = make("div", { className: "hm-switch" });
  set.setAttribute("role", "group");
  set.setAttribute("aria-label", title);
  for (const [key, text] of options) {
    const button = make("button", { type: "button", textContent: text });
    button.setAttribute("aria-pressed", String(key === value));
    button.dataset.value = key;
    button.addEventListener("click", () => onchange(key));
    set.append(button);
  }
  return set;
}

export function themeButton() {
  const root = document.documentElement;
  const dark = () => (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const button = make("button", { type: "button", className: "hm-theme" });
  const name = () => {
    button.textContent = dark() ? "light" : "dark";
    button.title = `show it ${button.textContent}`;
  };
  button.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    name();
  });
  name();
  return button;
}

export function onTheme(repaint) {
  const media = matchMedia("(prefers-color-scheme: dark)");
  media.addEventListener("change", repaint);
  const theme = new MutationObserver(repaint);
  theme.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  return () => {
    theme.disconnect();
    media.removeEventListener("change", repaint);
  };
}
