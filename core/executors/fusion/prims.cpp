#include "executors/fusion/prims.h"

#include <algorithm>
#include <array>

namespace thunder::fusion {
namespace {

using enum Role;
constexpr auto kAll = Takes::all;
constexpr auto kReals = Takes::reals;

constexpr PrimRow kRows[] = {
    {"prims.abs", Fn::abs, elementwise, kAll, 1},
    {"prims.neg", Fn::neg, elementwise, kAll, 1},
    {"prims.sign", Fn::sign, elementwise, kAll, 3},
    {"prims.floor", Fn::floor, elementwise, kAll, 1},
    {"prims.logical_not", Fn::logical_not, elementwise, kAll, 1},
    {"prims.exp", Fn::exp, elementwise, kReals, 12},
    {"prims.log", Fn::log, elementwise, kReals, 14},
    {"prims.sqrt", Fn::sqrt, elementwise, kReals, 8},
    {"prims.rsqrt", Fn::rsqrt, elementwise, kReals, 16},
    {"prims.reciprocal", Fn::reciprocal, elementwise, kReals, 8},
    {"prims.sin", Fn::sin, elementwise, kReals, 25},
    {"prims.cos", Fn::cos, elementwise, kReals, 25},
    {"prims.tanh", Fn::tanh, elementwise, kReals, 20},
    {"prims.erf", Fn::erf, elementwise, kReals, 20},
    {"prims.convert", Fn::convert, elementwise, kAll, 1},
    {"prims.contiguous", Fn::convert, elementwise, kAll, 1},
    {"prims.clone", Fn::convert, elementwise, kAll, 1},
    {"prims.add", Fn::add, elementwise, kAll, 1},
    {"prims.sub", Fn::sub, elementwise, kAll, 1},
    {"prims.mul", Fn::mul, elementwise, kAll, 1},
    {"prims.div", Fn::div, elementwise, kReals, 8},
    {"prims.fmod", Fn::fmod, elementwise, kReals, 100},
    {"prims.pow", Fn::pow, elementwise, kReals, 200},
    {"prims.maximum", Fn::maximum, elementwise, kAll, 2},
    {"prims.minimum", Fn::minimum, elementwise, kAll, 2},
    {"prims.eq", Fn::eq, elementwise, kAll, 1},
    {"prims.ne", Fn::ne, elementwise, kAll, 1},
    {"prims.lt", Fn::lt, elementwise, kAll, 1},
    {"prims.le", Fn::le, elementwise, kAll, 1},
    {"prims.gt", Fn::gt, elementwise, kAll, 1},
    {"prims.ge", Fn::ge, elementwise, kAll, 1},
    {"prims.where", Fn::where, elementwise, kAll, 1},
    {"prims.philox_uniform", Fn::uniform, create, kReals, 60},
    {"prims.iota", Fn::position, create, kAll, 1},
    {"prims.sum", Fn::sum, reduction, kAll, 1},
    {"prims.amax", Fn::amax, reduction, kAll, 2},
    {"prims.amin", Fn::amin, reduction, kAll, 2},
    {"prims.argmax", Fn::argmax, reduction, kAll, 3},
    {"prims.cumsum", Fn::cumsum, scan, kAll, 8},
    {"prims.gather", Fn::pick, pick, kAll, 4},
    {"prims.take", Fn::pick, pick, kAll, 4},
    {"prims.cat", Fn::choose, join, kAll, 1},
    {"prims.pad", Fn::choose, join, kAll, 1},
    {"prims.slice_scatter", Fn::choose, join, kAll, 1},
    {"prims.reshape", Fn::load, view, kAll, 0},
    {"prims.expand", Fn::load, view, kAll, 0},
    {"prims.permute", Fn::load, view, kAll, 0},
    {"prims.slice", Fn::load, view, kAll, 0},
};

}  // namespace

std::vector<ValueId> operands(const Node& line) {
  std::vector<ValueId> values;
  for_each_value(line.args, [&](ValueId v) { values.push_back(v); });
  return values;
}

std::vector<size_t> reduced_dims(const Node& line, size_t rank) {
  const Arg& given = line.args[1];
  std::vector<size_t> dims;
  if (given.kind == ArgKind::integer && rank) dims.push_back(normalize_axis(given.i, rank));
  if (given.kind == ArgKind::integer) return dims;
  for (Dim d : given.dim_list()) dims.push_back(normalize_axis(d.value(), rank));
  for (size_t i = 0; given.dim_list().empty() && i < rank; i++) dims.push_back(i);
  return dims;
}

std::vector<int64_t> starts(const Node& line, const Store& store, size_t operand) {
  std::vector<int64_t> out(store.type(line.results[0]).rank(), 0);
  const auto take = [&](const Arg& given) {
    for (size_t i = 0; i < out.size(); i++) out[i] = given.dim_list()[i].value();
  };
  if (line.op->name() == "prims.cat") {
    int64_t& at = out[normalize_axis(line.args[1].i, out.size())];
    const auto parts = operands(line);
    for (size_t k = 0; k < operand; k++) at += store.type(parts[k]).shape[normalize_axis(line.args[1].i, out.size())].value();
  } else if (line.op->name() == "prims.slice_scatter") {
    if (operand == 1) take(line.args[2]);
  } else {
    take(line.args[1]);
  }
  return out;
}

std::span<const PrimRow> prim_rows() { return kRows; }

const PrimRow* find_prim(const Op& op) {
  if (!op.prim) return nullptr;
  // Sorted once by name: claiming asks for every line of every trace.
  static const auto sorted = [] {
    std::array<const PrimRow*, std::size(kRows)> rows;
    std::transform(std::begin(kRows), std::end(kRows), rows.begin(), [](const PrimRow& r) { return &r; });
    std::sort(rows.begin(), rows.end(), [](auto a, auto b) { return a->prim < b->prim; });
    return rows;
  }();
  auto it = std::lower_bound(sorted.begin(), sorted.end(), op.name(), [](auto row, std::string_view name) { return row->prim < name; });
  return it != sorted.end() && (*it)->prim == op.name() ? *it : nullptr;
}

uint8_t cost(Fn fn) {
  auto row = std::find_if(std::begin(kRows), std::end(kRows), [fn](const PrimRow& r) { return r.fn == fn; });
  return row == std::end(kRows) ? 0 : row->cost;
}

std::string_view name(Fn fn) {
  for (const PrimRow& row : kRows)
    if (row.fn == fn && row.role != view) return row.prim.substr(6);
  return fn == Fn::number ? "number" : "load";
}

}  // namespace thunder::fusion
