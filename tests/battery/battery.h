// The fixture of the battery: one context, all ops, and a count of what was run.
#pragma once

#include <gtest/gtest.h>

#include <map>

#include "battery/run.h"
#include "support/context.h"

namespace thunder::battery {

// Cases by kind, printed as one line when the program ends.
std::map<std::string, size_t>& tally();

struct Battery : testing::Test {
  Ref<Context> context = test::seeded_context();

  // Every op, or those that the environment variable THUNDER_BATTERY_OPS names: "softmax,log1p"; every N-th of all, where
  // THUNDER_BATTERY_SHARE is N.
  std::vector<const OpDef*> ops() const;

  // Calls f(case) for every sample of every op; false says that it had nothing to check.
  template <class F>
  void each_case(std::string_view kind, F&& f) {
    for (auto& op : ops())
      for (const Case& c : accepted_cases(*op)) tally()[std::string(kind)] += f(c);
  }
};

}  // namespace thunder::battery
