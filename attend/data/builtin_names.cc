// One-sentence news, and which of its words are names of people (PER), places (LOC) and organisations (ORG): tags B-,
// I- and O (Ramshaw & Marcus 1995, in the form of CoNLL 2002).
//
// Names are assembled from parts: Hart-son, Ash-ford, Wake-tron. Some endings belong to people, places or
// organisations, and decide when the sentence does not ("Nobody had heard of Hartson"); others may be any of them, and
// then the words around them decide ("shares of Ashford", "the road to Ashford"). Days, months and first words have
// capitals but are not names. Half of the held-out sentences contain names that training never sees, though it sees
// their parts.
#include "attend/data/builtin_split.h"
#include "attend/data/utf8.h"

namespace attend::data {
namespace {

constexpr size_t kNamesTrain = 20000;
constexpr double kNamesWithheld = 0.15;  // of the assembled names

constexpr std::string_view kFirst[] = {"Mary",   "Alan",   "Ruth",  "Simon", "Helen", "David", "Laura",
                                       "Martin", "Irene",  "Paul",  "Sofia", "Henry", "Diana", "Oscar",
                                       "Emma",   "Victor", "Grace", "Felix", "Nora",  "Adam"};
constexpr std::string_view kStems[] = {"Ash", "Hart",  "Black", "Win",   "Brad", "Elm",  "Thorn", "Clif",
                                       "Mar", "Wake",  "Hol",   "Kings", "Nor",  "Stan", "Lang",  "Whit",
                                       "Red", "Oak",   "Fair",  "Had",   "Carl", "Ding", "East",  "Fen",
                                       "Gar", "Hazel", "Lin",   "Mil",   "Pem",  "Sher"};
// Those that any name may have, and those of only one kind.
constexpr std::string_view kEndings[] = {"ford", "ton", "ley", "wood", "field", "worth", "well", "burn"};
constexpr std::string_view kOfPeople[] = {"son", "man", "kin", "sen", "sky"};
constexpr std::string_view kOfPlaces[] = {"ham", "by", "combe", "stead", "mouth"};
constexpr std::string_view kOfFirms[] = {"ex", "tron", "soft", "chem", "corp"};

// %S is a name with any ending, %T one with a telling ending, %F a first name. All of it is the name, except what is in
// brackets.
constexpr std::string_view kPeopleForms[] = {"%F %S",   "%F %T",    "%F %S",      "%F",
                                             "[Mr] %S", "[Mrs] %T", "[Dr] %F %S", "%S"};
constexpr std::string_view kPlaceForms[] = {"%S",      "%S",     "%T",       "North %S",        "Port %T",
                                            "Lake %S", "%S Bay", "Mount %S", "[the] Isle of %S"};
constexpr std::string_view kFirms[] = {
    "%S Motors",    "%T & Sons", "Bank of %S",       "University of %S", "%S United",
    "%S Foods Ltd", "%S",        "Lake %S Shipping", "%F %S Group",      "[the] Port %S Council"};
constexpr std::string_view kPlainPeople[] = {"%T", "%T", "%F %S"}, kPlainPlaces[] = {"%T", "%T", "Lake %S"},
                           kPlainFirms[] = {"%T", "%T", "%S Motors"};

// %P a person, %L a place, %O an organisation, %X any of them with a telling name, %D a day, %M a month, %N a number,
// %J an occupation.
constexpr std::string_view kForms[] = {
    "%P said on %D that she would leave %L in %M .",
    "%P , a %J from %L , joined %O in %M .",
    "%P was born in %L and works for %O .",
    "%P and %P met in %L last %D .",
    "The %J %P told %P that the road was closed .",
    "Police in %L arrested %P , a former %J at %O .",
    "On %D %P sold her house near %L .",
    "%P married the %J %P in %M .",
    "In %M , %P moved from %L to %L .",
    "%O hired %P as its %J .",
    "%O said on %D it would buy %O .",
    "%O , based in %L , lost %N million in %M .",
    "Shares of %O rose %N percent on %D .",
    "Shares of %O fell after %P resigned as %J .",
    "Workers at %O in %L ended their strike on %D .",
    "%O will build a factory near %L , said %P .",
    "A spokesman for %O declined to comment .",
    "%O beat %O by %N goals to one on %D .",
    "Rain fell in %L and %L on %D .",
    "The train from %L to %L left at %N .",
    "%L lies %N miles north of %L .",
    "A fire destroyed %N houses in %L in %M .",
    "Heavy snow closed the road between %L and %L .",
    "The mayor of %L , %P , met a %J from %O .",
    "Tourists left %L after the storm of %M .",
    "He flew to %L on %D to see %P .",
    "%N people live in %L , said the %J %P .",
    "Nobody at %O knew that %P had gone to %L .",
};
// Where only the name itself shows what it is.
constexpr std::string_view kPlainForms[] = {
    "The report mentions %X and %X .",    "The report of %M mentions %X , %X and %X .",
    "%X was in the news on %D .",         "Everybody talked about %X in %M .",
    "Nobody had heard of %X before %D .", "%X is older than %X , said the %J .",
    "He wrote %N books about %X .",       "A film about %X , %X and a %J will open in %M .",
    "In %M nobody spoke of %X .",         "%X and %X have nothing in common .",
};
constexpr std::string_view kCapitalDays[] = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                             "Friday", "Saturday", "Sunday"};
constexpr std::string_view kCapitalMonths[] = {"January", "March", "April", "May", "June", "August", "October"};
constexpr std::string_view kNumbers[] = {"two", "three", "12", "40", "1,500", "seven", "3.5", "20"};
constexpr std::string_view kJobs[] = {"teacher", "lawyer",   "manager", "painter",
                                      "baker",   "director", "pilot",   "driver"};

struct NameKind {
  char slot;
  std::string_view tag;
  std::span<const std::string_view> forms, plain, endings;  // plain: forms that are clear by themselves
};
constexpr NameKind kNameKinds[] = {{'P', "PER", kPeopleForms, kPlainPeople, kOfPeople},
                                   {'L', "LOC", kPlaceForms, kPlainPlaces, kOfPlaces},
                                   {'O', "ORG", kFirms, kPlainFirms, kOfFirms}};

class Report {
 public:
  explicit Report(Random& random) : random_(random) {}

