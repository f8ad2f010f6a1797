// Constituency trees: bracketed text (Marcus et al. 1993, the Penn Treebank), and the sequence of tokens that a network
// writes instead (Vinyals et al. 2015, "Grammar as a foreign language").
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attend::data {

/// A word with its part of speech, or a constituent with at least one child.
struct Tree {
  std::string label;  ///< the part of speech, or the category: NP
  std::string word;   ///< of a leaf; empty otherwise
  std::vector<Tree> children;

  bool is_leaf() const { return children.empty(); }
  bool operator==(const Tree&) const = default;
};

/// Deeper trees are rejected, so that it is safe to recurse over one.
constexpr size_t kDeepestTree = 1000;

/// "(S (NP (DT the) (NN dog)) (VP (VBZ barks)) (. .))" → the tree, as it is written: labels stay whole, traces stay, and
/// the label of the outermost bracket may be empty. `where` begins messages. Rejected: unbalanced brackets, any other
/// bracket without a label, a constituent without words, a word without a part of speech, text outside the brackets.
Tree parse_tree(std::string_view where, std::string_view text);
/// On one line, as above; brackets within words become -LRB- and -RRB-.
std::string print_tree(const Tree& tree);

/// What parsers are trained and scored on: without an outermost bracket that is unlabelled, TOP, ROOT or S1; without
/// traces (-NONE-) and constituents that contain nothing else; labels without functions and indices (NP-SBJ-1 → NP,
/// NP=2 → NP; -LRB- stays); no X over a single X. Nothing if there were only traces. Throws Error ("where: …") for an
/// unlabelled bracket with several children.
std::optional<Tree> normalised(std::string_view where, Tree tree);

/// The leaves from left to right; they point into the tree.
std::vector<const Tree*> leaves(const Tree& tree);
std::vector<std::string> words_of(const Tree& tree);

/// (S (NP DT NN ) (VP VBZ ) . ): "(X" opens a constituent, ")" closes the one opened last, anything else is the part of
/// speech of the next word.
std::vector<std::string> tree_tokens(const Tree& tree);

/// The inverse: the tree over exactly these words. Throws Error if the tokens are not a tree with that many words.
Tree tree_of(std::span<const std::string> tokens, std::span<const std::string> words);

}  // namespace attend::data
