#include "attend/explain/report_page.h"

#include <cstdio>

#include "attend/explain/plot.h"

namespace attend::explain {
namespace {

constexpr const char* kStyle = R"html(<style>
:root { --page: #fff; --ink: #1f2933; --quiet: #52606d; --line: #d9dee4; --soft: #f5f7f9; --bad: #a11d33;
  --shadow: #0003; }
@media (prefers-color-scheme: dark) {
  :root { --page: #14181d; --ink: #e6e9ed; --quiet: #a5b0bd; --line: #38424e; --soft: #1c2229; --bad: #ff8a9a;
    --shadow: #fff4; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 62rem; background: var(--page); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .4rem; }
h2 { font-size: 1.2rem; margin: 2.8rem 0 .6rem; }
h3 { font-size: 1rem; margin: 1.8rem 0 .1rem; }
h4 { font-size: .95rem; margin: 0 0 .2rem; }
p { margin: 0 0 .8rem; }
.about, .note, figcaption, footer, .said { color: var(--quiet); }
.note, figcaption, footer { font-size: .88rem; }
/* What goes on beyond an edge casts a shadow there, which the page's own colour covers at the end. */
.wide { overflow-x: auto; background:
  linear-gradient(to right, var(--page) 30%, transparent) left / 2.5rem 100% no-repeat local,
  linear-gradient(to left, var(--page) 30%, transparent) right / 2.5rem 100% no-repeat local,
  linear-gradient(to right, var(--shadow), transparent) left / .9rem 100% no-repeat scroll,
  linear-gradient(to left, var(--shadow), transparent) right / .9rem 100% no-repeat scroll; }
.wide + .note { margin-top: .7rem; }
table { border-collapse: collapse; width: 100%; font-size: .94rem; font-variant-numeric: tabular-nums;
  overflow-wrap: normal; }
th, td { padding: .5rem .7rem; text-align: right; border-bottom: 1px solid var(--line); vertical-align: top;
  white-space: nowrap; }
th:first-child { text-align: left; padding-left: 0; }
thead th { color: var(--quiet); font-weight: 600; border-bottom: 2px solid var(--line); }
tbody th { font-weight: 500; }
tbody tr:hover { background: var(--soft); }
th > svg, h4 > svg { vertical-align: -1px; margin-right: .6rem; }
th > span { display: inline-block; vertical-align: top; }
small { display: block; color: var(--quiet); font-weight: 400; font-size: .8rem; white-space: normal; max-width: 24rem; }
em { color: var(--quiet); font-style: normal; font-size: .85em; }
th button { all: unset; cursor: pointer; }
th button:focus-visible { outline: 2px solid currentColor; outline-offset: 3px; }
th[aria-sort=ascending] button::after { content: " ↑"; }
th[aria-sort=descending] button::after { content: " ↓"; }
figure { margin: 0 0 1rem; }
figure svg { display: block; min-width: 34rem; width: 100%; height: auto; }
summary { cursor: pointer; color: var(--quiet); }
.cards { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fill, minmax(min(100%, 19rem), 1fr)); }
.card { border: 1px solid var(--line); border-radius: 8px; padding: .8rem; min-width: 0; }
.card > svg { display: block; max-width: 100%; height: auto; }
.said { font-size: .94rem; margin: 0 0 .6rem; }
.none { color: var(--quiet); font-size: .88rem; margin: 0; }
em.failed, .failed b { color: var(--bad); }
.wide { margin: 0 0 1rem; }
table.words td { text-align: left; white-space: normal; }
table.words th:not(:first-child) { text-align: left; }
ul.checks { list-style: none; padding: 0; margin: 0 0 1rem; }
ul.checks li { padding: .45rem 0 .45rem 1.9rem; border-bottom: 1px solid var(--line); position: relative; }
ul.checks li::before { content: "✓"; position: absolute; left: .3rem; font-weight: 700; }
ul.checks li.refuted::before { content: "✗"; color: var(--bad); }
blockquote { margin: 0 0 1rem; padding: .2rem 0 .2rem 1rem; border-left: 4px solid var(--line); font-size: 1.1rem; }
pre { background: var(--soft); padding: .6rem .8rem; overflow-x: auto; font-size: .88rem; margin: 0 0 .4rem; }
footer { margin-top: 3rem; border-top: 1px solid var(--line); padding-top: .8rem; }
@media (max-width: 40rem) {
  body { padding: 1.25rem 1rem 3rem; }
  th, td { padding: .45rem .45rem; }
  th > svg { width: 22px; margin-right: .35rem; }
  small { max-width: 9rem; }
  figure svg { min-width: 30rem; }
}
@media print { body { max-width: none; } .card { break-inside: avoid; } }
</style>
)html";

constexpr const char* kSorting = R"html(<script>
document.querySelectorAll("table.sorted").forEach(table => table.querySelectorAll("thead th").forEach((head, column, heads) => {
  const button = document.createElement("button");
  button.textContent = head.textContent;
  head.replaceChildren(button);
  button.addEventListener("click", () => {
    const down = head.getAttribute("aria-sort") ? head.getAttribute("aria-sort") === "ascending" : column > 0;
    const key = row => row.children[column].dataset.v;
    const compare = (a, b) => column === 0 ? a.children[0].textContent.localeCompare(b.children[0].textContent)
      : Number(key(a)) - Number(key(b));
    const missing = row => column > 0 ? key(row) === undefined : false;
    const rows = [...table.tBodies[0].rows].sort(
      (a, b) => missing(a) - missing(b) || (down ? compare(b, a) : compare(a, b)) || 0);
    heads.forEach(other => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    table.tBodies[0].append(...rows);
  });
}));
</script>
)html";

}  // namespace

std::string report_page(const std::string& title, const std::string& body) {
  return "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<meta name=\"color-scheme\" content=\"light dark\">\n<title>" +
         escaped_markup(title) + "</title>\n" + kStyle + plot_style() + "</head>\n<body>\n" + body + kSorting +
         "</body>\n</html>\n";
}

std::string inlined(std::string svg) {
  constexpr std::string_view kNamespace = " xmlns=\"http://www.w3.org/2000/svg\"";
  for (size_t at; (at = svg.find(kNamespace)) != std::string::npos;) svg.erase(at, kNamespace.size());
  return svg;
}

std::string figure(const std::string& svg, const std::string& caption) {
  return "<figure><div class=\"wide\">" + inlined(svg) + "</div><figcaption>" + escaped_markup(caption) +
         "</figcaption></figure>\n";
}

std::string in_markdown(const std::string& text) {
  std::string safe;
  for (const char c : text) safe += c == '|' ? "\\|" : c == '\n' ? " " : std::string(1, c);
  return safe;
}

std::string fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.*f", digits, value);
  return text;
}

}  // namespace attend::explain
