#include "attend/base/recipe.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <new>

#include "attend/base/replacement.h"

namespace {
// Bytes ever allocated: work that can be counted, whatever else the machine does.
std::atomic<size_t> allocated{0};
}  // namespace

#ifdef __SANITIZE_ADDRESS__
constexpr bool kCountsAllocations = false;  // the sanitizer's own operators stay: they find what ours would hide
#else
constexpr bool kCountsAllocations = true;
// NOLINTBEGIN: the standard's own signatures
[[gnu::noinline]] void* operator new(size_t size) {
  allocated += size;
  void* memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
// Not inlined: GCC would see a free() of what a new made, and not that this new is a malloc().
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }
// NOLINTEND
#endif

namespace attend {
namespace {

struct Attention {
  std::string score = "dot";
  double rate = 0.5;
  template <class Visit>
  void fields(Visit&& visit) {
    visit("score", score, "how a query is compared with a key");
    visit("rate", rate, "share");
  }
};

struct Options {
  int64_t hidden = 3;
  bool tied = false;
  Attention attention;
  std::vector<std::string> files;
  std::string note;
  template <class Visit>
  void fields(Visit&& visit) {
    visit("hidden", hidden, "width");
    visit("tied", tied, "one table");
    visit("attention", attention, "");
    visit("files", files, "read one after the other");
    visit("note", note, "");
  }
};

std::string recipe_error(const std::string& text) {
  try {
    parse_recipe(text, "x.yml");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string error_of_setting(const std::string& text, const std::string& prefix = "") {
  Options options;
  try {
    set_options(options, parse_recipe(text, "x.yml"), prefix);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// "name=value@where", a star before the value of a list.
std::vector<std::string> shown(const SettingList& settings) {
  std::vector<std::string> all;
  for (const Setting& s : settings) all.push_back(s.name + "=" + (s.list ? "*" : "") + s.value + "@" + s.where);
  return all;
}
using Lines = std::vector<std::string>;

TEST(Recipe, MappingsBecomeNamesWithDots) {
  EXPECT_EQ(shown(parse_recipe("# comment\n"
                               "model:\n"
                               "  hidden: 256  # width\n"
                               "  attention: {score: dot, rate: 1e-3}\n"
                               "files: [a, \"b c\"]\n"
                               "model.tied: true\n"
                               "more:\n"
                               "- one\n"
                               "- two\n"
                               "none: []\n"
                               "empty: {}\n"
                               "text: |\n"
                               "  two\n"
                               "  lines\n",
                               "x.yml")),
            (Lines{"model.hidden=256@x.yml:3", "model.attention.score=dot@x.yml:4", "model.attention.rate=1e-3@x.yml:4",
                   "files=*a\nb c@x.yml:5", "model.tied=true@x.yml:6", "more=*one\ntwo@x.yml:7", "none=*@x.yml:10",
                   "text=two\nlines\n@x.yml:12"}));
}

TEST(Recipe, SetsOptions) {
  Options options;
  set_options(options,
              parse_recipe("hidden: 9\ntied: true\nattention:\n  rate: 0.25\nfiles: [a, b]\nnote: 007\n", "x"));
  EXPECT_EQ(options.hidden, 9);
  EXPECT_TRUE(options.tied);
  EXPECT_EQ(options.attention.rate, 0.25);
  EXPECT_EQ(options.attention.score, "dot");
  EXPECT_EQ(options.files, (Lines{"a", "b"}));
  EXPECT_EQ(options.note, "007");
  set_options(options, parse_recipe("files: c\n", "x"));
  EXPECT_EQ(options.files, Lines{"c"}) << "one entry need not be a list, and replaces what was there";
  set_options(options, parse_recipe("files: []\n", "x"));
  EXPECT_EQ(options.files, Lines{});
}

TEST(Recipe, LaterSettingsCount) {
  Options options;
  set_options(options, {{"hidden", "4", "x.yml:1"}, {"hidden", "5", "--hidden"}});
  EXPECT_EQ(options.hidden, 5);
}

TEST(Recipe, WhatNoOptionWantsIsNamedWithFileAndLine) {
  EXPECT_EQ(error_of_setting("hidden: 3\nhiden: 4\n"),
            "x.yml:2: there is no option \"hiden\"; the nearest is \"hidden\"");
  EXPECT_EQ(error_of_setting("scor: dot\n"),
            "x.yml:1: there is no option \"scor\"; the nearest is \"attention.score\"");
  EXPECT_EQ(error_of_setting("model:\n  hiden: 4\n", "model."),
            "x.yml:2: there is no option \"model.hiden\"; the nearest is \"model.hidden\"");
  EXPECT_EQ(error_of_setting("model:\n\n  hidden: abc\n", "model."),
            "x.yml:3: model.hidden: expected a whole number, got \"abc\"");
  EXPECT_EQ(error_of_setting("hidden: [1, 2]\n"), "x.yml:1: hidden: expected one value, got a list");
  EXPECT_EQ(error_of_setting("note: [a]\n"), "x.yml:1: note: expected one value, got a list");
  EXPECT_EQ(error_of_setting("tied: yes\n"), "x.yml:1: tied: expected true or false, got \"yes\"");
  EXPECT_EQ(error_of_setting("hidden: \"a\\nb\"\n"), "x.yml:1: hidden: expected a whole number, got \"a\\x0ab\"");
  EXPECT_EQ(error_of_setting("attention: 3\n"),
            "x.yml:1: there is no option \"attention\"; the nearest is \"attention.score\"");
}

TEST(Recipe, FlagsAreNamedOnce) {
  Options options;
  try {
    set_options(options, {{"hidden", "abc", "--hidden"}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "--hidden: expected a whole number, got \"abc\"");
  }
}

TEST(Recipe, WhatIsNoRecipeIsRefusedWithItsLine) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "x.yml: expected options (name: value), got none"},
      {"# nothing\n", "x.yml: expected options (name: value), got none"},
      {"---\n", "x.yml: expected options (name: value), got none"},
      {"word\n", "x.yml:1: expected options (name: value), got \"word\""},
      {"- a\n", "x.yml:1: expected options (name: value), got a list"},
      {"a: 1\nb: 2\na: 3\n", "x.yml:3: a: given twice (first in line 1)"},
      {"a: {b: 1}\na.b: 2\n", "x.yml:2: a.b: given twice (first in line 1)"},
      {"a:\nb: 1\n", "x.yml:1: a: expected a value, got nothing (\"\" is an empty text)"},
      {"a: ~\n", "x.yml:1: a: expected a value, got nothing (\"\" is an empty text)"},
      {"a: 1\n---\nb: 2\n", "x.yml:2: expected one document, got another"},
      {"a: &x 1\n", "x.yml:1: expected plain values, got an anchor (&) or an alias (*)"},
      {"a: &x {b: 1}\n", "x.yml:1: expected plain values, got an anchor (&) or an alias (*)"},
      {"a: 1\nb: *x\n", "x.yml:2: expected YAML, got: the referenced anchor is not defined"},
      {"a: !!int 3\n", "x.yml:1: expected plain values, got a tag (!)"},
      {"a: [1, [2]]\n", "x.yml:1: a: expected a list of single values, got a list within it"},
      {"a: [1, {b: 2}]\n", "x.yml:1: a: expected a list of single values, got a mapping within it"},
      {"a: [1, ~]\n", "x.yml:1: a: expected entries that are not empty, got nothing"},
      {"a: [1, \"\"]\n", "x.yml:1: a: expected entries of one line, none of them empty, got \"\""},
      {"? [a, b]\n: c\n", "x.yml:1: expected a name, got a list"},
      {"? {a: b}\n: c\n", "x.yml:1: expected a name, got a mapping"},
      {"\"\": c\n", "x.yml:1: expected a name of letters, digits, \"_\", \"-\" and \".\", got \"\""},
      {"a b: c\n", "x.yml:1: expected a name of letters, digits, \"_\", \"-\" and \".\", got \"a b\""},
      {"a.b.c.d.e.f.g.h: 1\n", ""},
      {"a.b.c.d.e.f.g.h.i: 1\n",
       "x.yml:1: expected at most 8 names with dots between them, got \"a.b.c.d.e.f.g.h.i\""},
      {"a..b: c\n", "x.yml:1: expected a name of letters, digits, \"_\", \"-\" and \".\", got \"a..b\""},
      {"a.: c\n", "x.yml:1: expected a name of letters, digits, \"_\", \"-\" and \".\", got \"a.\""},
      {"3: c\n", "x.yml:1: expected a name of letters, digits, \"_\", \"-\" and \".\", got \"3\""},
      {"a:\n\tb: 1\n", "x.yml:2: expected indentation by spaces, got a tab"},
      {"a:\n  \tb: 1\n", "x.yml:2: expected indentation by spaces, got a tab"},
      {"a: \x04\n", "x.yml:1: expected text, got a control character"},
      {"a: b\nb: \xff\n", "x.yml:2: expected text in UTF-8, got other bytes"},
      {"a: \"\\N\"\n", "x.yml:1: expected text in UTF-8, got other bytes"},
      {"a: \xc0\x80\n", "x.yml:1: expected text in UTF-8, got other bytes"},
      {"a: \xed\xa0\x80\n", "x.yml:1: expected text in UTF-8, got other bytes"},
      {"a: [1, 2\n", "x.yml:2: expected YAML, got: end of sequence flow not found"},
      {"a: \"b\nc: d\n", "x.yml:3: expected YAML, got: illegal EOF in scalar"},
      {"a: 'b\n\n", "x.yml:3: expected YAML, got: illegal EOF in scalar"},
      {"a: b: c\n", "x.yml:1: expected YAML, got: illegal map value"},
      {"a: \"b\n", "x.yml:2: expected YAML, got: illegal EOF in scalar"},
      {"a: {a: {a: {a: {a: {a: {a: {a: 1}}}}}}}\n", ""},
      {"a: {a: {a: {a: {a: {a: {a: {a: {a: 1}}}}}}}}\n", "x.yml:1: expected at most 8 mappings within each other"},
  };
  for (const auto& [text, message] : cases) EXPECT_EQ(recipe_error(text), message) << text;
  EXPECT_EQ(recipe_error(std::string("a: b\0c\n", 7)), "x.yml:1: expected text, got a control character");
  EXPECT_EQ(recipe_error("a: b\r\nc: d\r\n"), "");
  EXPECT_EQ(recipe_error("a: " + std::string(1 << 20, 'x')), "x.yml: expected at most 1048576 bytes, got 1048579");
}

/// Refused, with work in proportion to the text: yaml-cpp allocates 250 bytes per byte of "[[[[…". A parser that went over
/// the text again for each level, or a reader that followed aliases, would need thousands of times as much.
void expect_refused_cheaply(const std::string& text) {
  const size_t before = allocated;
  EXPECT_NE(recipe_error(text), "") << text.substr(0, 20);
  if (!kCountsAllocations) return;
  EXPECT_LE(allocated - before, 1000 * text.size()) << text.substr(0, 20);
}

TEST(Recipe, HostileTextIsRefusedWithWorkInProportion) {
  constexpr size_t kMany = 200'000;
  const auto repeated = [](std::string_view part) {
    std::string text;
    while (text.size() < kMany) text += part;
    return text;
  };
  for (const char* part :
       {"[", "{", "- ", "? ", "a: ", "[a, ", "{a: ", "{? ", "[? ", "- - ", "!", "&a ", "\"", "|\n"}) {
    expect_refused_cheaply(repeated(part));
    expect_refused_cheaply("a: " + repeated(part));
  }
  std::string steps;
  for (size_t i = 0; i < 300; ++i) steps += std::string(i, ' ') + "a:\n";
  expect_refused_cheaply(steps);
  std::string bomb = "a0: &a0 [x, x]\n";
  for (int i = 1; i < 40; ++i) {
    const std::string last = std::to_string(i - 1), now = std::to_string(i);
    bomb += "a" + now + ": &a" + now + " [*a" + last + ", *a" + last + "]\n";
  }
  expect_refused_cheaply(bomb);
}

TEST(Recipe, PrintedAndReadAgainIsTheSame) {
  const std::string awkward[] = {"",     "007",     "yes",     "No",     "null",    "~",        "1e5",    "0x1f",
                                 "a: b", "a #b",    "#b",      "- a",    "?",       "घर",       " a ",    "a\nb\n",
                                 "\t",   "\"",      "'",       "\\",     "\\n",     "{a}",      "[a]",    "a, b",
                                 "&a",   "*a",      "!a",      "%a",     "@a",      "`a",       "|",      ">",
                                 "---",  "...",     "a\r\nb",  "\x01",   "\x04",    "\x7f",     ".5",     "-1",
                                 "=",    "<<",      "a:",      ":a",     "/a/b.gz", "é\u2028x", "😀",      "true",
                                 "a\tb", "\u00a0x", "\ufeffx", "\u0085", "a/b-c_d", "  #",      "\"\n\"", "plain"};
  for (const std::string& text : awkward) {
    Options options{.hidden = -5, .tied = true, .attention = {text, 1.0 / 3}, .note = text}, again;
    if (!text.empty() && text.find('\n') == std::string::npos) options.files = {text, "b", text};
    const std::string printed = print_recipe(describe_options(options, "model."), true);
    set_options(again, parse_recipe(printed, "x"), "model.");
    EXPECT_EQ(settings_of(again), settings_of(options)) << printed;
  }
}

TEST(Recipe, IsPrintedAsOneWouldWriteIt) {
  Options options{.files = {"a.gz", "b c"}, .note = "yes"};
  EXPECT_EQ(print_recipe(describe_options(options), true),
            "hidden: 3  # width\n"
            "tied: false  # one table\n"
            "attention:\n"
            "  score: dot  # how a query is compared with a key\n"
            "  rate: 0.5  # share\n"
            "files: [a.gz, \"b c\"]  # read one after the other\n"
            "note: \"yes\"\n");
  EXPECT_EQ(print_recipe({}), "{}\n");
}

TEST(Recipe, NamesOfOneMappingAreGathered) {
  const std::vector<OptionInfo> options{{"model.name", "gru", "", "text"},
                                        {"steps", "3", "", "whole number"},
                                        {"model.hidden", "4", "", "whole number"},
                                        {"task", "copy", "", "text"},
                                        {"task.length", "5", "", "whole number"}};
  const std::string text = print_recipe(options);
  EXPECT_EQ(text, "model:\n  name: gru\n  hidden: 4\nsteps: 3\ntask: copy\ntask.length: 5\n");
  const Settings expected{
      {"model.name", "gru"}, {"steps", "3"}, {"model.hidden", "4"}, {"task", "copy"}, {"task.length", "5"}};
  EXPECT_EQ(settings_of(parse_recipe(text, "x")), expected);
}

TEST(Recipe, WhatCannotBeTextIsNotPrinted) {
  EXPECT_THROW(print_recipe(describe_options(Options{.note = "\xff"})), Error);
  EXPECT_THROW(describe_options(Options{.files = {"a\nb"}}), Error);
  EXPECT_THROW(describe_options(Options{.files = {""}}), Error);
}

TEST(Recipe, FilesAreReadByName) {
  const auto path = std::filesystem::path(testing::TempDir()) / ("recipe_" + std::to_string(::getpid()) + ".yml");
  write_file(path, "a: 1\nb: x\n");
  EXPECT_EQ(shown(read_recipe(path)), (Lines{"a=1@" + path.native() + ":1", "b=x@" + path.native() + ":2"}));
  std::filesystem::remove(path);
  EXPECT_THROW(read_recipe(path), Error);
}

TEST(Recipe, SettingsAreTakenByPrefix) {
  SettingList all = parse_recipe("model: {a: 1, b: 2}\nsteps: 3\nmodels: 4\n", "x");
  const SettingList model = take_prefix(all, "model.");
  EXPECT_EQ(settings_of(model, "model."), (Settings{{"a", "1"}, {"b", "2"}}));
  EXPECT_EQ(settings_of(all), (Settings{{"steps", "3"}, {"models", "4"}}));
  EXPECT_EQ(find_setting(all, "steps")->value, "3");
  EXPECT_EQ(find_setting(all, "model.a"), nullptr);
}

TEST(Recipe, OptionsDescribeThemselves) {
  const std::vector<OptionInfo> all = describe_options(Options{}, "m.");
  ASSERT_EQ(all.size(), 6u);
  EXPECT_EQ(all[0].name, "m.hidden");
  EXPECT_EQ(all[0].value, "3");
  EXPECT_EQ(all[0].help, "width");
  Lines types;
  for (const OptionInfo& option : all) types.push_back(option.type);
  EXPECT_EQ(types, (Lines{"whole number", "true or false", "text", "number", "list", "text"}));
}

}  // namespace
}  // namespace attend
