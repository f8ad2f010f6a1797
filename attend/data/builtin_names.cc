// News in one sentence, and which of their words are names of people (PER), places (LOC) and organisations (ORG): tags B-, I-
// and O (Ramshaw & Marcus 1995, in the form of CoNLL 2002).
//
// Names are put together from parts: Hart-son, Ash-ford, Wake-tron. Some endings are those of people, of places or of
// organisations, and tell where the sentence does not ("Nobody had heard of Hartson"); others may be any of them, and there
// the words around tell ("shares of Ashford", "the road to Ashford"). Days, months and first words have capitals and name
// nobody. Half of the sentences that are held out have names in them that training never sees, though it sees their parts.
#include "attend/data/builtin_split.h"
#include "attend/data/utf8.h"

namespace attend::data {
namespace {

constexpr size_t kTrain = 20000;
constexpr double kWithheld = 0.15;  // of the names that are put together

constexpr std::string_view kFirst[] = {"Mary",   "Alan",   "Ruth",  "Simon", "Helen", "David", "Laura",
                                       "Martin", "Irene",  "Paul",  "Sofia", "Henry", "Diana", "Oscar",
                                       "Emma",   "Victor", "Grace", "Felix", "Nora",  "Adam"};
constexpr std::string_view kStems[] = {"Ash", "Hart",  "Black", "Win",   "Brad", "Elm",  "Thorn", "Clif",
                                       "Mar", "Wake",  "Hol",   "Kings", "Nor",  "Stan", "Lang",  "Whit",
                                       "Red", "Oak",   "Fair",  "Had",   "Carl", "Ding", "East",  "Fen",
                                       "Gar", "Hazel", "Lin",   "Mil",   "Pem",  "Sher"};
// Those that any name may have, and those of one kind alone.
constexpr std::string_view kEndings[] = {"ford", "ton", "ley", "wood", "field", "worth", "well", "burn"};
constexpr std::string_view kOfPeople[] = {"son", "man", "kin", "sen", "sky"};
constexpr std::string_view kOfPlaces[] = {"ham", "by", "combe", "stead", "mouth"};
constexpr std::string_view kOfFirms[] = {"ex", "tron", "soft", "chem", "corp"};

// %S is a name with any ending, %T one that tells, %F a first name. All of it is the name, but for what stands in brackets.
constexpr std::string_view kPeople[] = {"%F %S", "%F %T", "%F %S", "%F", "[Mr] %S", "[Mrs] %T", "[Dr] %F %S", "%S"};
constexpr std::string_view kPlaces[] = {"%S",      "%S",     "%T",       "North %S",        "Port %T",
                                        "Lake %S", "%S Bay", "Mount %S", "[the] Isle of %S"};
constexpr std::string_view kFirms[] = {
    "%S Motors",    "%T & Sons", "Bank of %S",       "University of %S", "%S United",
    "%S Foods Ltd", "%S",        "Lake %S Shipping", "%F %S Group",      "[the] Port %S Council"};
constexpr std::string_view kPlainPeople[] = {"%T", "%T", "%F %S"}, kPlainPlaces[] = {"%T", "%T", "Lake %S"},
                           kPlainFirms[] = {"%T", "%T", "%S Motors"};

// %P a person, %L a place, %O an organisation, %X one of them that is known by its name, %D a day, %M a month, %N a number,
// %J what one does for a living.
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
// Where only the name itself tells what it is.
constexpr std::string_view kPlainForms[] = {
    "The report mentions %X and %X .",    "The report of %M mentions %X , %X and %X .",
    "%X was in the news on %D .",         "Everybody talked about %X in %M .",
    "Nobody had heard of %X before %D .", "%X is older than %X , said the %J .",
    "He wrote %N books about %X .",       "A film about %X , %X and a %J will open in %M .",
    "In %M nobody spoke of %X .",         "%X and %X have nothing in common .",
};
constexpr std::string_view kDays[] = {"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"};
constexpr std::string_view kMonths[] = {"January", "March", "April", "May", "June", "August", "October"};
constexpr std::string_view kNumbers[] = {"two", "three", "12", "40", "1,500", "seven", "3.5", "20"};
constexpr std::string_view kJobs[] = {"teacher", "lawyer",   "manager", "painter",
                                      "baker",   "director", "pilot",   "driver"};

struct Kind {
  char slot;
  std::string_view tag;
  std::span<const std::string_view> forms, plain, endings;  // plain: forms that tell by themselves
};
constexpr Kind kKinds[] = {{'P', "PER", kPeople, kPlainPeople, kOfPeople},
                           {'L', "LOC", kPlaces, kPlainPlaces, kOfPlaces},
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
      const Kind& kind = one_of(random_, kKinds);
      return name(kind, one_of(random_, kind.plain));
    }
    for (const Kind& kind : kKinds) {
      if (kind.slot == slot) return name(kind, one_of(random_, kind.forms));
    }
    say(slot == 'D'   ? one_of(random_, kDays)
        : slot == 'M' ? one_of(random_, kMonths)
        : slot == 'N' ? one_of(random_, kNumbers)
                      : one_of(random_, kJobs),
        "O");
  }

  void name(const Kind& kind, std::string_view form) {
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

  std::string word_for(const Kind& kind, std::string_view part) {
    if (part == "%F") return std::string(one_of(random_, kFirst));
    if (part == "%S") return joined(kEndings);
    return part == "%T" ? joined(kind.endings) : std::string(part);
  }

  std::string joined(std::span<const std::string_view> endings) {
    std::string word(one_of(random_, kStems));
    word += one_of(random_, endings);
    novel_ = novel_ || is_withheld(word, kWithheld);
    return word;
  }

  Random& random_;
  Example example_;
  bool novel_ = false;
};

}  // namespace

BuiltinCorpus make_names(uint64_t seed) { return corpus_with_novel<Report>("names", seed, kTrain); }

}  // namespace attend::data
