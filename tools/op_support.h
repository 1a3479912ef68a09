// What docs/ops.md says of the support of an op: in which dtypes it is recorded, and which executors are asked for it.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "executors/fusion/prims.h"
#include "jit/context/context.h"
#include "ops/samples.h"

namespace thunder {

inline Samples samples_of(const OpDef& op) {
  Samples samples;
  if (op.samples) op.samples(samples);
  return samples;
}

// Records nothing but the types of values: enough to see whether an op takes its arguments.
class TypeBuilder : public Builder {
 public:
  using Builder::Builder;
  ValueId add(const TensorType& type) {
    types_.push_back(type);
    return static_cast<ValueId>(types_.size() - 1);
  }
  const TensorType& type(ValueId v) const override { return types_[v]; }
  Draw draw() override {
    TensorType state;
    state.dtype = DType::i64, state.shape = {2};
    return {var(add(state)), 0};
  }
  int64_t read_integer(ValueId, const OpDef&) override { return 2; }

 protected:
  Results prim(const OpDef&, std::span<const Arg>, const Types& types) override {
    Results out;
    for (size_t i = 0; i < types.count; i++) out.push_back(add(types.at[i]));
    return out;
  }
  void enter(const OpDef&) override {}
  Results leave(const OpDef&, std::span<const Arg>, const Results& results) override { return results; }
  void abandon() override {}

 private:
  std::deque<TensorType> types_;  // references to elements stay
};

// A sample as arguments for a TypeBuilder. Its real tensors, or all of them where none is real, are of `dtype`.
class SampleArguments {
 public:
  SampleArguments(TypeBuilder& builder, const Sample& sample, DType dtype) {
    bool real = false;
    for (auto& arg : sample.args) each_spec(arg, [&](const TensorSpec& spec) { real |= is_real(spec.dtype); });
    const auto value = [&](const TensorSpec& spec) {
      TensorType type;
      type.dtype = !real || is_real(spec.dtype) ? dtype : spec.dtype;
      for (int64_t d : spec.shape) type.shape.push_back(Dim(d));
      tensors_++;
      return builder.add(type);
    };
    for (auto& arg : sample.args) add(arg, value);
  }
  std::span<const Arg> span() const { return args_; }
  size_t tensors() const { return tensors_; }

 private:
  template <class F>
  static void each_spec(const SampleArg& arg, const F& f) {
    if (auto* one = std::get_if<TensorSpec>(&arg.value)) f(*one);
    if (auto* list = std::get_if<std::vector<TensorSpec>>(&arg.value))
      for (auto& spec : *list) f(spec);
  }
  template <class F>
  void add(const SampleArg& arg, const F& value) {
    if (auto* one = std::get_if<TensorSpec>(&arg.value)) return args_.push_back(Arg::value(value(*one)));
    if (auto* list = std::get_if<std::vector<TensorSpec>>(&arg.value)) {
      auto& ids = lists_.emplace_back();
      for (auto& spec : *list) ids.push_back(value(spec));
      return args_.push_back(Arg::values(ids));
    }
    if (auto* dims = std::get_if<std::vector<int64_t>>(&arg.value)) {
      auto& made = dims_.emplace_back();
      for (int64_t d : *dims) made.push_back(Dim(d));
      return args_.push_back(Arg::dims(made));
    }
    if (auto* b = std::get_if<bool>(&arg.value)) return args_.push_back(Arg::boolean(*b));
    if (auto* i = std::get_if<int64_t>(&arg.value)) return args_.push_back(Arg::integer(*i));
    if (auto* f = std::get_if<double>(&arg.value)) return args_.push_back(Arg::real(*f));
    if (auto* s = std::get_if<std::string>(&arg.value)) return args_.push_back(Arg::string(*s));
    if (auto* d = std::get_if<DType>(&arg.value)) return args_.push_back(Arg::of(*d));
    args_.push_back(Arg::none());
  }

  std::vector<Arg> args_;
  std::deque<ValueList> lists_;
  std::deque<std::vector<Dim>> dims_;
  size_t tensors_ = 0;
};

inline bool takes(const Registry& registry, const OpDef& op, const Samples& samples, DType dtype) {
  for (const Sample& sample : samples.all) {
    TypeBuilder builder(registry);
    const SampleArguments given(builder, sample, dtype);
    if (given.tensors() == 0) continue;
    try {
      builder.invoke(op, CompleteArgs(op, given.span()).span());
      return true;
    } catch (const Error&) {
    }
  }
  return false;
}

// "all", "reals", "reals, i64": of the dtypes that its tensors may have; empty where no sample has a tensor.
inline std::string dtypes_of(const Registry& registry, const OpDef& op, const Samples& samples) {
  struct Group {
    std::string_view name;
    Category category;
  };
  constexpr Group kGroups[] = {{"reals", Category::real}, {"integers", Category::integer}, {"bool", Category::boolean}};
  std::vector<std::string> words;
  size_t whole = 0;
  for (const Group& group : kGroups) {
    std::vector<std::string> taken;
    size_t count = 0;
    for (const DTypeInfo& row : all_dtypes()) {
      if (row.category != group.category) continue;
      count++;
      if (takes(registry, op, samples, row.dtype)) taken.emplace_back(row.name);
    }
    if (taken.size() == count)
      words.emplace_back(group.name), whole++;
    else
      words.insert(words.end(), taken.begin(), taken.end());
  }
  if (whole == std::size(kGroups)) return "all";
  return join(words, ", ", [](auto& word) -> const std::string& { return word; });
}

// Those that name the op among what they take, in the order in which they are asked; fusion by its table of prims, host
// by a reference kernel. Empty: the op is run by its lines.
inline std::string executors_of(const Context& context, const OpDef& op) {
  std::vector<std::string> names;
  for (const std::string& name : context.executor_names()) {
    const Ref<Executor> executor = context.find_executor(name);
    const bool listed = !executor->desc().ops.empty() && executor->may_claim(op.name());
    const bool fused = name == "fusion" && fusion::find_prim(op);
    const bool reference = name == "host" && op.prim && op.reference;
    if (listed || fused || reference) names.push_back(name);
  }
  return join(names, ", ", [](auto& name) -> const std::string& { return name; });
}

}  // namespace thunder
