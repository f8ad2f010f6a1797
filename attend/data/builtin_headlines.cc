// News in three to five sentences, and headlines for them. A headline says what the one sentence with news says; what
// else the text tells (what firms are like, what happened elsewhere, what people said of it) is not in it, wherever it
// stands. People, places and firms of held-out texts never occur in training, so their names must be copied.
#include <map>
#include <set>

#include "attend/data/builtin_invented.h"

namespace attend::data {
namespace {

constexpr size_t kHeadlinesTrain = 20000;

constexpr std::string_view kGivenNames[] = {"Mary", "Alan",  "Ruth", "Simon", "Helen", "David", "Laura",
                                            "Paul", "Irene", "Emma", "Henry", "Diana", "Oscar", "Nora"};
constexpr std::string_view kLinesOfTrade[] = {"Motors", "Foods", "Steel", "Airways", "Shipping", "Media"};
constexpr std::string_view kPosts[] = {"director", "president", "chairman", "manager", "coach", "treasurer"};
constexpr std::string_view kSites[] = {"factory", "hospital", "school", "stadium", "museum", "shipyard"};
constexpr std::string_view kNewsDays[] = {"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"};
constexpr std::string_view kNewsMonths[] = {"January", "March", "April", "June", "August", "October", "November"};
constexpr std::string_view kNewsCounts[] = {"two",   "three", "four", "five", "six", "seven",
                                            "eight", "12",    "15",   "20",   "40",  "60"};
constexpr std::string_view kWeathers[] = {"floods", "snowdrifts", "landslides", "storms"};

// %P a person, %L a place, %F a firm, %J a post, %S a site, %D a day, %M a month, %N a number, %W weather. A digit
// behind the letter tells two of a kind apart; those of 8 and 9 are others in every sentence.
struct NewsForm {
  std::string_view news, headline;
};
constexpr NewsForm kNews[] = {
    {"%F1 has named %P1 as its new %J1 .", "%P1 becomes %J1 of %F1"},
    {"%P1 , who led %F2 before , is the new %J1 of %F1 .", "%P1 becomes %J1 of %F1"},
    {"%P1 will leave %F1 in %M1 after %N1 years as its %J1 .", "%P1 to leave %F1"},
    {"%F1 said on %D1 that it will build a %S1 in %L1 .", "%F1 to build %S1 in %L1"},
    {"The council of %L1 has allowed %F1 to build a %S1 .", "%F1 to build %S1 in %L1"},
    {"%F1 has agreed to buy %F2 for %N1 million .", "%F1 buys %F2 for %N1 million"},
    {"%F2 was sold on %D1 to %F1 , which paid %N1 million .", "%F1 buys %F2 for %N1 million"},
    {"A fire destroyed %N1 houses in %L1 on %D1 .", "Fire destroys %N1 houses in %L1"},
    {"In %L1 , %N1 houses burned down on %D1 .", "Fire destroys %N1 houses in %L1"},
    {"%P1 was elected mayor of %L1 on %D1 , beating %P2 .", "%P1 elected mayor of %L1"},
    {"On %D1 the people of %L1 chose %P1 over %P2 as their mayor .", "%P1 elected mayor of %L1"},
    {"The road from %L1 to %L2 has been closed by %W1 since %D1 .", "%W1 close road from %L1 to %L2"},
    {"Workers of %F1 in %L1 ended their strike on %D1 .", "Strike at %F1 ends"},
    {"The strike at %F1 ended on %D1 after %N1 weeks .", "Strike at %F1 ends"},
    {"%L1 beat %L2 on %D1 , before a crowd of %N1 thousand .", "%L1 beat %L2"},
    {"%L2 lost to %L1 on %D1 .", "%L1 beat %L2"},
    {"Police in %L1 have arrested %P1 , a former %J1 of %F1 .", "Former %J1 of %F1 arrested in %L1"},
    {"%F1 will cut %N1 hundred jobs at its %S1 in %L1 .", "%F1 to cut %N1 hundred jobs in %L1"},
};
constexpr std::string_view kOther[] = {
    "%P8 welcomed the news .",
    "\" We have waited for this , \" said %P8 , a %J8 from %L8 .",
    "%P8 and %P9 declined to comment .",
    "It was the talk of %L8 all week .",
    "%F8 , the oldest firm in %L8 , employs %N8 hundred people .",
    "%F8 had been founded in %L8 by %P8 .",
    "Nobody at %F8 had heard of it .",
    "In %M8 the same had happened in %L8 .",
    "%L8 lies %N8 miles north of %L9 .",
    "More will be known in %M8 .",
    "%P8 will speak about it in %L8 on %D8 .",
    "Shares of %F8 rose on %D8 .",
    "The weather in %L8 was fine .",
    "%P8 has lived in %L8 for %N8 years .",
};

class News {
 public:
  News(Random& random, Split part) : random_(random), part_(part) {}

  Example draw() {
    const NewsForm& form = one_of(random_, kNews);
    const uint64_t count = 3 + random_.below(3), at = random_.below(count);
    Example example{.support = {static_cast<int32_t>(at)}};
    std::set<std::string_view> others;
    for (uint64_t i = 0; i < count; ++i) {
      std::string_view sentence = form.news;
      while (i != at && !others.insert(sentence = one_of(random_, kOther)).second) {
      }
      example.source += (i > 0 ? " " : "") + filled(sentence);
      std::erase_if(words_, [](const auto& word) { return word.first[1] >= '8'; });
    }
    example.target = filled(form.headline);
    return example;
  }

 private:
  std::string filled(std::string_view form) {
    std::string text;
    for (size_t i = 0; i < form.size(); ++i) {
      text += form[i] == '%' ? word_for(form.substr(i + 1, 2)) : std::string(1, form[i]);
      if (form[i] == '%') i += 2;
    }
    if (text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
    return text;
  }

  /// The same for the same slot, and another for each slot.
  const std::string& word_for(std::string_view slot) {
    const auto [found, fresh] = words_.try_emplace(std::string(slot));
    if (fresh) {
      do {
        found->second = draw_word(slot[0]);
      } while (!used_.insert(found->second).second);
    }
    return found->second;
  }

  std::string draw_word(char kind) {
    switch (kind) {
      case 'P': return std::string(one_of(random_, kGivenNames)) + ' ' + invented_name(random_, part_, kFamilyNames);
      case 'L': return invented_name(random_, part_, kPlaceNames);
      case 'F':
        return invented_name(random_, part_, kFirmNames) +
               (chance(random_, 0.5) ? ' ' + std::string(one_of(random_, kLinesOfTrade)) : "");
      case 'J': return std::string(one_of(random_, kPosts));
      case 'S': return std::string(one_of(random_, kSites));
      case 'D': return std::string(one_of(random_, kNewsDays));
      case 'M': return std::string(one_of(random_, kNewsMonths));
      case 'W': return std::string(one_of(random_, kWeathers));
      default: return std::string(one_of(random_, kNewsCounts));
    }
  }

  Random& random_;
  Split part_;
  std::map<std::string, std::string> words_;  // by slot
  std::set<std::string> used_;
};

}  // namespace

BuiltinCorpus make_headlines(uint64_t seed) {
  return corpus_with_unseen_names("headlines", seed, kHeadlinesTrain,
                                  [](Random& random, Split part) { return News(random, part).draw(); });
}

}  // namespace attend::data
