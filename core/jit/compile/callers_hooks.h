// Functions of the caller's that a compile calls: the options progress and guard_filter_fn.
#pragma once

#include "base/interrupts.h"
#include "cache/entry.h"
#include "jit/options/compile_options.h"

namespace thunder {

class Context;

// Reports to the options' progress function, if there is one, while it lives.
class CompileProgress : InterruptCheck::Progress {
 public:
  CompileProgress(Context& context, const CompileOptions& options, InterruptCheck& check);
  ~CompileProgress();
  CompileProgress(const CompileProgress&) = delete;

 private:
  void at(std::string_view stage, size_t done, size_t total) override;

  Context& context_;
  Function* const function_;
  InterruptCheck& check_;
  Progress* before_ = nullptr;
};

// Takes those guards from the entry that the filter does not keep: leaves whose value does not matter go to `any`,
// which is in order. Throws what the filter reports.
void drop_guards(Context& context, Function& filter, const Inputs& in, Entry& entry, std::vector<uint32_t>& any);

}  // namespace thunder