  Example draw() {
    const std::string_view form = chance(random_, 0.4) ? one_of(random_, kPlainForms) : one_of(random_, kForms);
    for (const std::string_view word : split_words(form)) {
      word[0] == '%' ? fill(word[1]) : say(word, "O");
    }
    return std::move(example_);
  }
  /// Whether it has a name that training never sees.
  bool is_novel() const { return novel_; }

 private:
  void say(std::string_view word, std::string_view tag) {
    const bool first = example_.source.empty();
    example_.source.append(first ? "" : " ").append(word);
    if (first && word == "the") example_.source[0] = 'T';
    example_.target.append(first ? "" : " ").append(tag);
  }

  void fill(char slot) {
    if (slot == 'X') {
      const NameKind& kind = one_of(random_, kNameKinds);
      return name(kind, one_of(random_, kind.plain));
    }
    for (const NameKind& kind : kNameKinds) {
      if (kind.slot == slot) return name(kind, one_of(random_, kind.forms));
    }
    say(slot == 'D'   ? one_of(random_, kCapitalDays)
        : slot == 'M' ? one_of(random_, kCapitalMonths)
        : slot == 'N' ? one_of(random_, kNumbers)
                      : one_of(random_, kJobs),
        "O");
  }

  void name(const NameKind& kind, std::string_view form) {
    std::string mark = "B-";
    for (const std::string_view part : split_words(form)) {
      if (part[0] == '[') {
        say(part.substr(1, part.size() - 2), "O");
        continue;
      }
      say(word_for(kind, part), mark + std::string(kind.tag));
      mark = "I-";
    }
  }

  std::string word_for(const NameKind& kind, std::string_view part) {
    if (part == "%F") return std::string(one_of(random_, kFirst));
    if (part == "%S") return joined(kEndings);
    return part == "%T" ? joined(kind.endings) : std::string(part);
  }

  std::string joined(std::span<const std::string_view> endings) {
    std::string word(one_of(random_, kStems));
    word += one_of(random_, endings);
    novel_ = novel_ || is_withheld(word, kNamesWithheld);
    return word;
  }

  Random& random_;
  Example example_;
  bool novel_ = false;
};

}  // namespace

BuiltinCorpus make_names(uint64_t seed) { return corpus_with_novel<Report>("names", seed, kNamesTrain); }

}  // namespace attend::data
