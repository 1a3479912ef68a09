// One call of a function that may read values: recorded and run at once, one segment after the other.
#pragma once

#include "jit/compile.h"
#include "jit/recompile_limits.h"
#include "jit/run.h"
#include "jit/segments/segments.h"
#include "jit/statistics.h"

namespace thunder {

class SegmentCall final : public SegmentRunner {
 public:
  // A compiled function.
  struct Of {
    Context& context;
    Function& function;
    const CompileOptions& options;
    DynamicSizes sizes;
    Segments& segments;
    ProgramRunner& runner;
    const RecompileLimits& limits;
    CompileLog& log;
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
  // How long a compiled segment is kept: for good, among those used last, or for this call alone.
  enum class Kept : uint8_t { for_good, recently, no };
  Kept choose_keeping(const Segment& segment, const std::string& why) const;

  const Of of_;
  InterruptCheck& check_;
  void* const stream_;
  SegmentedResults results_;
  bool broken_ = false;
};

}  // namespace thunder
