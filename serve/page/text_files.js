// Files of text that are chosen or dropped.

const MOST_BYTES = 900_000; // --body-bytes is 1 MiB
const TEXT_NAME = /\.(txt|md|text)$/i;

// Its text; an error says what is wrong with it.
export async function textOf(file) {
  if (!file.type.startsWith("text/") && !TEXT_NAME.test(file.name)) throw new Error(`${file.name} is no text file.`);
  if (file.size > MOST_BYTES) throw new Error(`${file.name} is too long: ${Math.round(file.size / 1000)} kB, at most ${MOST_BYTES / 1000}.`);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer()).replace(/\r\n?/g, "\n");
  } catch {
    throw new Error(`${file.name} is not UTF-8.`);
  }
}
