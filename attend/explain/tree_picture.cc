#include "attend/explain/tree_picture.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "attend/base/error.h"
#include "attend/data/display_width.h"
#include "attend/data/tree.h"
#include "attend/explain/labels.h"

namespace attend::explain {
namespace {

constexpr std::string_view kEnd = "</s>";
constexpr double kLeast = 0.01;  // of a row's largest value: what has less is not named

/// The tokens of the answer without its end.
std::vector<std::string> tokens_of(const Trace& trace) {
  std::vector<std::string> tokens = trace.target.tokens;
  if (!tokens.empty() && tokens.back() == kEnd) tokens.pop_back();
  return tokens;
}

data::Tree parsed(const Trace& trace) { return data::tree_of(tokens_of(trace), trace.source.words); }

/// The first map with the answer's tokens as rows and the text's words as columns; nothing if its sides are different.
std::optional<Grid> over_words(const Trace& trace) {
  if (trace.maps.empty()) return std::nullopt;
  const TraceMap& map = trace.maps[0];
  if (map.queries != "target" || map.keys != "source" || !map.tokens.defined()) return std::nullopt;
  Grid grid = map_grid(trace, map, "tokens");
  const size_t wide = grid.columns.size(), words = trace.source.words.size();
  Tensor sums = Tensor::zeros({static_cast<int64_t>(grid.rows.size()), static_cast<int64_t>(words)});
  for (size_t i = 0; i < grid.values.size(); ++i) {
    const int32_t word = trace.source.word_of[i % wide];
    if (word >= 0) sums.data()[i / wide * words + static_cast<size_t>(word)] += grid.values.data()[i];
  }
  grid.values = sums, grid.columns = trace.source.words, grid.look.windows.clear();
  return grid;
}

/// What the places of a tree looked at.
class Looks {
 public:
  explicit Looks(const Trace& trace) : grid_(over_words(trace)) {
    if (grid_) scale_ = scale_of(*grid_);
  }

  bool any() const { return grid_.has_value(); }
  const Scale& scale() const { return scale_; }
  double value(size_t token, size_t word) const {
    return static_cast<double>(grid_->values.data()[token * grid_->columns.size() + word]);
  }
  std::string named(size_t token, size_t word) const {
    return isolated(grid_->columns[word]) + " " + scale_.shown(value(token, word));
  }
  /// The words with the largest values, for or against, in descending order; negligible ones are left out.
  std::vector<size_t> most(size_t token, size_t count) const {
    std::vector<size_t> words(grid_->columns.size());
    std::iota(words.begin(), words.end(), size_t{0});
    const auto size = [&](size_t word) {
      const double found = std::abs(value(token, word));
      return std::isfinite(found) ? found : 0;
    };
    std::ranges::stable_sort(words, std::ranges::greater{}, size);
    const double largest = words.empty() ? 0 : size(words[0]);
    std::erase_if(words, [&](size_t word) { return size(word) == 0 || size(word) < kLeast * largest; });
    words.resize(std::min(words.size(), count));
    return words;
  }
  std::string list(size_t token, size_t count) const {
    std::string text;
    for (const size_t word : most(token, count)) text += (text.empty() ? "" : ", ") + named(token, word);
    return text;
  }

 private:
  std::optional<Grid> grid_;
  Scale scale_;
};

// In a terminal

struct Line {
  std::string text;
  size_t token;
};

/// A node and everything below it; `token` is the index of what opens it, and afterwards of what follows it.
void add_lines(const data::Tree& node, const std::string& before, const std::string& below, size_t& token,
               std::vector<Line>& lines) {
  lines.push_back({before + node.label + (node.is_leaf() ? " " + node.word : ""), token++});
  for (size_t i = 0; i < node.children.size(); ++i) {
    const bool last = i + 1 == node.children.size();
    add_lines(node.children[i], below + (last ? "└─ " : "├─ "), below + (last ? "   " : "│  "), token, lines);
  }
  if (!node.is_leaf()) ++token;  // what closes it
}

// As SVG

constexpr double kNodeFont = 12, kWordFont = 14, kSmallFont = 9.5;
constexpr double kRow = 54, kBox = 20, kBelow = 14;  // from level to level; height of a label; of the word below it
constexpr double kPadding = 6, kNodeGap = 8;

/// A node and its place in the picture.
struct Node {
  const data::Tree* tree;
  size_t token;
  std::string look;     // the word that it looked at most, as text below a bracket
  double width, room;   // of its label; of all that is below it as well
  double x = 0, y = 0;  // the middle of the upper edge
  int height = 1;       // above the words
  std::vector<Node> children;
};

Node measured(const data::Tree& tree, const Looks& looks, size_t& token) {
  Node node{.tree = &tree, .token = token++, .look = {}, .width = 0, .room = 0, .children = {}};
  if (looks.any() && !tree.is_leaf()) node.look = looks.list(node.token, 1);
  const double label = 1.12 * kNodeFont * text_width(tree.label);
  node.width = label + 2 * kPadding;
  for (const data::Tree& child : tree.children) {
    node.children.push_back(measured(child, looks, token));
    node.room += node.children.back().room;
    node.height = std::max(node.height, node.children.back().height + 1);
  }
  if (!tree.is_leaf()) ++token;
  const double below = tree.is_leaf() ? kWordFont * text_width(tree.word) : kSmallFont * text_width(node.look);
  node.room = std::max(node.room, std::max(node.width, below) + kNodeGap);
  return node;
}

/// What is below a label is centred in its room.

void place(Node& node, double left, int highest) {
  node.y = kRow * (highest - node.height);
  double inner = 0;
  for (const Node& child : node.children) inner += child.room;
  double at = left + (node.room - inner) / 2;
  for (Node& child : node.children) {
    place(child, at, highest);
    at += child.room;
  }
  node.x = node.children.empty() ? left + node.room / 2 : (node.children.front().x + node.children.back().x) / 2;
}

std::string centred(const std::string& text, double x, double y, double size, std::string_view colour,
                    std::string_view more = "") {
  return "<text" + attribute("x", x) + attribute("y", y) + attribute("font-size", size) + attribute("fill", colour) +
         attribute("text-anchor", "middle") + std::string(more) + ">" + xml_escaped(isolated(text)) + "</text>\n";
}

class TreeDrawing {
 public:
  TreeDrawing(const Looks& looks, double ground) : looks_(looks), ground_(ground) {}

