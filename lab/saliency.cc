// saliency: gradient, Grad-CAM and sequential Jacobian beside attention, for networks of texts and of images alike.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "attend/explain/colours.h"
#include "attend/explain/image_draw.h"
#include "attend/explain/report_page.h"
#include "attend/tasks/explanation.h"
#include "lab/experiments.h"

namespace attend::lab {
namespace {

using explain::fixed;
using explain::Fragment;

/// One answer by one method: a map for each of its words, or one, over the places of the source.
using Maps = std::vector<std::vector<double>>;

/// A kind of model: what others are compared with, and the others.
struct KindRow {
  const char *run, *beside;
  std::vector<const char*> methods;
};
const std::vector<KindRow>& kinds() {
  static const std::vector<KindRow> rows = {
      {"classifier of texts", "attention", {"saliency", "jacobian"}},
      {"translator", "attention", {"saliency", "jacobian"}},
      {"captioner", "attention", {"saliency", "jacobian", "gradcam"}},
      {"glimpse network", "glimpses", {"saliency", "jacobian"}},
      {"classifier of images", "gradcam", {"saliency", "jacobian"}},
  };
  return rows;
}

const char* method_title(std::string_view method) {
  if (method == "saliency") return "gradient";
  if (method == "jacobian") return "Jacobian";
  if (method == "gradcam") return "Grad-CAM";
  return method == "glimpses" ? "glances" : "attention";
}

constexpr int64_t kCells = 7;  // along a side, of all maps over images

/// The sums of a map over kCells × kCells, so that maps of pixels and of cells can be compared.
std::vector<double> on_cells(const real* map, int64_t rows, int64_t columns) {
  std::vector<double> cells(static_cast<size_t>(kCells * kCells), 0);
  const int64_t fine_rows = std::max(rows, 4 * kCells), fine_columns = std::max(columns, 4 * kCells);
  for (int64_t r = 0; r < fine_rows; ++r) {
    for (int64_t c = 0; c < fine_columns; ++c) {
      const int64_t cell = r * kCells / fine_rows * kCells + c * kCells / fine_columns;
      cells[static_cast<size_t>(cell)] +=
          static_cast<double>(map[r * rows / fine_rows * columns + c * columns / fine_columns]);
    }
  }
  return cells;
}

/// How finely each pixel was seen: Σ over glances and squares of 1 / side².
Tensor seen_by(const explain::GlimpseLook& glimpses, const data::Image& image) {
  Tensor seen = Tensor::zeros({image.height, image.width});
  for (const explain::Glance& glance : glimpses.glances) {
    for (const int64_t side : glance.sides) {
      for (int64_t y = 0; y < image.height; ++y) {
        for (int64_t x = 0; x < image.width; ++x) {
          const double dy = static_cast<double>(y) + 0.5 - glance.y, dx = static_cast<double>(x) + 0.5 - glance.x;
          if (2 * std::max(std::abs(dx), std::abs(dy)) > static_cast<double>(side)) continue;
          seen.data()[y * image.width + x] += real(1) / static_cast<real>(side * side);
        }
      }
    }
  }
  return seen;
}

Maps maps_of(const explain::ImageLook& look) {
  if (const auto* caption = std::get_if<explain::CaptionLook>(&look.seen)) {
    Maps maps;
    for (int64_t word = 0; word < caption->weights.dim(0); ++word) {
      maps.push_back(on_cells(caption->weights[word].data(), caption->rows, caption->columns));
    }
    return maps;
  }
  if (const auto* glimpses = std::get_if<explain::GlimpseLook>(&look.seen)) {
    const Tensor seen = seen_by(*glimpses, look.image);
    return {on_cells(seen.data(), seen.dim(0), seen.dim(1))};
  }
  const Tensor& map = std::get<explain::SaliencyLook>(look.seen).map;
  return {on_cells(map.data(), map.dim(0), map.dim(1))};
}

Maps maps_of(const explain::Trace& trace) {
  const Tensor& words = trace.maps.at(0).words;
  Maps maps;
  for (int64_t t = 0; t < words.dim(0); ++t) {
    maps.emplace_back();
    for (const real value : words[t]) maps.back().push_back(std::abs(static_cast<double>(value)));
  }
  return maps;
}

tasks::Explanation explained_by(const tasks::TaskModel& model, const tasks::Example& example, const char* method) {
  tasks::ExplainOptions options;
  options.method = method;
  if (model.row().name == std::string_view("classify")) options.site = "pooling";
  if (model.output().searches() && !example.right.empty()) options.target = example.right[0];  // the same words for all
  return tasks::explain(model, example, options);
}

/// The linear correlation of two maps, as far as both go; 0 where one of them is the same everywhere.
double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const size_t n = std::min(a.size(), b.size());
  double ma = 0, mb = 0, ab = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < n; ++i) ma += a[i] / static_cast<double>(n), mb += b[i] / static_cast<double>(n);
  for (size_t i = 0; i < n; ++i) {
    ab += (a[i] - ma) * (b[i] - mb), aa += (a[i] - ma) * (a[i] - ma), bb += (b[i] - mb) * (b[i] - mb);
  }
  return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 0;
}

