// The battery's count of cases.
#include "battery/battery.h"

#include <cstdio>
#include <cstdlib>

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

std::vector<const OpDef*> Battery::ops() const {
  std::vector<const OpDef*> all = context->registry().all();
  const char *wanted = std::getenv("THUNDER_BATTERY_OPS"), *share = std::getenv("THUNDER_BATTERY_SHARE");
  if (const int each = share ? std::atoi(share) : 1; each > 1) {
    size_t number = 0;
    std::erase_if(all, [&](const OpDef*) { return number++ % static_cast<size_t>(each) != 0; });
  }
  if (!wanted || !*wanted) return all;
  const std::string names = "," + std::string(wanted) + ",";
  std::erase_if(all, [&](const OpDef* op) { return names.find("," + std::string(op->name()) + ",") == names.npos; });
  return all;
}

std::map<std::string, size_t>& tally() {
  static std::map<std::string, size_t> counts;
  return counts;
}

}  // namespace thunder::battery
