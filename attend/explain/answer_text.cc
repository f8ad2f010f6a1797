#include "attend/explain/answer_text.h"

#include <algorithm>

#include "attend/base/error.h"
#include "attend/data/display_width.h"
#include "attend/explain/labels.h"
#include "attend/explain/tree_picture.h"

namespace attend::explain {
namespace {

constexpr const char* kIndent = "    ";
constexpr size_t kBetween = 2;  // columns between two words

bool is_tagged(const Trace& trace) {
  return trace.target.kind == "tags" && trace.target.words.size() == trace.source.words.size();
}

std::string given(const Trace& trace) { return trace.given ? "   (given)" : ""; }

std::string tagged(const Trace& trace, const TextOptions& options) {
  return text_tags(trace, options) + (trace.given ? "   " + given(trace) + "\n" : "");
}

std::string tree(const Trace& trace, const TextOptions& options) {
  return kIndent + trace.source.text + given(trace) + "\n\n" + text_tree(trace, options);
}

/// A way to show an answer, and the traces that it applies to.
struct Way {
  bool (*fits)(const Trace& trace);
  std::string (*text)(const Trace& trace, const TextOptions& options);
};
constexpr Way kWays[] = {{is_tagged, tagged}, {is_tree, tree}};

void add_padded(std::string& line, const std::string& word, size_t width) {
  // Without the mark, a terminal that knows directions would turn the words of a line around, and not their tags.
  line += word + (right_to_left(word) ? "\u200E" : "") + std::string(width - data::display_width(word), ' ');
}

std::string trimmed(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

}  // namespace

std::string text_tags(const Trace& trace, const TextOptions& options) {
  const std::vector<std::string>&words = trace.source.words, &tags = trace.target.words;
  require(words.size() == tags.size(), "text_tags: expected a tag for each of ", words.size(), " words, got ",
          tags.size());
  std::string text;
  for (size_t begin = 0; begin < words.size();) {
    std::string above = kIndent, below = kIndent;
    size_t used = above.size(), i = begin;
    for (; i < words.size(); ++i) {
      const size_t width = std::max(data::display_width(words[i]), data::display_width(tags[i]));
      if (i > begin && options.width > 0 && used + width > options.width) break;
      add_padded(above, words[i], width + kBetween);
      add_padded(below, tags[i], width + kBetween);
      used += width + kBetween;
    }
    text += (begin > 0 ? "\n" : "") + trimmed(std::move(above)) + trimmed(std::move(below));
    begin = i;
  }
  return text;
}

std::string text_answer(const Trace& trace, const TextOptions& options) {
  for (const Way& way : kWays) {
    if (way.fits(trace)) return way.text(trace, options);
  }
  return kIndent + trace.source.text + "\n  → " + trace.target.text + given(trace) + "\n";
}

}  // namespace attend::explain
