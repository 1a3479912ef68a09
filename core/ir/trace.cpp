#include "ir/trace.h"

namespace thunder {

ValueId Store::add(const TensorType& type) {
  types_.push_back(std::make_unique<TensorType>(type));
  return static_cast<ValueId>(types_.size() - 1);
}

Arg Store::keep(const Arg& a) {
  Arg copy = a;
  switch (a.kind) {
    case ArgKind::string: copy.s = arena_.copy(a.text()); break;
    case ArgKind::dims: copy.d = arena_.copy(a.dim_list()).data(); break;
    case ArgKind::reals: copy.fs = arena_.copy(a.real_list()).data(); break;
    case ArgKind::values: copy.vs = arena_.copy(a.value_list()).data(); break;
    default: break;
  }
  return copy;
}

const Node* Store::node(const Op* op, std::span<const Arg> args, std::span<const ValueId> results,
                        std::span<const Node* const> body, const char* where, const char* executor) {
  std::span<Arg> kept = arena_.copy(args);
  for (Arg& a : kept) a = keep(a);
  return arena_.make<Node>(op, std::span<const Arg>(kept), std::span<const ValueId>(arena_.copy(results)),
                           std::span<const Node* const>(arena_.copy(body)), where, executor);
}

}  // namespace thunder
