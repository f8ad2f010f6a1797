#include "attend/data/builtin_invented.h"

namespace attend::data {
namespace {

constexpr double kInventedHeldOut = 0.1;  // of all names, for each of the two parts that are held out

constexpr std::string_view kBeginnings[] = {"Bel", "Bran", "Cal", "Dor", "Edr", "Fen", "Fil",  "Gar", "Hal", "Hes",
                                            "Jas", "Kel",  "Kor", "Lan", "Lor", "Mal", "Mer",  "Nel", "Nor", "Orv",
                                            "Pel", "Per",  "Ras", "Ril", "Sel", "Sor", "Tam",  "Tor", "Ulv", "Vel",
                                            "Ver", "Wil",  "Yar", "Zan", "Zel", "Quin", "Stel", "Thal"};
constexpr std::string_view kMiddles[] = {"a", "e", "i", "o", "u", "an", "el", "in", "or"};

constexpr std::string_view kOfInventedPeople[] = {"da", "dra", "dric", "ka", "la", "len", "lia", "ma",
                                                  "mir", "na", "nor", "ra", "sa", "ta", "vin", "za"};
constexpr std::string_view kOfFamilies[] = {"ck", "dahl", "dez", "gard", "kov", "lund", "nen", "nyi",
                                            "rez", "shaw", "sky", "son", "strom", "vic", "wicz", "zek"};
constexpr std::string_view kOfInventedPlaces[] = {"bridge", "burg", "by",   "dale", "fjord", "grad", "haven", "mouth",
                                                  "pol",    "port", "stad", "sted", "ton",   "vik",  "ville", "worth"};
constexpr std::string_view kOfInventedFirms[] = {"bank", "chem", "co",  "corp", "dyne", "flex", "gas",  "lab",
                                                 "max",  "net",  "soft", "tech", "tex",  "tron", "ware", "works"};

}  // namespace

const NameEndings kPeopleNames{kOfInventedPeople}, kFamilyNames{kOfFamilies}, kPlaceNames{kOfInventedPlaces},
    kFirmNames{kOfInventedFirms};

std::string invented_name(Random& random, Split part, const NameEndings& kind) {
  for (;;) {
    std::string name(one_of(random, kBeginnings));
    name.append(one_of(random, kMiddles)).append(one_of(random, kind.endings));
    if (split_of(name, kInventedHeldOut, kInventedHeldOut) == part) return name;
  }
}

bool look_alike(std::string_view a, std::string_view b) {
  return a.substr(0, 3) == b.substr(0, 3) || a.substr(a.size() - 2) == b.substr(b.size() - 2);
}

}  // namespace attend::data
