// English sentences and their trees, from a small grammar in the style of the Penn Treebank (Marcus et al. 1993).
//
// The words decide where a phrase attaches: in "cuts a rope with a knife" to the cutting, in "cuts a rope with knots"
// to the rope. There are relative clauses of subjects and objects, clauses within clauses, and noun phrases, verb
// phrases and whole sentences joined by "and" or "but". So that a sentence has one tree:
//   - "with" belongs to the verb if the noun after it is a tool for that, and otherwise to the object whose part it is;
//   - "of" and places belong to the noun before them, times to the verb;
//   - what follows a verb within a relative clause or a clause with "that" is its own, not the main verb's;
//   - only noun phrases without a nested phrase are joined; verb phrases are joined only in main clauses, and sentences
//     have a comma before "and".
#include <algorithm>

#include "attend/data/builtin_split.h"
#include "attend/data/tree.h"
#include "attend/data/utf8.h"

namespace attend::data {
namespace {

constexpr size_t kTreesTrain = 20000, kTreesLongest = 24;

/// The lists are separated by blanks.
struct Deed {
  std::string_view verb, objects, tools;
};
constexpr Deed kDeeds[] = {
    {"ate", "pizza soup cake salad", "fork spoon"},
    {"cut", "rope cake paper tree", "knife saw axe"},
    {"watched", "man woman bird ship", "telescope mirror"},
    {"opened", "box door bottle chest", "key hammer knife"},
    {"painted", "house fence boat door", "brush roller"},
    {"hit", "nail drum ball tree", "hammer stick axe"},
    {"caught", "fish bird ball", "net hook"},
    {"drew", "man house ship tree", "pencil brush stick"},
    {"moved", "box boat chest ball", "rope stick hook"},
};

struct Thing {
  std::string_view noun, parts;
};
constexpr Thing kThings[] = {
    {"pizza", "cheese olives"}, {"soup", "beans noodles"},  {"cake", "cherries candles"}, {"salad", "nuts cheese"},
    {"rope", "knots hook"},     {"paper", "lines stamp"},   {"tree", "apples nest"},      {"man", "beard stick"},
    {"woman", "hat mirror"},    {"bird", "feathers crest"}, {"ship", "sails flag"},       {"box", "lid lock"},
    {"door", "hook lock"},      {"bottle", "label cork"},   {"chest", "key drawers"},     {"house", "roof garden"},
    {"fence", "gate nails"},    {"boat", "net flag"},       {"nail", "crest stamp"},      {"drum", "stick label"},
    {"ball", "stripes label"},  {"fish", "stripes fins"},
};

constexpr std::string_view kPeople[] = {"man", "woman", "boy", "girl", "sailor", "baker", "farmer", "teacher"};
constexpr std::string_view kActs[] = {"laughed", "slept", "smiled", "sang", "waited", "danced", "left", "returned"};
constexpr std::string_view kSaid[] = {"said", "knew", "thought", "heard"};
constexpr std::string_view kAdjectives[] = {"old", "young", "small", "tall", "red", "quiet", "strange", "happy"};
constexpr std::string_view kAdverbs[] = {"slowly", "quickly", "quietly", "again", "often"};
constexpr std::string_view kNames[] = {"Anna", "Peter", "Clara", "Hugo"};
constexpr std::string_view kPronouns[] = {"he", "she", "they", "we"};
constexpr std::string_view kPlaces[] = {"garden", "kitchen", "harbour", "market", "forest"};
constexpr std::string_view kWhere[] = {"in", "near", "behind"};
constexpr std::string_view kTimes[] = {"morning", "evening", "summer", "night"};

Tree leaf(std::string_view tag, std::string_view word) { return {std::string(tag), std::string(word), {}}; }

Tree node(std::string_view label, std::vector<Tree> children) { return {std::string(label), {}, std::move(children)}; }

std::string_view parts_of(std::string_view noun) {
  for (const Thing& thing : kThings) {
    if (thing.noun == noun) return thing.parts;
  }
  return "";
}

/// Draws one after another: draws within the arguments of a call would depend on the compiler's order.
class Grammar {
 public:
  explicit Grammar(Random& random) : random_(random) {}

  Tree sentence() {
    Tree tree = clause(true);
    if (chance(random_, 0.12)) {
      Tree second = clause(true);
      tree = node("S", {std::move(tree), leaf(",", ","), leaf("CC", conjunction()), std::move(second)});
    }
    tree.children.push_back(leaf(".", "."));
    return tree;
  }

 private:
  std::string_view conjunction() { return chance(random_, 0.7) ? "and" : "but"; }

  /// (S NP VP); a main clause may have more in it.
  Tree clause(bool main) {
    Tree who = subject(main);
    std::vector<Tree> parts = {std::move(who)};
    if (chance(random_, 0.12)) parts.push_back(adverb());
    Tree what = predicate(main);
    if (main && chance(random_, 0.15)) {
      Tree second = predicate(false);
      what = node("VP", {std::move(what), leaf("CC", conjunction()), std::move(second)});
    }
    parts.push_back(std::move(what));
    return node("S", std::move(parts));
  }

  Tree adverb() { return node("ADVP", {leaf("RB", one_of(random_, kAdverbs))}); }

  Tree subject(bool main) {
    const double kind = random_.uniform53();
    if (kind < 0.15) return node("NP", {leaf("PRP", one_of(random_, kPronouns))});
    if (kind < 0.25) return node("NP", {leaf("NNP", one_of(random_, kNames))});
    if (kind < 0.35) {
      Tree first = person(), second = person();
      return node("NP", {std::move(first), leaf("CC", "and"), std::move(second)});
    }
    Tree one = person();
    if (kind < 0.5) return with_phrase(std::move(one), place());
    if (main && kind < 0.7) return with_phrase(std::move(one), relative());
    return one;
  }

