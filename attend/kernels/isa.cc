#include "attend/kernels/isa.h"

#include <hwy/targets.h>

#include <cstdlib>
#include <fstream>
#include <string_view>
#include <utility>

#include "attend/base/error.h"

namespace attend::kernels {
namespace {

/// Highway's name in lower case, except that its AVX3 is what everyone else calls AVX-512.
std::string name_of(int64_t target) {
  std::string name = hwy::TargetName(target);
  for (char& c : name) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return name == "avx3" ? "avx512" : name;
}

/// What kernels may run with now, best (lowest bit) first.
std::vector<int64_t> usable_targets() {
  std::vector<int64_t> usable = hwy::SupportedAndGeneratedTargets();
  // Asking makes Highway 1.0.3 choose again as if nothing were disabled, unless its own answer is passed back to it.
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  return usable;
}

/// What this processor has and these files were compiled for; no cap changes it.
const std::vector<int64_t>& targets() {
  static const std::vector<int64_t> all = usable_targets();
  return all;
}

/// The target of that name, or 0.
int64_t target_of(std::string_view name) {
  for (const int64_t target : targets()) {
    if (name_of(target) == name) return target;
  }
  return 0;
}

// Not by oneDNN's own function: this way a program that runs none of its kernels does not initialise it at all.
void cap_onednn(std::string_view name) {
  constexpr std::pair<std::string_view, const char*> kNames[] = {
      {"sse4", "SSE41"}, {"avx2", "AVX2"}, {"avx512", "AVX512_CORE"}};
  for (const auto& [ours, theirs] : kNames) {
    if (ours == name) setenv("ONEDNN_MAX_CPU_ISA", theirs, 1);
  }
}

void cap_at(int64_t target, std::string_view name) {
  hwy::DisableTargets(target - 1);  // better sets have lower bits
  cap_onednn(name);
}

}  // namespace

std::vector<std::string> instruction_sets() {
  std::vector<std::string> names;
  for (const int64_t target : targets()) names.push_back(name_of(target));
  return names;
}

std::string instruction_set() {
  const std::vector<int64_t> usable = usable_targets();
  return usable.empty() ? "none" : name_of(usable.front());
}

void cap_instruction_set(const std::string& name) {
  targets();  // asked before the first cap hides any
  if (name.empty()) return hwy::DisableTargets(0);
  const int64_t target = target_of(name);
  if (target == 0) {
    std::string valid;
    for (const std::string& each : instruction_sets()) valid += (valid.empty() ? "" : ", ") + each;
    fail("instruction set: expected one of ", valid, ", got '", name, "'");
  }
  cap_at(target, name);
}

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    const size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

}  // namespace attend::kernels

// Runs before main. The linker is told to require this symbol (CMakeLists.txt); otherwise it would leave this file out
// of programs that only run kernels. An unknown name changes nothing here, where nobody could catch an error.
extern "C" {
extern const bool attend_isa_from_environment;
const bool attend_isa_from_environment = [] {
  using namespace attend::kernels;
  const char* name = std::getenv("ATTEND_ISA");
  const int64_t target = name ? target_of(name) : 0;
  if (target != 0) cap_at(target, name);
  return target != 0;
}();
}
