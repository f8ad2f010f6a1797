// autoencode: digits through a bottleneck: what comes back, what the code is, what lies between two codes, and what codes that
// were drawn at random are, of a plain and of a variational one.
#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "attend/explain/image_draw.h"
#include "attend/explain/report_page.h"
#include "attend/models/autoencoder.h"
#include "lab/experiments.h"

namespace attend::lab {
namespace {

using explain::fixed;
using explain::Fragment;

constexpr double kSide = 44, kGap = 4;

constexpr const char* kVariational = "16 numbers, variational";

std::string run_of_code(int64_t numbers) { return std::to_string(numbers) + " numbers"; }

const models::Autoencoder& network_of(const tasks::TaskModel& model) {
  return dynamic_cast<const models::Autoencoder&>(model.model());
}

std::vector<data::Image> images_of(const tasks::Examples& examples, int64_t count) {
  std::vector<data::Image> images;
  for (int64_t i = 0; i < count; ++i) images.push_back(std::get<data::Image>(examples.at(i).inputs.at(0)));
  return images;
}

Fragment row_of(const Tensor& images, const std::string& title) {
  constexpr double kTitleWidth = 92;
  Fragment row{.height = kSide};
  const Fragment name = explain::text_lines(std::vector<std::string>{title}, {.size = explain::kSmall});
  row.svg = explain::placed(name, 0, kSide / 2 - name.height / 2);
  row.width = kTitleWidth;
  for (const data::Image& image : data::to_images(images)) {
    row.svg += explain::placed(explain::draw_image(image, kSide), row.width, 0);
    row.width += kSide + kGap;
  }
  return row;
}

/// Root of the mean squared difference of pixels, of 0 … 1.
double error_of(const Tensor& a, const Tensor& b) {
  double squares = 0;
  for (size_t i = 0; i < a.size(); ++i) squares += std::pow(a.data()[i] - b.data()[i], 2);
  return std::sqrt(squares / static_cast<double>(a.size()));
}

/// (1 − share)·a + share·b.
Tensor between_rows(const Tensor& a, const Tensor& b, double share) {
  Tensor mixed(a.shape());
  for (size_t i = 0; i < a.size(); ++i) {
    mixed.data()[i] = static_cast<real>((1 - share) * a.data()[i] + share * b.data()[i]);
  }
  return mixed;
}

/// The mean of 4x(1 − x) over pixels x: 0 where each is black or white, 1 where all are grey.
double greyness(const Tensor& images) {
  double sum = 0;
  for (const double x : images.values()) sum += 4 * x * (1 - x);
  return sum / static_cast<double>(images.size());
}

/// What lies between two digits, in pixels and in codes.
void report_between(const Results& results, const std::string& run, Report& report) {
  constexpr int64_t kPairs = 100;
  const tasks::TaskModel model = results.model(run);
  const models::Autoencoder& network = network_of(model);
  const std::vector<data::Image> images = images_of(results.test(run).examples, 2 * kPairs);
  const Tensor all = data::to_tensor(images);
  const Tensor left = all.rows(0, kPairs), right = all.rows(kPairs, 2 * kPairs);
  const Tensor by_pixels = between_rows(left, right, 0.5);
  const Tensor by_code = network.decode(between_rows(network.code(left), network.code(right), 0.5));
  // What comes back is blurred, so that each mixture is compared with what it is a mixture of.
  const double pixels_grey = greyness(by_pixels) / greyness(all);
  const double codes_grey = greyness(by_code) / greyness(network.reconstruct(all));
  report.numbers["grey_half_way"] = {{"pixels", pixels_grey}, {"codes", codes_grey}};
  report.check("half way between two codes is ink and paper again, half way between their pixels is grey",
               codes_grey < 1.25 && codes_grey < pixels_grey - 0.25,
               fixed(codes_grey, 2) + " times as grey as at the ends, against " + fixed(pixels_grey, 2) + " times");
  std::vector<Fragment> rows;
  for (int64_t pair = 0; pair < 3; ++pair) {
    Tensor pixels(Shape({9, 1, 28, 28})), codes = pixels.clone();
    for (int64_t step = 0; step < 9; ++step) {
      const double share = static_cast<double>(step) / 8;
      const Tensor a = left.rows(pair, pair + 1), b = right.rows(pair, pair + 1);
      const Tensor mixed = between_rows(a, b, share);
      const Tensor decoded = network.decode(between_rows(network.code(a), network.code(b), share));
      std::copy_n(mixed.data(), mixed.size(), pixels.data() + step * 28 * 28);
      std::copy_n(decoded.data(), decoded.size(), codes.data() + step * 28 * 28);
    }
    rows.push_back(row_of(pixels, "pixels"));
    rows.push_back(row_of(codes, "codes"));
  }
  report.figure("between", explain::svg_document(explain::stacked(rows, 6), 12),
                "From one digit to another, by mixing their pixels and by mixing their codes of " + run + ".");
}

/// The whole plane of codes of two numbers, decoded at a grid over where digits lie.
void report_plane(const Results& results, const std::string& run, Report& report) {
  constexpr int64_t kGrid = 12, kSeen = 300;
  const tasks::TaskModel model = results.model(run);
  const models::Autoencoder& network = network_of(model);
  const Tensor codes = network.code(data::to_tensor(images_of(results.test(run).examples, kSeen)));
  double low[2] = {codes.data()[0], codes.data()[1]}, high[2] = {low[0], low[1]};
  for (int64_t i = 0; i < kSeen; ++i) {
    for (int axis = 0; axis < 2; ++axis) {
      low[axis] = std::min(low[axis], static_cast<double>(codes[i].data()[axis]));
      high[axis] = std::max(high[axis], static_cast<double>(codes[i].data()[axis]));
    }
  }
  Fragment plane{.width = kGrid * kSide, .height = kGrid * kSide};
  for (int64_t y = 0; y < kGrid; ++y) {
    for (int64_t x = 0; x < kGrid; ++x) {
      const auto at = [&](int axis, int64_t place) {
        return static_cast<real>(low[axis] + (high[axis] - low[axis]) * static_cast<double>(place) / (kGrid - 1));
      };
      const Tensor image = network.decode(Tensor::of(Shape({1, 2}), {at(0, x), at(1, y)}));
      plane.svg += explain::placed(explain::draw_image(data::to_images(image)[0], kSide),
                                   static_cast<double>(x) * kSide, static_cast<double>(y) * kSide);
    }
  }
  report.figure("plane", explain::svg_document(plane, 12),
                "Every digit is a point of this plane: the two numbers of its code.");
}

/// Codes drawn from the normal distribution whose mean and deviation, number by number, are those of `codes`.
Tensor drawn_like(const Tensor& codes, int64_t count, Random random) {
  const int64_t n = codes.dim(0), width = codes.dim(1);
  Tensor drawn(Shape({count, width}));
  for (int64_t k = 0; k < width; ++k) {
    double mean = 0, squares = 0;
    for (int64_t i = 0; i < n; ++i) mean += static_cast<double>(codes[i].data()[k]) / static_cast<double>(n);
    for (int64_t i = 0; i < n; ++i) squares += std::pow(static_cast<double>(codes[i].data()[k]) - mean, 2);
    const double deviation = std::sqrt(squares / static_cast<double>(n));
    for (int64_t i = 0; i < count; ++i) {
      drawn.data()[i * width + k] = static_cast<real>(mean + deviation * random.normal());
    }
  }
  return drawn;
}

/// The mean over images of the error to that of `digits` which is nearest.
double distance_to_nearest(const Tensor& images, const Tensor& digits) {
  double sum = 0;
  for (int64_t i = 0; i < images.dim(0); ++i) {
    double least = error_of(images[i], digits[0]);
    for (int64_t d = 1; d < digits.dim(0); ++d) least = std::min(least, error_of(images[i], digits[d]));
    sum += least;
  }
  return sum / static_cast<double>(images.dim(0));
}

/// What codes are that no image has: drawn at random, of a plain bottleneck and of a variational one.
void report_drawn(const Results& results, Report& report) {
  constexpr int64_t kShown = 10, kDrawn = 100, kKnown = 1000;
  std::vector<Fragment> rows;
  std::map<std::string, double> distance, rebuilt;
  for (const std::string& run : {run_of_code(16), std::string(kVariational)}) {
    const tasks::TaskModel model = results.model(run);
    const models::Autoencoder& network = network_of(model);
    const tasks::Examples& examples = results.test(run).examples;
    const Tensor digits = data::to_tensor(images_of(examples, std::min<int64_t>(examples.count, kKnown)));
    const Tensor codes = network.code(digits);
    const Tensor drawn = network.decode(drawn_like(codes, kDrawn, Random(7)));
    // What comes back of a digit is blurred; so that drawn images are compared with what digits look like behind the decoder.
    const Tensor back = network.decode(codes);
    distance[run] = distance_to_nearest(drawn, back);
    rebuilt[run] = error_of(back, digits);
    report.numbers["drawn"][run] = {{"distance_to_nearest", distance[run]}, {"error", rebuilt[run]}};
    rows.push_back(row_of(drawn.rows(0, kShown), run == kVariational ? "variational" : "plain"));
  }
  const std::string plain = run_of_code(16);
  report.text("Codes that no image has",
              "Nothing tells a plain bottleneck what lies where no digit is. A variational one (Kingma & Welling 2014) "
              "says of each "
              "digit a cloud of codes rather than one, and pays for clouds that are unlike the standard normal "
              "distribution: the plane "
              "of codes is filled, and a code drawn at random is a digit. What comes back of a digit is less exact for "
              "it.");
  report.figure("drawn", explain::svg_document(explain::stacked(rows, 6), 12),
                "Ten codes of 16 numbers drawn at random, with the mean and the deviation that the codes of digits "
                "have, and what the decoders make of them.");
  report.check(
      "a code drawn at random looks more like a digit if the bottleneck is variational",
      distance[kVariational] < 0.9 * distance[plain],
      "error to the nearest digit " + fixed(distance[kVariational], 3) + " against " + fixed(distance[plain], 3));
  report.check("which costs: less of a digit comes back", rebuilt[kVariational] > rebuilt[plain],
               "error " + fixed(rebuilt[kVariational], 3) + " against " + fixed(rebuilt[plain], 3));
}

}  // namespace

std::vector<Run> autoencode_runs(Scale scale) {
  const bool quick = scale == Scale::quick;
  std::vector<Run> runs;
  const auto settings = [&](int64_t numbers) {
    return "task=autoencode model.code=" + std::to_string(numbers) +
           (quick ? " model.encoder.stages=128 model.decoder=128 train.steps=250" : " train.epochs=3");
  };
  for (const int64_t numbers : quick ? std::vector<int64_t>{2, 16} : std::vector<int64_t>{1, 2, 4, 8, 16, 32, 64}) {
    runs.push_back({run_of_code(numbers), settings(numbers)});
  }
  runs.push_back({kVariational, settings(16) + " model.variational=true"});
  return runs;
}

void autoencode_report(const Results& results, Report& report) {
  constexpr int64_t kShown = 10, kScored = 300;
  report.set_up =
      "Drawn digits of 28 × 28 pixels pass through a few numbers and come back; the networks, of fully connected "
      "layers, differ in "
      "how many. The error is the root of the mean squared difference of pixels between 0 and 1.";
  explain::Plot plot{.title = "What is lost",
                     .x_label = "numbers in the bottleneck",
                     .y_label = "error of a pixel",
                     .series = {{"error", {}, {}}}};
  std::vector<Fragment> rows;
  std::vector<double> errors;
  std::vector<std::string> plain = results.runs();
  std::erase(plain, kVariational);
  for (const std::string& run : plain) {
    const Tensor images = data::to_tensor(images_of(results.test(run).examples, kScored));
    const Estimate error = results.over_seeds(
        run, [&](int64_t seed) { return error_of(network_of(results.model(run, seed)).reconstruct(images), images); });
    if (rows.empty()) rows.push_back(row_of(images.rows(0, kShown), "the digits"));
    rows.push_back(row_of(network_of(results.model(run)).reconstruct(images.rows(0, kShown)), run));
    plot.categories.push_back(run.substr(0, run.find(' ')));
    plot.series[0].xs.push_back(static_cast<double>(errors.size())), plot.series[0].ys.push_back(error.mean);
    errors.push_back(error.mean);
    report.numbers["error"][run] = error.mean;
  }
  report.check("the wider the bottleneck, the more comes back", errors.back() < errors.front(),
               "error " + fixed(errors.back(), 3) + " with " + plain.back() + " against " + fixed(errors.front(), 3) +
                   " with " + plain.front());
  report.plot("error", plot, "Error on digits that were never seen.");
  report.figure("digits", explain::svg_document(explain::stacked(rows, 6), 12), "Ten digits, and what comes back.");
  report.live({.text = "Draw a digit, or choose one, and move through the bottlenecks.",
               .runs = results.runs(),
               .sliders = {"model"}});
  report.text("Codes", "A code is a place: neighbours look alike, and what lies between two codes can be looked at.");
  report_plane(results, run_of_code(2), report);
  report_between(results, run_of_code(16), report);
  report_drawn(results, report);
  report.next = {
      {"attend train autoencode --images photos/ --model.code 32 --out own", "The same for images of your own:"}};
}

}  // namespace attend::lab
