// Models that look at images, as a client of the server sees them.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "attend/base/base64.h"
#include "attend/data/digits.h"
#include "attend/data/image_file.h"
#include "attend/tasks/explanation.h"
#include "tests/serve/served.h"
#include "tests/support/message.h"

namespace attend::test {
namespace {

Served& served_images() {
  static Served one({}, [](const TestFolder& folder) {
    std::vector<std::string> all;
    for (const char* network : {"glimpse", "image_classifier", "captioner", "autoencoder"}) {
      all.push_back(tiny_image_model(folder, network));
    }
    all.push_back(tiny_model(folder, "text"));
    return all;
  });
  return one;
}

data::Image seven() { return data::digit(1, 0).image; }
std::string png(const data::Image& image) { return base64(data::encode_png(image)); }

httplib::Result ask(const std::string& path, const std::string& model, json body) {
  body["model"] = model;
  return served_images().post(path, body.dump());
}

tasks::TaskModel loaded(const std::string& network) {
  return tasks::TaskModel::load(served_images().folder().path() / network);
}
std::vector<tasks::Answer> own_answers(const std::string& network, const decode::SearchOptions& search = {}) {
  return loaded(network).answer(std::vector{image_example(seven())}, {.search = search}).at(0);
}

TEST(ServedImages, AreDescribedWithAllThatAPageNeeds) {
  const json models = body_of(served_images().get("/v1/models"))["models"];
  ASSERT_EQ(models.size(), 5u);
  EXPECT_EQ(models[0]["reads"], "image");
  EXPECT_EQ(models[0]["answers"], "label");
  EXPECT_EQ(models[0]["task"], "glimpse");
  EXPECT_EQ(models[0]["size"], 28);
  EXPECT_EQ(models[0]["channels"], 1);
  EXPECT_EQ(models[0]["labels"].size(), 10u);
  EXPECT_EQ(models[0]["methods"], json({"glimpses", "saliency", "jacobian"}));
  EXPECT_EQ(models[0]["searches"], false);
  EXPECT_EQ(models[0]["inputs"], json::parse(R"([{"name": "image", "kind": "image"}])"));
  EXPECT_EQ(models[0]["scores"], json::array()) << "it has not been trained";
  EXPECT_EQ(models[1]["methods"], json({"gradcam", "saliency", "jacobian"}));
  EXPECT_EQ(models[2]["answers"], "words");
  EXPECT_EQ(models[2]["searches"], true);
  EXPECT_EQ(models[2]["channels"], 3);
  EXPECT_EQ(models[2]["methods"], json({"attention", "gradcam", "saliency", "jacobian"}));
  EXPECT_EQ(models[2]["search"]["max_length"], 5);
  EXPECT_EQ(models[3]["answers"], "image");
  EXPECT_EQ(models[3]["methods"], json::array());
  EXPECT_EQ(models[4]["reads"], "text");
}

TEST(ServedImages, AnswerWithLabelsAndTheirProbabilities) {
  const json said = body_of(ask("/v1/run", "glimpse", {{"image", png(seven())}, {"n_best", 10}}));
  EXPECT_EQ(said["model"], "glimpse");
  ASSERT_EQ(said["answers"].size(), 1u);
  ASSERT_EQ(said["answers"][0].size(), 10u);
  const std::vector<tasks::Answer> own = own_answers("glimpse", {.n_best = 10});
  double sum = 0;
  for (size_t i = 0; i < 10; ++i) {
    const json& answer = said["answers"][0][i];
    EXPECT_EQ(answer["text"], own[i].text);
    EXPECT_NEAR(answer["score"].get<double>(), own[i].score, 1e-5);
    EXPECT_NEAR(std::exp(answer["log_probability"].get<double>()), own[i].score, 1e-5);
    sum += answer["score"].get<double>();
  }
  EXPECT_NEAR(sum, 1, 1e-4);
  const json address = body_of(ask("/v1/run", "glimpse", {{"image", "data:image/png;base64," + png(seven())}}));
  EXPECT_EQ(address["answers"][0][0], said["answers"][0][0]);
}

TEST(ServedImages, AnswerWithCaptionsWholeAndInAStream) {
  const json asked{{"image", png(seven())}, {"model", "captioner"}, {"beam", 2}, {"n_best", 2}};
  const json said = body_of(served_images().post("/v1/run", asked.dump()));
  ASSERT_EQ(said["answers"][0].size(), 2u);
  decode::SearchOptions search = loaded("captioner").config().options.search;
  search.beam = search.n_best = 2;
  EXPECT_EQ(said["answers"][0][1]["text"], own_answers("captioner", search).at(1).text);
  EXPECT_LT(said["answers"][0][0]["log_probability"], 0);
  json streamed = asked;
  streamed["stream"] = true;
  std::istringstream lines(served_images().post("/v1/run", streamed.dump())->body);
  std::vector<json> all;
  for (std::string line; std::getline(lines, line);) all.push_back(json::parse(line));
  ASSERT_GE(all.size(), 1u);
  for (size_t i = 0; i + 1 < all.size(); ++i) EXPECT_TRUE(all[i].contains("partial")) << all[i];
  EXPECT_EQ(all.back(), said);
}

TEST(ServedImages, AnAutoencoderAnswersWithAnImage) {
  const json answer = body_of(ask("/v1/run", "autoencoder", {{"image", png(seven())}}))["answers"][0][0];
  EXPECT_EQ(answer["width"], 28);
  const std::string bytes = from_base64(answer["image"].get<std::string>(), "answer");
  const data::Image image =
      data::decode_image({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, "answer");
  EXPECT_EQ(image.pixels, own_answers("autoencoder").at(0).image.pixels);
  expect_error(ask("/v1/explain", "autoencoder", {{"image", png(seven())}}), 400, "bad_request",
               "method: this model has none");
}

TEST(ServedImages, AreExplainedByTheLookThatTheCommandWrites) {
  struct Row {
    const char *model, *method;
    json more;
  };
  for (const auto& [name, method, more] :
       std::initializer_list<Row>{{"glimpse", "glimpses", json::object()},
                                  {"image_classifier", "gradcam", json::object()},
                                  {"image_classifier", "saliency", {{"target", "3"}}},
                                  {"captioner", "attention", {{"beam", 2}}},
                                  {"captioner", "attention", {{"target", "a red circle"}}}}) {
    json asked = more;
    asked["image"] = png(seven()), asked["method"] = method;
    const auto result = ask("/v1/explain", name, asked);
    const tasks::TaskModel model = loaded(name);
    tasks::ExplainOptions options{.method = method, .search = model.config().options.search};
    if (more.contains("target")) options.target = more["target"].get<std::string>();
    if (more.contains("beam")) options.search.beam = more["beam"];
    ASSERT_EQ(result->status, 200) << result->body;
    const auto own = std::get<explain::ImageLook>(tasks::explain(model, image_example(seven(), {}, ""), options));
    EXPECT_EQ(result->body, explain::look_json(own)) << name << asked;
  }
}

TEST(ServedImages, RefuseWhatIsNoImage) {
  const std::string whole = data::encode_png(seven());
  const auto refused = [](const std::string& image, int status, const std::string& code, const std::string& part) {
    for (const char* path : {"/v1/run", "/v1/explain"}) {
      expect_error(ask(path, "glimpse", {{"image", image}}), status, code, part);
    }
  };
  refused("a b c", 400, "bad_request", "image: expected base64 in groups of 4 letters");
  refused(base64("hello"), 400, "bad_request",
          "image: expected a PNG or JPEG image, got a file that begins with 0x68");
  refused(base64(whole.substr(0, 60)), 400, "bad_request",
          "image: expected a whole PNG image of 28×28, got a damaged");
  refused(base64(whole.substr(0, 12)), 400, "bad_request", "image: expected a PNG image, got a damaged one");
  refused(png(data::Image(1, 1, 1)), 400, "bad_request", "image: expected at least 4 pixels each way, got 1×1");
  refused(png(data::Image(1, 500, 3)), 400, "bad_request", "got 1×500");
  refused(png(data::Image(2001, 2000, 1)), 413, "too_large",
          "image: expected an image of 1 to 4000000 pixels, got 2001×2000; send a smaller one");
  refused(std::string(1 << 20, 'A'), 413, "too_large", "body: expected at most 1048576 bytes");
}

TEST(ServedImages, RefuseTextsAndTextModelsRefuseImages) {
  const std::string image = png(seven());
  for (const char* path : {"/v1/run", "/v1/explain"}) {
    expect_error(ask(path, "glimpse", {{"text", "a"}}), 400, "bad_request",
                 "image: the model \"glimpse\" looks at images (a PNG or JPEG file in base64), got a text");
    expect_error(ask(path, "text", {{"image", image}}), 400, "bad_request",
                 "text: the model \"text\" reads text, got an image");
    expect_error(ask(path, "text", {{"image", image}, {"text", "a"}}), 400, "bad_request", "got text and image");
    expect_error(ask(path, "captioner", {{"image", image}, {"prefix", "a"}}), 400, "bad_request",
                 "prefix: only models that read text take one, not \"captioner\"");
    expect_error(ask(path, "captioner", {{"image", image}, {"beam", 0}}), 400, "bad_request", "beam");
    expect_error(ask(path, "captioner", {{"image", image}, {"n_best", 33}}), 400, "over_limit", "n_best: expected at most 32");
    expect_error(ask(path, "glimpse", {{"image", image}, {"coverage_penalty", 0.2}}), 400, "bad_request",
                 "coverage_penalty: this model's decoder does not attend");
  }
}

TEST(ServedImages, RefuseToExplainWhatTheyDoNotHave) {
  const auto refused = [](const std::string& model, json body, const std::string& part) {
    body["image"] = png(seven());
    expect_error(ask("/v1/explain", model, body), 400, "bad_request", part);
  };
  refused("glimpse", {{"method", "gradcam"}}, "method: this model has glimpses, saliency, jacobian; got \"gradcam\"");
  refused("glimpse", {{"target", "3"}}, "target: expected a captioner or a classifier, got a glimpse network");
  refused("image_classifier", {{"target", "11"}}, "the nearest is \"1\"");
  refused("image_classifier", {{"method", "attention"}}, "method: this model has gradcam, saliency, jacobian; got");
  refused("captioner", {{"layer", 0}}, "layer: only models that read text or hear sounds have this");
  refused("captioner", {{"weights", true}}, "weights: only models that read text or hear sounds have this");
}

TEST(ServedImages, ALookKeepsToTheWeightsThatItMayKeep) {
  serve::ServeOptions options;
  options.limits.weights = 10;
  const Served small(options,
                     [](const TestFolder& folder) { return std::vector{tiny_image_model(folder, "captioner")}; });
  expect_error(small.post("/v1/explain", json{{"image", png(seven())}}.dump()), 413, "too_large", "--weights");
}

TEST(ServedImages, AGalleryHasTheWorstFirst) {
  const json none = body_of(served_images().get("/v1/models/autoencoder/gallery"));
  ASSERT_EQ(none["images"].size(), 24u) << "without answers in words: the first";
  EXPECT_EQ(none["images"][0]["name"], "digit 0");
  EXPECT_TRUE(none["images"][0]["output"].is_null());
  std::ofstream lines(served_images().folder().path() / "glimpse/valid.jsonl");
  for (int i = 0; i < 100; ++i) {
    lines << json{{"source", "digit " + std::to_string(i)}, {"reference", "7"}, {"output", "1"}, {"chrf", 99 - i}}
          << '\n';
  }
  lines.close();
  const json gallery = body_of(served_images().get("/v1/models/glimpse/gallery"));
  ASSERT_EQ(gallery["images"].size(), 24u);
  EXPECT_EQ(gallery["images"][0]["name"], "digit 99");
  EXPECT_EQ(gallery["images"][15]["name"], "digit 84");
  EXPECT_EQ(gallery["images"][23]["name"], "digit 0") << "the best is the last";
  EXPECT_EQ(gallery["images"][0]["reference"], "7");
  const tasks::Example own = tasks::read_corpus(loaded("glimpse").config()).valid.at(99);
  EXPECT_EQ(gallery["images"][0]["image"], png(std::get<data::Image>(own.inputs.at(0))));
  std::ofstream(served_images().folder().path() / "image_classifier/valid.jsonl")
      << R"({"source":"/etc/digit 0","reference":"7","output":"1","chrf":0})" << '\n';
  const json other = body_of(served_images().get("/v1/models/image_classifier/gallery"));
  EXPECT_EQ(other["images"], json::array()) << "no image of that name";
  EXPECT_TRUE(other.contains("note"));
}

TEST(ServedImages, AreNotModelsThatReadFeatures) {
  const TestFolder folder;
  const tasks::Example features{.inputs = {Tensor::zeros({8, 4, 4})}, .right = {"a b"}, .name = "x.npy"};
  save_untrained(folder.path(),
                 {{"task", "caption", ""}, {"model.hidden", "16", ""}, {"model.encoder.kind", "none", ""}},
                 {.train = tasks::examples_of({features})});
  serve::ServeOptions options;
  options.port = 0;
  EXPECT_NE(message_of([&] { serve::Server({folder.path().string()}, options); }).find("reads the features of another"),
            std::string::npos);
}

TEST(ServedImages, AGalleryOfFilesNamesThemWithoutTheirFolder) {
  const Served files(
      {}, [](const TestFolder& folder) {
        const std::filesystem::path images = folder.path() / "data";
        for (const char* label : {"no", "yes"}) {
          std::filesystem::create_directories(images / label);
          data::write_png(images / label / "one.png", seven());
        }
        const std::filesystem::path path = folder.path() / "files";
        save_untrained(path,
                       {{"task", "glimpse", ""},
                        {"images", images.string(), ""},
                        {"model.hidden", "16", ""},
                        {"size", "28", ""},
                        {"channels", "1", ""}},
                       image_corpus(28, {}, {"no", "yes"}));
        std::ofstream(path / "valid.jsonl")
            << json{{"source", (images / "yes/one.png").string()}, {"reference", "yes"}, {"output", "no"}, {"chrf", 0}}
            << '\n';
        return std::vector{path.string()};
      });
  const json gallery = body_of(files.get("/v1/models/files/gallery"));
  ASSERT_EQ(gallery["images"].size(), 1u) << gallery;
  EXPECT_EQ(gallery["images"][0]["name"], "yes/one.png");
  EXPECT_EQ(gallery["images"][0]["reference"], "yes");
  EXPECT_EQ(gallery["images"][0]["image"], png(seven()));
}

}  // namespace
}  // namespace attend::test
