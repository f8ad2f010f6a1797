// The lab: finished experiments as stories, led through step by step, with their models to try.
//
// The address has what is shown: "#told/3" is the third step of the experiment "told", no name is the list of all.

import * as api from "./api.js";
import { showConnection } from "./connection.js";
import { make } from "./dom.js";
import { Live } from "./lab_live.js";
import { blocksOf, verdictOf } from "./lab_story.js";
import { startTheme } from "./theme.js";

const NONE = "There is no experiment here. attend serve --lab DIR serves those of attend lab NAME --out DIR.";
const find = (id) => document.getElementById(id);
const OWN_ARROWS = "input, textarea, select, .live"; // where arrow keys mean something else

class Lab {
  constructor(experiments) {
    this.experiments = experiments;
    this.stories = new Map();
    this.live = new Live((text) => this.announce(text));
    addEventListener("hashchange", () => this.load());
    addEventListener("keydown", (event) => this.#key(event));
    document.querySelector(".skip").addEventListener("click", (event) => {
      event.preventDefault();
      find("story").focus();
    });
    this.load();
  }

  // What the address has. Only the newest is shown, whatever takes longer.
  async load() {
    const [name, step] = location.hash.slice(1).split("/");
    const { signal } = this.#anew();
    if (!this.experiments.some((one) => one.name === name)) return this.#showList();
    try {
      if (!this.stories.has(name)) this.stories.set(name, await api.story(name, signal));
      if (signal.aborted) return;
      this.#showStory(this.stories.get(name));
      this.go(Math.max(0, (Number(step) || 1) - 1), false);
    } catch (error) {
      if (!api.cancelled(error)) find("story").replaceChildren(make("p", { class: "error", role: "alert" }, error.message));
    }
  }

  #anew() {
    this.asking?.abort();
    this.asking = new AbortController();
    return this.asking;
  }

  announce(text) {
    find("news").textContent = text;
  }

  #showList() {
    this.#leave();
    document.title = "attend: the lab";
    const row = ({ name, title, claim, verdict, checks, held, quick }) =>
      make(
        "li",
        {},
        make(
          "a",
          { class: "experiment", href: `#${name}` },
          make("span", { class: "experiment-title" }, title),
          make("span", { class: "experiment-claim" }, claim),
          make(
            "span",
            { class: "experiment-facts" },
            verdictOf(verdict),
            `${held} of ${checks} ${checks === 1 ? "check" : "checks"}`,
            quick && make("span", { class: "faint" }, " · a quick run"),
          ),
        ),
      );
    const intro =
      "Claims about attention, each shown by models that were trained for it. Choose one to be led through it, and to try " +
      "its models.";
    find("story").replaceChildren(
      make("p", { class: "lead" }, intro),
      make("ol", { class: "experiments" }, this.experiments.map(row)),
    );
  }

  #leave() {
    this.live.leave();
    this.story = null;
    this.step = -1;
  }

  // All of a story but the step.
  #showStory(story) {
    if (this.story === story) return;
    this.#leave();
    this.story = story;
    document.title = `attend: ${story.title}`;
    const steps = story.story.map(({ title }, index) =>
      make("li", {}, make("a", { href: `#${story.name}/${index + 1}` }, make("span", { class: "step-number" }, index + 1), title)),
    );
    this.links = steps.map((item) => item.firstChild);
    this.place = make("section", { class: "step", "aria-labelledby": "step-title" });
    this.back = make("button", { type: "button", class: "quiet", click: () => this.go(this.step - 1) }, "Back");
    this.next = make("button", { type: "button", class: "main", click: () => this.#onward() });
    this.count = make("span", { class: "step-count" });
    find("story").replaceChildren(
      make("p", { class: "crumbs" }, make("a", { href: "#" }, "All experiments")),
      make(
        "header",
        { class: "story-head" },
        make("h2", {}, story.title),
        make("p", { class: "claim" }, story.claim),
        make(
          "p",
          { class: "story-facts" },
          verdictOf(story.verdict),
          story.quick && make("span", { class: "faint" }, "A quick run: the direction of the claim, not its figures."),
        ),
      ),
      make(
        "div",
        { class: "guided" },
        make("nav", { class: "steps", "aria-label": "Steps of the story" }, make("ol", {}, steps)),
        make("div", { class: "told" }, this.place, make("div", { class: "onward" }, this.back, this.count, this.next)),
      ),
    );
  }

  get #following() {
    return this.experiments[this.experiments.findIndex(({ name }) => name === this.story.name) + 1];
  }

  #onward() {
    if (this.step + 1 < this.story.story.length) return this.go(this.step + 1);
    location.hash = this.#following?.name ?? "";
    scrollTo(0, 0);
    return null;
  }

  // Shows a step. `told`: it was asked for by a button or a key, so that the address has to follow.
  go(step, told = true) {
    const { story } = this;
    const last = story.story.length - 1;
    if (step < 0 || (step > last && told)) return;
    this.step = Math.min(step, last);
    if (told) history.replaceState(null, "", `#${story.name}/${this.step + 1}`);
    const { title, blocks } = story.story[this.step];
    this.live.leave();
    this.place.replaceChildren(make("h3", { id: "step-title" }, title), ...blocksOf(story, blocks, this.live));
    this.links.forEach((link, index) => {
      if (index === this.step) link.setAttribute("aria-current", "step");
      else link.removeAttribute("aria-current");
    });
    const link = this.links[this.step];
    link.closest("nav").scrollLeft = link.offsetLeft - 16; // where the steps do not fit in a line
    this.back.setAttribute("aria-disabled", String(this.step === 0));
    const { title: other } = this.#following ?? {};
    this.next.textContent = this.step < last ? "Next" : other ? `Next: ${other}` : "All experiments";
    this.count.textContent = `Step ${this.step + 1} of ${last + 1}`;
    this.announce(`${this.count.textContent}: ${title}`);
    this.#reveal();
  }

  // A step begins where it can be seen, and on a phone not below what came before it.
  #reveal() {
    const top = this.place.getBoundingClientRect().top;
    if (top < 0 || top > innerHeight * 0.8) this.place.scrollIntoView({ block: "start" });
  }

  #key(event) {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const plain = !event.altKey && !event.ctrlKey && !event.metaKey && !event.shiftKey;
    if (!this.story || !by || !plain || event.defaultPrevented || event.target.closest?.(OWN_ARROWS)) return;
    event.preventDefault();
    this.go(this.step + by);
  }
}

async function start() {
  showConnection(find("banner"));
  startTheme(find("theme"), () => {});
  try {
    const [experiments, served] = await Promise.all([api.experiments(), api.served()]);
    find("explorer").hidden = !served.models.length;
    if (!experiments.length) throw new Error(NONE);
    new Lab(experiments);
  } catch (error) {
    find("story").append(make("p", { class: "error", role: "alert" }, error.message));
  }
}

start();
