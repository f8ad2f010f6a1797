// Requests that are computed together: who joins when, who leaves, and that nobody's answer depends on it.
#include "serve/crowds.h"

#include <gtest/gtest.h>

#include <map>
#include <thread>

#include "attend/base/random.h"
#include "tests/serve/served.h"

namespace attend::test {
namespace {

using namespace std::chrono_literals;
using serve::CrowdRequest;
using serve::Lane;

/// A model, a lane of its own for it, and a clock that stands still: each turn is one step.
class LaneTest : public testing::Test {
 protected:
  std::shared_ptr<CrowdRequest> asked(const json& body, const std::string& client = "a") {
    const serve::RunRequest request = serve::parse_run(body.dump(), limits_);
    model_->check(request, limits_);
    auto one = model_->for_crowd(request, limits_);
    one->job = std::make_shared<serve::Job>();
    one->job->client = client;
    one->done = [this, request](CrowdRequest& found, std::exception_ptr error) {
      try {
        if (error) std::rethrow_exception(error);
        said_[&found] = model_->said(request, found);
      } catch (const serve::Cancelled&) {
        said_[&found] = "cancelled";
      }
    };
    return one;
  }
  std::shared_ptr<CrowdRequest> added(const json& body, const std::string& client = "a") {
    requests_.push_back(asked(body, client));
    lane_.add(requests_.back());
    return requests_.back();
  }
  bool step(size_t most_begun = 0) {
    return lane_.turn(driver_, {.most_begun = most_begun, .slice = 0s}, [] { return serve::Clock::time_point(); });
  }
  std::string said(const std::shared_ptr<CrowdRequest>& request) {
    const auto found = said_.find(request.get());
    return found == said_.end() ? "" : found->second;
  }
  /// The answer of a lane with nobody else in it.
  std::string alone(const json& body) {
    Lane lane(model_->task());
    const auto request = asked(body);
    lane.add(request);
    while (lane.turn(driver_, {.slice = 0s}, [] { return serve::Clock::time_point(); })) {
    }
    return said(request);
  }

