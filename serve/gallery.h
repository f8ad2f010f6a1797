// What a model made of its validation examples, for people to look at.
#pragma once

#include <filesystem>
#include <mutex>

#include "attend/tasks/corpus.h"
#include "serve/json.h"

namespace attend::serve {

/// {"image": a PNG in base64, "width", "height"}
Json image_json(const data::Image& image);

class Gallery {
 public:
  /// Of the model in that folder; the configuration has to outlive this.
  Gallery(const tasks::TaskConfig& config, std::filesystem::path folder)
      : config_(config), folder_(std::move(folder)) {}
  /// The worst first; with a note where there are none.
  Json json() const;

 private:
  Json images() const;
  Json sounds() const;

  const tasks::TaskConfig& config_;
  const std::filesystem::path folder_;
  // Finding images again may cost seconds; while it trains, valid.jsonl is written again and again.
  mutable std::mutex mutex_;
  mutable std::filesystem::file_time_type made_at_;
  mutable Json made_;
};

}  // namespace attend::serve
