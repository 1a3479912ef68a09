#include "onnx/value.h"

#include <algorithm>
#include <cstring>

#include "base/text.h"
#include "ir/elements.h"
#include "tensor/transfer.h"

namespace thunder::onnx {

bool Host::constant() const {
  return std::all_of(ints.begin(), ints.end(), [](Dim d) { return d.constant(); });
}

HostRef host_of(std::vector<Dim> ints, DType dtype) {
  auto h = std::make_shared<Host>();
  h->dtype = dtype;
  h->shape = {static_cast<int64_t>(ints.size())};
  h->ints = std::move(ints);
  return h;
}

HostRef host_of(Dim one, DType dtype) {
  auto h = std::make_shared<Host>();
  h->dtype = dtype;
  h->ints = {one};
  return h;
}

HostRef host_of(const Tensor& t) {
  auto h = std::make_shared<Host>();
  h->dtype = t.type().dtype;
  h->shape = Sizes(t.sizes(), t.sizes() + t.type().rank());
  const auto count = static_cast<size_t>(t.elements());
  ensure(count <= static_cast<size_t>(kMostHostElements), "a large tensor is to be known on the host");
  std::vector<std::byte> bytes(t.bytes());
  read_elements(t, bytes.data());
  by_element(h->dtype, [&](auto zero) {
    using T = decltype(zero);
    for (size_t i = 0; i < count; i++) {
      T element{};
      std::memcpy(&element, bytes.data() + i * sizeof(T), sizeof(T));
      if (h->holds_reals())
        h->reals.push_back(as_double(&element));
      else
        h->ints.push_back(static_cast<int64_t>(static_cast<Compute<T>>(element)));
    }
  });
  return h;
}

Ref<Tensor> tensor_of(const Host& host, const Allocator& allocator) {
  TensorType type;
  type.dtype = host.dtype;
  for (int64_t d : host.shape) type.shape.push_back(d);
  Ref<Tensor> made = Tensor::empty(allocator, type);
  by_element(host.dtype, [&](auto zero) {
    using T = decltype(zero);
    for (size_t i = 0; i < host.size(); i++) {
      const T element = host.holds_reals() ? converted<T>(host.reals[i]) : converted<T>(host.ints[i].value());
      std::memcpy(made->data() + i * sizeof(T), &element, sizeof(T));
    }
  });
  return made;
}

}  // namespace thunder::onnx
