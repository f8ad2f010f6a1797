#include "attend/data/tree.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "attend/data/utf8.h"
#include "tests/support/message.h"
#include "tests/support/text.h"

namespace attend::data {
namespace {

using test::joined;
using test::message_of;
using Words = std::vector<std::string>;

constexpr const char* kDog = "(S (NP (DT the) (NN dog)) (VP (VBZ barks)) (. .))";

Words split(std::string_view text) {
  const auto words = split_words(text);
  return {words.begin(), words.end()};
}

std::string normal(std::string_view text) {
  const auto tree = normalised("text", parse_tree("text", text));
  return tree ? print_tree(*tree) : "nothing";
}

TEST(Trees, AreReadAndPrinted) {
  const Tree tree = parse_tree("text", " (S(NP (DT the)\n(NN dog) )\t(VP (VBZ barks)) (. .) ) ");
  EXPECT_EQ(print_tree(tree), kDog);
  EXPECT_EQ(parse_tree("text", kDog), tree);
  EXPECT_EQ(joined(words_of(tree)), "the dog barks .");
  EXPECT_EQ(leaves(tree)[1]->label, "NN");
  EXPECT_EQ(tree.children[0].children[1].word, "dog");
  EXPECT_EQ(print_tree(parse_tree("text", "( (NP-SBJ-1 (-NONE- *T*-2)))")), "( (NP-SBJ-1 (-NONE- *T*-2)))")
      << "as it is written";
}

TEST(Trees, ThatAreNoneAreRefused) {
  const auto refusal = [](std::string_view text) { return message_of([&] { parse_tree("text", text); }); };
  EXPECT_EQ(refusal(""), "text: expected a bracketed tree such as (NP (DT the) (NN dog)), got \"\"");
  EXPECT_EQ(refusal("dog"), "text: expected a bracketed tree such as (NP (DT the) (NN dog)), got \"dog\"");
  EXPECT_EQ(refusal("(A b) (C d)"), "text: expected one tree, got more after its last bracket: \"(C d)\"");
  EXPECT_EQ(refusal("(A (B c)"), "text: expected balanced brackets, got one that is never closed: \"(A (B c)\"");
  EXPECT_EQ(refusal("(A b))"), "text: expected one tree, got more after its last bracket: \")\"");
  EXPECT_EQ(refusal("( b)"), "text: expected every word with its part of speech, (NN dog), got \"b\" without one");
  EXPECT_EQ(refusal("()"), "text: expected words, got an empty bracket: \"()\"");
  const std::string deepest = std::string(2 * kDeepestTree, '(');
  std::string text;
  for (size_t i = 0; i < kDeepestTree; ++i) text += "(A ";
  text += "b" + std::string(kDeepestTree, ')');
  EXPECT_EQ(refusal(text), "");
  EXPECT_EQ(refusal("(A " + text + ")"), "text: expected at most 1000 brackets within each other, got more");
}

TEST(Trees, AreNormalised) {
  EXPECT_EQ(normal("( (S (NP-SBJ-1 (NNP Vinken)) (VP=2 (VBZ is))) )"), "(S (NP (NNP Vinken)) (VP (VBZ is)))");
  EXPECT_EQ(normal("(TOP (S (A b)))"), "(S (A b))");
  EXPECT_EQ(normal("(ROOT (S1 (S (A b))))"), "(S (A b))");
  EXPECT_EQ(normal("(TOP (A b) (C d))"), "(TOP (A b) (C d))") << "not the only child";
  EXPECT_EQ(normal("(S (NP (-NONE- *)) (VP (VB go) (NP (NP (-NONE- *T*-1)) (SBAR (-NONE- 0)))))"), "(S (VP (VB go)))");
  EXPECT_EQ(normal("(PRN (-LRB- -LRB-) (NP (NN x)) (-RRB- -RRB-))"), "(PRN (-LRB- -LRB-) (NP (NN x)) (-RRB- -RRB-))");
  EXPECT_EQ(normal("(NP-1 (NP-SBJ (NP (NN x)) (-NONE- *)))"), "(NP (NN x))") << "one over the same";
  EXPECT_EQ(normal("(S (VP (S (VP (VB go)))))"), "(S (VP (S (VP (VB go)))))") << "other unary chains stay";
  EXPECT_EQ(normal("(NN (NN x))"), "(NN x)");
  EXPECT_EQ(normal("(PRT|ADVP (RP up))"), "(PRT|ADVP (RP up))");
  EXPECT_EQ(normal("(-NONE- *)"), "nothing");
}

TEST(Trees, AreWrittenAsTokensAndBack) {
  const Tree tree = parse_tree("text", kDog);
  const Words tokens = tree_tokens(tree);
  EXPECT_EQ(joined(tokens), "(S (NP DT NN ) (VP VBZ ) . )");
  EXPECT_EQ(tree_of(tokens, words_of(tree)), tree);
  EXPECT_EQ(tree_of(Words{"NN"}, Words{"dog"}), parse_tree("text", "(NN dog)"));
  EXPECT_EQ(print_tree(tree_of(split("(NP -LRB- -RRB- )"), split("( a)b"))), "(NP (-LRB- -LRB-) (-RRB- a-RRB-b))");
}

TEST(Trees, TokensThatAreNoTreeOfTheWordsAreRefused) {
  const Words words = split("the dog");
  const auto refusal = [&](std::string_view tokens) { return message_of([&] { tree_of(split(tokens), words); }); };
  EXPECT_EQ(refusal("(NP DT NN )"), "");
  EXPECT_EQ(refusal(""), "tree_of: expected a tree, got no tokens");
  EXPECT_EQ(refusal("(NP DT )"), "tree_of: expected a part of speech for each of 2 words, got 1");
  EXPECT_EQ(refusal("(NP DT NN NN )"), "tree_of: expected a part of speech for each of 2 words, got more");
  EXPECT_EQ(refusal("(NP DT NN"), "tree_of: expected \")\" for each opened bracket, got none for \"(NP\"");
  EXPECT_EQ(refusal("(NP (X ) DT NN )"), "tree_of: expected something in each bracket, got \")\" as token 3");
  EXPECT_EQ(refusal("(NP DT NN ) )"), "tree_of: expected nothing after the whole tree, got \")\" as token 5");
  EXPECT_EQ(refusal("DT NN"), "tree_of: expected nothing after the whole tree, got \"NN\" as token 2");
  EXPECT_EQ(refusal(")"), "tree_of: expected something in each bracket, got \")\" as token 1");
  for (const char* token : {"(", "((NP", "N)", "(N)", "N(P"}) {
    EXPECT_EQ(refusal(std::string("(NP DT ") + token + " )"),
              std::string("tree_of: expected \"(X\", \")\" or a part of speech, got \"") + token + "\" as token 3");
  }
  EXPECT_EQ(message_of([&] { tree_of(Words{"NN"}, Words{"a b"}); }),
            "tree_of: expected words without white space, got \"a b\"");
  EXPECT_EQ(message_of([&] { tree_of(Words(2000, "(X"), words); }),
            "tree_of: expected at most 1000 brackets within each other, got more");
}

}  // namespace
}  // namespace attend::data
