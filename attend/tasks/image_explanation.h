// What a model of images looked at, or hung on, when it answered.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "attend/explain/image_trace.h"
#include "attend/tasks/image.h"

namespace attend::tasks {

struct LookOptions {
  std::string method = "auto";
  decode::SearchOptions search;
  std::optional<std::string> target;  ///< explain this caption or label; else the model's own

  template <class Visit>
  void fields(Visit&& visit) {
    visit("method", method, "attention, glimpses, gradcam, saliency; auto: the first of them that the network has");
  }
};

struct LookMethod {
  std::string_view name, what;
  std::string_view network;  ///< a row of the zoo
};
std::span<const LookMethod> look_methods();

/// Refuses a method that does not exist or that the network does not have, with those that it has, and networks that answer
/// with images. What is shown is what the network sees: cropped to its proportions; of glimpses at its size, as they are told
/// in pixels, else as fine as the image is.
/// What the example says of itself is what is right.
explain::ImageLook look(const ImageModel& model, const ImageExample& example, const LookOptions& options);

}  // namespace attend::tasks
