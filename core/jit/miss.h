// Calls that no program fits: whether they compile, within which limits, and who keeps the new program.
#pragma once

#include <thread>

#include "jit/compiled_state.h"

namespace thunder {

class SegmentCall;

// The program of a call, which its store keeps, or the call alone. None: the call runs op by op, or `is_done`.
struct ProgramOfCall {
  const Entry* entry = nullptr;
  std::shared_ptr<const Entry> own = nullptr;
  bool is_done = false;  // the call has its results, since the function read a value while it was recorded
};

// The misses of one compiled function. Any thread.
class Misses {
 public:
  // `state` outlives this.
  explicit Misses(CompiledState& state);

  // The program for inputs that none kept for good fits: kept recently, promised, or compiled now. Throws for inputs
  // that no call takes.
  ProgramOfCall program_for(const Inputs& in, InterruptCheck& check);
  // The same where the function may break into several programs: then `out` may have the results of the call.
  ProgramOfCall program_or_results(const Values& in, Values& out, InterruptCheck& check, void* stream);
  // Throws for inputs that no call takes.
  void check_inputs(const Inputs& in) const;
  // Waits for the compile that runs. Throws on the thread that compiles.
  std::unique_lock<std::mutex> wait_for_compile() const;

 private:
  ProgramOfCall program_for(const Inputs& in, InterruptCheck& check, SegmentCall* segmented);
  ProgramOfCall make_program(const Values& in, InterruptCheck& check, SegmentCall* segmented);
  // With plain sizes. Null: the function read a value, or the call is to run op by op.
  std::unique_ptr<Entry> record_and_compile(const Values& in, const std::string& why, bool full, InterruptCheck& check,
                                            SegmentCall* segmented);
  ProgramOfCall keep_program(std::unique_ptr<Entry> entry, const Inputs& in, bool full);
  ProgramOfCall find_recent(const Inputs& in) const;
  // The program for a caller who promises that inputs keep their types. Null: none exists yet, or a module changed.
  const Entry* find_promised_program(const Inputs& in) const;
  // Whether this call, which no program fits, is not to be compiled.
  bool must_stay_eager(const Inputs& in);

  CompiledState& state_;
  const Ref<Function> unread_;  // where values may be read: the function as it is traced with sizes as symbols
  mutable std::mutex compile_mutex_;
  std::atomic<std::thread::id>
      compiler_{};  // the thread that holds it: what it traces and prepares may call the function again
  bool warned_ = false, warned_of_all_ = false;  // of the limits; under compile_mutex_
  uint64_t plain_ = 0;  // misses that were compiled with their plain sizes; under compile_mutex_
  std::atomic<bool> was_eager_{false};
};

}  // namespace thunder
