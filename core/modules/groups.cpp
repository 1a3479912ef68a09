#include "modules/groups.h"

#include "base/text.h"
#include "device/zeros.h"
#include "ir/prim.h"
#include "tensor/transfer.h"
#include "tracer/eager.h"

namespace thunder {
namespace {

Ref<Tensor> full_tensor(const ScopeEnvironment& environment, const TensorType& type, double value) {
  if (value == 0) {
    auto t = environment.empty(type);
    fill_with_zeros(*t);
    return t;
  }
  EagerScope scope(environment, false);
  std::vector<int64_t> shape;
  for (Dim d : type.shape) shape.push_back(d.value());
  Any dtype, device;
  dtype.kind = ArgKind::dtype, dtype.dtype = type.dtype;
  device.kind = ArgKind::device, device.device = type.device;
  const Any args[] = {Any::dims(shape), Any::real(value), dtype, device};
  Tensor* t = scope.invoke(name(Prim::full), args, nullptr, nullptr, 0, nullptr);
  if (scope.status()) throw Error(scope.status());
  return Ref<Tensor>(t);
}

}  // namespace

std::string group_path(size_t group, std::string_view name) {
  return group == 0 ? std::string(name) : cat(kParameterGroups, group, ".", name);
}

StateAdditions::~StateAdditions() {
  for (size_t i = added_.size(); i-- > 0;) added_[i].first->take_back(added_[i].second);
}

void StateAdditions::tensor(std::string_view path, Ref<Tensor> tensor) {
  Module* at = &root_;
  for (size_t dot = path.find('.'); dot != path.npos; dot = path.find('.')) {
    const std::string_view name = path.substr(0, dot);
    Module* next = at->find(name);
    if (!next) {
      auto made = make<Module>(root_.kind(), std::vector<Leaf>());
      next = made.get();
      added_.emplace_back(Ref<Module>(at), name);
      at->add(name, std::move(made));
    }
    at = next;
    path.remove_prefix(dot + 1);
  }
  if (!at->find_tensor(path)) added_.emplace_back(Ref<Module>(at), path);
  at->set_tensor(path, std::move(tensor), Role::buffer);
}

void StateAdditions::filled(std::string_view path, const TensorType& type, double value) {
  tensor(path, full_tensor(environment_.scope, type, value));
}

void StateAdditions::on_demand(std::string_view path, const TensorType& type, double value) {
  constexpr size_t kWorthPages = size_t{64} << 10;
  const bool zeros = value == 0 && type.device == Device::cpu && dense_bytes(type) >= kWorthPages;
  Ref<Storage> storage = zeros ? zeros_on_demand(environment_.scope.allocator, dense_bytes(type)) : Ref<Storage>();
  if (!storage) return filled(path, type, value);
  tensor(path, Tensor::view(std::move(storage), type, dense_strides(type.shape), 0));
}

void StateAdditions::number(std::string_view path, double value) {
  TensorType type;
  type.dtype = DType::f64;
  auto t = Tensor::empty(environment_.scope.allocator, type);
  *reinterpret_cast<double*>(t->data()) = value;
  tensor(path, std::move(t));
}

}  // namespace thunder
