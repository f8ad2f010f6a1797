#include "attend/data/broken.h"

#include <algorithm>

#include "attend/base/error.h"
#include "attend/base/names.h"

namespace attend::data {
namespace {

struct OnBrokenRow {
  std::string_view name;
  OnBroken on;
};
constexpr OnBrokenRow kRows[] = {{"refuse", OnBroken::kRefuse}, {"skip", OnBroken::kSkip}};

}  // namespace

OnBroken on_broken_named(std::string_view name) { return row_named("on_broken", kRows, name).on; }

void Broken::add(std::string_view what, const std::string& name) {
  auto kind = std::find_if(kinds_.begin(), kinds_.end(), [&](const Kind& k) { return k.what == what; });
  if (kind == kinds_.end()) kind = kinds_.insert(kind, {std::string(what), 0, {}});
  if (++kind->count <= static_cast<int64_t>(kShown)) kind->first.push_back(name);
}

int64_t Broken::count() const {
  int64_t sum = 0;
  for (const Kind& kind : kinds_) sum += kind.count;
  return sum;
}

std::string Broken::summary() const {
  std::string text;
  for (const Kind& kind : kinds_) {
    text += (text.empty() ? "" : "; ") + std::to_string(kind.count) + " " + kind.what + ": ";
    for (size_t i = 0; i < kind.first.size(); ++i) text += (i > 0 ? ", " : "") + kind.first[i];
    if (kind.count > static_cast<int64_t>(kind.first.size())) text += ", …";
  }
  return text;
}

void Broken::settle(std::string_view where) const {
  require(!refuses() || kinds_.empty(), where, ": expected all files whole and in their place, got ", summary(),
          "; on_broken: skip continues without them");
}

}  // namespace attend::data
