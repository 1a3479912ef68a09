#include "jit/run/op_by_op.h"

#include "base/text.h"
#include "tracer/eager.h"

namespace thunder {
namespace {

// Plain numbers among the results become tensors, as in a program.
Ref<Tensor> tensor_of_number(const Allocator& allocator, const Tensor& number) {
  TensorType type;
  type.dtype = tensor_dtype(number.type().dtype);
  auto t = Tensor::empty(allocator, type);
  const Arg& a = number.number_value();
  if (a.kind == ArgKind::real) *reinterpret_cast<float*>(t->data()) = static_cast<float>(a.f);
  else if (a.kind == ArgKind::integer) *reinterpret_cast<int64_t*>(t->data()) = a.i;
  else *reinterpret_cast<bool*>(t->data()) = a.i != 0;
  return t;
}

}  // namespace

void make_results_owned(const Allocator& allocator, std::vector<Leaf>& leaves) {
  for (Leaf& l : leaves) {
    if (!l.tensor) continue;
    if (l.tensor->kind() == Tensor::Kind::number) l.tensor = tensor_of_number(allocator, *l.tensor);
    const bool own =
        l.tensor->contiguous() && l.tensor->unique() && l.tensor->storage()->unique() && l.tensor->storage()->owned();
    if (!own) l.tensor = dense_copy(allocator, *l.tensor);
  }
}

void copy_results_to_bound(std::string_view function, const Values& out, std::vector<Leaf>& leaves) {
  for (size_t i = 0; i < leaves.size() && i < out.size(); i++) {
    const Ref<Tensor>& to = leaves[i].bound = out[i].bound;
    if (!to || !leaves[i].tensor) continue;
    const TensorType& type = leaves[i].tensor->type();
    require(to->concrete() && !to->read_only() && to->type() == type, function, ": result ", i, " is ", name(type),
            ", the tensor bound to it is ", to->read_only() ? "read-only " : "", name(to->type()));
  }
  for (Leaf& l : leaves) {
    if (!l.bound || !l.tensor) continue;
    copy_strided(l.tensor->buffer(), l.bound->buffer());
    l.bound->bump();
    l.tensor = l.bound;
  }
}

Status* run_op_by_op(Context& context, Function& function, const Values& in, Values& out) {
  EagerScope scope(context.scope_environment(), true);  // taped: the function may ask for gradients
  std::vector<Leaf> leaves;
  std::string structure;
  {
    const Values* results = apply(scope, function, in);
    if (scope.status()) return Ref<Status>(scope.status()).detach();
    for (size_t i = 0; i < results->size(); i++) {
      leaves.push_back((*results)[i]);
      if (const Tensor* t = leaves.back().tensor.get(); t && t->kind() == Tensor::Kind::failed)
        throw Error(t->failure());
    }
    structure = results->structure();
  }
  scope.reset();
  make_results_owned(context.allocator(), leaves);
  copy_results_to_bound(function.name(), out, leaves);
  out.assign(std::move(leaves), structure);
  return nullptr;
}

}  // namespace thunder
