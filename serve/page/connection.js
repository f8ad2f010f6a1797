// Whether the server answers. Who finds that it does not awaits lost(), which ends when it is back.

const FIRST_WAIT = 500,
  LONGEST_WAIT = 8000; // milliseconds
const HEARTBEAT = 10000; // while nothing else is asked

class Connection extends EventTarget {
  #back = null; // a promise, while the server is away

  // The server has just answered.
  alive() {
    if (!this.#back) this.#rest();
  }

  // Ends when the server is back, or with the signal.
  lost(signal) {
    this.#back ??= this.#wait();
    return new Promise((resolve, reject) => {
      signal?.addEventListener("abort", () => reject(signal.reason));
      this.#back.then(resolve);
    });
  }

  async #wait() {
    clearTimeout(this.timer);
    this.dispatchEvent(new Event("lost"));
    for (let wait = FIRST_WAIT; ; wait = Math.min(2 * wait, LONGEST_WAIT)) {
      await pause(wait);
      if (await answers()) break;
    }
    this.#back = null;
    this.dispatchEvent(new Event("back"));
    this.#rest();
  }

  // A person who comes back to the page should see that the server has gone before typing a sentence.
  #rest() {
    clearTimeout(this.timer);
    this.timer = setTimeout(async () => {
      if (document.hidden || (await answers())) this.#rest();
      else this.#back ??= this.#wait();
    }, HEARTBEAT);
  }
}

async function answers() {
  try {
    return (await fetch("healthz", { cache: "no-store" })).ok;
  } catch {
    return false;
  }
}

// Ends early when there is reason to hope: the network is back, or someone looks at the page.
function pause(milliseconds) {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      removeEventListener("online", done);
      document.removeEventListener("visibilitychange", done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    addEventListener("online", done);
    document.addEventListener("visibilitychange", done);
  });
}

export const connection = new Connection();

// Tells in `banner` when the server is away and, for a moment, that it is back.
export function showConnection(banner) {
  let timer = 0;
  const say = (text, state) => {
    clearTimeout(timer);
    banner.textContent = text;
    banner.dataset.state = state;
    banner.hidden = false;
  };
  connection.addEventListener("lost", () => say("The server does not answer; trying again…", "lost"));
  connection.addEventListener("back", () => {
    say("The server is back.", "back");
    timer = setTimeout(() => {
      banner.hidden = true;
    }, 2500);
  });
}
