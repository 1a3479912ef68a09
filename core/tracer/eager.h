// The eager scope: every op runs when it is called. Taped, it also records, so that a gradient can be asked for.
#pragma once

#include <unordered_map>

#include "tracer/aliases.h"
#include "tracer/scope.h"

namespace thunder {

// Values are slots that hold tensors.
class EagerBuilder : public Builder {
 public:
  explicit EagerBuilder(const ScopeEnvironment& environment, bool taped);

  const TensorType& type(ValueId v) const override { return slots_[v]->type(); }
  Draw draw() override;
  int64_t read_integer(ValueId v, const OpDef& op) override;
  bool aliases(ValueId view, ValueId base) const override { return slots_[view]->storage() == slots_[base]->storage(); }

  ValueId add(Ref<Tensor> t);
  const Ref<Tensor>& tensor(ValueId v) const { return slots_[v]; }
  void replace(ValueId v, Ref<Tensor> t) { slots_[v] = std::move(t); }
  // Nothing refers to this value any more: its memory is free for others.
  void drop(ValueId v) { slots_[v] = nullptr; }
  size_t size() const { return slots_.size(); }
  void clear();
  // The tape's record of views and writes.
  Aliases& memory() { return memory_; }
  const std::vector<const Node*>& tape() const { return frames_[0]; }
  // Adds a line that says that `result` is `value`, made again.
  void record_same(ValueId value, ValueId result);
  // Moves what was recorded since the tape had `recorded` lines to the place behind its first `before` ones.
  void move_lines(size_t recorded, size_t before);
  bool taped() const { return store_ != nullptr; }
  CompositeRunner* composites() const { return environment_.composites; }
  Results decompose(const OpDef& op, std::span<const Arg> args, std::vector<const Node*>& body) override;
  void pause_tape(bool paused) { paused_ = paused; }
  // Notes there, in order, the integers that ops read; null: nowhere.
  void note_integers(std::vector<int64_t>* into) { integers_ = into; }
  // Adds a line of the tape, unless that is paused, which ran elsewhere; the tape keeps its op.
  void record(std::shared_ptr<const OpDef> op, std::span<const Arg> args, const Results& results);

 protected:
  Results prim(const OpDef& op, std::span<const Arg> args, const Types& types) override;
  bool run_whole(const OpDef& op, std::span<const Arg> args, Results& results) override;
  void enter(const OpDef& op) override;
  Results leave(const OpDef& op, std::span<const Arg> args, const Results& results) override;
  void abandon() override;

 private:
  std::vector<int64_t>* integers_ = nullptr;
  bool view(const OpDef& op, std::span<const Arg> args, const Types& types, Results& results);
  bool recording() const { return store_ && !paused_; }

  const ScopeEnvironment& environment_;
  std::vector<Ref<Tensor>> slots_;
  bool paused_ = false;
  // The tape: nodes over numbered values.
  std::unique_ptr<Store> store_;
  std::vector<std::shared_ptr<const OpDef>> ops_;  // of lines that ran elsewhere
  Aliases memory_;
  std::vector<std::vector<const Node*>> frames_;
  std::vector<ValueId> firsts_;
};

class EagerScope : public Scope {
 public:
  EagerScope(ScopeEnvironment environment, bool taped);
  ~EagerScope() override;

  bool tracing() const override { return false; }
  bool taped() const override { return builder_.taped(); }
  EagerBuilder& builder() override { return builder_; }
  Tensor* parameter(Tensor* t, std::string_view) override { return t; }
  void guard(std::shared_ptr<const std::atomic<uint64_t>>, std::unique_ptr<Fact>) override {}
  ValueId enter(Tensor* t) override;
  Tensor* wrap(ValueId v) override;
  void write(Tensor* x, ValueId value) override;
  // For each tensor whether the loss depends on it, as far as the tape knows; others have no gradient.
  std::vector<bool> reached(Tensor* loss, std::span<Tensor* const> tensors);
  // To be called before memory is written by other than a tape: in no_grad(), by a program, by the host. The tapes
  // of this thread keep what they hold of it. `by`: who writes, and knows.
  static void before_write(const Tensor& t, const EagerScope* by = nullptr);
  // Taped only. From here to the end whatever is written on this thread can be undone: from the last write back to
  // those before `mark`, which it returns.
  size_t begin_undoable();
  void undo_writes(size_t mark);
  void end_undoable();
  void reset() override;

 protected:
  void begin_op(const char*) override {}
  void end_op() override;
  std::vector<ValueId> gradient(ValueId loss, std::span<Tensor* const> wrt) override;

 private:
  EagerBuilder builder_;
  void write_on_tape(Tensor* x, ValueId value);
  void keep_held(const Storage& memory);
  void keep_before_write(const Tensor& t);
  void note_for_undo(Tensor& t);
  ValueId differentiable(ValueId v) const;
  Ref<Tensor> dense_copy(const Tensor& t) const;

  // A gradient that was taken: only its results were kept. Its lines are recorded once something differentiates them.
  struct TakenGradient {
    size_t before;  // how many lines the tape had
    ValueId loss;
    std::vector<ValueId> wrt, results;
    ValueId first;  // values from here on were made by it
  };
  std::vector<ValueId> take_gradient(ValueId loss, const std::vector<ValueId>& wrt);
  void own_memory(const TakenGradient& taken);
  void record(const TakenGradient& taken);
  // Records the gradients that this value was computed from, so that it can be differentiated.
  void record_gradients_behind(ValueId value);
  std::vector<TakenGradient> taken_;

  // Taped only: the value each tensor was given; kNoValue once its memory was written by what the tape does not know as
  // a view of it.
  std::unordered_map<const Tensor*, ValueId> known_;
  std::vector<Ref<Tensor>> kept_;
  // What memory holds since others wrote it, and what it held for the tape before: gradients are by that.
  std::unordered_map<ValueId, ValueId> before_;
  int undoable_ = 0;
  std::vector<std::pair<Ref<Tensor>, ValueId>> undo_;  // what was written, and what it held before
};

}  // namespace thunder
