#include "capi/leaf.h"

#include "capi/context.h"

namespace thunder::capi {

std::string_view kind_name(ArgKind kind) {
  constexpr std::string_view names[] = {
      "nothing",          "a tensor",          "an integer", "a float", "a boolean", "a string", "a list of integers",
      "a list of floats", "a list of tensors", "a dtype",    "a device"};
  const auto i = static_cast<size_t>(kind);
  return i < std::size(names) ? names[i] : "something unknown";
}

const char* find_fault(const Any& a) {
  const bool list = a.kind == ArgKind::dims || a.kind == ArgKind::reals || a.kind == ArgKind::values;
  if (static_cast<uint32_t>(a.kind) > static_cast<uint32_t>(ArgKind::device)) return "its kind is unknown";
  if (a.kind == ArgKind::value && !a.t) return "it is a tensor that is NULL";
  if (a.kind == ArgKind::string && !a.s) return "it is a string that is NULL";
  if (list && a.count && !a.d) return "it is a list that is NULL";
  if (a.kind == ArgKind::values)
    for (uint32_t i = 0; i < a.count; i++)
      if (!a.ts[i]) return "it is a list of tensors with a NULL";
  return nullptr;
}

// An absent device, with what explains it: a dtype where the device stands.
static std::string explain_absent_device(Device device, std::string absent) {
  const auto dtype = static_cast<DType>(static_cast<uint32_t>(device));
  return known(dtype) ? cat("a device was expected, got the dtype ", name(dtype), ": the dtype comes first") : absent;
}

void check_args(std::string_view what, Devices* devices, const Any* args, size_t n, const char* where) {
  if (n) need(args, "args");
  for (size_t i = 0; i < n; i++) {
    if (args[i].kind == ArgKind::value && args[i].t) continue;
    const char* fault = find_fault(args[i]);
    check(!fault, what, ": argument ", i, ": ", fault);
    if (args[i].kind != ArgKind::device) continue;
    const std::string absent = devices ? devices->absence(args[i].device) : "";
    if (absent.empty()) continue;
    const std::string place = where ? cat(" [at ", where, "]") : "";
    throw Refusal{Code::unimplemented,
                  cat(what, ": argument ", i, ": ", explain_absent_device(args[i].device, absent), place)};
  }
}

Any replace_unsigned(Scope& scope, const Any& leaf) {
  if (leaf.kind != kUnsigned) return leaf;
  if (leaf.i >= 0) return Any::integer(leaf.i);
  Any dtype;
  dtype.kind = ArgKind::dtype, dtype.i = 0, dtype.dtype = DType::u64;
  const Any full[] = {Any::dims({}), Any::integer(leaf.i), dtype};
  return Any::tensor(scope.invoke("full", full, nullptr, nullptr, 0, nullptr));
}

// The dtype beside which a number of `what` stands: that of the first tensor that is no mask, or one that is given.
static DType dtype_for_numbers(std::span<const Any> args) {
  DType given = DType::none;
  for (const Any& a : args) {
    const bool tensor = a.kind == ArgKind::value && a.t && a.t->kind() != Tensor::Kind::failed;
    if (tensor && a.t->type().dtype != DType::boolean) return a.t->type().dtype;
    if (a.kind == ArgKind::dtype) given = a.dtype;
  }
  return given;
}

CoreArgs::CoreArgs(std::string_view what, Scope& scope, const Any* args, size_t n) : span_(args, n) {
  if (n) need(args, "args");
  for (size_t i = 0; i < n; i++) {
    if (args[i].kind != kUnsigned) [[likely]] continue;
    const DType beside = dtype_for_numbers({args, n});
    const bool holds = args[i].i >= 0 || beside == DType::u64 || (known(beside) && is_real(beside));
    check(holds, what, ": argument ", i, ": the value ", static_cast<uint64_t>(args[i].i), " cannot be converted to ",
          known(beside) ? info(beside).pytorch : "int64", " without overflow");
    if (changed_.empty()) changed_.assign(args, args + n), span_ = changed_;
    changed_[i] = replace_unsigned(scope, args[i]);
  }
}

}  // namespace thunder::capi
