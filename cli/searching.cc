#include "cli/searching.h"

#include "attend/base/error.h"

namespace attend::cli {

std::string search_objection(const decode::SearchOptions& options) {
  decode::SearchOptions plain = options;
  if (plain.sample) plain.beam = 1;  // the beam that a recipe names is for the likeliest answers
  try {
    decode::check(plain);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace attend::cli
