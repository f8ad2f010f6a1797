// Encoders of sound: the pyramid, the front end, and sounds that are heard piece by piece.
#include "attend/models/sound_encoder.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "attend/attention/observe.h"
#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/decode/search.h"
#include "attend/models/ctc_stream.h"
#include "attend/models/joint.h"
#include "tests/models/small.h"

namespace attend::models {
namespace {

constexpr int64_t kHeardFeatures = 5;

Tensor random_frames(const Shape& shape, uint64_t seed) {
  Random random(seed);
  Tensor x(shape);
  for (real& v : x.values()) v = static_cast<real>(random.normal());
  return x;
}

SequenceEncoderOptions listening(const std::string& kind) {
  SequenceEncoderOptions o;
  o.kind = kind, o.features = kHeardFeatures, o.size = 6, o.layers = 1, o.heads = 2, o.hidden = 8, o.cell = "lstm";
  o.front_filters = 3;
  return o;
}

Encoded heard_by(const SequenceEncoderOptions& options, const Tensor& frames, const std::vector<int32_t>& lengths) {
  Random random(4);
  const auto encoder = make_encoder(options, random);
  const TapePause pause;
  return (*encoder)(data::Source::of_frames(frames, lengths), nullptr);
}

TEST(SoundEncoder, PairsStandSideBySide) {
  const Tensor x = Tensor::of({3, 2, 2}, {1, 2, 10, 20, 3, 4, 30, 40, 5, 6, 50, 60});
  const Tensor pairs = in_pairs(x).value();
  ASSERT_EQ(pairs.shape(), (Shape{2, 2, 4}));
  const std::vector<real> expected{1, 2, 3, 4, 10, 20, 30, 40, 5, 6, 0, 0, 50, 60, 0, 0};
  EXPECT_EQ(std::vector<real>(pairs.begin(), pairs.end()), expected);
}

/// A pyramid without layers on top is its first layers, and each layer halves the number of places, rounded up.
TEST(SoundEncoder, EachLayerOfThePyramidHalvesTime) {
  const Tensor frames = random_frames({2, 21, kHeardFeatures}, 1);
  for (const bool both : {false, true}) {
    for (const int64_t pyramid : {0, 1, 2, 5}) {
      SequenceEncoderOptions o = listening("listener");
      o.bidirectional = both, o.pyramid = pyramid;
      const Encoded read = heard_by(o, frames, {21, 9});
      const auto halved = [&](int32_t length) { return (length + (1 << pyramid) - 1) >> pyramid; };
      EXPECT_EQ(read.lengths, (std::vector<int32_t>{halved(21), halved(9)}));
      EXPECT_EQ(read.states.shape(), (Shape{2, halved(21), both ? 12 : 6}));
      EXPECT_EQ(read.last.size(), static_cast<size_t>((both ? 2 : 1) * (1 + pyramid)));
      Random random(4);
      const EncodedSizes sizes = make_encoder(o, random)->sizes();
      EXPECT_EQ(sizes.stride, 1 << pyramid);
      EXPECT_EQ(sizes.places(21), halved(21));
      EXPECT_EQ(sizes.states, read.states.dim(2));
    }
  }
  SequenceEncoderOptions flat = listening("listener"), plain = listening("recurrent");
  flat.pyramid = 0;
  const Tensor a = heard_by(flat, frames, {21, 9}).states.value(), b = heard_by(plain, frames, {21, 9}).states.value();
  EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin(), b.end()));
}

/// What is beyond the end of a sound is neither heard nor given.
TEST(SoundEncoder, APaddedSoundIsAsItIsAlone) {
  const Tensor noise = random_frames({2, 23, kHeardFeatures}, 2);
  for (const EncoderRow& row : encoders()) {
    if (!row.of_sound) continue;
    for (const FrontRow& front : fronts()) {
      SCOPED_TRACE(std::string(row.name) + ", front " + std::string(front.name));
      SequenceEncoderOptions o = listening(std::string(row.name));
      o.front = front.name;
      for (const int32_t length : {1, 2, 3, 4, 5, 13}) {
        const Encoded together = heard_by(o, noise, {23, length});
        const Encoded alone = heard_by(o, noise[1].rows(0, length).reshape({1, length, kHeardFeatures}), {length});
        const int64_t places = alone.states.dim(1), D = alone.states.dim(2);
        ASSERT_EQ(together.lengths[1], places);
        for (int64_t i = 0; i < places * D; ++i) {
          ASSERT_NEAR(together.states.value()[1].data()[i], alone.states.value().data()[i], kTolerance)
              << "length " << length << ", element " << i;
        }
        for (int64_t i = 0; i < alone.summary.dim(1); ++i) {
          ASSERT_NEAR(together.summary.value()[1].data()[i], alone.summary.value().data()[i], kTolerance);
        }
      }
    }
  }
}

/// A frame changes the places that stand for it and its neighbours, not those far away.
TEST(SoundEncoder, TheFrontEndKeepsTimeInOrder) {
  SequenceEncoderOptions o = listening("transformer");
  o.front = "convolutional", o.layers = 0;
  const Tensor before = random_frames({1, 40, kHeardFeatures}, 3);
  Tensor after = before.clone();
  for (int64_t f = 0; f < kHeardFeatures; ++f) after.data()[20 * kHeardFeatures + f] += 1;
  const Tensor a = heard_by(o, before, {40}).states.value(), b = heard_by(o, after, {40}).states.value();
  ASSERT_EQ(a.dim(1), 10);
  for (int64_t t = 0; t < 10; ++t) {
    const bool same = std::equal(a[0].rows(t, t + 1).begin(), a[0].rows(t, t + 1).end(), b[0].rows(t, t + 1).begin());
    if (t == 5) {
      EXPECT_FALSE(same);
    } else if (t < 4 || t > 6) {
      EXPECT_TRUE(same) << "place " << t;
    }
  }
}

