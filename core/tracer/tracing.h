// The tracing scope: ops are recorded on proxies. It captures concrete tensors, keeps the trace functional under
// in-place writes, and collects what the program will be guarded by.
#pragma once

#include <array>
#include <map>
#include <set>
#include <unordered_map>

#include "tracer/aliases.h"
#include "tracer/current_trace.h"
#include "tracer/recorder.h"
#include "tracer/scope.h"

namespace thunder {

class TracingScope;

// Records, hands random draws to its scope, and knows where the eager scope would place each value: results are dense,
// views have strides, and a reshape of a transpose is a copy.
class TracingRecorder : public Recorder {
 public:
  TracingRecorder(const Registry& registry, std::shared_ptr<Store> store, TracingScope& scope)
      : Recorder(registry, std::move(store)), scope_(scope) {}
  Draw draw() override;
  bool aliases(ValueId view, ValueId base) const override { return aliases_.root(view) == aliases_.root(base); }

  // Adds an input with this tensor's strides; null: it is dense, or a number.
  virtual ValueId add_input(const TensorType& type, const Tensor* layout);
  // The line `grad`, whose results have the types of these values.
  virtual std::vector<ValueId> add_gradient(std::span<const Arg> args, std::span<const ValueId> wrt);
  // Called before others add to its store, or change its list of lines.
  virtual void build() {}

  Aliases& memory() { return aliases_; }
  const Aliases& memory() const { return aliases_; }
  // Strides in elements, for the traced sizes.
  Sizes strides(ValueId v) const;
  bool is_contiguous(ValueId v) const;
  void set_strides(ValueId v, const Sizes& strides);
  // Notes what decided whether reshapes of what is not dense are views.
  void note_places_of_reshapes() const;

 protected:
  void recorded(const Node&) override;
  bool closes(std::span<const ValueId> results, ValueId first) override {
    return closed_ = aliases_.close(results, first);
  }
  // Forgets, when a line is recorded, which sizes its op read as numbers: replaying the line reads them again. Those of
  // an op that leaves no line stay noted.
  void enter(const OpDef& op) override;
  Results leave(const OpDef& op, std::span<const Arg> args, const Results& results) override;
  void abandon() override;

 private:
  Shape stride_formulas(ValueId v) const;
  const Node* made_by(ValueId v) const;  // the view, or null

  TracingScope& scope_;
  Aliases aliases_;
  std::unordered_map<ValueId, Shape> strides_;      // of views, and of inputs that are not dense
  std::unordered_map<ValueId, const Node*> views_;  // by result, inside of ops, too
  std::vector<const Node*> reshapes_;  // of a value among `strides_`
  bool closed_ = false;             // whether the op that just ended became a line
  std::vector<size_t> reads_;       // by open op: how many sizes had been looked at
};

class TracingScope : public Scope {
 public:
  // `around`: the scope in which the function is called that is traced here, for a transform. Its values are captured,
  // what is guarded is guarded there, and a tracing one's sizes are known here.
  TracingScope(ScopeEnvironment environment, std::string function, Scope* around = nullptr);
  ~TracingScope() override;

  bool tracing() const override { return true; }
  Builder& builder() override { return *recorder_; }
  Tensor* parameter(Tensor* t, std::string_view path) override;
  void guard(std::shared_ptr<const std::atomic<uint64_t>> counter, std::unique_ptr<Fact> fact) override;
  bool wants_edges() const override { return around_ && !edges ? around_->wants_edges() : Scope::wants_edges(); }
  void add_edge(SharpEdge edge) override {
    return around_ && !edges ? around_->add_edge(std::move(edge)) : Scope::add_edge(std::move(edge));
  }
  ValueId enter(Tensor* t) override;
  Tensor* wrap(ValueId v) override;
  void write(Tensor* x, ValueId value) override;
  Arg as_number(ValueId v) override;
  std::vector<ValuePart> parts(std::span<const ValueId> values) override;
  // For each of these concrete tensors whether the loss depends on it, as far as was recorded: others have no gradient.
  std::vector<bool> reached(Tensor* loss, std::span<Tensor* const> tensors);
  std::vector<Tensor*> checkpointed(std::span<Tensor* const> inputs, const Body& body) override;
  // How often it drew so far.
  int64_t draws() const { return draws_; }

  // Adds an argument of the program and returns its proxy. `like` null: a live number.
  Tensor* argument_proxy(const TensorType& type, std::string name, Ref<Tensor> like);
  // The same for a float. If an op reads it as a plain number, `reads` is told its leaf; `reads` must outlive the
  // scope.
  Tensor* float_proxy(double value, std::string name, size_t leaf, LeafReads& reads);
  // A symbol for a size of 2 or more, of which this value was seen.
  Dim symbol(int64_t size) { return recorder_->store().dims().symbol(size); }
  // A symbol for an integer of which this value was seen.
  Dim integer(int64_t value);
  // Whether it is a symbolic size.
  bool is_size(Dim d) const;
  // A size as callers hold it: a number, or a word for what stands for any. And back: a number that is no word is
  // itself. Throws at the word of another scope.
  int64_t word(Dim size);
  Dim dim_of(int64_t word) const;
  // The same for any integer: one that is no word of this function is a plain number.
  Dim integer_of(int64_t given) const;
  // Words are less than any size or axis.
  static constexpr int64_t kWordsEnd = -(int64_t{1} << 62);
  // Whether a tensor was written in place. Writes through views depend on strides, which depend on the sizes.
  bool wrote() const { return wrote_; }
  // Where lines are kept for other sizes: writes through views reach the same values for all of them.
  void keep_views() const { recorder_->note_places_of_reshapes(); }
  // Whether the memory of this proxy of the scope will be dense, for the traced sizes.
  bool is_contiguous(const Tensor& proxy);
  // Throws if a function that this thread traces has written the memory of a concrete tensor: it then holds what it
  // held before, until the program runs.
  static void require_current(const Tensor& t);
  // For each value of a finished trace, of its inputs and of the results of its lines, the value in whose memory it
  // lies; kNoValue for others.
  std::vector<ValueId> roots(const Trace& trace) const;
  Draw draw();
  bool give_data(Tensor& proxy, const char* where) override;
  // From now on reading a value fails the scope, even if the function catches the error.
  void let_reads_fail() { reads_fail_ = true; }

