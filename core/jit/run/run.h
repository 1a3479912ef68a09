// The rest of a call once its program is found: binding inputs, running the steps, making results.
#pragma once

#include <shared_mutex>

#include "cache/entry.h"
#include "jit/context/context.h"

namespace thunder {

// Tensors that a call made, until they are handed over.
class ResultTensors {
 public:
  ResultTensors() = default;
  ResultTensors(const ResultTensors&) = delete;
  ~ResultTensors() {
    for (Tensor* t : tensors_)
      if (t) t->release();
  }
  void push(Ref<Tensor> t) { tensors_.push_back(t.detach()); }
  Tensor* get(size_t i) const { return tensors_[i]; }
  Ref<Tensor> take(size_t i) { return Ref<Tensor>::adopt(std::exchange(tensors_[i], nullptr)); }
  void replace(size_t i, Ref<Tensor> t) { Ref<Tensor>::adopt(std::exchange(tensors_[i], t.detach())); }

 private:
  SmallVector<Tensor*, 8> tensors_;
};

// Runs the programs of one function. Any thread.
class ProgramRunner {
 public:
  // Both must live as long.
  ProgramRunner(Context& context, const Function& function) : context_(context), function_(function) {}

  // Fills `results`, one tensor an output of the program. `bound` may be null. Null or an owned status; nothing is
  // written unless every check has passed.
  Status* run(const Entry& entry, const Inputs& in, const Values* bound, ResultTensors& results, InterruptCheck& check,
              void* stream);
  static void fill_results(const Entry& entry, ResultTensors& results, Values& out);

 private:
  Status* run_program(const Entry& entry, const Inputs& in, const Values* bound, ResultTensors& results,
                      InterruptCheck& check, void* stream);
  void tell_other_ranks(const Entry& entry, const Status& failed);
  // The tensor bound to an input of the program; null for a plain number.
  static Tensor* input_tensor(const Entry& entry, const Inputs& in, size_t input);
  // Recomputes values that depend on frozen tensors that were written.
  Status* renew_frozen(const Entry& entry);
  void check_writes(const Entry& entry, const Inputs& in) const;
  Ref<Tensor> allocate_result(const DenseType& type) const;
  void make_results(const Entry& entry, const Inputs& in, const Values* bound, ResultTensors& results, bool& copy,
                    bool& callers) const;
  Ref<Tensor> result_tensor(const Entry& entry, const Inputs& in, size_t leaf, Tensor& bound, bool& copy) const;
  static void tell_tapes(const Entry& entry, const Inputs& in, const Values* bound);
  static void copy_to_bound(const Entry& entry, const Values& bound, ResultTensors& results);

  Context& context_;
  const Function& function_;
  std::shared_mutex renew_mutex_;  // calls of programs with frozen tensors share it
};

}  // namespace thunder
