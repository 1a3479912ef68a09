// Arguments whose memory a program may use for what it computes: the option donate_argnums.
#pragma once

#include "cache/entry.h"
#include "device/devices.h"
#include "jit/options/compile_options.h"

namespace thunder {

// Says in `entry` which of its inputs are donated, by the numbers that the options name. Throws where there is no such
// argument, and where the function writes it.
void note_donations(const CompileOptions& options, const Values& in, Entry& entry);
// For each input of the entry's trace.
std::vector<bool> donated_inputs(const Entry& entry);

// The donated tensors of one call: those that the call's values alone hold are used, of others a copy. Once they are
// used, nobody has them: the values say so from then on.
class Donations {
 public:
  // Throws.
  Donations(const Entry& entry, const Inputs& in, Devices& devices);
  ~Donations();
  Donations(const Donations&) = delete;

  // The memory to use for an input in place of its own; null: its own.
  std::byte* data(uint32_t input) const { return copies_[input] ? copies_[input]->data() : nullptr; }

  // Tensors that `from` alone holds go to `to`, which has the same. Of a call that keeps its arguments while it runs.
  static void move_donated(const Entry& entry, const Values& from, Values& to);

 private:
  const Entry& entry_;
  const Inputs& in_;
  std::vector<Ref<Tensor>> copies_;  // by input; null: it is used itself
};

}  // namespace thunder
