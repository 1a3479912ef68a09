// What the calls, the misses, the tapes and the reports of one compiled function share.
#pragma once

#include "cache/program_store.h"
#include "jit/dynamic/dynamic.h"
#include "jit/options/compile_options.h"
#include "jit/context/recompile_limits.h"
#include "jit/run/run.h"
#include "jit/segments/segments.h"
#include "jit/run/statistics.h"

namespace thunder {

class CompiledReports;
class EagerScope;

// Calls on tapes by a forward program with a compiled backward.
class TapedCalls {
 public:
  virtual ~TapedCalls() = default;
  // The results, as lines of the tape. Null: the function cannot be partitioned, because it reads values, say; `why` is
  // the reason then. Throws what the function reports.
  virtual Values* call(EagerScope& tape, const Values& in, std::string& why) = 0;
  virtual const CompiledReports& forward() const = 0;
  // The program of the backward that was run last, for as long as this lives; null: none was.
  virtual std::shared_ptr<const Entry> latest_backward() const = 0;
  // Whether the last call compiled, or the last compiled program of the function is of a forward.
  bool compiled_last() const { return compiled_last_.load(std::memory_order_relaxed); }
  void set_compiled_last(bool value) { compiled_last_.store(value, std::memory_order_relaxed); }

 private:
  std::atomic<bool> compiled_last_{false};
};

struct CompiledState {
  // `setup.options` are resolved.
  CompiledState(CompileSetup with, Ref<Function> f);

  const CompileSetup setup;
  Context& context;                 // of the setup
  const CompileSettings& settings;  // of its options
  const Ref<Function> function;
  const DynamicSizes sizes;
  const bool caches;    // whether programs are kept
  const bool looks_up;  // whether calls look for one at all
  ProgramStore programs;
  CompileLog log;
  ProgramRunner runner;
  const RecompileLimits limits;
  const std::unique_ptr<Dynamic> dynamic;    // where sizes may vary
  const std::unique_ptr<Segments> segments;  // where values may be read
  std::atomic<uint64_t> apart{0};  // calls that no program that is kept for good ran, and preparations
  std::atomic<uint64_t> eager{0};  // calls that ran op by op

  // Calls on tapes, made at the first one.
  mutable std::mutex taped_mutex;
  std::unique_ptr<TapedCalls> taped;
  std::atomic<bool> not_partitioned{false};  // on tapes it runs op by op
};

}  // namespace thunder
