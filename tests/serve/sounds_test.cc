// Models that hear, as a client of the server sees them.
#include <gtest/gtest.h>

#include "attend/base/base64.h"
#include "attend/base/random.h"
#include "attend/data/sound_file.h"
#include "tests/serve/served.h"

namespace attend::test {
namespace {

data::Sound hiss(double seconds) {
  data::Sound sound{.rate = 16000};
  Random random(1);
  for (int64_t i = 0; i < static_cast<int64_t>(seconds * 16000); ++i) sound.samples.push_back(0.2F * (random.uniform() - 0.5F));
  return sound;
}

std::string tiny_listener(const TestFolder& folder) {
  save_untrained(folder.path() / "listener",
                 {{"task", "listen", ""},
                  {"model.encoder.size", "8", ""},
                  {"model.decoder.size", "8", ""},
                  {"search.max_length", "6", ""}},
                 {.train = tasks::examples_of({{.inputs = {hiss(1)}, .right = {"say some words"}, .name = "a"}})});
  return (folder.path() / "listener").string();
}

json asked(const std::string& path, json body) {
  static Served one({}, [](const TestFolder& folder) { return std::vector{tiny_listener(folder)}; });
  const httplib::Result result = one.post(path, body.dump());
  EXPECT_EQ(result->status, 200) << result->body;
  return body_of(result);
}

TEST(ServedSounds, AreAnsweredAndExplainedAlike) {
  const json body{{"sound", base64(data::encode_wav(hiss(1.5)))}};
  const json said = asked("/v1/run", body), why = asked("/v1/explain", body);
  EXPECT_EQ(said["answers"][0][0]["text"], why["target"]["text"]);
  EXPECT_NEAR(why["source"]["sound"]["seconds"].get<double>(), 1.5, 1e-6);
}

TEST(ServedSounds, AreExplainedByEveryMethod) {
  json body{{"sound", base64(data::encode_wav(hiss(1)))}};
  for (const char* method : {"attention", "saliency"}) {
    body["method"] = method;
    EXPECT_EQ(asked("/v1/explain", body)["maps"][0]["method"], method);
  }
}

TEST(ServedSounds, AreExplainedWithAnAnswerThatIsGiven) {
  const json why = asked("/v1/explain", {{"sound", base64(data::encode_wav(hiss(1)))}, {"target", "some words"}});
  EXPECT_EQ(why["target"]["text"], "some words");
}

}  // namespace
}  // namespace attend::test