  TestFolder folder_;
  const serve::Limits limits_;
  std::shared_ptr<const serve::ServedModel> model_ =
      std::make_shared<const serve::ServedModel>("tiny", tiny_model(folder_, "tiny"));
  Lane lane_{model_->task()};
  serve::Job driver_;
  std::vector<std::shared_ptr<CrowdRequest>> requests_;
  std::map<const CrowdRequest*, std::string> said_;
};

json random_body(Random& random) {
  const auto text = [&] {
    std::string words = "a";
    for (uint64_t i = random.below(70); i > 0; --i)
      words += std::string(" ") + static_cast<char>('a' + random.below(8));
    return words;  // some of them too long for one piece
  };
  json body;
  if (random.below(3) == 0) {
    for (uint64_t i = 1 + random.below(5); i > 0; --i) body["texts"].push_back(text());
  } else {
    body["text"] = text();
  }
  if (random.below(3) == 0) {
    body["sample"] = true, body["seed"] = random.below(9), body["n_best"] = 1 + random.below(3);
  } else {
    body["beam"] = 1 + random.below(6);
  }
  if (random.below(3) == 0) body["prefix"] = "B A";
  if (random.below(2) == 0) body["no_repeat_ngram"] = 2;
  body["max_length"] = 3 + random.below(12);
  return body;
}

TEST_F(LaneTest, AnswersAreTheSameAloneAndInCompany) {
  Random random(4);
  std::vector<json> bodies;
  for (int i = 0; i < 60; ++i) bodies.push_back(random_body(random));
  std::vector<std::string> expected;
  for (const json& body : bodies) expected.push_back(alone(body));
  size_t next = 0, cancelled = 0;
  do {
    for (uint64_t i = random.below(6); i > 0 && next < bodies.size(); --i) {
      added(bodies[next], std::string(1, static_cast<char>('a' + next % 3)));
      ++next;
    }
    if (random.below(5) == 0) {
      serve::Job& job = *requests_[random.below(requests_.size())]->job;
      cancelled += !job.cancelled.exchange(true);
    }
  } while (step() || next < bodies.size());
  size_t answered = 0;
  for (size_t i = 0; i < bodies.size(); ++i) {
    const std::string found = said(requests_[i]);
    if (found == "cancelled") continue;
    EXPECT_EQ(found, expected[i]) << bodies[i];
    ++answered;
  }
  EXPECT_GE(answered + cancelled, bodies.size());
  EXPECT_GT(answered, bodies.size() / 2);
  EXPECT_GT(lane_.state().row_steps, 4 * lane_.state().steps) << "many are computed at once";
}

const json kEndlessText{{"text", "a b"}, {"beam", 4}, {"min_length", 2000}, {"max_length", 2000}};

TEST_F(LaneTest, WhoGoesAwayIsGoneAtTheNextStep) {
  const auto stays = added(kEndlessText), leaves = added(kEndlessText);
  for (int i = 0; i < 3; ++i) step();
  EXPECT_EQ(lane_.state().computing, 2);
  leaves->job->cancelled = true;
  step();
  EXPECT_EQ(said(leaves), "cancelled");
  EXPECT_EQ(lane_.state().computing, 1);
  EXPECT_EQ(lane_.state().rows, 4);
  EXPECT_EQ(said(stays), "");
  lane_.give_up({.stopping = true});
  EXPECT_EQ(said(stays), "cancelled");
}

TEST_F(LaneTest, ANewClientJoinsAtOnceHoweverManyOthersAreThere) {
  for (int i = 0; i < 200; ++i) added(kEndlessText, "many");
  for (int i = 0; i < 5; ++i) step();
  EXPECT_EQ(lane_.state().computing, 64) << "256 hypotheses at once";
  EXPECT_EQ(lane_.state().waiting, 136);
  const auto sentence = added({{"text", "a b"}, {"max_length", 2}}, "another");
  step();
  EXPECT_TRUE(sentence->begun);
  step();
  step();
  EXPECT_NE(said(sentence), "") << "answered meanwhile";
}

TEST_F(LaneTest, ClientsJoinInTurn) {
  std::vector<std::shared_ptr<CrowdRequest>> many, few;
  for (int i = 0; i < 100; ++i) many.push_back(added(kEndlessText, "many"));
  for (int i = 0; i < 10; ++i) few.push_back(added(kEndlessText, "few"));
  step();
  EXPECT_EQ(std::ranges::count_if(few, [](const auto& one) { return one->begun.load(); }), 10);
  EXPECT_EQ(std::ranges::count_if(many, [](const auto& one) { return one->begun.load(); }), 54);
}

TEST_F(LaneTest, OfLongRequestsOnlySoManyBeginAndOneClientHasHalfOfThem) {
  for (int i = 0; i < 5; ++i) added(kEndlessText, "a");
  step(4);
  EXPECT_EQ(lane_.state().computing, 2);
  for (int i = 0; i < 5; ++i) added(kEndlessText, "b");
  step(4);
  EXPECT_EQ(lane_.state().computing, 4);
  EXPECT_EQ(lane_.state().waiting, 6);
}

TEST_F(LaneTest, TellsTheBeginningOfAnAnswerStepByStep) {
  const json body{{"text", "a b c"}, {"beam", 1}, {"min_length", 5}, {"max_length", 5}};
  const auto request = asked(body);
  std::vector<size_t> lengths;
  std::string last;
  request->partial = [&](const std::vector<int32_t>& tokens) {
    lengths.push_back(tokens.size());
    last = model_->beginning(*request, tokens);
  };
  lane_.add(request);
  while (step()) {
  }
  EXPECT_EQ(lengths, (std::vector<size_t>{1, 2, 3, 4}));
  const std::string whole = json::parse(said(request))["answers"][0][0]["text"];
  EXPECT_TRUE(whole.starts_with(last)) << last << " / " << whole;
}

TEST(Crowds, AClientWithFewPlacesTakesOneOverFromAnother) {
  serve::ServeOptions options;
  options.traffic.workers = 1, options.traffic.waiting = 5;  // of which long ones have three
  options.traffic.long_requests = 1;
  options.limits.answer_tokens = decode::kLongestAnswer;
  options.limits.cost = 1'000'000'000'000;
  options.limits.seconds = 86'400;
  options.traffic.stop_seconds = 0.001;
  Served served(options);
  const std::string endless =
      json{{"text", "a"}, {"min_length", 100'000}, {"max_length", 100'000}, {"beam", 32}}.dump();
  std::atomic<int> displaced{0};
  std::vector<std::thread> clients;
  const auto asked_by = [&](const std::string& address) {
    clients.emplace_back([&, address] {
      httplib::Client client = served.client();
      client.set_interface(address);
      const auto result = client.Post("/v1/run", endless, "application/json");
      displaced += result && result->body.find("went to another client") != std::string::npos;
    });
  };
  const auto wait_for = [&](const char* what, int64_t wanted) {
    while (json::parse(served.get("/healthz")->body)[what] != wanted) std::this_thread::yield();
  };
  asked_by("127.0.0.2");
  wait_for("running", 1);
  for (int64_t i = 1; i <= 2; ++i) asked_by("127.0.0.2"), wait_for("waiting", i);
  asked_by("127.0.0.3");
  while (displaced == 0) std::this_thread::yield();
  EXPECT_EQ(displaced, 1);
  served.server().stop();
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(displaced, 1);
}

TEST(Crowds, WhoHangsUpFreesItsPlace) {
  serve::ServeOptions options;
  options.limits.answer_tokens = decode::kLongestAnswer;
  options.limits.cost = 1'000'000'000'000;
  options.limits.seconds = 86'400;
  const Served served(options);
  const std::string body = json{{"texts", std::vector<std::string>(200, "a")},
                                {"min_length", 100'000},
                                {"max_length", 100'000},
                                {"beam", 32}}
                               .dump();
  const auto wait_for = [&](int64_t running) {
    while (json::parse(served.get("/healthz")->body)["running"] != running) std::this_thread::yield();
  };
  {
    const RawClient client(served.port());
    client.send("POST /v1/run HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " +
                std::to_string(body.size()) + "\r\n\r\n" + body);
    wait_for(1);
  }
  wait_for(0);
}

}  // namespace
}  // namespace attend::test
