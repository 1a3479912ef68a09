// Golden files of passes: cases of a trace before and after, as text.
//
// A case is "=== NAME", the trace before, "---", the trace after ("unchanged" when the pass had nothing to do).
// With THUNDER_UPDATE_GOLDEN set, a test writes what the pass made into the file instead of comparing.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "ir/print.h"
#include "ir/verify.h"
#include "passes/pass.h"
#include "tracer/trace_reader.h"

namespace thunder::tests {

struct GoldenCase {
  std::string name, before, after;
};

inline std::vector<GoldenCase> read_golden(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.good()) << path;
  std::vector<GoldenCase> cases;
  bool after = false;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("=== ", 0) == 0) {
      cases.push_back({line.substr(4), "", ""});
      after = false;
    } else if (line == "---") {
      after = true;
    } else if (!cases.empty()) {
      (after ? cases.back().after : cases.back().before) += line + "\n";
    }
  }
  return cases;
}

// Runs the pass on every case of tests/golden/NAME.trace.
inline void check_golden(const std::string& name, PassFn pass) {
  const std::string path = "golden/" + name + ".trace";
  const bool update = std::getenv("THUNDER_UPDATE_GOLDEN") != nullptr;
  const Registry registry;
  PassContext context{registry};
  std::ostringstream made;
  std::vector<GoldenCase> cases = read_golden(path);
  EXPECT_FALSE(cases.empty());
  for (const GoldenCase& c : cases) {
    SCOPED_TRACE(path + ": " + c.name);
    std::string after = "unchanged\n";
    try {
      const Trace trace = read_trace(c.before, registry);
      EXPECT_EQ(print(trace), c.before);
      if (auto result = pass(trace, context)) {
        verify(*result);
        result->pass = name;
        after = print(*result);
        EXPECT_EQ(print(read_trace(after, registry)), after);
      }
    } catch (const Error& e) {
      ADD_FAILURE() << e.message();
    }
    if (!update) {
      EXPECT_EQ(after, c.after);
    }
    made << "=== " << c.name << "\n" << c.before << "---\n" << after;
  }
  if (update) std::ofstream(path) << made.str();
}

}  // namespace thunder::tests
