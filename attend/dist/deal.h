// Work that comes in blocks, one after another without end, dealt out to ranks.
#pragma once

#include <functional>
#include <string>

#include "attend/train/company.h"

namespace attend::dist {

/// Blocks and results as bytes (base/packed.h); a block is not empty. Only the rank that leads asks for blocks and takes results,
/// in the order of the blocks; all ranks work. At most two blocks of each rank are under way, however many there are.
struct Dealing {
  std::function<bool(std::string& block)> next;  ///< false: there are no more
  std::function<std::string(const std::string& block)> work;
  std::function<void(const std::string& result)> take;
};
void deal(train::Company& company, const Dealing& dealing);

}  // namespace attend::dist