  void draw(const Node& node) {
    for (const Node& child : node.children) {
      connect(node, child.x, child.y);
      draw(child);
    }
    if (node.tree->is_leaf()) {
      connect(node, node.x, ground_);
      labels_ += centred(node.tree->word, node.x, ground_ + kWordFont, kWordFont, kInk);
    }
    box(node);
  }

  /// Lines first, so that labels lie on them.
  std::string svg() const { return lines_ + labels_; }

 private:
  void connect(const Node& node, double x, double y) {
    const double bottom = node.y + kBox + (node.look.empty() ? 0 : kBelow), bend = node.y + (kBox + kBelow + kRow) / 2;
    lines_ += "<path" +
              attribute("d", "M" + svg_number(node.x) + " " + svg_number(bottom) + " V" + svg_number(bend) + " H" +
                                 svg_number(x) + " V" + svg_number(y)) +
              attribute("fill", "none") + attribute("stroke", "#c3cbd4") + "/>\n";
  }

  void box(const Node& node) {
    const std::vector<size_t> most = looks_.any() ? looks_.most(node.token, 1) : std::vector<size_t>();
    const Colour colour =
        most.empty() ? Colour{255, 255, 255} : looks_.scale().colour(looks_.value(node.token, most[0]));
    std::string title = node.tree->label;
    if (!most.empty()) title += " ← " + looks_.list(node.token, 3);
    labels_ += "<g" + attribute("class", node.tree->is_leaf() ? "tag" : "bracket") + "><title>" + xml_escaped(title) +
               "</title><rect" + attribute("x", node.x - node.width / 2) + attribute("y", node.y) +
               attribute("width", node.width) + attribute("height", kBox) + attribute("rx", 4) +
               attribute("fill", hex(colour)) + attribute("stroke", "#c3cbd4") + "/>" +
               centred(node.tree->label, node.x, node.y + 0.5 * kBox + 0.36 * kNodeFont, kNodeFont, hex(ink_on(colour)),
                       attribute("font-weight", "bold"));
    if (!node.look.empty()) labels_ += centred(node.look, node.x, node.y + kBox + 0.8 * kBelow, kSmallFont, kFaint);
    labels_ += "</g>\n";
  }

  const Looks& looks_;
  const double ground_;
  std::string lines_, labels_;
};

}  // namespace

bool is_tree(const Trace& trace) {
  if (trace.target.kind != "tree") return false;
  try {
    (void)parsed(trace);
    return true;
  } catch (const Error&) {
    return false;
  }
}

std::string text_tree(const Trace& trace, const TextOptions& options) {
  const data::Tree tree = parsed(trace);
  const Looks looks(trace);
  std::vector<Line> lines;
  size_t token = 0;
  add_lines(tree, "", "", token, lines);
  const size_t longest = options.width == 0 ? SIZE_MAX : std::max<size_t>(12, 3 * options.width / 5);
  size_t margin = 0;
  for (Line& line : lines) {
    line.text = shortened(line.text, longest);
    margin = std::max(margin, data::display_width(line.text));
  }
  std::string text;
  for (const Line& line : lines) {
    text += line.text;
    const std::vector<size_t> most = looks.any() ? looks.most(line.token, 1) : std::vector<size_t>();
    if (!most.empty()) {
      const size_t cell = options.ink == Ink::true_colour ? 3 : 2, used = margin + cell + 3;
      const size_t room =
          options.width == 0 ? SIZE_MAX : std::max<size_t>(8, options.width - std::min(options.width, used));
      text += std::string(margin - data::display_width(line.text) + 2, ' ') +
              text_cell(looks.scale(), looks.value(line.token, most[0]), options.ink) + " " +
              shortened(looks.list(line.token, 2), room);
    }
    text += "\n";
  }
  return text;
}

Fragment draw_tree(const Trace& trace) {
  const data::Tree tree = parsed(trace);
  const Looks looks(trace);
  size_t token = 0;
  Node root = measured(tree, looks, token);
  place(root, 0, root.height);
  const double ground = kRow * root.height;
  TreeDrawing drawing(looks, ground);
  drawing.draw(root);
  const Fragment picture{drawing.svg(), root.room, ground + 1.4 * kWordFont};
  if (!looks.any()) return picture;
  const std::string& method = trace.maps[0].method;
  const std::string did = method == "attention" || method == "rollout" ? "looked at" : "depended on";
  const std::vector<std::string> key{"Below each bracket is the word that it " + did +
                                     " most; the darker the bracket, the more."};
  return stacked({picture, text_lines(key, {11, kFaint})}, 8);
}

std::string svg_tree(const Trace& trace) { return svg_document(draw_tree(trace), 20); }

}  // namespace attend::explain