/// Σ min(a, b), each as shares of one: 1 where they are alike, 0 where they never meet.
double overlap(const std::vector<double>& a, const std::vector<double>& b) {
  const size_t n = std::min(a.size(), b.size());
  double sum_a = 0, sum_b = 0, common = 0;
  for (size_t i = 0; i < n; ++i) sum_a += a[i], sum_b += b[i];
  for (size_t i = 0; i < n && sum_a > 0 && sum_b > 0; ++i) common += std::min(a[i] / sum_a, b[i] / sum_b);
  return common;
}

struct Agreement {
  double correlation = 0, by_chance = 0, overlap = 0;  ///< by_chance: of maps of two different examples
};

/// Means over all words of all answers. By chance: with the map of the next example's answer.
Agreement agreement(const std::vector<Maps>& a, const std::vector<Maps>& b) {
  Agreement sum;
  double count = 0;
  for (size_t e = 0; e < a.size(); ++e) {
    const Maps& other = b[(e + 1) % b.size()];
    for (size_t t = 0; t < std::min(a[e].size(), b[e].size()) && !other.empty(); ++t) {
      sum.correlation += correlation(a[e][t], b[e][t]);
      sum.overlap += overlap(a[e][t], b[e][t]);
      sum.by_chance += correlation(a[e][t], other[t % other.size()]);
      ++count;
    }
  }
  return {sum.correlation / count, sum.by_chance / count, sum.overlap / count};
}

Fragment image_of_method(const tasks::Explanation& found, double side) {
  const auto& look = std::get<explain::ImageLook>(found);
  if (const auto* caption = std::get_if<explain::CaptionLook>(&look.seen)) {
    return explain::draw_word(look, *caption, std::min<size_t>(2, caption->words.size() - 1), side);
  }
  if (const auto* glimpses = std::get_if<explain::GlimpseLook>(&look.seen)) {
    return explain::draw_path(look, *glimpses, glimpses->glances.size(), side, false);
  }
  return explain::draw_map_over(look, std::get<explain::SaliencyLook>(look.seen), side);
}

/// The words of the source on a ground as dark as the first word of the answer, or its label, depended on them.
Fragment words_of_method(const tasks::Explanation& found) {
  constexpr double kHigh = 20, kPad = 4;
  const auto& trace = std::get<explain::Trace>(found);
  const std::vector<double> map = maps_of(trace).at(0);
  const double most = *std::ranges::max_element(map);
  Fragment row{.height = kHigh};
  for (size_t s = 0; s < map.size() && s < 16; ++s) {
    const std::string& word = trace.source.words[s];
    const double wide = explain::kText * 0.6 * static_cast<double>(word.size()) + 2 * kPad,
                 share = most > 0 ? map[s] / most : 0;
    row.svg += explain::svg_box(row.width, 0, wide, kHigh,
                                explain::attribute("fill", explain::hex(explain::sequential(0.8 * share))));
    row.svg += explain::svg_text(word, row.width + kPad, 14, explain::kText, share > 0.55 ? "#ffffff" : explain::kInk);
    row.width += wide + 2;
  }
  return row;
}

/// One answer by each method: side by side over an image, below one another over a text.
Fragment drawn_methods(const tasks::TaskModel& model, const tasks::Example& example, const KindRow& kind) {
  constexpr double kSide = 132, kGap = 10, kNameWide = 76;
  std::vector<const char*> methods{kind.beside};
  methods.insert(methods.end(), kind.methods.begin(), kind.methods.end());
  const bool image = model.row().input().is_image();
  Fragment all;
  std::vector<Fragment> rows{explain::text_lines(std::vector<std::string>{kind.run}, {.bold = true})};
  for (const char* method : methods) {
    const tasks::Explanation found = explained_by(model, example, method);
    const Fragment name =
        explain::text_lines(std::vector<std::string>{method_title(method)}, {.size = explain::kSmall});
    if (image) {
      const Fragment one = explain::stacked({image_of_method(found, kSide), name}, 4);
      all.svg += explain::placed(one, all.width, 0);
      all.width += one.width + kGap, all.height = std::max(all.height, one.height);
    } else {
      const Fragment words = words_of_method(found);
      rows.push_back(
          {explain::placed(name, 0, 3) + explain::placed(words, kNameWide, 0), kNameWide + words.width, words.height});
    }
  }
  if (image) rows.push_back(all);
  return explain::stacked(rows, 5);
}

}  // namespace

