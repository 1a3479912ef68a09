// A scope in which values can be read. What was recorded up to a read is a segment: it is compiled and run, and what
// comes later is recorded anew, on the tensors that it made. docs/segments.md is about what that means for a function.
#pragma once

#include <unordered_map>

#include "tracer/segment_recorder.h"

namespace thunder {

// Lines that are compiled together, with the tensor or number for each input in this call.
struct Segment {
  Trace trace;
  std::vector<Ref<Tensor>> inputs;
  // Its script, by which later calls recognise the same lines. `followed`: the recorded script that this call repeated
  // from end to end (null: none; otherwise nothing may be added to the trace's store). `recorded`: a new script (null:
  // later calls cannot repeat it). `after`: the script of the segment before it, null for the first one.
  const SegmentScript* followed = nullptr;
  std::unique_ptr<SegmentScript> recorded;
  const SegmentScript* after = nullptr;
  bool has_place = true;  // false: the segment before it has no script
};

// A read of a value, for which the recorded lines had to run.
struct GraphBreak {
  std::string where;   // "file:line" of the read, else of the line that made what was read, or ""
  std::string reason;  // "the value of sum, f32[], was read"
  size_t lines = 0;    // recorded since the break before
};

// Compiles and runs for a scope; injected, so that this layer knows no program.
class SegmentRunner {
 public:
  virtual ~SegmentRunner() = default;
  // The outputs, in order, each memory of its own. Throws what compiling and running throw. `followed` is then what
  // stands for the segment from here on, or null.
  virtual std::vector<Ref<Tensor>> run(Segment& segment) = 0;
  // The scripts that followed this segment, or the beginning, in this or earlier calls. May be null. The scripts
  // outlive the scope.
  virtual std::shared_ptr<const SegmentScripts> scripts_after(const SegmentScript* segment) = 0;
  // A copy of the random state, which counts so many draws more from here on.
  virtual Ref<Tensor> take_random(int64_t draws) = 0;
  virtual void broke(GraphBreak at) = 0;
  // Whether a number that this argument of a line was given has been seen to vary; it is then an input of the segment.
  virtual bool varies(const char* where, const Op& op, size_t param) = 0;
};

class SegmentScope final : public TracingScope {
 public:
  // The runner outlives the scope. `broken`: the function has read values before, and is taken to do so again.
  SegmentScope(ScopeEnvironment environment, std::string function, SegmentRunner& runner, bool broken);
  ~SegmentScope() override;

  // The tensors of the first inputs, in their order: the arguments of the call.
  void bind_arguments(std::vector<Ref<Tensor>> tensors) { bound_ = std::move(tensors); }
  // Whether a value was read: then the recorded lines are not the whole function.
  bool broken() const { return broken_; }
  // Runs the last segment and materializes these tensors, the results. Numbers stay numbers. Requires: broken.
  std::vector<Ref<Tensor>> materialize_results(std::span<Tensor* const> results);

  bool give_data(Tensor& proxy, const char* where) override;
  // To be called before the caller reads or writes the elements of a concrete tensor: runs what the active scopes of
  // this thread have recorded that reads or writes its memory.
  static void before_access(const Tensor& t, bool writes);

 protected:
  bool learn_integers(std::string_view name, std::span<const Any> args, const char* const* names,
                      const char* where) override;
  std::vector<ValueId> gradient(ValueId loss, std::span<Tensor* const> wrt) override;
  void begin_op(const char* where) override;
  void end_op() override;
  ValueId given(Tensor* t) override;
  void take_live_numbers(const OpDef& op, std::span<Arg> args, const char* const* names) override;

 private:
  // A value and its segment's number. Segments count in the order of their runs; the last is being recorded.
  struct Origin {
    size_t segment;
    ValueId value;
    auto operator<=>(const Origin&) const = default;
  };
  // The line of a view, and where that was taken: who takes it again, after a write or in a later segment, sees the
  // same, and views of it are views of the one.
  struct Taken {
    const Node* line;
    Origin at;
  };
  using Path = std::vector<Taken>;
  // A handle made before the last break that is a view of another handle's memory.
  struct View {
    Ref<Tensor> base;
    Path path;  // from the base on
  };
  // The tensor that holds a value of this segment after it has run.
  struct Place {
    ValueId now = kNoValue;   // what is to be computed, where no input holds it
    size_t input = SIZE_MAX;  // or the input that does
    Path path;                // and the views from there
  };
  // A segment that has run. Versions are those of the memory of its inputs before, of what it wrote after, and of its
  // outputs.
  struct Past {
    Trace trace;
    std::vector<Ref<Tensor>> inputs;
    std::vector<uint64_t> before, written;
    std::vector<Ref<Tensor>> outputs;
    std::vector<uint64_t> made;
    Aliases memory;
    std::unordered_map<ValueId, Taken> taken;  // views that earlier segments took first
  };
  // Values of segments that have run: those that are what a tensor holds now, and those that it held before a write.
  struct Contents {
    std::vector<Origin> now, before;
  };
  // The segment that made the contents of a memory, and the tensor through which it did.
  struct Made {
    Origin at;
    const Tensor* tensor;
  };
  class Joined;
  using Outputs = std::vector<size_t>;  // by value: which output it is; SIZE_MAX: none

