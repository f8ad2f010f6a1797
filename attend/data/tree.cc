#include "attend/data/tree.h"

#include <algorithm>
#include <utility>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/data/tree_text.h"

namespace attend::data {
namespace {

constexpr std::string_view kWhite = " \t\n\v\f\r";

bool is_white(char c) { return kWhite.find(c) != kWhite.npos; }

/// Recursive descent over "(label children…)" or "(label word)".
class TreeParser {
 public:
  TreeParser(std::string_view text, const WhereInText& where) : text_(text), where_(where) {}

  Tree parse() {
    skip();
    if (ended() || text_[at_] != '(')
      refuse(at_, "a bracketed tree such as (NP (DT the) (NN dog)), got ", quoted(text_.substr(at_)));
    Tree tree = bracket(1);
    skip();
    if (!ended()) refuse(at_, "one tree, got more after its last bracket: ", quoted(text_.substr(at_)));
    return tree;
  }

 private:
  template <class... Parts>
  [[noreturn]] void refuse(size_t at, const Parts&... parts) const {
    fail(where_(at), ": expected ", parts...);
  }
  bool ended() const { return at_ == text_.size(); }
  void skip() {
    while (!ended() && is_white(text_[at_])) ++at_;
  }
  /// Up to white space or a bracket.
  std::string_view atom() {
    const size_t begin = at_;
    while (!ended() && !is_white(text_[at_]) && text_[at_] != '(' && text_[at_] != ')') ++at_;
    return text_.substr(begin, at_ - begin);
  }

  Tree bracket(size_t depth) {
    const size_t begin = at_++;
    if (depth > kDeepestTree) refuse(begin, "at most ", kDeepestTree, " brackets within each other, got more");
    Tree tree;
    tree.label = atom();
    if (depth > 1 && tree.label.empty())
      refuse(begin, "a label after the bracket, got ", quoted(text_.substr(begin)),
             "; only the outermost bracket may go without");
    for (skip(); !ended() && text_[at_] != ')'; skip()) {
      text_[at_] == '(' ? tree.children.push_back(bracket(depth + 1)) : add_word(tree);
    }
    if (ended()) refuse(begin, "balanced brackets, got one that is never closed: ", quoted(text_.substr(begin)));
    ++at_;
    const std::string_view whole = text_.substr(begin, at_ - begin);
    if (tree.is_leaf() && tree.word.empty()) refuse(begin, "words, got an empty bracket: ", quoted(whole));
    if (!tree.is_leaf() && !tree.word.empty())
      refuse(begin, kNeedsTag, quoted(tree.word), " without one in ", quoted(whole));
    return tree;
  }

  void add_word(Tree& tree) {
    const size_t begin = at_;
    const std::string_view word = atom();
    if (!tree.word.empty()) refuse(begin, kNeedsTag, quoted(word), " beside ", quoted(tree.word), " in one bracket");
    if (tree.label.empty()) refuse(begin, kNeedsTag, quoted(word), " without one");
    tree.word = word;
  }

  static constexpr std::string_view kNeedsTag = "every word with its part of speech, (NN dog), got ";

  std::string_view text_;
  const WhereInText& where_;
  size_t at_ = 0;
};

/// Brackets within a word would end its own: they are written as in the treebank.
void print_word(std::string_view word, std::string& text) {
  for (const char c : word) {
    if (c == '(' || c == ')') {
      text += c == '(' ? "-LRB-" : "-RRB-";
    } else {
      text += c;
    }
  }
}

void print(const Tree& tree, std::string& text) {
  text.append("(").append(tree.label);
  if (tree.is_leaf()) {
    text += ' ';
    print_word(tree.word, text);
  }
  for (const Tree& child : tree.children) {
    text += ' ';
    print(child, text);
  }
  text += ')';
}

void add_leaves(const Tree& tree, std::vector<const Tree*>& all) {
  if (tree.is_leaf()) all.push_back(&tree);
  for (const Tree& child : tree.children) add_leaves(child, all);
}

void add_tokens(const Tree& tree, std::vector<std::string>& tokens) {
  if (tree.is_leaf()) {
    tokens.push_back(tree.label);
    return;
  }
  tokens.push_back("(" + tree.label);
  for (const Tree& child : tree.children) add_tokens(child, tokens);
  tokens.emplace_back(")");
}

/// NP-SBJ-1 → NP. A label that begins with a dash (-LRB-) is kept.
void cut_functions(std::string& label) {
  if (label.starts_with('-')) return;
  const size_t at = label.find_first_of("-=", 1);
  if (at != label.npos) label.resize(at);
}

/// False if nothing is left of it.
bool prune(Tree& tree) {
  if (tree.is_leaf()) {
    if (tree.label == "-NONE-") return false;
    cut_functions(tree.label);
    return true;
  }
  std::erase_if(tree.children, [](Tree& child) { return !prune(child); });
  if (tree.children.empty()) return false;
  cut_functions(tree.label);
  if (tree.children.size() == 1 && tree.children[0].label == tree.label) {
    Tree child = std::move(tree.children[0]);
    tree = std::move(child);
  }
  return true;
}

bool is_outermost(std::string_view label) {
  constexpr std::string_view kLabels[] = {"", "TOP", "ROOT", "S1"};
  return std::find(std::begin(kLabels), std::end(kLabels), label) != std::end(kLabels);
}

/// Reads what tree_tokens() writes.
class TokenParser {
 public:
  TokenParser(std::span<const std::string> tokens, std::span<const std::string> words)
      : tokens_(tokens), words_(words) {}

