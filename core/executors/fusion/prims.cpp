#include "executors/fusion/prims.h"

#include <array>

namespace thunder::fusion {
namespace {

using enum Role;
constexpr auto kAll = TypeSet::all;
constexpr auto kReals = TypeSet::reals;

constexpr PrimRow kRows[] = {
    {"prims.abs", Fn::abs, elementwise, kAll},
    {"prims.neg", Fn::neg, elementwise, kAll},
    {"prims.sign", Fn::sign, elementwise, kAll},
    {"prims.signbit", Fn::signbit, elementwise, kReals},
    {"prims.floor", Fn::floor, elementwise, kAll},
    {"prims.logical_not", Fn::logical_not, elementwise, kAll},
    {"prims.exp", Fn::exp, elementwise, kReals},
    {"prims.log", Fn::log, elementwise, kReals},
    {"prims.sqrt", Fn::sqrt, elementwise, kReals},
    {"prims.rsqrt", Fn::rsqrt, elementwise, kReals},
    {"prims.reciprocal", Fn::reciprocal, elementwise, kReals},
    {"prims.sin", Fn::sin, elementwise, kReals},
    {"prims.cos", Fn::cos, elementwise, kReals},
    {"prims.tanh", Fn::tanh, elementwise, kReals},
    {"prims.erf", Fn::erf, elementwise, kReals},
    {"prims.convert", Fn::convert, elementwise, kAll},
    {"prims.contiguous", Fn::convert, elementwise, kAll},
    {"prims.clone", Fn::convert, elementwise, kAll},
    {"prims.to_device", Fn::convert, elementwise, kAll},  // of a number that the kernel reads from host memory
    {"prims.add", Fn::add, elementwise, kAll},
    {"prims.sub", Fn::sub, elementwise, kAll},
    {"prims.mul", Fn::mul, elementwise, kAll},
    {"prims.div", Fn::div, elementwise, TypeSet::divided},
    {"prims.fmod", Fn::fmod, elementwise, TypeSet::divided},
    {"prims.pow", Fn::pow, elementwise, kReals},
    {"prims.maximum", Fn::maximum, elementwise, kAll},
    {"prims.minimum", Fn::minimum, elementwise, kAll},
    {"prims.eq", Fn::eq, elementwise, kAll},
    {"prims.ne", Fn::ne, elementwise, kAll},
    {"prims.lt", Fn::lt, elementwise, kAll},
    {"prims.le", Fn::le, elementwise, kAll},
    {"prims.gt", Fn::gt, elementwise, kAll},
    {"prims.ge", Fn::ge, elementwise, kAll},
    {"prims.where", Fn::where, elementwise, kAll},
    {"prims.philox_uniform", Fn::uniform, create, kReals},
    {"prims.iota", Fn::iota, create, kAll},
    {"prims.sum", Fn::sum, reduction, kAll},
    {"prims.amax", Fn::amax, reduction, kAll},
    {"prims.amin", Fn::amin, reduction, kAll},
    {"prims.argmax", Fn::argmax, reduction, kAll},
    {"prims.cumsum", Fn::cumsum, scan, kAll},
    {"prims.gather", Fn::gather, gather, kAll},
    {"prims.take", Fn::gather, gather, kAll},
    {"prims.cat", Fn::select, concat, kAll},
    {"prims.pad", Fn::select, concat, kAll},
    {"prims.slice_scatter", Fn::select, concat, kAll},
    {"prims.reshape", Fn::load, view, kAll},
    {"prims.expand", Fn::load, view, kAll},
    {"prims.permute", Fn::load, view, kAll},
    {"prims.slice", Fn::load, view, kAll},
};

}  // namespace

SmallVector<ValueId, 4> operands(const Node& node) {
  SmallVector<ValueId, 4> values;
  for_each_value(node.args, [&](ValueId v) { values.push_back(v); });
  return values;
}

std::vector<size_t> reduced_dims(const Node& node, size_t rank) {
  const Arg& given = node.args[1];
  std::vector<size_t> dims;
  if (given.kind == ArgKind::integer && rank) dims.push_back(normalize_axis(given.i, rank));
  if (given.kind == ArgKind::integer) return dims;
  for (Dim d : given.dim_list()) dims.push_back(normalize_axis(d.value(), rank));
  for (size_t i = 0; given.dim_list().empty() && i < rank; i++) dims.push_back(i);
  return dims;
}

bool has_intervals(const PrimRow& row) { return row.role == Role::concat || row.prim == "prims.slice"; }

std::vector<Size> slice_starts(const Node& node, const Store& store, size_t operand) {
  std::vector<Size> out(store.type(node.results[0]).rank(), 0);
  const auto take = [&](const Arg& given) {
    for (size_t i = 0; i < out.size(); i++) out[i] = given.dim_list()[i];
  };
  if (node.op->name() == "prims.cat") {
    Size& at = out[normalize_axis(node.args[1].i, out.size())];
    const auto parts = operands(node);
    for (size_t k = 0; k < operand; k++)
      at += store.type(parts[k]).shape[normalize_axis(node.args[1].i, out.size())];
  } else if (node.op->name() == "prims.slice_scatter") {
    if (operand == 1) take(node.args[2]);
  } else {
    take(node.args[1]);
  }
  return out;
}

namespace {

// Claiming looks up every node of every trace, several times: by a few characters, then by the name.
constexpr std::string_view kPrefix = "prims.";
constexpr size_t hash_of_name(std::string_view name) {
  if (name.size() <= kPrefix.size()) return 0;
  const auto at = [&](size_t i) { return static_cast<size_t>(static_cast<unsigned char>(name[i])); };
  return (name.size() * 37 + at(kPrefix.size()) * 7 + at(name.size() - 1) * 61 + at(name.size() / 2 + 3) * 113) % 512;
}
constexpr std::array<const PrimRow*, 512> kByName = [] {
  std::array<const PrimRow*, 512> rows{};
  for (const PrimRow& r : kRows) {
    size_t at = hash_of_name(r.prim);
    while (rows[at]) at = (at + 1) % rows.size();
    rows[at] = &r;
  }
  return rows;
}();

}  // namespace

std::span<const PrimRow> prim_rows() { return kRows; }

const PrimRow* find_prim(const Op& op) {
  if (!op.prim) return nullptr;
  const std::string_view name = op.name();
  for (size_t at = hash_of_name(name); kByName[at]; at = (at + 1) % kByName.size())
    if (kByName[at]->prim == name) return kByName[at];
  return nullptr;
}

}  // namespace thunder::fusion