  SegmentRecorder& lines() { return static_cast<SegmentRecorder&>(recorder()); }
  void begin_segment();
  void run_before_access(const Tensor& t, bool writes);
  void require_readable(const Tensor& t) const;
  Ref<Tensor> input_tensor(size_t input) const;
  // For each value of the segment the input whose memory holds it; SIZE_MAX: none.
  std::vector<size_t> held_by_inputs() const;
  Place locate(ValueId v, const std::vector<size_t>& held) const;
  void cut(std::span<Tensor* const> handles);
  std::vector<Tensor*> live() const;
  void note_outputs(std::span<Tensor* const> handles, std::vector<Place>& places, Outputs& at,
                    std::vector<ValueId>& outputs);
  void materialize(Tensor& t, const Place& place, const Outputs& at, std::span<const Ref<Tensor>> made);
  void make_view(Tensor& t, Ref<Tensor> base, Path path);
  ValueId replay_views(ValueId base, const Path& path);
  ValueId number_input(const Arg& number);
  GraphBreak described(const Tensor& t, const char* where);
  void keep(Segment segment, std::vector<uint64_t> before, std::vector<Ref<Tensor>> made);
  // The contents of the handle that was given this value.
  Contents contents(ValueId given) const;
  std::vector<Origin> uses(const Place& at, const Tensor& memory) const;
  // The version of the memory once the segment has run, which reads or makes it.
  static uint64_t version_after(const Past& p, const Tensor& memory);
  // The segment before this one that made the contents of the memory at that version.
  std::optional<Made> find_maker(size_t before, const Tensor& t, uint64_t version) const;
  // Like Aliases::require_current, over all segments; `current` is the value in the segment that is being recorded.
  void require_current(const Past& current, ValueId loss, ValueId wrt, const Contents& held) const;
  std::vector<std::vector<bool>> reach(const Past& current, ValueId loss) const;
  // The line at which the view was taken first; none: it is no view, or owns its memory.
  std::optional<Origin> taken_first(Origin at) const;
  const Aliases& memory(size_t segment) const {
    return segment == past_.size() ? recorder().memory() : past_[segment].memory;
  }
  // The value that this one is a copy of, if a gradient recorded its line again; else itself.
  Origin original(Origin at) const;
  void fail_and_throw(const Error& e);

  SegmentRunner& runner_;
  SegmentScope* const outer_;  // on this thread
  std::vector<Ref<Tensor>> bound_;  // by input, where it is known before
  std::unordered_map<const Tensor*, Arg> numbers_;    // handles that stand for plain numbers
  std::unordered_map<const Tensor*, View> views_;
  std::map<Origin, ValueId> again_;            // views of earlier segments that this one has taken again
  std::unordered_map<ValueId, Taken> taken_;   // and the other way round
  std::map<Origin, std::vector<Origin>> later_;  // by view: what segments that have run took it again as
  std::map<Origin, Origin> copies_;  // of lines that a gradient recorded again
  std::unordered_map<const Tensor*, ValueId> known_;  // concrete handles whose value this segment has
  std::vector<Past> past_;  // views name their lines, gradients ask for what they computed
  const Ref<Tensor> context_random_;
  int64_t counted_ = 0;  // draws of this call that the context has counted
  Ref<Tensor> state_;  // what this call draws from instead, whoever draws meanwhile; once a segment that draws has run
  bool broken_;
  const SegmentScript* after_ = nullptr;  // the script of the segment before
  bool has_place_ = true;                 // whether it has one
  std::string place_;  // of the op that is being followed
  int in_op_ = 0;
  bool learning_ = false;  // the next op is recorded again with integers that it read
};

}  // namespace thunder
