// A compiled function. The first call with inputs of a kind traces, transforms, claims and compiles; later calls find
// the program by its key.
#pragma once

#include <atomic>
#include <thread>

#include "jit/options/compile_options.h"
#include "jit/recompile_limits.h"
#include "jit/run.h"
#include "jit/statistics.h"

namespace thunder {

class Compiled;
class Dynamic;
class EagerScope;
class SegmentCall;
struct CountedBreak;
class Segments;
struct SavedProgram;
struct Examination;
struct Profile;

// Calls on tapes by a forward program with a compiled backward.
class TapedCalls {
 public:
  virtual ~TapedCalls() = default;
  // The results, as lines of the tape. Null: the function cannot be partitioned, because it reads values, say; `why` is
  // the reason then. Throws what the function reports.
  virtual Values* call(EagerScope& tape, const Values& in, std::string& why) = 0;
  virtual const Compiled& forward() const = 0;
  // The program of the backward that was run last, for as long as this lives; null: none was.
  virtual std::shared_ptr<const Entry> latest_backward() const = 0;
  // Whether the last call compiled, or the last compiled program of the function is of a forward.
  bool compiled_last() const { return compiled_last_.load(std::memory_order_relaxed); }
  void set_compiled_last(bool value) { compiled_last_.store(value, std::memory_order_relaxed); }

 private:
  std::atomic<bool> compiled_last_{false};
};

class Compiled : public Counted<Compiled> {
 public:
  virtual ~Compiled();
  void destroy() const;
  // Throws at the first option that is unknown or of another kind. `options` may be null.
  Compiled(Ref<Context> context, Ref<Function> function, const CompileOptions* options);

  // Any thread. Results go to `out`, which is reset first, bound leaves excepted. Null or an owned status; nothing
  // is written unless every check has passed. An interrupt stops it before it writes, or not at all.
  Status* call(const Values& in, Values& out, void* native_stream = nullptr) noexcept;
  // Positional tensors in, the first n_out tensor results out (owned by the caller).
  Status* call_tensors(Tensor* const* in, size_t n_in, Tensor** out, size_t n_out) noexcept;

  // A call whose steps are reported to `watch`. Ops that run without a program are not.
  Status* call_watched(const Values& in, Values& out, StepWatch& watch) noexcept;

  // The results of a call inside of a scope: part of what is recorded there; on a tape a forward and a backward
  // program. The scope owns the results, and has the error if there is one.
  Values* apply(Scope& scope, const Values& in);

  // Compiles for these inputs if they are not cached, without running. Null or an owned status.
  Status* prepare(const Values& in) noexcept;
  // Where and why the function broke into several programs.
  std::vector<CountedBreak> graph_breaks() const;

  CallStatistics statistics() const;
  std::string last_miss() const;
  // All compiles so far, oldest first; of very many the first ones are forgotten.
  std::vector<CompileRecord> compile_records() const;
  // The last results of profile() and examine(); null before.
  void set_last_profile(std::shared_ptr<const Profile> profile);
  void set_last_examination(std::shared_ptr<const Examination> examination);
  std::shared_ptr<const Profile> last_profile() const;
  std::shared_ptr<const Examination> last_examination() const;
  // The stages of the latest program, first to last.
  std::vector<Trace> traces() const;
  // The latest backward that ran on a tape, for as long as this lives; null before there is one.
  std::shared_ptr<const Entry> latest_backward() const;
  // The latest program, for as long as this lives; null before there is one.
  std::shared_ptr<const Entry> latest() const;
  const Ref<Context>& context() const { return context_; }
  const Function& function() const { return *function_; }
  const Ref<Function>& shared_function() const { return function_; }
  const CompileOptions& options() const { return *options_; }
  // The cached programs whose guards hold, oldest first, as a file stores them. Throws where a file could not.
  std::vector<SavedProgram> programs() const;
  // The texts of the nests that its programs run on the CPU, some more than once.
  std::vector<std::string> kernels() const;

