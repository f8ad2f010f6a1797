// How oneDNN is called here. Only this file and the sources that include it depend on the library (2.x); moving to 3.x
// changes nothing else.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>

#include "attend/base/error.h"
#include "attend/base/memory.h"

namespace attend::kernels::onednn {

using Arguments = std::unordered_map<int, dnnl::memory>;
using Desc = dnnl::memory::desc;
using Dims = dnnl::memory::dims;
using Layout = dnnl::memory::format_tag;
constexpr auto kF32 = dnnl::memory::data_type::f32;

/// Runs `body`; an exception from oneDNN becomes an Error that names `where`.
template <class Body>
auto translated(const char* where, Body&& body) {
  try {
    return body();
  } catch (const dnnl::error& error) {
    fail(where, ": oneDNN says \"", error.what(), "\" (status ", static_cast<int>(error.status), ")");
  }
}

// Never destroyed, like the plans of convolutions: the order in which statics die at exit is not defined.
inline const dnnl::engine& cpu() {
  static const auto* one = new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return *one;
}

inline dnnl::memory view(const Desc& desc, const void* data) {
  return dnnl::memory(desc, cpu(), const_cast<void*>(data));
}

// The caller brings the scratchpad: it comes from our pool, and several threads may run one primitive at the same time.
inline dnnl::primitive_attr own_scratchpad() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

/// A primitive with the scratchpad it needs; empty if there is nothing to do.
struct Step {
  dnnl::primitive primitive;
  Desc scratchpad;

  explicit operator bool() const { return static_cast<bool>(primitive); }
  void run(dnnl::stream& stream, Arguments arguments) const {
    const memory::Handle space(scratchpad.get_size());
    if (scratchpad.get_size() > 0) arguments.insert({DNNL_ARG_SCRATCHPAD, view(scratchpad, space.bytes())});
    primitive.execute(stream, arguments);
  }
};

inline Step reorder_step(const Desc& from, const Desc& to) {
  if (from == to) return {};
  const dnnl::reorder::primitive_desc chosen(cpu(), from, cpu(), to, own_scratchpad());
  return {dnnl::reorder(chosen), chosen.scratchpad_desc()};
}

}  // namespace attend::kernels::onednn
