// The number type of the whole library: float, or double in the `grad64` build that checks gradients.
#pragma once

namespace attend {

#ifdef ATTEND_REAL64
using real = double;
#else
using real = float;
#endif

}  // namespace attend
