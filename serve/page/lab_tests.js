// Examples that the models of an experiment were tested with, and texts of any length that are made of them.

const lengthIn = { letters: (text) => [...text].length, words: (text) => text.split(/\s+/).filter(Boolean).length };
const partsIn = { letters: (text) => [...text], words: (text) => text.split(/\s+/).filter(Boolean) };
const between = { letters: "", words: " " };

export class Tests {
  // `tests`: [{runs, examples}] of the story; `runs`: those that are asked, of which the first says what examples there are.
  constructor(tests, runs) {
    this.byRun = new Map(tests.flatMap(({ runs: own, examples }) => own.map((run) => [run, examples])));
    this.rows = runs.map((run) => this.byRun.get(run)).find(Boolean) ?? [];
    const spaced = this.rows.filter(({ source }) => /\S\s+\S/.test(source)).length;
    this.unit = this.rows.length && 2 * spaced < this.rows.length ? "letters" : "words";
  }

  length(text) {
    return lengthIn[this.unit](text);
  }

  get longest() {
    return Math.max(0, ...this.rows.map(({ source }) => this.length(source)));
  }

  // One of middling length.
  typical() {
    return this.rows[Math.floor(this.rows.length / 2)];
  }

  reference(run, text) {
    return this.byRun.get(run)?.find(({ source }) => source === text)?.reference ?? "";
  }

  has(text) {
    return this.rows.some(({ source }) => source === text);
  }

  // An example of that length, if one was shown and there is one; else the beginning of the text, and where it is too short more
  // from the examples.
  ofLength(length, text) {
    const own = this.base !== undefined && text === this.made ? this.base : text;
    const row = this.has(own) && this.rows.find(({ source }) => this.length(source) === length);
    const parts = partsIn[this.unit](own);
    for (let next = 0; parts.length < length; ++next) {
      const { source } = this.rows[next % (this.rows.length || 1)] ?? { source: own || "a" };
      parts.push(...partsIn[this.unit](source));
    }
    this.base = own;
    this.made = row ? row.source : parts.slice(0, length).join(between[this.unit]);
    return this.made;
  }
}
