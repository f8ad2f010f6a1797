// Models that come, change and go while they are served.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <semaphore>
#include <thread>

#include "serve/model_folders.h"
#include "serve/models.h"
#include "tests/serve/served.h"

namespace attend::test {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kNoLab = 1;

/// Another model than the one that is there, in its place.
void replace_model(const TestFolder& folder, const std::string& name, const char* hidden) {
  fs::remove_all(folder.path() / name);
  save_untrained(folder.path() / name,
                 {{"tsv", "none", "", true},
                  {"tokeniser.kind", "words", ""},
                  {"model.name", "recurrent", ""},
                  {"model.embedding", "8", ""},
                  {"model.hidden", hidden, ""},
                  {"search.max_length", "6", ""}},
                 text_corpus("a b c d e f g h , .", "A B C D E F G H"));
}

class Reloading : public testing::Test {
 protected:
  int64_t parameters(const std::string& name) const { return models_.at(name)->description["parameters"]; }
  std::string home() const { return (folder_.path() / "home").string(); }

  TestFolder folder_;
  std::string one_ = tiny_model(folder_, "home/one"), apart_ = tiny_model(folder_, "apart");
  serve::Models models_{{apart_}, home(), "", kNoLab};
};

TEST_F(Reloading, ServesAllModelsOfAFolder) {
  EXPECT_EQ(models_.all().size(), 2u);
  EXPECT_EQ(models_.at("")->name, "apart");
  EXPECT_EQ(models_.at("one")->name, "one");
  EXPECT_THROW(serve::Models({}, (folder_.path() / "nowhere").string(), "", kNoLab), UsageError);
}

TEST_F(Reloading, LoadsAgainWhatHasChangedAndNothingElse) {
  const auto before = models_.at("one"), apart = models_.at("apart");
  EXPECT_EQ(models_.reload().replaced, 0u);
  EXPECT_EQ(models_.at("one"), before);
  replace_model(folder_, "home/one", "20");
  const serve::Reloaded result = models_.reload();
  EXPECT_EQ(result.replaced, 1u);
  EXPECT_EQ(result.said, std::vector<std::string>{"one: loaded again"});
  EXPECT_NE(models_.at("one"), before);
  EXPECT_GT(parameters("one"), before->description["parameters"]);
  EXPECT_EQ(models_.at("apart"), apart);
  EXPECT_EQ(before->name, "one") << "who asked before still has it";
}

TEST_F(Reloading, WhatCannotBeLoadedLeavesTheOldOneInItsPlace) {
  const auto before = models_.at("one");
  std::ofstream(fs::path(one_) / "weights.safetensors") << "damaged";
  const serve::Reloaded result = models_.reload();
  EXPECT_EQ(result.failed, 1u);
  ASSERT_EQ(result.said.size(), 1u);
  EXPECT_TRUE(result.said[0].starts_with("one: stays as it was")) << result.said[0];
  EXPECT_EQ(models_.at("one"), before);
  replace_model(folder_, "home/one", "16");
  EXPECT_EQ(models_.reload().replaced, 1u) << "once it can be";
}

TEST_F(Reloading, FindsWhatIsNewAndLetsGoOfWhatIsGone) {
  tiny_model(folder_, "home/two");
  EXPECT_EQ(models_.reload().added, 1u);
  EXPECT_EQ(models_.at("two")->name, "two");
  fs::remove_all(folder_.path() / "home/one");
  fs::remove_all(apart_);
  const serve::Reloaded result = models_.reload();
  EXPECT_EQ(result.removed, 1u);
  EXPECT_THROW(models_.at("one"), serve::Refusal);
  EXPECT_EQ(models_.at("apart")->name, "apart") << "named at the start: it stays";
  tiny_model(folder_, "home/one");
  EXPECT_EQ(models_.reload().added, 1u) << "it is there again";
  EXPECT_EQ(models_.at("one")->name, "one");
}

TEST_F(Reloading, AModelInPlaceOfAnotherKeepsItsFolderAway) {
  tiny_model(folder_, "home/two");
  models_.load("one", "two");
  EXPECT_EQ(models_.at("one")->folder.filename(), "two");
  EXPECT_EQ(models_.reload().added, 0u) << "the old folder of its name comes back under no other";
  models_.load("one", "one");
  EXPECT_EQ(models_.reload().added, 0u);
  EXPECT_EQ(models_.at("one")->folder.filename(), "one");
}

TEST_F(Reloading, LoadsAndUnloadsByName) {
  const auto code = [&](auto&& act) {
    try {
      act();
    } catch (const serve::Refusal& refusal) {
      return refusal.status();
    }
    return 200;
  };
  EXPECT_EQ(models_.load("new", "one")->name, "new");
  EXPECT_EQ(models_.all().size(), 3u);
  models_.unload("one");
  EXPECT_EQ(code([&] { models_.at("one"); }), 404);
  EXPECT_EQ(models_.reload().added, 0u) << "it was unloaded on purpose";
  for (const char* outside : {"..", "../apart", "/", ".", "", "one/../../apart"}) {
    EXPECT_EQ(code([&] { models_.load("x", outside); }), 400) << outside;
  }
  fs::create_directory_symlink(apart_, fs::path(home()) / "link");
  EXPECT_EQ(code([&] { models_.load("x", "link"); }), 400) << "leads out of the folder";
  EXPECT_EQ(code([&] { models_.load("x", "nothing"); }), 404);
  for (const char* name : {"a b", "a/b", ".hidden", ""})
    EXPECT_EQ(code([&] { models_.load(name, "one"); }), 400) << name;
  EXPECT_EQ(code([&] { models_.unload("nobody"); }), 404);
  testing::internal::CaptureStderr();
  const auto before = models_.at("new");
  std::ofstream(fs::path(one_) / "weights.safetensors") << "damaged";
  EXPECT_EQ(code([&] { models_.load("new", "one"); }), 409);
  EXPECT_EQ(models_.at("new"), before);
  EXPECT_NE(testing::internal::GetCapturedStderr(), "");
  serve::Models closed({apart_}, "", "", kNoLab);
  EXPECT_EQ(code([&] { closed.load("x", "one"); }), 403);
}

TEST(ReloadingBodies, HaveOneFolderAndNothingElse) {
  EXPECT_EQ(serve::parse_folder(R"({"folder": "a"})"), "a");
  for (const char* wrong : {"", "[]", R"({"folder": 3})", R"({"folder": "a", "more": 1})", R"({"folder": [[[["a"]]]]})",
                            R"({"name": "a"})"}) {
    EXPECT_THROW(serve::parse_folder(wrong), serve::Refusal) << wrong;
  }
}

TEST(ReloadingServer, AnswersEveryRequestWhileAModelIsReplaced) {
  const TestFolder folder;
  const std::string text = "admin attend-a-key-for-this-test - admin\n";
  std::ofstream(folder.path() / "keys") << text;
  tiny_model(folder, "home/one"), tiny_model(folder, "home/two");
  serve::ServeOptions options;
  options.security.keys = (folder.path() / "keys").string();
  options.models = (folder.path() / "home").string();
  Served served(options, [](const TestFolder&) { return std::vector<std::string>(); });
  const httplib::Headers admin{{"X-Api-Key", "attend-a-key-for-this-test"}};
  std::atomic<bool> over{false};
  std::atomic<int> answered{0}, other{0};
  std::vector<std::thread> clients;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back([&] {
      httplib::Client client = served.client();
      client.set_keep_alive(true);
      while (!over) {
        const auto result = client.Post("/v1/run", admin, R"({"model": "one", "text": "a b c"})", "application/json");
        ++(result && result->status == 200 ? answered : other);
      }
    });
  }
  for (int i = 0; i < 6; ++i) {
    const int before = answered;
    const auto put = served.client().Put("/v1/models/one", admin,
                                         i % 2 ? R"({"folder": "one"})" : R"({"folder": "two"})", "application/json");
    EXPECT_EQ(put->status, 200) << put->body;
    EXPECT_EQ(json::parse(put->body)["name"], "one");
    while (answered < before + 8 && other == 0) std::this_thread::yield();
  }
  over = true;
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(other, 0);
  EXPECT_EQ(served.client().Put("/v1/models/one", admin, "{}", "application/json")->status, 400);
  EXPECT_EQ(served.client().Delete("/v1/models/one", admin)->status, 204);
  EXPECT_EQ(served.client().Get("/v1/models/one", admin)->status, 404);
}

}  // namespace
}  // namespace attend::test
