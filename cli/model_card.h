// What there is to say about a model: for the terminal (`attend info`), and as the card that training leaves in its folder.
#pragma once

#include <string>

#include "attend/tasks/facts.h"

namespace attend::cli {

inline constexpr const char* kModelCard = "model-card.md";

/// Lines of "what   facts", then the options that were set.
std::string info_text(const tasks::ModelFacts& facts);
/// The same as Markdown, with how to use the model.
std::string model_card(const tasks::ModelFacts& facts);

}  // namespace attend::cli