 private:
  struct Held;
  Status* call_held(const Entry* found, const Inputs& in, Values& out, InterruptCheck& check, void* stream);
  Status* call_tensors_held(const Entry* found, const Inputs& in, Tensor** out, size_t n_out, InterruptCheck& check);
  Status* run_into(const Entry& entry, const Inputs& in, Values& out, InterruptCheck& check, void* stream);
  Status* run_into(const Entry& entry, const Inputs& in, Tensor** out, size_t n_out, InterruptCheck& check);
  // The program for these inputs: kept, or beyond the limit this call's own. Null: the call runs op by op.
  const Entry* find(const Inputs& in) const;  // among those that are kept; null: none fits, or none is looked for
  // `segmented` (may be null): the call may be run while it is recorded, and then has its results.
  const Entry* handle_miss(const Inputs& in, std::shared_ptr<const Entry>& own, InterruptCheck& check,
                           SegmentCall* segmented = nullptr);
  const Entry* make_program(const Values& in, std::shared_ptr<const Entry>& own, InterruptCheck& check,
                            SegmentCall* segmented);
  // Null and `done`: the function read a value, and the call has its results.
  const Entry* miss_segmented(const Values& in, Values& out, std::shared_ptr<const Entry>& own, InterruptCheck& check,
                              void* stream, bool& done);
  // A call that misses the cache, of a function that may break into several programs.
  Status* call_segmented(const Values& in, Values& out, InterruptCheck& check, void* stream);
  const Entry* keep_program(std::unique_ptr<Entry> entry, const Inputs& in, bool full,
                            std::shared_ptr<const Entry>& own);
  // The program for a caller who promises that inputs keep their types. Null: none exists yet, or a module changed.
  const Entry* find_promised_program(const Inputs& in) const;
  bool must_stay_eager(const Inputs& in);
  void note_compiled(const Entry& entry, const std::string& why);
  std::vector<std::string> paths_of(const Inputs& in) const;
  Status* run_eagerly(const Values& in, Values& out);
  // Calls on a tape by a forward program with a compiled backward. Null: the function must run op by op.
  Values* call_partitioned(Scope& tape, const Values& in);
  Status* run_eagerly(const Inputs& in, Tensor** out, size_t n_out);
  // Positional tensors as values.
  template <class F>
  Status* call_with_values(const Inputs& in, Tensor** out, size_t n_out, F&& call) {
    const auto given = make<Values>(), taken = make<Values>();
    for (size_t i = 0; i < in.count; i++) given->push(Ref<Tensor>(in.tensors[i]));
    if (Status* failed = call(*given, *taken)) return failed;
    return detach_results(*taken, out, n_out);
  }
  Status* detach_results(const Values& taken, Tensor** out, size_t n_out) const;
  void check_values(const Values& in) const;
  void check_inputs(const Inputs& in) const;

  Ref<Context> context_;
  Ref<CompileOptions> options_;
  const CompileSettings& settings_;  // of the options
  Ref<Function> function_;
  const DynamicSizes sizes_;
  bool looks_up_ = true;  // whether calls look for a program at all
  Cache cache_;
  std::unique_ptr<Dynamic> dynamic_;  // where sizes may vary
  std::unique_ptr<Segments> segments_;  // where values may be read
  Ref<Function> unread_;                // the function then, where it is traced with sizes as symbols
  mutable std::mutex compile_mutex_;
  std::atomic<std::thread::id>
      compiler_{};                 // the thread that holds it: what it traces and prepares may call this again
  bool warned_ = false, warned_of_all_ = false;  // of the limits; under compile_mutex_
  ProgramRunner runner_;
  RecompileLimits limits_;
  CompileLog log_;
  mutable std::mutex taped_mutex_;
  std::unique_ptr<TapedCalls> taped_;  // made at the first one
  mutable std::mutex reports_mutex_;
  std::shared_ptr<const Profile> last_profile_;
  std::shared_ptr<const Examination> last_examination_;
  std::atomic<uint64_t> apart_{0};  // calls that no program of the cache ran, and preparations
  std::atomic<uint64_t> eager_{0};
  std::atomic<bool> was_eager_{false};
  std::atomic<bool> not_partitioned_{false};  // on tapes it runs op by op
  std::atomic<uint64_t> plain_{0};  // misses that were compiled with their plain sizes
};

}  // namespace thunder