  Tree parse() {
    if (ended()) refuse("a tree, got no tokens");
    Tree tree = node(1);
    if (!ended()) refuse("nothing after the whole tree, got ", quoted(tokens_[at_]), " as token ", at_ + 1);
    if (word_ < words_.size()) refuse("a part of speech for each of ", words_.size(), " words, got ", word_);
    return tree;
  }

 private:
  template <class... Parts>
  [[noreturn]] static void refuse(const Parts&... parts) {
    fail("tree_of: expected ", parts...);
  }
  bool ended() const { return at_ == tokens_.size(); }

  /// "(X" or a part of speech.
  static bool begins_node(std::string_view token) {
    return !token.empty() && token != "(" && token.find('(', 1) == token.npos && token.find(')') == token.npos &&
           std::none_of(token.begin(), token.end(), is_white);
  }

  Tree node(size_t depth) {
    if (depth > kDeepestTree) refuse("at most ", kDeepestTree, " brackets within each other, got more");
    const std::string& token = tokens_[at_++];
    if (token == ")") refuse("something in each bracket, got \")\" as token ", at_);
    if (!begins_node(token)) refuse("\"(X\", \")\" or a part of speech, got ", quoted(token), " as token ", at_);
    if (token[0] != '(') return leaf(token);
    Tree tree;
    tree.label = token.substr(1);
    do {
      if (ended()) refuse("\")\" for each opened bracket, got none for ", quoted(token));
      tree.children.push_back(node(depth + 1));
    } while (ended() || tokens_[at_] != ")");
    ++at_;
    return tree;
  }

  Tree leaf(const std::string& tag) {
    if (word_ == words_.size()) refuse("a part of speech for each of ", words_.size(), " words, got more");
    const std::string& word = words_[word_++];
    if (word.empty() || std::any_of(word.begin(), word.end(), is_white))
      refuse("words without white space, got ", quoted(word));
    return {tag, word, {}};
  }

  std::span<const std::string> tokens_, words_;
  size_t at_ = 0, word_ = 0;
};

}  // namespace

Tree parse_tree(std::string_view text, const WhereInText& where) { return TreeParser(text, where).parse(); }

Tree parse_tree(std::string_view where, std::string_view text) {
  return parse_tree(text, [&](size_t) { return std::string(where); });
}

std::string print_tree(const Tree& tree) {
  std::string text;
  print(tree, text);
  return text;
}

std::optional<Tree> normalised(std::string_view where, Tree tree) {
  if (!prune(tree)) return std::nullopt;
  while (is_outermost(tree.label) && tree.children.size() == 1) {
    Tree child = std::move(tree.children[0]);
    tree = std::move(child);
  }
  if (tree.label.empty())
    fail(where, ": expected a label after the outermost bracket, as there are ", tree.children.size(),
         " constituents in it, got none in ", quoted(print_tree(tree)));
  return tree;
}

std::vector<const Tree*> leaves(const Tree& tree) {
  std::vector<const Tree*> all;
  add_leaves(tree, all);
  return all;
}

std::vector<std::string> words_of(const Tree& tree) {
  std::vector<std::string> words;
  for (const Tree* leaf : leaves(tree)) words.push_back(leaf->word);
  return words;
}

std::vector<std::string> tree_tokens(const Tree& tree) {
  std::vector<std::string> tokens;
  add_tokens(tree, tokens);
  return tokens;
}

Tree tree_of(std::span<const std::string> tokens, std::span<const std::string> words) {
  return TokenParser(tokens, words).parse();
}

}  // namespace attend::data
