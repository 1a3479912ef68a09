// Batching, the rule of one operation: the same operation over a batch of its operands.
#pragma once

#include <vector>

#include "ops/builder.h"

namespace thunder {

// How random ops behave in a batch: refuse, draw for each example, or draw once for all of them.
enum class Randomness : uint8_t { error, different, same };

// One operation of which some operand has the dim of the batch, always its first. A rule gives results that all have
// it. `args` are the batched ones; operands that are the same for all examples are there without the dim.
class Batch : public Call {
 public:
  // `has`: for each tensor among the arguments, lists flattened, whether it has the dim.
  Batch(Builder& b, const Node& node, std::span<const Arg> args, std::vector<bool> has, Dim size, Randomness randomness)
      : Call(b, def(node), args), randomness(randomness), node_(node), has_(std::move(has)), size_(size) {}

  Dim size() const { return size_; }
  // Whether the argument has the dim of the batch; for a list, whether any element has.
  bool batched(size_t arg) const;
  bool batched(size_t arg, size_t element) const { return has_[first(arg) + element]; }
  // The argument with the dim of the batch; it is expanded if it has none.
  Var operand(size_t arg) const { return with_dim(builder.var(args[arg].v), batched(arg)); }
  Var operand(size_t arg, size_t element) const {
    return with_dim(builder.var(args[arg].vs[element]), batched(arg, element));
  }
  // The shapes of inputs and results of one example.
  size_t rank(size_t arg) const { return builder.type(node_.args[arg].v).rank(); }
  const TensorType& example(size_t result) const { return builder.type(node_.results[result]); }
  size_t count() const { return node_.results.size(); }

  // The list of sizes with one for the dim of the batch in front.
  Shape with_front(Dim front, std::span<const Dim> rest) const;
  // The same dims of examples in a batch.
  Shape shifted(std::span<const Dim> dims, size_t rank) const;
  // The dim of the batch merged into the one behind it, and the i-th result, of what was computed so, with its own
  // shape again.
  Var merged(size_t arg) const;
  Var parted(Var result, size_t i) const;
  // 0, 1, 2 ... along the batch, repeated to this shape of which it is the first dim.
  Var example_indices(const Shape& shape) const;
  // The op itself.
  Results invoke_same_op(std::initializer_list<In> in) const { return builder.results(op.name(), in); }

  const Randomness randomness;

 private:
  size_t first(size_t arg) const;
  Var with_dim(Var x, bool has) const;

  const Node& node_;
  std::vector<bool> has_;
  Dim size_;
};

// The op's batching rule, or that of its kind. Null: a composite is batched by its lines, a prim is unrolled.
BatchFn batch_rule(const OpDef& op);
// How an op is batched: by its rule; for a composite without one by its lines; else one example after the other.
enum class BatchWay { rule, lines, unrolled };
BatchWay batch_way(const OpDef& op);
// Computes one example after the other: used if there is no rule.
Results unroll(Batch& b);

}  // namespace thunder
