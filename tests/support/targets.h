// Runs a check once per instruction set that this processor and this binary share.
#pragma once

#include <gtest/gtest.h>

#include "attend/kernels/isa.h"

namespace attend::test {

template <class Body>
void on_every_instruction_set(Body&& body) {
  for (const std::string& name : kernels::instruction_sets()) {
    SCOPED_TRACE(name);
    kernels::cap_instruction_set(name);
    ASSERT_EQ(kernels::instruction_set(), name);
    body();
  }
  kernels::cap_instruction_set("");
}

}  // namespace attend::test
