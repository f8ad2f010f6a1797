// What an answer about an image depended on, by gradients: of the label of a classifier or a glimpse network, or of each word
// of a caption.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "attend/tasks/explanation.h"

namespace attend::tasks {

/// "gradcam", "saliency" or "jacobian" of the label that the network says, or of the target.
explain::SaliencyLook label_map(const TaskModel& model, const Example& example, const data::Source& source,
                                const ExplainOptions& options, std::string_view method);

/// The same of each word that these tokens form, as weights that sum to one over the cells of `look`, or over its pixels.
void add_word_maps(const TaskModel& model, const data::Source& source, std::span<const int32_t> tokens,
                   const ExplainOptions& options, std::string_view method, explain::CaptionLook& look);

}  // namespace attend::tasks
