#include <algorithm>

#include "base/text.h"
#include "passes/batching.h"
#include "transforms/inner.h"
#include "transforms/transforms.h"

namespace thunder {
namespace {

Var move_dim(Var x, size_t from, size_t to) {
  Shape order;
  for (size_t i = 0; i < x.rank(); i++)
    if (i != from) order.push_back(static_cast<int64_t>(i));
  order.insert(to, static_cast<int64_t>(from));
  return from == to ? x : permute_to(x, order);
}

class Vmap : public Function {
 public:
  Vmap(Ref<Function> f, std::vector<BatchDim> in, std::vector<BatchDim> out, Randomness randomness)
      : Function(cat("vmap(", f->name(), ")")),
        f_(std::move(f)),
        in_(std::move(in)),
        out_(std::move(out)),
        randomness_(randomness) {}

  Ref<Status> call(Scope& scope, const Values& in, Values& out) override {
    std::vector<InnerArgument> arguments;
    std::vector<size_t> dims;
    std::vector<Tensor*> given;
    const Dim size = count_examples(in, arguments, dims, given);
    Inner inner = trace_inside(scope, *f_, in, arguments);
    require(out_.empty() || out_.size() == inner.outputs.size(), name(), ": out_dims has ", out_.size(),
            " entries, the function gives ", inner.outputs.size(), " tensors");
    Trace batched = rewrite(scope, inner, size, dims, given);
    std::vector<Tensor*> made = replay_inside(scope, inner, std::move(batched), given);
    for (size_t i = 0; i < made.size(); i++) inner.results->set_tensor(inner.outputs[i], Ref<Tensor>(made[i]));
    out.assign(*inner.results);
    return {};
  }

 private:
  size_t axis_of(int64_t dim, size_t rank, std::string_view said_by) const {
    const auto r = static_cast<int64_t>(rank);
    require(dim >= -r && dim < r, name(), ": ", said_by, " is ", dim, ", which is out of range for a tensor of rank ",
            r, " (expected ", -r, " to ", r - 1, ")");
    return normalize_axis(dim, rank);
  }

  // The batch size, the proxies of one example, the dims removed from them, and the batched tensors.
  Dim count_examples(const Values& in, std::vector<InnerArgument>& arguments, std::vector<size_t>& dims,
                     std::vector<Tensor*>& given) const {
    require(in_.empty() || in_.size() == in.size(), name(), ": in_dims has ", in_.size(), " entries, there are ",
            in.size(), " arguments");
    std::optional<Dim> size;
    std::string first;
    for (size_t i = 0; i < in.size(); i++) {
      Tensor* t = in[i].tensor.get();
      const BatchDim dim = in_.empty() ? (t ? BatchDim(0) : BatchDim()) : in_[i];
      if (!dim) continue;
      require(t != nullptr, name(), ": argument '", in.path(i), "' has no dim ", *dim, ", since it is no tensor");
      if (t->kind() == Tensor::Kind::failed) throw Error(t->failure());
      TensorType type = t->type();
      require(type.rank() > 0, name(), ": argument '", in.path(i),
              "' is 0-d: it has no dim of examples; give it None in in_dims");
      const size_t axis = axis_of(*dim, type.rank(), cat("in_dims for argument '", in.path(i), "'"));
      if (!size) size = type.shape[axis], first = in.path(i);
      require(*size == type.shape[axis], name(), ": dim ", axis, " of argument '", in.path(i), "' has ",
              thunder::name(type.shape[axis]), " examples, that of '", first, "' has ", thunder::name(*size));
      type.shape.erase(axis);
      arguments.push_back({i, type});
      dims.push_back(axis);
      given.push_back(t);
    }
    require(size.has_value(), name(), ": no argument has a dim of examples");
    return *size;
  }

  Trace rewrite(Scope& scope, const Inner& inner, Dim size, const std::vector<size_t>& dims,
                const std::vector<Tensor*>& given) const {
    Trace out = inner.trace;
    Recorder recorder(*scope.environment().registry, out.store);
    Batching walk(recorder, size, randomness_);
    for (size_t i = 0; i < dims.size(); i++) {
      const ValueId whole = out.store->add(given[i]->type());
      walk.set(out.inputs[i].value, move_dim(recorder.var(whole), dims[i], 0));
      out.inputs[i].value = whole;
    }
    for (const Node* n : inner.trace.nodes) walk.visit(*n);
    for (size_t i = 0; i < out.outputs.size(); i++) out.outputs[i] = apply_out_dim(walk, recorder, out.outputs[i], i);
    for (Write& w : out.writes) {
      const bool argument = w.input < dims.size();
      require(argument || !walk.varies(w.value), name(),
              ": what differs between examples is written into a tensor that is the same for all of them");
      if (argument) w.value = move_dim(walk.value(w.value), 0, dims[w.input]).id;
    }
    out.nodes = std::move(recorder.nodes());
    return out;
  }

  ValueId apply_out_dim(const Batching& walk, Recorder& recorder, ValueId output, size_t i) const {
    const BatchDim dim = out_.empty() ? BatchDim(0) : out_[i];
    if (!dim) {
      require(!walk.varies(output), name(), ": result ", i,
              " differs between examples, so that it cannot have None in out_dims");
      return output;
    }
    const size_t to = axis_of(*dim, recorder.type(output).rank() + 1, cat("out_dims for result ", i));
    return move_dim(walk.value(output), 0, to).id;
  }

  Ref<Function> f_;
  std::vector<BatchDim> in_, out_;
  Randomness randomness_;
};

}  // namespace

Ref<Function> vmap(Ref<Function> f, std::vector<BatchDim> in, std::vector<BatchDim> out, Randomness randomness) {
  return Ref<Function>::adopt(new Vmap(std::move(f), std::move(in), std::move(out), randomness));
}

}  // namespace thunder
