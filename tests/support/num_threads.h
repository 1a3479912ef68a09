// How many threads contexts use.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace thunder::test {

// Contexts that are made while it lives use so many threads.
class NumThreads {
 public:
  explicit NumThreads(int n) {
    if (const char* set = std::getenv(kName)) before_ = set;
    setenv(kName, std::to_string(n).c_str(), 1);
  }
  ~NumThreads() { before_ ? setenv(kName, before_->c_str(), 1) : unsetenv(kName); }

 private:
  static constexpr const char* kName = "THUNDER_NUM_THREADS";
  std::optional<std::string> before_;
};

}  // namespace thunder::test
