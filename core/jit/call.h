// A compiled function. The first call with inputs of a kind traces, transforms, claims and compiles; later calls find
// the program by its key.
#pragma once

#include "jit/compiled_reports.h"
#include "jit/miss.h"

namespace thunder {

class Compiled : public Counted<Compiled> {
 public:
  virtual ~Compiled();
  void destroy() const;
  // Throws at the first option that is unknown or of another kind. `options` may be null.
  Compiled(Ref<Context> context, Ref<Function> function, const CompileOptions* options);
  Compiled(const CompileSetup& setup, Ref<Function> function);

  // Any thread. Results go to `out`, which is reset first, bound leaves excepted. Null or an owned status; nothing
  // is written unless every check has passed. An interrupt stops it before it writes, or not at all.
  Status* call(const Values& in, Values& out, void* native_stream = nullptr) noexcept;
  // Positional tensors in, the first n_out tensor results out (owned by the caller).
  Status* call_tensors(Tensor* const* in, size_t n_in, Tensor** out, size_t n_out) noexcept;
  // A call whose steps are reported to `watch`. Ops that run without a program are not.
  Status* call_watched(const Values& in, Values& out, StepWatch& watch) noexcept;
  // Compiles for these inputs if they are not cached, without running. Null or an owned status.
  Status* prepare(const Values& in) noexcept;

  const Ref<Context>& context() const { return state_.setup.context; }
  const CompileOptions& options() const { return *state_.setup.options; }
  const Function& function() const { return *state_.function; }
  const Ref<Function>& shared_function() const { return state_.function; }
  CompiledReports& reports() { return reports_; }
  const CompiledReports& reports() const { return reports_; }
  const Misses& misses() const { return misses_; }
  CompiledState& state() { return state_; }
  const CompiledState& state() const { return state_; }

 private:
  // The program among those kept for good. Null: none fits, or none is looked for.
  const Entry* find(const Inputs& in) const;
  // A call that compiles, or works on what is kept alive meanwhile.
  Status* call_held(const Entry* found, const Inputs& in, Values& out, InterruptCheck& check, void* stream);
  Status* call_tensors_held(const Entry* found, const Inputs& in, Tensor** out, size_t n_out, InterruptCheck& check);
  Status* run_into(const Entry& entry, const Inputs& in, Values& out, InterruptCheck& check, void* stream);
  Status* run_into(const Entry& entry, const Inputs& in, Tensor** out, size_t n_out, InterruptCheck& check);

  CompiledState state_;
  Misses misses_;
  CompiledReports reports_;
};

}  // namespace thunder
