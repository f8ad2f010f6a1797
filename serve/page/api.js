// Requests to the server. One that finds no server waits until there is one again and is repeated: its caller only sees
// that it takes longer. Refusals come as Refusal, with the server's own words; a mistake of the page stays one, and is not
// asked again.

import { connection } from "./connection.js";
import { askForKey, hasKey, keyHeaders } from "./key.js";

export class Refusal extends Error {
  constructor(status, code, message) {
    super(message);
    Object.assign(this, { status, code });
  }
}

// The network failed, not the server and not the page.
class Lost extends Error {}

const heard = (promise) =>
  promise.catch((error) => {
    throw cancelled(error) ? error : new Lost("The answer of the server broke off.");
  });

export const cancelled = (error) => error?.name === "AbortError";

async function refusalOf(response) {
  try {
    const { code, message } = (await response.json()).error;
    return new Refusal(response.status, code, message);
  } catch {
    return new Refusal(response.status, "", `the server answered ${response.status} ${response.statusText}`);
  }
}

const MOST_BUSY = 4; // times that a server with its hands full is asked again
const MOST_BROKEN = 2; // times that an answer may break off, which a server that goes away does once

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

// `read(response)` belongs to what is repeated where it is the network that fails: a server can go away in the middle of an
// answer.
async function send(path, body, signal, read) {
  const options = body
    ? { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }
    : {};
  for (let busy = 0, broken = 0; ;) {
    let response = null;
    try {
      const headers = { ...options.headers, ...keyHeaders() };
      response = await heard(fetch(path, { ...options, headers, signal }));
      if (response.status === 401) {
        const had = headers.Authorization;
        const { message } = await refusalOf(response);
        // Another request may have asked for it in the meantime.
        if (keyHeaders().Authorization === had) await askForKey(had ? message : "This server wants a key.");
        continue;
      }
      if (response.status === 503 && ++busy <= MOST_BUSY) {
        await pause(busy * 1000);
        continue;
      }
      if (!response.ok) throw await refusalOf(response);
      const answer = await read(response);
      connection.alive();
      return answer;
    } catch (error) {
      if (!(error instanceof Lost) || signal?.aborted || (response && ++broken > MOST_BROKEN)) throw error;
      await connection.lost(signal);
    }
  }
}

const asJson = async (response) => JSON.parse(await heard(response.text()));

// {models, experiments (how many the lab has)}
export const served = (signal) => send("v1/models", null, signal, asJson);
export const model = (name, signal) => send(`v1/models/${encodeURIComponent(name)}`, null, signal, asJson);
export const experiments = async (signal) => (await send("v1/lab", null, signal, asJson)).experiments;
export const story = (name, signal) => send(`v1/lab/${encodeURIComponent(name)}`, null, signal, asJson);
// An address for an image. Images are asked for without a key: where one is needed, the address is the figure itself.
export async function figureAddress(name, figure) {
  const path = `v1/lab/${encodeURIComponent(name)}/figures/${encodeURIComponent(figure)}`;
  if (!hasKey()) return path;
  return `data:image/svg+xml,${encodeURIComponent(await send(path, null, undefined, (response) => heard(response.text())))}`;
}
export const curves = (model, signal) => send(`v1/models/${encodeURIComponent(model)}/curves`, null, signal, asJson);
export const gallery = (model, signal) => send(`v1/models/${encodeURIComponent(model)}/gallery`, null, signal, asJson);

// Going back to a head or a method that was seen before should not cost a search. Few are kept: a trace may be large.
const KEPT = 16;
const traces = new Map();
export const seen = (request) => traces.has(JSON.stringify(request));

export async function explain(request, signal) {
  const key = JSON.stringify(request);
  const trace = traces.get(key) ?? (await send("v1/explain", request, signal, asJson));
  traces.delete(key);
  traces.set(key, trace);
  if (traces.size > KEPT) traces.delete(traces.keys().next().value);
  return trace;
}

// The answers to one image, best first.
export const answer = async (request, signal) => (await send("v1/run", request, signal, asJson)).answers[0];

// Calls `partial(text)` as the answer grows; gives { answers, notes }.
export const run = (request, partial, signal) =>
  send("v1/run", { ...request, stream: true }, signal, async (response) => {
    let last = { answers: [], notes: [] };
    for await (const line of lines(response.body)) {
      const said = JSON.parse(line);
      if (said.error) throw new Refusal(response.status, said.error.code, said.error.message);
      if (said.partial !== undefined) partial(said.partial);
      if (said.answers) last = { answers: said.answers[0], notes: said.notes ?? [] };
    }
    return last;
  });

async function* lines(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await heard(reader.read());
    if (done) break;
    const parts = (rest + value).split("\n");
    rest = parts.pop();
    yield* parts.filter(Boolean);
  }
  if (rest.trim()) yield rest;
}
