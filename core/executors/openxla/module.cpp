#include "executors/openxla/module.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"
#include "ops/convert_elements.h"

namespace thunder::openxla {
namespace {

std::string element_name(DType dtype) {
  if (dtype == DType::boolean) return "i1";
  const std::string_view ours = name(dtype);
  return is_integer(dtype) && !is_signed(dtype) ? cat("ui", ours.substr(1)) : std::string(ours);
}

std::string ssa_name(Val v) {
  return cat("%", v);
}
template <class List>
std::string types_of(const List& types) {
  return join(types, ", ", [](const TensorType& t) { return name_of(t); });
}

// The bits of a real in hexadecimal, which are exact.
std::string bits_of(double number, DType dtype) {
  std::array<unsigned char, 8> bytes{};
  Buffer to;
  to.data = bytes.data(), to.dtype = dtype, to.rank = 0;
  fill_elements(to, Arg::real(number));
  std::string out = "0x";
  for (size_t i = size_of(dtype); i-- > 0;) {
    constexpr char kDigits[] = "0123456789ABCDEF";
    out += kDigits[bytes[i] >> 4], out += kDigits[bytes[i] & 15];
  }
  return out;
}

}  // namespace

TensorType type_of(DType dtype, Ints shape) {
  TensorType out;
  out.dtype = dtype, out.device = Device::cpu;
  for (const int64_t d : shape) out.shape.push_back(d);
  return out;
}
Ints shape_of(const TensorType& type) {
  const Sizes sizes = concrete(type.shape);
  return {sizes.begin(), sizes.end()};
}
TensorType with_dtype(TensorType type, DType dtype) {
  type.dtype = dtype;
  return type;
}

std::string name_of(const TensorType& type) {
  std::string out = "tensor<";
  for (const int64_t d : shape_of(type)) append(out, cat(d, "x"));
  return cat(out, element_name(type.dtype), ">");
}
std::string array_attribute(std::string_view name, std::span<const int64_t> list) {
  return cat(name, " = array<i64", list.empty() ? "" : ": ", join(list, ", ", [](int64_t i) { return cat(i); }), ">");
}
std::string pairs_attribute(std::string_view name, std::span<const int64_t> low, std::span<const int64_t> high) {
  std::string out;
  for (size_t i = 0; i < low.size(); i++) append(out, cat(i ? ", " : "", "[", low[i], ", ", high[i], "]"));
  return cat(name, " = dense<[", out, "]> : tensor<", low.size(), "x2xi64>");
}

Val Module::add_value(const TensorType& type) {
  if (!is_real(type.dtype) && !is_integer(type.dtype) && type.dtype != DType::boolean)
    fail(Code::unimplemented, "there are no tensors of ", name(type.dtype), " in this dialect");
  types_.push_back(type);
  return static_cast<Val>(types_.size() - 1);
}
Val Module::add_argument(const TensorType& type) {
  arguments_.push_back(add_value(type));
  return arguments_.back();
}

std::vector<Val> Module::add_ops(std::string_view name, std::span<const Val> operands,
                                 std::span<const TensorType> results, std::string_view attributes,
                                 std::string_view regions) {
  std::vector<Val> out;
  for (const TensorType& t : results) out.push_back(add_value(t));
  std::vector<TensorType> types;
  for (const Val v : operands) types.push_back(types_[v]);
  append(body_, cat(join(out, ", ", ssa_name), out.empty() ? "" : " = ", "\"", name, "\"(",
                    join(operands, ", ", ssa_name), ")"));
  if (!regions.empty()) append(body_, cat(" (", regions, ")"));
  if (!attributes.empty()) append(body_, cat(" {", attributes, "}"));
  append(body_, cat(" : (", types_of(types), ") -> ", out.size() == 1 ? "" : "(", types_of(results),
                    out.size() == 1 ? "" : ")", "\n"));
  return out;
}
Val Module::add_op(std::string_view name, std::span<const Val> operands, const TensorType& result,
                   std::string_view attributes, std::string_view regions) {
  return add_ops(name, operands, {&result, 1}, attributes, regions)[0];
}

std::string Module::write_region(std::span<const TensorType> arguments, const Body& body) {
  std::string outer;
  outer.swap(body_);
  std::vector<Val> given;
  for (const TensorType& t : arguments) given.push_back(add_value(t));
  add_ops("stablehlo.return", body(given), {});
  outer.swap(body_);
  const std::string block = join(given, ", ", [&](Val v) { return cat(ssa_name(v), ": ", name_of(types_[v])); });
  return cat("{\n^bb0(", block, "):\n", outer, "}");
}

Val Module::literal(const std::string& number, const TensorType& type) {
  return add_op("stablehlo.constant", {}, type, cat("value = dense<", number, "> : ", name_of(type)));
}
Val Module::splat(double number, const TensorType& type) {
  if (is_real(type.dtype)) return literal(bits_of(number, type.dtype), type);
  if (type.dtype == DType::boolean) return literal(number != 0 ? "true" : "false", type);
  int64_t whole = 0;
  Buffer to;
  to.data = &whole, to.dtype = type.dtype, to.rank = 0;
  fill_elements(to, Arg::real(number));
  if (is_signed(type.dtype)) {
    const int unused = 64 - 8 * static_cast<int>(size_of(type.dtype));
    whole = static_cast<int64_t>(static_cast<uint64_t>(whole) << unused) >> unused;
    return literal(cat(whole), type);
  }
  return literal(cat(static_cast<uint64_t>(whole)), type);
}
Val Module::splat(int64_t number, const TensorType& type) {
  if (is_real(type.dtype) || type.dtype == DType::boolean) return splat(static_cast<double>(number), type);
  const int unused = 64 - 8 * static_cast<int>(size_of(type.dtype));
  const uint64_t bits = static_cast<uint64_t>(number) << unused;
  return literal(is_signed(type.dtype) ? cat(static_cast<int64_t>(bits) >> unused) : cat(bits >> unused), type);
}

std::string Module::text(std::span<const Val> results, bool aliases) const {
  std::vector<TensorType> in, out;
  std::string block, attributes;
  for (const Val v : arguments_) {
    in.push_back(types_[v]);
    append(block, cat(block.empty() ? "" : ", ", ssa_name(v), ": ", name_of(types_[v])));
    append(attributes, attributes.empty() ? "{}" : ", {}");
  }
  for (const Val v : results) out.push_back(types_[v]);
  for (size_t i = 0; aliases && i < out.size(); i++) {
    in.push_back(out[i]);
    append(block, cat(block.empty() ? "" : ", ", "%out", i, ": ", name_of(out[i])));
    append(attributes, cat(attributes.empty() ? "" : ", ", "{tf.aliasing_output = ", i, " : i32}"));
  }
  return cat("\"builtin.module\"() ({\n\"func.func\"() ({\n^bb0(", block, "):\n", body_, "\"func.return\"(",
             join(results, ", ", ssa_name), ") : (", types_of(out),
             ") -> ()\n}) {sym_name = \"main\", function_type = (", types_of(in), ") -> (", types_of(out),
             "), arg_attrs = [", attributes, "]} : () -> ()\n}) : () -> ()\n");
}

}  // namespace thunder::openxla
