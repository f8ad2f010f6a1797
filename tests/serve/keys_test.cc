// Keys: the file, who has one, how often they may ask, and what a server with keys says to whom.
#include "serve/keys.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <fstream>

#include "tests/serve/served.h"

namespace attend::test {
namespace {

using namespace std::chrono_literals;

const std::string kAnn = "a-key-of-ann-that-is-long", kBob = "a-key-of-bob-that-is-long";
/// SHA-256 of "abc" (FIPS 180-2, B.1).
const std::string kAbc = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

std::filesystem::path keys_file(const TestFolder& folder, const std::string& text) {
  const std::filesystem::path file = folder.path() / "keys";
  std::ofstream(file) << text;
  ::chmod(file.c_str(), 0600);
  return file;
}

TEST(Keys, KnowWhoHasOneByTheKeyOrItsHash) {
  const TestFolder folder;
  const serve::Keys keys(keys_file(folder, "# comment\n\nann " + kAnn + "\nops " + kAbc + " - admin # not 60\n"));
  EXPECT_EQ(keys.size(), 2u);
  ASSERT_TRUE(keys.holder(kAnn));
  EXPECT_EQ(keys.holder(kAnn)->name, "ann");
  EXPECT_FALSE(keys.holder(kAnn)->admin);
  ASSERT_TRUE(keys.holder("abc"));
  EXPECT_TRUE(keys.holder("abc")->admin);
  for (const std::string& other : {kAnn + "x", kAnn.substr(1), std::string(), kAbc, std::string("ann")}) {
    EXPECT_FALSE(keys.holder(other)) << other;
  }
}

TEST(Keys, ANewKeyIsThatOfItsLine) {
  const TestFolder folder;
  const serve::NewKey made = serve::make_key("ann"), other = serve::make_key("bob");
  EXPECT_NE(made.key, other.key);
  EXPECT_EQ(made.line.find(made.key), std::string::npos) << "its hash alone";
  const serve::Keys keys(keys_file(folder, made.line + "\n" + other.line + "\n"));
  EXPECT_EQ(keys.holder(made.key)->name, "ann");
  EXPECT_EQ(keys.holder(other.key)->name, "bob");
  EXPECT_THROW(serve::make_key("a b"), UsageError);
}

TEST(Keys, AFileThatIsWrongIsRefusedWithItsLine) {
  const TestFolder folder;
  struct Row {
    std::string text, part;
  };
  for (const Row& row :
       {Row{"", "at least one key"}, Row{"ann\n", "keys:1: expected NAME KEY"},
        Row{"ann short\n", "at least 20 characters"}, Row{"ann sha256:12\n", "64 hexadecimal digits"},
        Row{"a/b " + kAnn + "\n", "letters, digits"}, Row{"ann " + kAnn + " 0\n", "requests per minute"},
        Row{"ann " + kAnn + " admin 5\n", "requests per minute"},
        Row{"\nann " + kAnn + "\nann " + kBob + "\n", "keys:3: expected each name once"},
        Row{"ann " + kAnn + " 5 admin more\n", "got 5 words"}}) {
    try {
      const serve::Keys keys(keys_file(folder, row.text));
      ADD_FAILURE() << row.text;
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find(row.part), std::string::npos) << error.what();
    }
  }
  EXPECT_THROW(serve::Keys(folder.path() / "none"), UsageError);
}

TEST(Keys, AreAskedAsOftenAsTheyMayAndAgainAsTimePasses) {
  const TestFolder folder;
  serve::Clock::time_point now{};
  serve::Keys keys(keys_file(folder, "ann " + kAnn + " 3\nbob " + kBob + "\n"), [&] { return now; });
  for (int i = 0; i < 3; ++i) EXPECT_EQ(keys.ask("ann"), 0);
  EXPECT_NEAR(keys.ask("ann"), 20, 1e-9) << "seconds";
  for (int i = 0; i < 100; ++i) EXPECT_EQ(keys.ask("bob"), 0);
  now += 19s;
  EXPECT_GT(keys.ask("ann"), 0);
  now += 1s;
  EXPECT_EQ(keys.ask("ann"), 0);
  EXPECT_GT(keys.ask("ann"), 0) << "reading the file again is no way around it";
  keys.reload();
  EXPECT_GT(keys.ask("ann"), 0);
  now += 3600s;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(keys.ask("ann"), 0);
  EXPECT_GT(keys.ask("ann"), 0) << "no more than a minute's worth is saved up";
}

TEST(Keys, ReadingThemAgainChangesAllOrNothing) {
  const TestFolder folder;
  const auto file = keys_file(folder, "ann " + kAnn + "\n");
  serve::Keys keys(file);
  EXPECT_EQ(keys.note(), "");
  keys_file(folder, "bob " + kBob + "\n");
  keys.reload();
  EXPECT_FALSE(keys.holder(kAnn));
  EXPECT_TRUE(keys.holder(kBob));
  keys_file(folder, "ann " + kAnn + "\nbroken\n");
  EXPECT_THROW(keys.reload(), UsageError);
  EXPECT_FALSE(keys.holder(kAnn));
  EXPECT_TRUE(keys.holder(kBob));
  ::chmod(file.c_str(), 0644);
  EXPECT_NE(keys.note().find("can be read by others"), std::string::npos) << keys.note();
}

class Guarded : public testing::Test {
 protected:
  static serve::ServeOptions options(const TestFolder& folder) {
    serve::ServeOptions options;
    options.security.keys =
        keys_file(folder, "ann " + kAnn + " 4\nbob " + kBob + "\nops " + kAbc + " - admin\n").string();
    return options;
  }
  httplib::Result get(const std::string& path, const httplib::Headers& headers = {}) const {
    httplib::Result result = served_.client().Get(path, headers);
    expect_described("get", path, result);
    return result;
  }

