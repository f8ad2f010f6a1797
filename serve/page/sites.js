// Attentions of a network, by who looks at what: each has `queries` and `keys`.

// The answer looks at what was read.
export const crosses = ({ queries, keys }) => queries === "target" && (keys.startsWith("source") || keys === "sentences");

// The layers of the attention that a map is of, where none is named.
export function mainSites({ sites = [] }) {
  const looking = sites.filter(crosses);
  return looking.filter(({ site }) => site === looking[0].site);
}
