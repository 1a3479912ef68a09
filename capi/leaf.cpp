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

CoreLeaves::CoreLeaves(std::string_view what, const thunder_any* given, size_t n) {
  if (n) need(given, "args");
  leaves_.reserve(n);
  for (size_t i = 0; i < n; i++) {
    leaves_.push_back(*reinterpret_cast<const Any*>(given + i));
    Any& leaf = leaves_.back();
    const auto place = [&] { return n == 1 ? std::string(what) : cat(what, ": argument ", i); };
    if (leaf.kind == ArgKind::value) {
      if (given[i].u.t && !is_live(given[i].u.t)) [[unlikely]]
        need(given[i].u.t, place().c_str());
      leaf.t = core(given[i].u.t);
    } else if (leaf.kind == ArgKind::values && given[i].u.ts) {
      convert_list(place(), leaf);
    }
  }
}

void CoreLeaves::convert_list(std::string_view name, Any& list) {
  const auto* const given = reinterpret_cast<thunder_tensor* const*>(list.ts);
  auto& made = lists_.emplace_back();
  made = std::make_unique<Tensor*[]>(list.count);
  for (uint32_t i = 0; i < list.count; i++) {
    need_if_given(given[i], cat(name, ", tensor ", i, " of the list").c_str());
    made[i] = core(given[i]);
  }
  list.ts = made.get();
}

void check_args(std::string_view what, Devices* devices, std::span<const Any> args, const char* where) {
  for (size_t i = 0; i < args.size(); i++) {
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

CoreArgs::CoreArgs(std::string_view what, Scope& scope, const thunder_any* args, size_t n) : CoreLeaves(what, args, n) {
  for (size_t i = 0; i < n; i++) {
    if (leaves_[i].kind != kUnsigned) [[likely]]
      continue;
    const DType beside = dtype_for_numbers(span());
    const bool holds = leaves_[i].i >= 0 || beside == DType::u64 || (known(beside) && is_real(beside));
    check(holds, what, ": argument ", i, ": the value ", static_cast<uint64_t>(leaves_[i].i),
          " cannot be converted to ", known(beside) ? info(beside).pytorch : "int64", " without overflow");
    leaves_[i] = replace_unsigned(scope, leaves_[i]);
  }
}

}  // namespace thunder::capi