std::vector<Run> saliency_runs(Scale scale) {
  const bool quick = scale == Scale::quick;
  const auto run = [&](size_t kind, const std::string& task, const char* in_full, const char* if_quick) {
    return Run{kinds()[kind].run, task + " " + (quick ? if_quick : in_full)};
  };
  return {run(0, "task=classify", "train.epochs=4", "train.steps=300 model.encoder.size=32 train.rate=6e-3"),
          run(1, "task=translate", "train.epochs=4 model.hidden=128 model.embedding=64",
              "train.steps=450 model.hidden=64 model.embedding=32 train.rate=1e-2 valid_sentences=50"),
          run(2, "task=caption size=56 model.encoder.norm=none model.encoder.stages=8,16,16 model.embedding=24",
              "model.hidden=64 train.epochs=3", "model.hidden=48 train.steps=120 train.rate=4e-3"),
          run(3, "task=glimpse scene=translated size=48 model.patch=12 model.scales=2", "train.epochs=6",
              "train.steps=200 model.what=64 model.hidden=96 train.rate=2e-3"),
          run(4, "task=glimpse scene=translated size=48 model.name=image_classifier",
              "model.encoder.stages=16,32 train.epochs=3",
              "model.encoder.stages=8,16 train.steps=250 train.rate=4e-3 batch.images=32")};
}

void saliency_report(const Results& results, Report& report) {
  const int64_t count = results.quick() ? 16 : 100;
  report.set_up =
      "Four ways of saying what an answer came from. Attention: where the network looked. Gradient: how much the "
      "answer "
      "would change with each place (Simonyan et al. 2014). Sequential Jacobian: the same of the answer and its "
      "likeliest "
      "rivals together, whatever the direction (Graves 2012). Grad-CAM: which cells of the last grid spoke for it "
      "(Selvaraju et al. 2017); texts have no grid, glances none either. Each model is asked about " +
      std::to_string(count) +
      " examples of its test, for the right answer where it says words; maps over images are "
      "compared on 7 × 7 cells, those of texts word by word.";
  Table table{.title = "Correlation with the first map (with that of another example), overlap of the two",
              .head = {"Model", "Beside", "gradient", "Jacobian", "Grad-CAM"},
              .words = true};
  std::vector<Fragment> pictures;
  double least = 1, most = -1;
  for (const KindRow& kind : kinds()) {
    const tasks::TaskModel model = results.model(kind.run);
    const tasks::Examples& examples = results.test(kind.run).examples;
    const auto maps_by = [&](const char* method) {
      results.say(std::string(kind.run) + ": " + method_title(method));
      std::vector<Maps> all;
      for (int64_t i = 0; i < count; ++i) {
        const tasks::Explanation found = explained_by(model, examples.at(i), method);
        all.push_back(std::visit([](const auto& one) { return maps_of(one); }, found));
      }
      return all;
    };
    const std::vector<Maps> beside = maps_by(kind.beside);
    table.rows.push_back({kind.run, method_title(kind.beside), "–", "–", "–"});
    for (size_t m = 0; m < kind.methods.size(); ++m) {
      const Agreement found = agreement(beside, maps_by(kind.methods[m]));
      table.rows.back()[2 + m] =
          fixed(found.correlation, 2) + " (" + fixed(found.by_chance, 2) + "), " + fixed(found.overlap, 2);
      report.numbers["agreement"][kind.run][kind.methods[m]] = {
          {"correlation", found.correlation}, {"by_chance", found.by_chance}, {"overlap", found.overlap}};
      if (std::string_view(kind.methods[m]) != "jacobian") continue;
      const bool attends = std::string_view(kind.beside) == "attention";
      if (attends) least = std::min(least, found.correlation), most = std::max(most, found.correlation);
      report.check(std::string(kind.run) + ": " + method_title(kind.beside) +
                       " and Jacobian agree on an example better than on two different ones",
                   found.correlation > found.by_chance + 0.05,
                   "correlation " + fixed(found.correlation, 2) + " against " + fixed(found.by_chance, 2));
    }
    pictures.push_back(drawn_methods(model, examples.at(0), kind));
  }
  report.text("How far they agree", "That depends on the network: where attention is, the correlation is from " +
                                        fixed(least, 2) + " to " + fixed(most, 2) +
                                        ". A glimpse network cannot depend on what it did not see, so that "
                                        "its gradient lies within its glances whatever it has learned.");
  report.blocks.emplace_back(std::move(table));
  report.figure(
      "methods", explain::svg_document(explain::stacked(pictures, 18), 14),
      "One example of each model by each method. Of the translation its first word, of the caption its third.");
  report.next = {
      {"attend explain DIR/models/captioner --example 0 --method gradcam --out cam.html",
       "The same for any answer, with saliency, jacobian, gradcam or attention:"},
      {"attend serve DIR/models/captioner DIR/models/translator", "Or on the page, where the method is a choice:"}};
}

}  // namespace attend::lab
