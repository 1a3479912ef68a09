// One call of a function that may read values: recorded and run at once, one segment after the other.
#pragma once

#include "jit/compile/compile.h"
#include "jit/context/recompile_limits.h"
#include "jit/run/run.h"
#include "jit/run/statistics.h"
#include "jit/segments/segments.h"

namespace thunder {

class SegmentCall final : public SegmentRunner {
 public:
  // A compiled function.
  struct Of {
    const CompileSetup& setup;
    Function& function;
    DynamicSizes sizes;
    Segments& segments;
    ProgramStore& programs;
    CompileLog& log;
    ProgramRunner& runner;
    const RecompileLimits& limits;
    Context& context() const { return *setup.context; }
    const CompileSettings& settings() const { return setup.options->settings(); }
    bool caches() const { return settings().cache != CacheMode::no_caching; }
  };
  // All of these must outlive this object.
  SegmentCall(const Of& of, InterruptCheck& check, void* stream) : of_(of), check_(check), stream_(stream) {}

  // Calls the function. Null: it read a value, and the results are there.
  std::unique_ptr<Entry> record(const Values& in);
  bool broken() const { return broken_; }
  // Requires: broken.
  void take_results(Values& out);

  std::vector<Ref<Tensor>> run(Segment& segment) override;
  std::shared_ptr<const SegmentScripts> scripts_after(const SegmentScript* segment) override {
    return of_.segments.scripts_after(segment);
  }
  Ref<Tensor> take_random(int64_t draws) override;
  void broke(GraphBreak at) override;
  bool varies(const char* where, const Op& op, size_t param) override;

 private:
  std::shared_ptr<const Entry> make_program(const Segment& segment, bool& kept);
  Keep choose_keeping(const ProgramStore::SegmentHash& hash, const std::string& why) const;

  const Of of_;
  InterruptCheck& check_;
  void* const stream_;
  SegmentedResults results_;
  bool broken_ = false;
};

}  // namespace thunder
