// The battery's count of cases.
#include "battery/battery.h"

#include <cstdio>

namespace thunder::battery {
namespace {

struct Summary : testing::Environment {
  void TearDown() override {
    std::string line = "battery:";
    for (auto& [kind, n] : tally()) line += " " + std::to_string(n) + " " + kind + ",";
    line.back() = '\n';
    std::fputs(line.c_str(), stdout);
  }
};
testing::Environment* const kSummary = testing::AddGlobalTestEnvironment(new Summary);

}  // namespace

std::map<std::string, size_t>& tally() {
  static std::map<std::string, size_t> counts;
  return counts;
}

}  // namespace thunder::battery
