// What a model is asked with: "text", "image", "sound", or "texts" where it reads several texts, such as a document and a question.

export const kindOf = ({ reads, inputs = [] }) =>
  inputs.length > 1 && inputs.every(({ kind }) => kind === "text") ? "texts" : reads;

const READ = { text: () => "text", image: () => "images", sound: () => "sounds", texts: ({ inputs }) => inputs.map(({ name }) => name).join(", ") };

// In words, for lists of models.
export const readText = (model) => READ[kindOf(model)]?.(model) ?? model.reads;
