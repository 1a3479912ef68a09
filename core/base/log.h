// Messages other than errors: logs by name, each with its minimum level.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>

namespace thunder {

enum class LogLevel : int32_t { debug = 0, info = 1, warning = 2, error = 3 };

// In the order of the table of logs.
enum class LogName : uint8_t {
  guards,
  recompiles,
  dynamic,
  graph_breaks,
  fusion,
  schedule,
  output_code,
  perf_hints,
  cudagraphs,
  autotuning,
  memory,
  sharp_edges,
};
inline constexpr size_t kLogNames = 12;

struct LogRow {
  std::string_view name;
  std::string_view doc;   // what it says
  std::string_view more;  // what it says too after "+name"; "": nothing
};
std::span<const LogRow> log_rows();
inline std::string_view name(LogName log) { return log_rows()[static_cast<size_t>(log)].name; }

// Any thread.
class LogLevels {
 public:
  LogLevels() { reset(); }
  // "guards,+fusion,-recompiles", as PyTorch's TORCH_LOGS: a name alone lets it speak, with "+" in detail, with "-" of
  // errors alone; those that are not named say warnings. "all" names all. Throws at another name, with the nearest one,
  // and then nothing changes. `who` begins the message.
  void set(std::string_view text, std::string_view who);
  bool wants(LogName log, LogLevel level) const {
    return static_cast<int32_t>(level) >= least_[static_cast<size_t>(log)].load(std::memory_order_relaxed);
  }

 private:
  void reset();

  std::array<std::atomic<int32_t>, kLogNames> least_;
};

}  // namespace thunder