  Tree person() { return described(one_of(random_, kPeople)); }

  /// (NP the small box)
  Tree described(std::string_view noun) {
    const std::string_view determiner = one_of(random_, kDeterminers);
    std::vector<Tree> parts = {leaf("DT", is_plural(noun) && determiner == "this" ? "these" : determiner)};
    if (chance(random_, 0.25)) parts.push_back(leaf("JJ", one_of(random_, kAdjectives)));
    parts.push_back(leaf(is_plural(noun) ? "NNS" : "NN", noun));
    return node("NP", std::move(parts));
  }
  static constexpr std::string_view kDeterminers[] = {"the", "the", "this", "some"};

  static bool is_plural(std::string_view noun) { return noun.ends_with('s'); }

  /// (NP NP PP) or (NP NP SBAR)
  static Tree with_phrase(Tree noun, Tree phrase) { return node("NP", {std::move(noun), std::move(phrase)}); }

  Tree place() { return node("PP", {leaf("IN", one_of(random_, kWhere)), described(one_of(random_, kPlaces))}); }

  Tree time() {
    return node("PP", {leaf("IN", "in"), node("NP", {leaf("DT", "the"), leaf("NN", one_of(random_, kTimes))})});
  }

  /// (SBAR that (S VP)): who did it.
  Tree relative() { return relative_with({simple_predicate()}); }

  Tree relative_with(std::vector<Tree> parts) {
    return node("SBAR", {node("WHNP", {leaf("WDT", "that")}), node("S", std::move(parts))});
  }

  Tree predicate(bool main) {
    const double kind = random_.uniform53();
    if (main && kind < 0.15) {
      Tree inner = clause(false);
      return node("VP", {leaf("VBD", one_of(random_, kSaid)), node("SBAR", {leaf("IN", "that"), std::move(inner)})});
    }
    if (main && kind < 0.3) {
      const Deed& deed = one_of(random_, kDeeds);
      return node("VP", {leaf("VBD", deed.verb), taken(one_of(random_, split_words(deed.objects)))});
    }
    return simple_predicate();
  }

  /// An object that somebody did something to: (NP NP (SBAR that (S NP VP))), or who did something.
  Tree taken(std::string_view noun) {
    const bool person = std::find(std::begin(kPeople), std::end(kPeople), noun) != std::end(kPeople);
    Tree object = described(noun);
    if (person && chance(random_, 0.5)) return with_phrase(std::move(object), relative());
    std::vector<std::string_view> verbs;
    for (const Deed& deed : kDeeds) {
      if (is_listed(deed.objects, noun)) verbs.push_back(deed.verb);
    }
    Tree who = this->person();
    Tree did = node("VP", {leaf("VBD", one_of(random_, verbs))});
    return with_phrase(std::move(object), relative_with({std::move(who), std::move(did)}));
  }

  /// Without nested clauses.
  Tree simple_predicate() {
    if (chance(random_, 0.3)) {
      std::vector<Tree> parts = {leaf("VBD", one_of(random_, kActs))};
      if (chance(random_, 0.3)) parts.push_back(adverb());
      if (chance(random_, 0.25)) parts.push_back(time());
      return node("VP", std::move(parts));
    }
    const Deed& deed = one_of(random_, kDeeds);
    const std::string_view noun = one_of(random_, split_words(deed.objects));
    std::vector<Tree> parts = {leaf("VBD", deed.verb)};
    const double kind = random_.uniform53();
    if (kind < 0.1) {
      Tree part = part_of(noun);
      parts.push_back(std::move(part));
    } else if (kind < 0.2) {
      Tree first = described(noun), second = described(one_of(random_, split_words(deed.objects)));
      parts.push_back(node("NP", {std::move(first), leaf("CC", "and"), std::move(second)}));
    } else if (kind < 0.75) {
      with(deed, noun, parts);
    } else {
      parts.push_back(described(noun));
    }
    if (chance(random_, 0.12)) parts.push_back(time());
    return node("VP", std::move(parts));
  }

  /// (NP (NP the lid) (PP of (NP the box)))
  Tree part_of(std::string_view noun) {
    Tree part = described(one_of(random_, split_words(parts_of(noun))));
    Tree whole = described(noun);
    return with_phrase(std::move(part), node("PP", {leaf("IN", "of"), std::move(whole)}));
  }

  /// The object, and a tool or a part of it, whichever the words make unambiguous.
  void with(const Deed& deed, std::string_view noun, std::vector<Tree>& parts) {
    const bool tool = chance(random_, 0.5);
    const std::string_view other = one_of(random_, split_words(tool ? deed.tools : parts_of(noun)));
    Tree object = described(noun), phrase = node("PP", {leaf("IN", "with"), described(other)});
    if (is_listed(tool ? parts_of(noun) : deed.tools, other)) {
      parts.push_back(std::move(object));
    } else if (tool) {
      parts.push_back(std::move(object));
      parts.push_back(std::move(phrase));
    } else {
      parts.push_back(with_phrase(std::move(object), std::move(phrase)));
    }
  }

  Random& random_;
};

Example draw_tree(Random& random) {
  for (;;) {
    const Tree tree = Grammar(random).sentence();
    const std::vector<std::string> words = words_of(tree);
    if (words.size() > kTreesLongest) continue;
    Example example;
    for (const std::string& word : words) example.source.append(example.source.empty() ? "" : " ").append(word);
    example.target = print_tree(tree);
    return example;
  }
}

}  // namespace

BuiltinCorpus make_trees(uint64_t seed) {
  return drawn_corpus("trees", seed, kTreesTrain, HoldOut::kKnownSource, draw_tree);
}

}  // namespace attend::data
