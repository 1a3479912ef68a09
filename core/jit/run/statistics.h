// What compiling a function took, and the latest program: counts that calls and compiles share.
#pragma once

#include <mutex>
#include <string_view>

#include "cache/entry.h"

namespace thunder {

struct CallStatistics {
  uint64_t calls = 0, hits = 0, misses = 0, entries = 0;    // a preparation counts as a call
  uint64_t trace_ns = 0, passes_ns = 0, compile_ns = 0, plan_ns = 0;  // summed over all misses
  uint64_t peak_bytes = 0;                                  // arena and constants of the latest program
  uint64_t eager_calls = 0;                                 // calls that ran op by op: no others count them
  uint64_t segments = 0, graph_breaks = 0;  // programs of parts of the function, and the places where it broke
};

// One compile: why, and how long each of its stages took, tracing first.
struct CompileRecord {
  std::string why;
  std::vector<std::pair<std::string, double>> milliseconds;
};

// The statistics of one function. Any thread.
class CompileLog {
 public:
  // That a program was compiled because no other fitted: `why`.
  void add_compile(const Entry& entry, std::string_view why);
  // The latest program, where it is none of the cache's; null: the cache's is.
  void set_latest(std::shared_ptr<const Entry> entry);
  std::shared_ptr<const Entry> latest() const;
  std::string last_miss() const;
  uint64_t misses() const;
  // Each compile so far, oldest first; of very many the first ones are forgotten.
  std::vector<CompileRecord> compile_records() const;
  void add_to(CallStatistics& statistics) const;

 private:
  mutable std::mutex mutex_;
  CallStatistics sums_;
  std::string last_miss_;
  std::vector<CompileRecord> compiles_;
  std::shared_ptr<const Entry> latest_;
};

}  // namespace thunder
