// What a compiled function says of its calls and its programs.
#pragma once

#include "jit/compiled_state.h"

namespace thunder {

struct Examination;
struct Profile;

class CompiledReports {
 public:
  // `state` outlives this.
  explicit CompiledReports(const CompiledState& state) : state_(state) {}

  CallStatistics statistics() const;
  std::string last_miss() const { return state_.log.last_miss(); }
  // All compiles so far, oldest first; of very many the first ones are forgotten.
  std::vector<CompileRecord> compile_records() const { return state_.log.compile_records(); }
  // The latest program, for as long as this lives; null before there is one.
  std::shared_ptr<const Entry> latest() const;
  // The latest backward that ran on a tape, for as long as this lives; null before there is one.
  std::shared_ptr<const Entry> latest_backward() const;
  // The stages of the latest program, first to last.
  std::vector<Trace> traces() const;
  // Where and why the function broke into several programs.
  std::vector<CountedBreak> graph_breaks() const;

  // The last results of profile() and examine(); null before.
  void set_last_profile(std::shared_ptr<const Profile> profile);
  void set_last_examination(std::shared_ptr<const Examination> examination);
  std::shared_ptr<const Profile> last_profile() const;
  std::shared_ptr<const Examination> last_examination() const;

 private:
  const CompiledState& state_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Profile> last_profile_;
  std::shared_ptr<const Examination> last_examination_;
};

}  // namespace thunder