  TestFolder folder_;
  Served served_{options(folder_)};
  const httplib::Headers bob_{{"Authorization", "Bearer " + kBob}};
};

TEST_F(Guarded, LetsOnlyHoldersOfAKeyIn) {
  for (const char* open : {"/", "/healthz", "/readyz", "/openapi.yaml"}) EXPECT_EQ(get(open)->status, 200) << open;
  for (const char* closed : {"/v1/models", "/v1/models/tiny", "/v1/models/tiny/curves", "/v1/lab", "/metrics"}) {
    const auto none = get(closed);
    expect_error(none, 401, "no_key", "got none");
    EXPECT_EQ(none->get_header_value("WWW-Authenticate"), R"(Bearer realm="attend")");
    const auto wrong = get(closed, {{"Authorization", "Bearer " + kBob + "x"}});
    expect_error(wrong, 401, "no_key", "does not know");
    EXPECT_NE(wrong->get_header_value("WWW-Authenticate").find("invalid_token"), std::string::npos);
    expect_error(get(closed, {{"Authorization", "Basic " + kBob}}), 401, "no_key", "got none");
  }
  expect_error(served_.post("/v1/run", R"({"text": "a"})"), 401, "no_key", "got none");
  EXPECT_EQ(get("/v1/models", bob_)->status, 200);
  EXPECT_EQ(get("/v1/models", {{"authorization", "bearer  " + kBob}})->status, 200);
  EXPECT_EQ(get("/v1/models", {{"X-Api-Key", kBob}})->status, 200);
  EXPECT_EQ(get("/metrics", bob_)->status, 200);
  EXPECT_EQ(served_.client().Post("/v1/run", bob_, R"({"text": "a"})", "application/json")->status, 200);
  EXPECT_EQ(get("/nowhere")->status, 404);
}

TEST_F(Guarded, TellsWhoAsksTooOftenWhenToGoOn) {
  const httplib::Headers ann{{"Authorization", "Bearer " + kAnn}};
  int refused = 0;
  for (int i = 0; i < 12; ++i) {  // four, and what comes back meanwhile on a slow machine
    const auto result = get("/v1/models", ann);
    if (result->status == 200) continue;
    expect_error(result, 429, "too_many", "ann has asked as often as");
    EXPECT_GE(std::stoi(result->get_header_value("Retry-After")), 1);
    EXPECT_LE(std::stoi(result->get_header_value("Retry-After")), 15);
    ++refused;
  }
  EXPECT_GE(refused, 1);
  EXPECT_EQ(get("/v1/models", bob_)->status, 200) << "others go on";
}

TEST_F(Guarded, NeedsAnAdminToLoadModels) {
  expect_error(served_.client().Delete("/v1/models/tiny"), 401, "no_key", "got none");
  expect_error(served_.client().Delete("/v1/models/tiny", bob_), 403, "not_allowed", "got that of bob");
  EXPECT_EQ(get("/v1/models/tiny", bob_)->status, 200);
  EXPECT_EQ(served_.client().Delete("/v1/models/tiny", {{"X-Api-Key", "abc"}})->status, 204);
  EXPECT_EQ(get("/v1/models/tiny", bob_)->status, 404);
  const Served open;
  expect_error(open.client().Delete("/v1/models/tiny"), 403, "not_allowed", "a server with keys");
}

TEST_F(Guarded, MayShowItsNumbersToEveryone) {
  serve::ServeOptions open = options(folder_);
  open.security.open_metrics = true;
  const Served served(open);
  EXPECT_EQ(served.get("/metrics")->status, 200);
  EXPECT_EQ(served.get("/v1/models")->status, 401);
}

}  // namespace
}  // namespace attend::test