  // Results that have data become proxies of what they hold, so that they are no further handles of it.
  void take_results(Values& results);
  // The finished trace: outputs resolved, writes to inputs collected, the random state advanced.
  Trace finish(std::span<Tensor* const> outputs);
  // For each input of the trace the captured tensor, or null for arguments.
  const std::vector<Ref<Tensor>>& captured() const { return captured_; }
  std::vector<GenerationGuard> take_guards() { return std::move(guards_); }

 protected:
  void begin_op(const char* where) override { recorder_->set_where(layer ? layer_place(where) : where); }
  void end_op() override {}
  std::vector<ValueId> gradient(ValueId loss, std::span<Tensor* const> wrt) override;
  // Checks the arguments of a gradient of the loss, and returns the current values of wrt.
  ValueList gradient_inputs(ValueId loss, std::span<Tensor* const> wrt);
  std::vector<ValueId> record_gradient(ValueId loss, const ValueList& wrt);
  // Draws count on from here; gives how many there have been.
  int64_t count_draws_from(int64_t draws) { return std::exchange(draws_, draws); }
  // The value that a handle was given, whatever its memory holds by now.
  virtual ValueId given(Tensor* t);
  // The trace recorded so far, with these outputs.
  Trace recorded(std::vector<ValueId> outputs) const;
  // Drops the recorded lines and starts with another recorder; draws keep counting.
  void restart(std::unique_ptr<TracingRecorder> recorder);
  TracingRecorder& recorder() { return *recorder_; }
  const TracingRecorder& recorder() const { return *recorder_; }
  const std::vector<Input>& inputs() const { return inputs_; }
  // For each input a concrete tensor whose memory it is, or null.
  const std::vector<Ref<Tensor>>& layouts() const { return layouts_; }
  // An input that is a number: null.
  ValueId add_input(const TensorType& type, Source source, std::string name, Ref<Tensor> captured);
  // A float among them, which is a plain number where an op wants one.
  void keep_live(ValueId v, double value, size_t leaf, LeafReads& reads) { live_floats_[v] = {value, leaf, &reads}; }

 private:
  struct ViewKey {
    const Storage* storage;
    size_t offset;
    SmallVector<int64_t, 9> layout;  // sizes, strides, dtype: room for those of rank 4
    bool operator<(const ViewKey& other) const;
  };
  struct Captured {
    const Tensor* tensor = nullptr;
    ValueId value = kNoValue;
  };
  // The range of words for a new scope: words of one scope are invalid in others.
  static int64_t next_words();
  const char* layer_place(const char* where);
  ViewKey key(const Tensor& t) const;
  ValueId capture(Tensor* t, Source source, std::string_view name);
  bool is_around(const Tensor* t) const;
  ValueId capture_around(Tensor* t);
  ValueId resolve(ValueId v) { return recorder_->memory().resolve(*recorder_, v); }
  void refuse_unwritable(const Tensor& t) const;
  void refuse_overlaps(const Trace& trace) const;
  bool is_given_up(size_t input);
  bool has_written(const Tensor& t) const;

  std::string function_;
  const CurrentTrace current_;
  std::unique_ptr<TracingRecorder> recorder_;
  Scope* const around_;
  TracingScope* const outer_;  // on this thread
  std::unordered_map<ValueId, ValueId> captured_around_;  // by value of the scope around: the input that stands for it
  std::vector<Input> inputs_;
  std::vector<Ref<Tensor>> captured_;
  std::vector<Ref<Tensor>> layouts_;  // by input: a concrete tensor whose memory it is, or null
  uint32_t counts_[3] = {0, 0, 0};
  std::map<ViewKey, ValueId> by_view_;
  std::set<ViewKey> read_before_;  // what was read before it began anew
  // A direct-mapped cache before by_view_, by the tensor's address. It has only tensors that captured_ holds, since the
  // addresses of others may be used again.
  std::array<Captured, 16> recent_;
  struct LiveFloat {
    double value;
    size_t leaf;
    LeafReads* reads;
  };
  std::unordered_map<ValueId, LiveFloat> live_floats_;
  std::vector<GenerationGuard> guards_;
  std::unordered_map<std::string, const char*> places_;
  std::vector<Ref<Tensor>> symbolic_;  // proxies whose sizes end with this scope's store
  const int64_t first_word_;
  std::vector<Dim> words_;             // by their number
  std::vector<Dim> integers_;          // symbols that are no sizes
  bool wrote_ = false, reads_fail_ = false;
  ValueId random_ = kNoValue;
  int64_t draws_ = 0;
};

}  // namespace thunder
