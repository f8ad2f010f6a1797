// The key with which this page asks a server that wants one: kept for as long as the tab is open, and asked for where it is missing
// or wrong.

import { make } from "./dom.js";

const NAME = "attend-key";

export const hasKey = () => Boolean(sessionStorage.getItem(NAME));
export const keyHeaders = () => (hasKey() ? { Authorization: `Bearer ${sessionStorage.getItem(NAME)}` } : {});

let asking = null; // one question for all requests that were refused meanwhile

// Ends once a key was entered; with "AbortError" where nobody wants to.
export function askForKey(message) {
  asking ??= ask(message).finally(() => {
    asking = null;
  });
  return asking;
}

function ask(message) {
  return new Promise((resolve, reject) => {
    const input = make("input", { type: "password", name: "key", required: true, autocomplete: "off" });
    const enter = (event) => {
      event.preventDefault();
      sessionStorage.setItem(NAME, input.value.trim());
      dialog.close("entered");
    };
    const ended = () => {
      const entered = dialog.returnValue === "entered";
      dialog.remove();
      if (entered) resolve();
      else reject(new DOMException("No key was entered.", "AbortError"));
    };
    const dialog = make(
      "dialog",
      { class: "key-dialog", close: ended },
      make(
        "form",
        { method: "dialog", submit: enter },
        make("p", {}, message),
        make("label", {}, "Key ", input),
        " ",
        make("button", { type: "submit" }, "Use it"),
      ),
    );
    document.body.append(dialog);
    dialog.showModal();
  });
}
