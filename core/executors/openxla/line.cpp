#include "executors/openxla/line.h"

#include <algorithm>

#include "base/text.h"

namespace thunder::openxla {

std::vector<Val> Line::input_list(size_t i) const {
  std::vector<Val> out;
  for (const ValueId v : arg(i).value_list()) out.push_back(values_(v));
  return out;
}

Val Line::operand(size_t i, const TensorType& type) const {
  const Arg& a = arg(i);
  if (a.kind == ArgKind::value) return broadcast(convert(input(i), type.dtype), shape_of(type), {});
  return a.kind == ArgKind::real ? module.splat(a.f, type) : module.splat(a.plain().i, type);
}

Ints Line::integers(size_t i) const {
  const Sizes sizes = concrete(arg(i).dim_list());
  return {sizes.begin(), sizes.end()};
}

// Without a type, constants that are compared while XLA compiles count as unsigned.
Val Line::compare(std::string_view direction, Val a, Val b) const {
  const DType dtype = module.dtype(a);
  const char* const type = is_real(dtype) ? "FLOAT" : is_signed(dtype) ? "SIGNED" : "UNSIGNED";
  return module.add_op("stablehlo.compare", {{a, b}}, with_dtype(module.type(a), DType::boolean),
                       cat("comparison_direction = #stablehlo<comparison_direction ", direction,
                           ">, compare_type = #stablehlo<comparison_type ", type, ">"));
}

Val Line::convert(Val a, DType to) const {
  if (module.dtype(a) == to) return a;
  return module.add_op("stablehlo.convert", {{a}}, with_dtype(module.type(a), to));
}

Val Line::reshape(Val v, const Ints& shape) const {
  if (module.shape(v) == shape) return v;
  return module.add_op("stablehlo.reshape", {{v}}, type_of(module.dtype(v), shape));
}

Val Line::transpose(Val v, const Ints& order) const {
  Ints shape;
  for (const int64_t d : order) shape.push_back(module.shape(v)[static_cast<size_t>(d)]);
  return module.add_op("stablehlo.transpose", {{v}}, type_of(module.dtype(v), shape),
                       array_attribute("permutation", order));
}

Val Line::broadcast(Val v, const Ints& shape, const Ints& dims) const {
  if (module.shape(v) == shape) return v;
  return module.add_op("stablehlo.broadcast_in_dim", {{v}}, type_of(module.dtype(v), shape),
                       array_attribute("broadcast_dimensions", dims));
}

Val Line::slice(Val v, const Ints& starts, const Ints& ends, const Ints& steps) const {
  Ints shape;
  for (size_t i = 0; i < starts.size(); i++)
    shape.push_back(std::max<int64_t>(0, (ends[i] - starts[i] + steps[i] - 1) / steps[i]));
  return module.add_op("stablehlo.slice", {{v}}, type_of(module.dtype(v), shape),
                       cat(array_attribute("start_indices", starts), ", ", array_attribute("limit_indices", ends), ", ",
                           array_attribute("strides", steps)));
}

Val Line::pad(Val v, Val value, const Ints& low, const Ints& high, const Ints& inside) const {
  Ints shape = module.shape(v);
  for (size_t i = 0; i < shape.size(); i++)
    shape[i] += low[i] + high[i] + inside[i] * std::max<int64_t>(0, shape[i] - 1);
  return module.add_op("stablehlo.pad", {{v, value}}, type_of(module.dtype(v), shape),
                       cat(array_attribute("edge_padding_low", low), ", ", array_attribute("edge_padding_high", high),
                           ", ", array_attribute("interior_padding", inside)));
}

Val Line::iota(DType dtype, const Ints& shape, size_t dim) const {
  return module.add_op("stablehlo.iota", {}, type_of(dtype, shape), cat("iota_dimension = ", dim, " : i64"));
}

Val Line::reduce(Val v, Val start, const Ints& dims, std::string_view combine) const {
  if (dims.empty()) return v;
  Ints shape;
  for (size_t i = 0; i < module.shape(v).size(); i++)
    if (std::find(dims.begin(), dims.end(), static_cast<int64_t>(i)) == dims.end()) shape.push_back(module.shape(v)[i]);
  const TensorType element = type_of(module.dtype(v), {});
  const std::string region =
      module.write_region({{element, element}}, [&](auto in) { return std::vector{binary(combine, in[0], in[1])}; });
  return module.add_op("stablehlo.reduce", {{v, start}}, type_of(module.dtype(v), shape),
                       array_attribute("dimensions", dims), region);
}

}  // namespace thunder::openxla
