// The captioner learns to say which coloured square is above which, softly and by choices that are drawn; and its first word
// looks at the square that it names.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>

#include "attend/attention/observe.h"
#include "attend/autograd/tape.h"
#include "attend/decode/search.h"
#include "attend/models/zoo.h"
#include "attend/train/optimiser.h"

namespace attend::models {
namespace {

constexpr int64_t kSide = 24, kSquare = 6, kSceneCells = 6;  // a grid of 6 × 6 cells of 4 × 4 pixels
constexpr int32_t kColours = 4, kAbove = data::kFirstWord + kColours, kSceneWords = kAbove + 1;

struct Scenes {
  data::Batch batch;
  std::vector<std::array<int64_t, 4>> corners;  // y, x of the upper and of the lower square
};

/// "COLOUR above COLOUR", the squares at random places of the upper and the lower half.
Scenes scenes(int64_t count, Random& random) {
  constexpr real kPaint[kColours][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 0}};
  Scenes all;
  Tensor images = Tensor::zeros({count, 3, kSide, kSide});
  std::vector<std::vector<int32_t>> captions;
  for (int64_t b = 0; b < count; ++b) {
    std::array<int64_t, 4> corner{};
    std::vector<int32_t> caption;
    for (size_t half = 0; half < 2; ++half) {
      const int64_t y = static_cast<int64_t>(half) * kSide / 2 +
                        static_cast<int64_t>(random.below(kSide / 2 - kSquare + 1)),
                    x = static_cast<int64_t>(random.below(kSide - kSquare + 1));
      const auto colour = static_cast<int32_t>(random.below(kColours));
      for (int64_t c = 0; c < 3; ++c) {
        for (int64_t i = 0; i < kSquare * kSquare; ++i) {
          images.data()[((b * 3 + c) * kSide + y + i / kSquare) * kSide + x + i % kSquare] = kPaint[colour][c];
        }
      }
      corner[2 * half] = y, corner[2 * half + 1] = x;
      if (half == 1) caption.push_back(kAbove);
      caption.push_back(data::kFirstWord + colour);
    }
    all.corners.push_back(corner);
    captions.push_back(caption);
  }
  all.batch = {data::Source::of_images(images), data::Sequences(captions)};
  return all;
}

/// Sums, for the first and the last word, the weight of cells that touch the square that it names.
struct Mass : Sink {
  explicit Mass(const Scenes& scenes) : scenes(scenes) {}
  void observe(const Observation& seen) override {
    if (seen.step != 0 && seen.step != 2) return;
    const size_t half = seen.step == 0 ? 0 : 2;
    for (int64_t n = 0; n < seen.weights.dim(0); ++n) {
      const auto& corner = scenes.corners[static_cast<size_t>(n)];
      for (int64_t cell = 0; cell < kSceneCells * kSceneCells; ++cell) {
        const int64_t y = cell / kSceneCells * 4, x = cell % kSceneCells * 4;
        const bool touches = y + 4 > corner[half] && y < corner[half] + kSquare && x + 4 > corner[half + 1] &&
                             x < corner[half + 1] + kSquare;
        if (touches) on += static_cast<double>(seen.weights.data()[n * kSceneCells * kSceneCells + cell]);
      }
      all += 1;
    }
  }
  const Scenes& scenes;
  double on = 0, all = 0;
};

struct Lesson {
  const char* align;
  int steps;
  double exact, on_square;  // at least
};
class CaptionsSlow : public testing::TestWithParam<Lesson> {};

TEST_P(CaptionsSlow, SayWhatIsAboveWhatAndLookAtIt) {
  Random random(1), draws(2);
  const auto model = make_model("captioner",
                                {{"target_vocabulary", std::to_string(kSceneWords)},
                                 {"encoder.stages", "16,32"},
                                 {"encoder.height", std::to_string(kSide)},
                                 {"encoder.width", std::to_string(kSide)},
                                 {"encoder.positions", "learned"},
                                 {"encoder.norm", "group"},
                                 {"embedding", "16"},
                                 {"hidden", "48"},
                                 {"attention.align", GetParam().align},
                                 {"reinforce.discount", "0"},
                                 {"reinforce.entropy", "0.05"},
                                 {"reinforce.normalise", "true"}},
                                random);
  const auto adam = train::make_optimiser("adam", {}, nn::parameters(*model));
  Training training{Random(3)};
  for (; training.update < GetParam().steps; ++training.update) {
    const Scenes lesson = scenes(32, draws);
    Tape tape;
    tape.backward(model->loss(lesson.batch, &training));
    adam->step(3e-3, train::clip_scale(train::gradient_norm(adam->parameters()), 1));
    adam->clear_gradients();
  }
  Random held_out(77);
  const Scenes test = scenes(200, held_out);
  const auto answers = decode::search(*model, test.batch.source, {.max_length = 6});
  double right = 0;
  for (int64_t b = 0; b < 200; ++b) {
    right += answers[static_cast<size_t>(b)][0].tokens == test.batch.target.row(b) ? 1 : 0;
  }
  Mass mass(test);
  {
    const Observing observing(mass);
    decode::score(*model, test.batch);
  }
  std::printf("%-8s %.1f %% exact, %.1f %% of the weight on the square that is named\n", GetParam().align, right / 2,
              100 * mass.on / mass.all);
  EXPECT_GE(right / 200, GetParam().exact);
  EXPECT_GE(mass.on / mass.all, GetParam().on_square);  // the cells that touch it are a ninth of all
}
INSTANTIATE_TEST_SUITE_P(Align, CaptionsSlow,
                         testing::Values(Lesson{"softmax", 300, 0.97, 0.6}, Lesson{"sample", 900, 0.9, 0.25}));

}  // namespace
}  // namespace attend::models
