// Samples as tensors: drawn deterministically, stored in a layout, and handed to oracles.
#include <cmath>
#include <random>

#include "battery/run.h"
#include "ops/kernels.h"
#include "tensor/transfer.h"

namespace thunder::battery {

std::vector<Case> accepted_cases(const OpDef& op) {
  Samples s;
  if (op.samples) op.samples(s);
  std::vector<Case> out;
  for (const Sample& sample : s.all) out.push_back({&op, sample, std::string(op.name()) + " sample " + std::to_string(out.size()), ""});
  return out;
}
std::vector<Case> refused_cases(const OpDef& op) {
  Samples s;
  if (op.samples) op.samples(s);
  std::vector<Case> out;
  for (auto& [sample, word] : s.refused) out.push_back({&op, sample, std::string(op.name()) + " refused for '" + word + "'", word});
  return out;
}

Case changed(Case c, const std::function<void(TensorSpec&)>& change) {
  for (SampleArg& a : c.sample.args) {
    if (auto* t = std::get_if<TensorSpec>(&a.value)) change(*t);
    if (auto* list = std::get_if<std::vector<TensorSpec>>(&a.value))
      for (TensorSpec& t : *list) change(t);
  }
  return c;
}
Case with_reals(Case c, DType dtype) {
  c = changed(std::move(c), [&](TensorSpec& t) {
    if (is_real(t.dtype)) t.dtype = dtype;
  });
  for (SampleArg& a : c.sample.args)
    if (auto* d = std::get_if<DType>(&a.value))
      if (is_real(*d) && is_real(dtype)) *d = dtype;
  return c;
}

Case in_dtype(const Case& c, DType dtype) {
  Case out = changed(c, [&](TensorSpec& t) {
    if (!is_real(t.dtype)) return;
    t.dtype = dtype;
    if (is_real(dtype)) return;
    const double least = is_signed(dtype) ? -9 : 0;
    t.low = std::max(std::ceil(t.low), least);
    t.high = dtype == DType::boolean ? 1 : std::max(std::floor(t.high), t.low + 1);
  });
  out.name += " in " + std::string(name(dtype));
  return out;
}
Case without_elements(const Case& c) {
  Case out = changed(c, [](TensorSpec& t) {
    if (!t.shape.empty()) t.shape[0] = 0;
  });
  out.name += " without elements";
  return out;
}

namespace {

std::vector<TensorSpec> specs(const Sample& s) {
  std::vector<TensorSpec> out;
  for (const SampleArg& a : s.args) {
    if (auto* t = std::get_if<TensorSpec>(&a.value)) out.push_back(*t);
    if (auto* list = std::get_if<std::vector<TensorSpec>>(&a.value)) out.insert(out.end(), list->begin(), list->end());
  }
  return out;
}

std::vector<double> drawn(const TensorSpec& spec, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<double> data(static_cast<size_t>(count(spec.shape)));
  const bool real = is_real(spec.dtype);
  std::uniform_real_distribution<double> reals(spec.low, spec.high);
  std::uniform_int_distribution<int64_t> integers(static_cast<int64_t>(spec.low), static_cast<int64_t>(spec.high));
  for (double& v : data) v = real ? reals(random) : static_cast<double>(integers(random));
  return data;
}

TensorType type_of(const Ints& shape, DType dtype) {
  TensorType type;
  type.dtype = dtype;
  for (int64_t n : shape) type.shape.push_back(n);
  return type;
}

// Dim 0 repeats its first slice.
Ref<Tensor> expanded(const Ref<Tensor>& dense) {
  if (dense->type().rank() == 0 || dense->elements() == 0) return dense;
  Sizes strides = dense_strides(dense->type().shape);
  strides[0] = 0;
  return Tensor::view(dense->storage(), dense->type(), strides, 0);
}

}  // namespace

// The same elements with other strides: dims stored in reverse, or three elements into a larger storage.
Ref<Tensor> laid_out(const Tensor& dense, Layout layout) {
  const size_t rank = dense.type().rank();
  const bool reversed = layout == Layout::transposed;
  const int64_t skipped = layout == Layout::offset ? 3 : 0;
  TensorType storage;
  storage.dtype = dense.type().dtype;
  storage.shape = {dense.elements() + skipped};
  auto whole = Tensor::empty(default_allocator(), storage);
  std::memset(static_cast<void*>(whole->data()), 0x01, whole->bytes());
  Sizes strides = dense_strides(dense.type().shape);
  if (reversed) {
    int64_t step = 1;
    for (size_t d = 0; d < rank; d++) strides[d] = step, step *= std::max<int64_t>(1, dense.sizes()[d]);
  }
  auto out = Tensor::view(whole->storage(), dense.type(), strides, static_cast<size_t>(skipped) * size_of(storage.dtype));
  copy_strided(dense.buffer(), out->buffer());
  return out;
}
Ref<Tensor> tensor_of(const Ints& shape, DType dtype, const std::vector<double>& values) {
  auto t = Tensor::empty(default_allocator(), type_of(shape, dtype));
  by_element(dtype, [&](auto zero) {
    using T = decltype(zero);
    for (size_t i = 0; i < values.size(); i++) {
      reinterpret_cast<T*>(t->data())[i] = converted<T>(stored_as(values[i], dtype));
    }
  });
  return t;
}
Ref<Tensor> dense_copy(const Tensor& t) {
  auto out = Tensor::empty(default_allocator(), t.type());
  copy_strided(t.buffer(), out->buffer());
  return out;
}
std::vector<double> numbers_of(const Tensor& t) {
  auto dense = dense_copy(*on_host(Ref<Tensor>(const_cast<Tensor*>(&t)), default_allocator()));
  std::vector<double> out;
  by_element(t.type().dtype, [&](auto zero) {
    for (int64_t i = 0; i < dense->elements(); i++)
      out.push_back(as_double(reinterpret_cast<const decltype(zero)*>(dense->data()) + i));
  });
  return out;
}

Tensors make_tensors(const Case& c, Layout layout) {
  Tensors out;
  uint32_t seed = 7;
  for (const TensorSpec& spec : specs(c.sample)) {
    auto dense = tensor_of(spec.shape, spec.dtype, drawn(spec, seed++));
    if (layout == Layout::dense) out.push_back(dense);
    else if (layout == Layout::expanded) out.push_back(expanded(dense));
    else out.push_back(laid_out(*dense, layout));
  }
  return out;
}

namespace {

Array array_of(const Tensor& t) {
  return {Ints(t.sizes(), t.sizes() + t.type().rank()), numbers_of(t), t.type().dtype};
}
void set_number(Argument& a, double v, DType dtype) {
  a.number = v;
  a.tensors.push_back({{}, {v}, dtype});
}

}  // namespace

Oracle oracle_of(const OpDef& op) {
  const Oracle own = find_oracle(op.name());
  return own || op.alias_of.empty() ? own : find_oracle(op.alias_of);
}

Arguments oracle_arguments(const Case& c, const Tensors& tensors) {
  std::vector<Argument> out;
  size_t next = 0;
  for (const SampleArg& given : c.sample.args) {
    Argument a;
    a.present = given.value.index() != 0;
    if (std::holds_alternative<TensorSpec>(given.value)) {
      a.tensors.push_back(array_of(*tensors[next++]));
      if (a.tensors[0].data.size() == 1) a.number = a.tensors[0].data[0];
    } else if (auto* list = std::get_if<std::vector<TensorSpec>>(&given.value)) {
      for (size_t i = 0; i < list->size(); i++) a.tensors.push_back(array_of(*tensors[next++]));
    } else if (auto* b = std::get_if<bool>(&given.value)) {
      set_number(a, *b, DType::boolean);
    } else if (auto* i = std::get_if<int64_t>(&given.value)) {
      set_number(a, static_cast<double>(*i), DType::i64), a.ints = {*i};
    } else if (auto* f = std::get_if<double>(&given.value)) {
      set_number(a, *f, DType::f64);
    } else if (auto* s = std::get_if<std::string>(&given.value)) {
      a.text = *s;
    } else if (auto* d = std::get_if<Ints>(&given.value)) {
      a.ints = *d;
    } else if (auto* t = std::get_if<DType>(&given.value)) {
      a.dtype = *t;
    }
    out.push_back(std::move(a));
  }
  return Arguments(std::move(out));
}

}  // namespace thunder::battery
