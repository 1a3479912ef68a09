// Arguments of a call against its schema.
#include "base/text.h"
#include "ops/builder.h"

namespace thunder {

std::string_view kind_of(const Arg& a) {
  if (a.kind == ArgKind::symbolic) return "an integer";
  constexpr std::string_view names[] = {
      "None",     "a tensor",           "an integer",       "a float",           "a boolean",
      "a string", "a list of integers", "a list of floats", "a list of tensors", "a dtype",
      "a device"};
  const auto i = static_cast<size_t>(a.kind);
  return i < std::size(names) ? names[i] : "something unknown";
}

namespace {

// A description for error messages: a number by its value, "the integer 3".
std::string describe_argument(const Arg& a) {
  if (a.is_integer()) return cat("the integer ", name(a.dim()));
  if (a.kind == ArgKind::real) return cat("the float ", a.f);
  if (a.kind == ArgKind::boolean) return cat("the boolean ", a.i ? "True" : "False");
  return std::string(kind_of(a));
}

[[noreturn]] void fail_wrong_kind(const Schema& schema, const Param& p, const Arg& given) {
  const std::string_view wanted = p.text                        ? "int[] or str"
                                  : p.kind != ParamKind::tensor ? kind_name(p.kind)
                                  : p.number                    ? "a tensor or a number"
                                                                : "a tensor";
  fail(Code::invalid_argument, schema.name, ": argument '", p.name, "' must be ", wanted, p.optional ? " or None" : "",
       ", got ", describe_argument(given));
}

// Two of PyTorch's parameters go by NumPy's names as well, as they do there.
std::string_view canonical_param_name(std::string_view name) {
  return name == "axis" ? "dim" : name == "keepdims" ? "keepdim" : name;
}

int find_param(const Schema& schema, std::string_view name) {
  const int found = schema.find(name);
  return found < 0 ? schema.find(canonical_param_name(name)) : found;
}

// A number as a float. An integer that has no exact float is refused.
double to_float(const Schema& schema, const Param& p, const Arg& given) {
  const Arg number = given.plain();
  const double f = number_of(number);
  const bool held = number.kind == ArgKind::real || (f < 0x1p63 && static_cast<int64_t>(f) == number.i);
  require(held, schema.name, ": argument '", p.name, "' is a float64, which does not hold the integer ", number.i,
          ": as a float it would be rounded");
  return f;
}

// A list of this value among those that are kept, which have room for one of each parameter: pointers into them stay.
template <class T, size_t N>
std::span<const T> list_of_one(SmallVector<T, N>& kept, T value, const Schema& schema) {
  if (kept.empty()) kept.reserve(schema.params.size());
  kept.push_back(value);
  return {&kept.back(), 1};
}

}  // namespace

CompleteArgs::CompleteArgs(const Schema& schema, std::span<const Arg> given, const char* const* names) {
  const auto& params = schema.params;
  require(given.size() <= params.size(), schema.name, ": takes at most ", params.size(), " arguments, got ",
          given.size(), "; ", schema.text);
  args_.resize(params.size());
  if (names) {
    place_named(schema, given, names);
    return;
  }
  for (size_t i = 0; i < given.size(); i++) place(schema, i, given[i]);
  for (size_t i = given.size(); i < params.size(); i++) place_fallback(schema, i);
}

void CompleteArgs::place_named(const Schema& schema, std::span<const Arg> given, const char* const* names) {
  const auto& params = schema.params;
  SmallVector<bool, 8> filled(params.size(), false);
  for (size_t i = 0; i < given.size(); i++) {
    size_t at = i;
    if (names[i]) {
      const int found = find_param(schema, names[i]);
      if (found < 0) {
        std::vector<std::string_view> known;
        for (auto& p : params) known.push_back(p.name);
        const std::string_view near = nearest(names[i], known);  // the schema lists the others
        fail(Code::invalid_argument, schema.name, ": unknown argument '", names[i], "'",
             suggest(names[i], std::span(&near, near.empty() ? 0 : 1)), "; ", schema.text);
      }
      at = static_cast<size_t>(found);
    }
    require(!filled[at], schema.name, ": argument '", params[at].name, "' is given twice");
    filled[at] = true;
    place(schema, at, given[i]);
  }
  for (size_t i = 0; i < params.size(); i++)
    if (!filled[i]) place_fallback(schema, i);
}

void CompleteArgs::place_fallback(const Schema& schema, size_t at) {
  const Param& p = schema.params[at];
  require(p.has_default || p.optional, schema.name, ": argument '", p.name, "' is missing; ", schema.text);
  args_[at] = p.fallback;
}

void CompleteArgs::place(const Schema& schema, size_t at, const Arg& given) {
  const Param& p = schema.params[at];
  Arg& out = args_[at];
  out = given;
  if (given.kind == ArgKind::none) {
    // As in PyTorch, None is refused for an argument whose default is not None.
    if (!p.optional) fail_wrong_kind(schema, p, given);
    return;
  }
  switch (p.kind) {
    case ParamKind::tensor:
      if (given.kind == ArgKind::value || (p.number && is_number(given))) return;
      break;
    case ParamKind::tensors:
      if (given.kind == ArgKind::values) return;
      break;
    case ParamKind::integer:
      if (given.kind == ArgKind::symbolic) return;
      if (given.kind == ArgKind::integer || given.kind == ArgKind::boolean) return void(out.kind = ArgKind::integer);
      break;
    case ParamKind::real:
      if (given.kind == ArgKind::real) return;
      if (is_number(given)) return void(out = Arg::real(to_float(schema, p, given)));
      break;
    case ParamKind::boolean:
      if (given.kind == ArgKind::boolean) return;
      break;
    case ParamKind::string:
      if (given.kind == ArgKind::string) return;
      break;
    case ParamKind::dims:
      if (given.kind == ArgKind::dims || (p.text && given.kind == ArgKind::string)) return;
      if (given.is_integer()) return void(out = Arg::dims(list_of_one(singles_, given.dim(), schema)));
      break;
    case ParamKind::reals:
      if (given.kind == ArgKind::reals) return;
      if (is_number(given) && given.kind != ArgKind::boolean)
        return void(out = Arg::reals(list_of_one(reals_, to_float(schema, p, given), schema)));
      break;
    case ParamKind::dtype:
      if (given.kind == ArgKind::dtype) {
        require(known(given.dtype), schema.name, ": argument '", p.name, "': unknown dtype ",
                static_cast<int32_t>(given.dtype));
        return;
      }
      if (given.kind == ArgKind::string) {
        auto d = find_dtype(given.text());
        require(d.has_value(), schema.name, ": argument '", p.name, "': unknown dtype '", given.text(), "'");
        return void(out = Arg::of(*d));
      }
      break;
    case ParamKind::device:
      if (given.kind == ArgKind::device) return;
      if (given.kind == ArgKind::string && find_device(given.text()) != Device::none)
        return void(out = Arg::of(find_device(given.text())));
      break;
  }
  fail_wrong_kind(schema, p, given);
}

}  // namespace thunder
