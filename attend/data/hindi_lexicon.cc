#include "attend/data/hindi_lexicon.h"

namespace attend::data::hindi {
namespace {

constexpr Gender kM = Gender::kMasculine, kF = Gender::kFeminine;

constexpr Noun kNouns[] = {
    {"boy", "boys", "ladka", "ladke", "ladke", "ladkon", kM, kPerson},
    {"girl", "girls", "ladki", "ladkiyan", "ladki", "ladkiyon", kF, kPerson},
    {"man", "men", "aadmi", "aadmi", "aadmi", "aadmiyon", kM, kPerson},
    {"woman", "women", "aurat", "auraten", "aurat", "auraton", kF, kPerson},
    {"child", "children", "bachcha", "bachche", "bachche", "bachchon", kM, kPerson},
    {"friend", "friends", "dost", "dost", "dost", "doston", kM, kPerson | kKin | kEpicene},
    {"teacher", "teachers", "shikshak", "shikshak", "shikshak", "shikshakon", kM, kPerson},
    {"doctor", "doctors", "doctor", "doctor", "doctor", "doctoron", kM, kPerson | kEpicene},
    {"brother", "brothers", "bhai", "bhai", "bhai", "bhaiyon", kM, kKin},
    {"sister", "sisters", "behen", "behnen", "behen", "behnon", kF, kKin},
    {"father", "", "pitaji", "", "pitaji", "", kM, kElder},
    {"mother", "", "maa", "", "maa", "", kF, kElder},
    {"ram", "", "ram", "", "ram", "", kM, kName},
    {"mohan", "", "mohan", "", "mohan", "", kM, kName},
    {"ravi", "", "ravi", "", "ravi", "", kM, kName},
    {"sita", "", "sita", "", "sita", "", kF, kName},
    {"gita", "", "gita", "", "gita", "", kF, kName},
    {"radha", "", "radha", "", "radha", "", kF, kName},
    {"dog", "dogs", "kutta", "kutte", "kutte", "kutton", kM, kAnimal},
    {"cat", "cats", "billi", "billiyan", "billi", "billiyon", kF, kAnimal},
    {"apple", "apples", "seb", "seb", "", "", kM, kFruit},
    {"mango", "mangoes", "aam", "aam", "", "", kM, kFruit},
    {"banana", "bananas", "kela", "kele", "", "", kM, kFruit},
    {"egg", "eggs", "anda", "ande", "", "", kM, kFood | kGoods},
    {"carrot", "carrots", "gajar", "gajaren", "", "", kF, kFood | kGoods},
    {"bread", "", "roti", "", "", "", kF, kFood | kCooked},
    {"food", "", "khana", "", "", "", kM, kFood | kCooked},
    {"water", "", "pani", "", "", "", kM, kDrink},
    {"milk", "", "doodh", "", "", "", kM, kDrink},
    {"tea", "", "chai", "", "", "", kF, kDrink | kCooked},
    {"coffee", "", "coffee", "", "", "", kF, kDrink | kCooked},
    {"book", "books", "kitaab", "kitaaben", "", "", kF, kReading | kWriting | kGoods | kPortable},
    {"newspaper", "newspapers", "akhbaar", "akhbaar", "", "", kM, kReading | kGoods | kPortable},
    {"letter", "letters", "chitthi", "chitthiyan", "", "", kF, kReading | kWriting | kPortable},
    {"story", "stories", "kahani", "kahaniyan", "", "", kF, kReading | kWriting | kSound},
    {"car", "cars", "gadi", "gadiyan", "", "", kF, kThing},
    {"flower", "flowers", "phool", "phool", "", "", kM, kThing | kPortable},
    {"shirt", "shirts", "kameez", "kameezen", "", "", kF, kThing | kPortable},
    {"chair", "chairs", "kursi", "kursiyan", "", "", kF, kThing},
    {"bag", "bags", "thaila", "thaile", "", "", kM, kThing | kPortable},
    {"house", "houses", "ghar", "ghar", "", "", kM, kBuilding},
    {"room", "rooms", "kamra", "kamre", "", "", kM, kBuilding},
    {"door", "doors", "darwaza", "darwaze", "", "", kM, kOpening},
    {"window", "windows", "khidki", "khidkiyan", "", "", kF, kOpening},
    {"song", "songs", "gana", "gane", "", "", kM, kSound},
    {"film", "films", "film", "filmen", "", "", kF, kShow},
    {"bird", "birds", "chidiya", "chidiyan", "", "", kF, kBird},
    {"cricket", "", "cricket", "", "", "", kM, kSport},
};

constexpr Pronoun kPronouns[] = {
    {"i", "me", "main", "maine", "mujhe", "mujhse", {1, false, kF}, Owner::kI},
    {"you", "you", "tum", "tumne", "tumhein", "tumse", {2, true, kM}, Owner::kYou},
    {"he", "him", "woh", "usne", "use", "usse", {3, false, kM}, Owner::kHe},
    {"she", "her", "woh", "usne", "use", "usse", {3, false, kF}, Owner::kShe},
    {"we", "us", "hum", "humne", "humein", "humse", {1, true, kM}, Owner::kWe},
    {"they", "them", "ve", "unhone", "unhein", "unse", {3, true, kM}, Owner::kThey},
};

constexpr Determiner kDeterminers[] = {
    {"", {"", "", ""}, Owner::kNobody, kPlural | kMass, 6},
    {"the", {"", "", ""}, Owner::kNobody, kAnyNumber, 8},
    {"a", {"ek", "ek", "ek"}, Owner::kNobody, kSingular, 6},
    {"two", {"do", "do", "do"}, Owner::kNobody, kPlural, 2},
    {"three", {"teen", "teen", "teen"}, Owner::kNobody, kPlural, 2},
    {"my", {"mera", "mere", "meri"}, Owner::kI, kAnyNumber, 2},
    {"your", {"tumhara", "tumhare", "tumhari"}, Owner::kYou, kAnyNumber, 2},
    {"his", {"uska", "uske", "uski"}, Owner::kHe, kAnyNumber, 2},
    {"her", {"uska", "uske", "uski"}, Owner::kShe, kAnyNumber, 2},
    {"our", {"humara", "humare", "humari"}, Owner::kWe, kAnyNumber, 2},
    {"their", {"unka", "unke", "unki"}, Owner::kThey, kAnyNumber, 2},
};

constexpr Kinds kGoodAlike = kPerson | kReading | kShow | kSound | kBuilding | kCooked | kThing;
constexpr Kinds kAges = kReading | kThing | kBuilding | kShow | kSound;

constexpr Adjective kAdjectives[] = {
    {"big",
     {"bada", "bade", "badi"},
     kAnimal | kThing | kBuilding | kOpening | kFruit,
     kAnimal | kThing | kBuilding | kOpening},
    {"small",
     {"chhota", "chhote", "chhoti"},
     kPerson | kAnimal | kThing | kBuilding | kOpening | kFruit | kBird,
     kAnimal | kThing | kBuilding | kOpening},
    {"good", {"achchha", "achchhe", "achchhi"}, kGoodAlike | kEpicene, kGoodAlike},
    {"new", {"naya", "naye", "nayi"}, kAges, kReading | kThing | kBuilding},
    {"old", {"purana", "purane", "purani"}, kAges, kReading | kThing | kBuilding},
    {"long", {"lamba", "lambe", "lambi"}, kWriting | kShow, kWriting | kShow},
    {"tall", {"lamba", "lambe", "lambi"}, kPerson, kPeople},
    {"beautiful", {"sundar", "sundar", "sundar"}, kThing | kBuilding | kBird, kThing | kBuilding | kBird},
    {"red", {"laal", "laal", "laal"}, kThing | kOpening, kThing | kOpening},
    {"black", {"kala", "kale", "kali"}, kThing | kAnimal, kThing | kAnimal},
    {"hot", {"garam", "garam", "garam"}, kCooked | kDrink, kCooked | kDrink},
    {"sweet", {"meetha", "meethe", "meethi"}, kFruit, kFruit},
    {"happy", {"khush", "khush", "khush"}, 0, kPeople},
    {"ill", {"beemar", "beemar", "beemar"}, 0, kPeople | kAnimal},
    {"hungry", {"bhookha", "bhookhe", "bhookhi"}, 0, kPeople | kAnimal},
};

constexpr HindiVerb kJa{"ja", "gaya", "gaye", "gayi", "gayin", "jau", "jao", "jaye", "jayen"};
constexpr HindiVerb kAa{"aa", "aaya", "aaye", "aayi", "aayin", "aau", "aao", "aaye", "aayen"};
constexpr HindiVerb kSo{"so", "soya", "soye", "soyi", "soyin", "sou", "soo", "soye", "soyen"};
constexpr HindiVerb kReh{"reh", "raha", "rahe", "rahi", "rahin", "rahu", "raho", "rahe", "rahen"};
constexpr HindiVerb kKar{"kar", "kiya", "kiye", "ki", "kin", "karu", "karo", "kare", "karen"};
constexpr HindiVerb kKha{"kha", "khaya", "khaye", "khayi", "khayin", "khau", "khao", "khaye", "khayen"};
constexpr HindiVerb kPee{"pee", "piya", "piye", "pee", "peen", "piu", "pio", "piye", "piyen"};
constexpr HindiVerb kPadh{"padh", "padha", "padhe", "padhi", "padhin", "padhu", "padho", "padhe", "padhen"};
constexpr HindiVerb kLikh{"likh", "likha", "likhe", "likhi", "likhin", "likhu", "likho", "likhe", "likhen"};
constexpr HindiVerb kDekh{"dekh", "dekha", "dekhe", "dekhi", "dekhin", "dekhu", "dekho", "dekhe", "dekhen"};
constexpr HindiVerb kKhareed{"khareed",  "khareeda", "khareede", "khareedi", "khareedin",
                             "khareedu", "khareedo", "khareede", "khareeden"};
constexpr HindiVerb kBana{"bana", "banaya", "banaye", "banayi", "banayin", "banau", "banao", "banaye", "banayen"};
constexpr HindiVerb kSun{"sun", "suna", "sune", "suni", "sunin", "sunu", "suno", "sune", "sunen"};
constexpr HindiVerb kMil{"mil", "mila", "mile", "mili", "milin", "milu", "milo", "mile", "milen"};

constexpr Tenses kStates = kAllTenses & ~(only(Tense::kProgressive) | only(Tense::kPastProgressive));
// "lived in delhi" takes years: Hindi would say "rehta tha", which this grammar does not have.
constexpr Tenses kUnfinished = kAllTenses & ~(only(Tense::kPast) | only(Tense::kPerfect));

constexpr Verb kVerbs[] = {
    {.english = {"go", "goes", "going", "went", "gone"},
     .hindi = &kJa,
     .subjects = kAnimate,
     .places = kGoal | kAskable},
    {.english = {"come", "comes", "coming", "came", "come"},
     .hindi = &kAa,
     .subjects = kAnimate,
     .places = kGoal | kSource},
    {.english = {"sleep", "sleeps", "sleeping", "slept", "slept"},
     .hindi = &kSo,
     .subjects = kAnimate,
     .places = kActivity | kAskable},
    {.english = {"live", "lives", "living", "lived", "lived"},
     .hindi = &kReh,
     .places = kDwelling | kAskable,
     .needs_place = true,
     .lasting = true,
     .tenses = kUnfinished},
    {.english = {"work", "works", "working", "worked", "worked"},
     .hindi = &kKar,
     .before = "kaam",
     .light = Light::kMasculine,
     .ergative = true,
     .places = kActivity | kShop | kAskable},
    {.english = {"eat", "eats", "eating", "ate", "eaten"},
     .hindi = &kKha,
     .ergative = true,
     .subjects = kAnimate,
     .objects = kFruit | kFood,
     .places = kActivity | kAskable},
    {.english = {"drink", "drinks", "drinking", "drank", "drunk"},
     .hindi = &kPee,
     .ergative = true,
     .objects = kDrink,
     .places = kActivity | kAskable},
    {.english = {"read", "reads", "reading", "read", "read"},
     .hindi = &kPadh,
     .ergative = true,
     .objects = kReading,
     .places = kActivity | kAskable},
    {.english = {"write", "writes", "writing", "wrote", "written"},
     .hindi = &kLikh,
     .ergative = true,
     .objects = kWriting,
     .places = kActivity | kAskable},
    {.english = {"see", "sees", "seeing", "saw", "seen"},
     .hindi = &kDekh,
     .ergative = true,
     .objects = kAnimate | kThing | kBuilding | kBird,
     .places = kShop | kAskable,
     .tenses = kStates},
    {.english = {"watch", "watches", "watching", "watched", "watched"},
     .hindi = &kDekh,
     .ergative = true,
     .objects = kShow | kSport | kBird,
     .places = kActivity | kAskable},
    {.english = {"buy", "buys", "buying", "bought", "bought"},
     .hindi = &kKhareed,
     .ergative = true,
     .objects = kFruit | kGoods | kThing,
     .places = kShop | kAskable},
    {.english = {"make", "makes", "making", "made", "made"},
     .hindi = &kBana,
     .ergative = true,
     .objects = kCooked,
     .places = kActivity | kAskable},
    {.english = {"listen", "listens", "listening", "listened", "listened"},
     .particle = "to",
     .hindi = &kSun,
     .ergative = true,
     .objects = kSound,
     .places = kActivity | kAskable},
    {.english = {"meet", "meets", "meeting", "met", "met"},
     .hindi = &kMil,
     .marker = "se",
     .objects = kPeople,
     .places = kActivity | kShop | kAskable},
    {.english = {"love", "loves", "loving", "loved", "loved"},
     .hindi = &kKar,
     .before = "pyaar",
     .light = Light::kMasculine,
     .ergative = true,
     .marker = "se",
     .objects = kKin | kElder | kName,
     .lasting = true,
     .tenses = kStates & ~only(Tense::kPerfect)},
    {.english = {"talk", "talks", "talking", "talked", "talked"},
     .particle = "to",
     .hindi = &kKar,
     .before = "baat",
     .light = Light::kFeminine,
     .ergative = true,
     .marker = "se",
     .objects = kPeople,
     .places = kActivity | kAskable},
    {.english = {"close", "closes", "closing", "closed", "closed"},
     .hindi = &kKar,
     .before = "band",
     .ergative = true,
     .objects = kOpening},
    {.english = {"clean", "cleans", "cleaning", "cleaned", "cleaned"},
     .hindi = &kKar,
     .before = "saaf",
     .ergative = true,
     .objects = kBuilding | kOpening},
};

constexpr Place kPlaces[] = {
    {"home", "ghar", "0-0", kGoal},
    {"to the market", "bazaar", "2-0", kGoal},
    {"to school", "school", "1-0", kGoal},
    {"to the office", "daftar", "2-0", kGoal},
    {"to the temple", "mandir", "2-0", kGoal},
    {"to the village", "gaon", "2-0", kGoal},
    {"to delhi", "dilli", "1-0", kGoal},
    {"to mumbai", "mumbai", "1-0", kGoal},
    {"from home", "ghar se", "0-1 1-0", kSource},
    {"from the market", "bazaar se", "0-1 2-0", kSource},
    {"from school", "school se", "0-1 1-0", kSource},
    {"from the office", "daftar se", "0-1 2-0", kSource},
    {"from the village", "gaon se", "0-1 2-0", kSource},
    {"from delhi", "dilli se", "0-1 1-0", kSource},
    {"at home", "ghar par", "0-1 1-0", kActivity},
    {"at school", "school mein", "0-1 1-0", kActivity},
    {"in the office", "daftar mein", "0-1 2-0", kActivity},
    {"in the garden", "bageeche mein", "0-1 2-0", kActivity},
    {"in the kitchen", "rasoi mein", "0-1 2-0", kActivity | kRest},
    {"in the room", "kamre mein", "0-1 2-0", kActivity | kRest},
    {"on the roof", "chhat par", "0-1 2-0", kActivity | kRest},
    {"under the tree", "ped ke neeche", "0-1 0-2 2-0", kActivity | kRest},
    {"near the river", "nadi ke paas", "0-1 0-2 2-0", kActivity | kDwelling},
    {"in the market", "bazaar mein", "0-1 2-0", kShop},
    {"in the village", "gaon mein", "0-1 2-0", kShop | kDwelling},
    {"in the city", "shehar mein", "0-1 2-0", kShop | kDwelling},
    {"in delhi", "dilli mein", "0-1 1-0", kShop | kDwelling},
    {"in mumbai", "mumbai mein", "0-1 1-0", kShop | kDwelling},
    {"on the table", "mez par", "0-1 2-0", kRest},
};

constexpr Tenses kSometime = only(Tense::kPast) | only(Tense::kPastProgressive) | only(Tense::kFuture);
constexpr Tenses kUsually = kSometime | only(Tense::kHabitual);

constexpr Time kTimes[] = {
    {"today", "aaj", "0-0", only(Tense::kProgressive) | only(Tense::kPast) | only(Tense::kFuture)},
    {"now", "abhi", "0-0", only(Tense::kProgressive)},
    {"tomorrow", "kal", "0-0", only(Tense::kFuture)},
    {"yesterday", "kal", "0-0", only(Tense::kPast) | only(Tense::kPastProgressive)},
    {"every day", "roz", "0-0 1-0", only(Tense::kHabitual)},
    {"in the morning", "subah", "2-0", kUsually},
    {"in the evening", "shaam ko", "0-1 2-0", kUsually},
    {"at night", "raat ko", "0-1 1-0", kUsually},
    {"on sunday", "ravivaar ko", "0-1 1-0", kSometime},
    {"on monday", "somvaar ko", "0-1 1-0", kSometime},
    {"tomorrow morning", "kal subah", "0-0 1-1", only(Tense::kFuture)},
    {"yesterday evening", "kal shaam", "0-0 1-1", only(Tense::kPast) | only(Tense::kPastProgressive)},
};

constexpr Demonstrative kDemonstratives[] = {
    {"this", "yeh", false}, {"that", "woh", false}, {"these", "ye", true}, {"those", "ve", true}};

}  // namespace

const Pronoun kWho{"who", "", "kaun", "kisne", "", "", {3, false, kM}, Owner::kNobody};
const Forms kOwn{"apna", "apne", "apni"};
const HindiVerb kBe{"ho", "", "", "", "", "hou", "ho", "ho", "hon"};

std::span<const Noun> nouns() { return kNouns; }
std::span<const Pronoun> pronouns() { return kPronouns; }
std::span<const Determiner> determiners() { return kDeterminers; }
std::span<const Adjective> adjectives() { return kAdjectives; }
std::span<const Verb> verbs() { return kVerbs; }
std::span<const Place> places() { return kPlaces; }
std::span<const Time> times() { return kTimes; }
std::span<const Demonstrative> demonstratives() { return kDemonstratives; }

}  // namespace attend::data::hindi
