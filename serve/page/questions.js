// What a model is asked, by what it reads. Each question gives what is seen of the answer:
//   {answers (best first), notes, trace, own (the trace of the model's own answer) or look}

import * as api from "./api.js";

async function ofText(pane, signal, anew) {
  const { model, settings } = pane;
  if (!model.methods.length) return pane.grow(signal);
  if (anew && model.searches && !settings.target && !api.seen(pane.request(true))) await pane.grow(signal);
  const own = await api.explain(pane.request(true), signal);
  const trace = settings.target ? await api.explain(pane.request(), signal) : own;
  return { answers: own.answers, notes: trace.notes, trace, own };
}

// An answer to several texts, or to a sound, is shown when it is there.
async function ofWhole(pane, signal) {
  const { model, settings } = pane;
  if (!model.methods.length) return { answers: await api.answer({ ...pane.asked(), ...pane.several() }, signal), notes: [] };
  const own = await api.explain(pane.request(true), signal);
  const trace = settings.target ? await api.explain(pane.request(), signal) : own;
  return { answers: own.answers, notes: trace.notes, trace, own };
}

async function ofImage(pane, signal) {
  const { model, settings } = pane;
  const answers = await api.answer({ ...pane.asked(), ...pane.several() }, signal);
  const { method, target } = settings;
  const given = target ? { target } : {};
  const look = model.methods.length ? await api.explain({ ...pane.asked(), method, ...given }, signal) : null;
  return { answers, notes: [], look };
}

export const QUESTIONS = { text: ofText, texts: ofWhole, image: ofImage, sound: ofWhole };
