// What a model of images looked at, or hung on, when it answered.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/explain/image_trace.h"
#include "attend/tasks/image.h"

namespace attend::tasks {

struct LookOptions {
  std::string method = "auto";
  decode::SearchOptions search;
  std::optional<std::string> target;  ///< explain this caption or label; else the model's own
  size_t numbers = 0;                 ///< most weights that are kept at any time (explain::TooLarge); 0: any
  std::function<void()> check;        ///< called after each step of a search; what it throws ends it

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
/// Those that a model can really be asked for: finds it out by asking for each of them once. None where it answers with images.
std::vector<std::string> look_methods(const ImageModel& model);

/// Throws Error where look() would refuse this of any image, before anything is computed. `methods`: those that it has.
void check_explain(const ImageModel& model, const std::vector<std::string>& methods, const LookOptions& options);

/// Refuses a method that does not exist or that the network does not have, with those that it has, and networks that answer
/// with images. What is shown is what the network sees: cropped to its proportions; of glimpses at its size, as they are told
/// in pixels, else as fine as the image is.
/// What the example says of itself is what is right.
explain::ImageLook look(const ImageModel& model, const ImageExample& example, const LookOptions& options);

}  // namespace attend::tasks
