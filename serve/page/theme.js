// Light or dark: as the system has it, until someone chooses. The choice is remembered.

const KEY = "attend-theme";
const dark = matchMedia("(prefers-color-scheme: dark)");

// Storage may be forbidden, where the choice then lasts as long as the page.
function remembered() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

function remember(theme) {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    /* see above */
  }
}

const apply = (theme) => {
  document.documentElement.dataset.theme = theme;
};
const current = () => document.documentElement.dataset.theme;

// `button` changes it; `changed` is called after each change, for what is drawn on canvases.
export function startTheme(button, changed) {
  const label = () => {
    button.setAttribute("aria-label", current() === "dark" ? "Light colours" : "Dark colours");
    button.title = button.getAttribute("aria-label");
  };
  const set = (theme) => {
    apply(theme);
    label();
    changed();
  };
  apply(remembered() ?? (dark.matches ? "dark" : "light"));
  label();
  dark.addEventListener("change", () => remembered() ?? set(dark.matches ? "dark" : "light"));
  button.addEventListener("click", () => {
    set(current() === "dark" ? "light" : "dark");
    remember(current());
  });
}