CtcModelOptions one_way_ctc(const std::string& cell, int64_t layers, int64_t pyramid, int64_t upsample) {
  CtcModelOptions o;
  o.encoder = listening("listener");
  o.encoder.bidirectional = false, o.encoder.cell = cell, o.encoder.layers = layers, o.encoder.pyramid = pyramid;
  o.labels = 9, o.upsample = upsample;
  return o;
}

/// In pieces of `piece` frames, or of random sizes, 0 among them.
Tensor heard_in_pieces(const CtcModel& model, const Tensor& frames, int64_t piece) {
  CtcStream stream(model);
  Random random(6);
  std::vector<real> all;
  const auto add = [&](const Tensor& logits) {
    EXPECT_EQ(logits.dim(1), 9);
    all.insert(all.end(), logits.begin(), logits.end());
  };
  for (int64_t t = 0; t < frames.dim(0);) {
    const int64_t size = piece > 0 ? piece : static_cast<int64_t>(random.below(9));
    const int64_t end = std::min(frames.dim(0), t + size);
    add(stream.push(frames.rows(t, end)));
    t = end;
  }
  add(stream.finish());
  EXPECT_THROW(stream.push(frames), Error);
  EXPECT_THROW(stream.finish(), Error);
  Tensor joined({static_cast<int64_t>(all.size()) / 9, 9});
  std::copy(all.begin(), all.end(), joined.data());
  return joined;
}

TEST(CtcStream, GivesTheLogitsOfTheWholeToTheLastBit) {
  for (const char* cell : {"rnn", "gru", "lstm"}) {
    for (const int64_t layers : {1, 2}) {
      for (const int64_t pyramid : {0, 1, 3}) {
        Random random(5);
        const CtcModel model(one_way_ctc(cell, layers, pyramid, 1 + layers), random);
        for (const int64_t T : {1, 2, 7, 40, 41}) {
          const Tensor frames = random_frames({T, kHeardFeatures}, 7);
          const Tensor whole =
              model.frames(data::Source::of_frames(frames.reshape({1, T, kHeardFeatures}), {static_cast<int32_t>(T)}));
          for (const int64_t piece : {1, 2, 3, 8, 100, 0}) {
            SCOPED_TRACE(std::string(cell) + ", layers " + std::to_string(layers) + ", pyramid " +
                         std::to_string(pyramid) + ", frames " + std::to_string(T) + " by " + std::to_string(piece));
            const Tensor pieces = heard_in_pieces(model, frames, piece);
            ASSERT_EQ(pieces.dim(0), whole.dim(1));
            ASSERT_TRUE(std::equal(pieces.begin(), pieces.end(), whole.begin(), whole.end()));
          }
        }
      }
    }
  }
}

TEST(CtcStream, NothingHeardIsNothingSaid) {
  Random random(5);
  const CtcModel model(one_way_ctc("lstm", 1, 2, 1), random);
  CtcStream stream(model);
  EXPECT_EQ(stream.push(Tensor({0, kHeardFeatures})).shape(), (Shape{0, 9}));
  EXPECT_EQ(stream.push(random_frames({3, kHeardFeatures}, 1)).shape(), (Shape{0, 9})) << "a place takes four frames";
  EXPECT_THROW(stream.push(Tensor::zeros({3, kHeardFeatures + 1})), Error);
  EXPECT_EQ(stream.finish().shape(), (Shape{1, 9}));
  EXPECT_EQ(CtcStream(model).finish().shape(), (Shape{0, 9}));
}

TEST(CtcStream, WhatNeedsTheFutureIsRefused) {
  const auto refused = [](auto change) {
    CtcModelOptions o = one_way_ctc("lstm", 1, 1, 1);
    change(o.encoder);
    Random random(5);
    const CtcModel model(o, random);
    EXPECT_THROW(CtcStream{model}, Error);
  };
  refused([](SequenceEncoderOptions& o) { o.bidirectional = true; });
  refused([](SequenceEncoderOptions& o) { o.front = "convolutional"; });
  refused([](SequenceEncoderOptions& o) { o.kind = "transformer"; });
}

/// An answer never says more than one word for each place that a sound was encoded to, whatever the network would like.
TEST(SoundAnswers, AreNoLongerThanTheSound) {
  JointOptions o;
  o.encoder.text = listening("listener");
  o.target_vocabulary = 9, o.decoder.recurrent.hidden = 6, o.decode_ctc_weight = 0;
  Random random(8);
  const Joint model(o, random);
  EXPECT_EQ(model.stride(), 4);
  for (const int32_t length : {1, 4, 5, 40}) {
    const data::Source source = data::Source::of_frames(random_frames({1, length, kHeardFeatures}, 9), {length});
    const int64_t places = (length + 3) / 4;
    EXPECT_EQ(model.longest_answer(length), places);
    EXPECT_EQ(decode::longest_answer(model, {}, length), places + 1);
    EXPECT_EQ(decode::longest_answer(model, {.max_length = 3}, length), 3);
    const auto found = decode::search(model, source, {.beam = 3, .n_best = 3});
    for (const decode::Hypothesis& one : found[0]) {
      EXPECT_LE(static_cast<int64_t>(one.tokens.size()), places + 1);
    }
  }
}

}  // namespace
}  // namespace attend::models
