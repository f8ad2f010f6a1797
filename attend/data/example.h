// One example of a text task: a source and its target.
#pragma once

#include <string>
#include <vector>

#include "attend/data/alignment.h"

namespace attend::data {

/// Every text task is source → target; examples.h says how each kind of file spells them.
struct Example {
  std::string source, target;
  Links links;                    ///< gold word alignment (by white space) where it is known
  std::vector<std::string> also;  ///< other targets that are equally correct
};

}  // namespace attend::data
