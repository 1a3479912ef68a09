#include "executors/fusion/prims.h"

#include "ir/prim.h"

namespace thunder::fusion {
namespace {

using enum Role;
constexpr auto kAll = TypeSet::all;
constexpr auto kReals = TypeSet::reals;

constexpr PrimRow kRows[] = {
    {Prim::abs, Fn::abs, elementwise, kAll},
    {Prim::neg, Fn::neg, elementwise, kAll},
    {Prim::sign, Fn::sign, elementwise, kAll},
    {Prim::signbit, Fn::signbit, elementwise, kReals},
    {Prim::floor, Fn::floor, elementwise, kAll},
    {Prim::logical_not, Fn::logical_not, elementwise, kAll},
    {Prim::exp, Fn::exp, elementwise, kReals},
    {Prim::log, Fn::log, elementwise, kReals},
    {Prim::sqrt, Fn::sqrt, elementwise, kReals},
    {Prim::rsqrt, Fn::rsqrt, elementwise, kReals},
    {Prim::reciprocal, Fn::reciprocal, elementwise, kReals},
    {Prim::sin, Fn::sin, elementwise, kReals},
    {Prim::cos, Fn::cos, elementwise, kReals},
    {Prim::tanh, Fn::tanh, elementwise, kReals},
    {Prim::erf, Fn::erf, elementwise, kReals},
    {Prim::convert, Fn::convert, elementwise, kAll},
    {Prim::contiguous, Fn::convert, elementwise, kAll},
    {Prim::clone, Fn::convert, elementwise, kAll},
    {Prim::to_device, Fn::convert, elementwise, kAll},  // of a number that the kernel reads from host memory
    {Prim::add, Fn::add, elementwise, kAll},
    {Prim::sub, Fn::sub, elementwise, kAll},
    {Prim::mul, Fn::mul, elementwise, kAll},
    {Prim::div, Fn::div, elementwise, TypeSet::divided},
    {Prim::fmod, Fn::fmod, elementwise, TypeSet::divided},
    {Prim::pow, Fn::pow, elementwise, kReals},
    {Prim::maximum, Fn::maximum, elementwise, kAll},
    {Prim::minimum, Fn::minimum, elementwise, kAll},
    {Prim::eq, Fn::eq, elementwise, kAll},
    {Prim::ne, Fn::ne, elementwise, kAll},
    {Prim::lt, Fn::lt, elementwise, kAll},
    {Prim::le, Fn::le, elementwise, kAll},
    {Prim::gt, Fn::gt, elementwise, kAll},
    {Prim::ge, Fn::ge, elementwise, kAll},
    {Prim::where, Fn::where, elementwise, kAll},
    {Prim::philox_uniform, Fn::uniform, create, kReals},
    {Prim::iota, Fn::iota, create, kAll},
    {Prim::sum, Fn::sum, reduction, kAll},
    {Prim::amax, Fn::amax, reduction, kAll},
    {Prim::amin, Fn::amin, reduction, kAll},
    {Prim::argmax, Fn::argmax, reduction, kAll},
    {Prim::cumsum, Fn::cumsum, scan, kAll},
    {Prim::gather, Fn::gather, gather, kAll},
    {Prim::take, Fn::gather, gather, kAll},
    {Prim::cat, Fn::select, concat, kAll},
    {Prim::pad, Fn::select, concat, kAll},
    {Prim::slice_scatter, Fn::select, concat, kAll},
    {Prim::reshape, Fn::load, view, kAll},
    {Prim::expand, Fn::load, view, kAll},
    {Prim::permute, Fn::load, view, kAll},
    {Prim::slice, Fn::load, view, kAll},
};
constexpr PrimTable kTable{kRows};

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

bool has_intervals(const PrimRow& row) { return row.role == Role::concat || row.prim == Prim::slice; }

std::vector<Size> slice_starts(const Node& node, const Store& store, size_t operand) {
  std::vector<Size> out(store.type(node.results[0]).rank(), 0);
  const auto take = [&](const Arg& given) {
    for (size_t i = 0; i < out.size(); i++) out[i] = given.dim_list()[i];
  };
  if (node.op->id == Prim::cat) {
    Size& at = out[normalize_axis(node.args[1].i, out.size())];
    const auto parts = operands(node);
    for (size_t k = 0; k < operand; k++)
      at += store.type(parts[k]).shape[normalize_axis(node.args[1].i, out.size())];
  } else if (node.op->id == Prim::slice_scatter) {
    if (operand == 1) take(node.args[2]);
  } else {
    take(node.args[1]);
  }
  return out;
}

std::span<const PrimRow> prim_rows() { return kRows; }

const PrimRow* find_prim(const Op& op) { return kTable.find(op.id); }

}  // namespace thunder::fusion
