// A page with everything in one file: images that were looked at, and the view of one. It follows look.js in the same script;
// `#traces` holds JSON.
const looks = JSON.parse(document.getElementById("traces").textContent);

function answerOf(look) {
  return look.kind === "caption" ? look.caption.words.join(" ") : look[look.kind].answer;
}

function lineOf({ model, image, kind, ...look }) {
  const right = look[kind].right;
  const wrong = right && right !== look[kind].answer ? `wrong: it is ${right}` : "";
  const size = `${model.parameters.toLocaleString("en")} parameters`;
  return [wrong, image.name, model.name, model.task, model.network, size].filter(Boolean).join(" · ");
}

const place = document.getElementById("view");
let view = null;

function show(number) {
  if (view) view.destroy();
  document.querySelector("h1").textContent = answerOf(looks[number]);
  document.getElementById("model").textContent = lineOf(looks[number]);
  view = renderLook(place, { look: looks[number], play: true });
}

if (looks.length > 1) {
  const list = looks.map((look, i) => [String(i), `${i + 1}. ${look.image.name}: ${answerOf(look)}`]);
  document.getElementById("chooser").append(choice("image", "look", list, 0, (value) => show(Number(value))));
}
document.getElementById("theme").append(themeButton());
show(0);
