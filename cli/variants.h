// The variants of a comparison: what --vary and --variant make of one recipe.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "attend/base/options.h"

namespace attend::cli {

struct Variant {
  std::string name;
  SettingList settings;  ///< over those of the recipe
};

/// Every combination of the values of all `vary` ("attention.score=dot,general"), then each of `variant`
/// ("NAME: key=value key=value"; "NAME" alone is the recipe itself); the recipe alone, without a name, where there are
/// neither. Throws Error for what does not read so, and for two of the same name.
std::vector<Variant> make_variants(std::span<const std::string> vary, std::span<const std::string> variant);

/// A recipe's settings with a variant's over them: its keys by their whole names ("attention.score" is
/// model.attention.score), and without the recipe's options of the network where the variant names another network, to which
/// they mean other things. Throws Error for a key that no option has, with the nearest.
SettingList settings_over(const SettingList& recipe, const Variant& variant);

/// A name for a folder: "No attention, 2 heads" → "no-attention-2-heads".
std::string slug(const std::string& name);

}  // namespace attend::cli
