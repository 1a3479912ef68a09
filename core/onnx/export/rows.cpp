#include "onnx/export/rows.h"

#include <algorithm>

namespace thunder::onnx_export {

#define THUNDER_NO_ENGINE(name, why) const Row name##_row = {.why_not = why};
#include "ir/prim.h"
#include "onnx/export/no_engine.def"
#undef THUNDER_NO_ENGINE

namespace {

constexpr const Row* kPrimRows[] = {
#define THUNDER_PRIM(name) &name##_row,
#include "ir/prims.inc"
#undef THUNDER_PRIM
};

}  // namespace

const Row& row_of(Prim prim) {
  return *kPrimRows[static_cast<size_t>(prim)];
}

const Row* find_row(const Op& op) {
  if (op.id != Prim::none) return row_of(op.id).why_not.empty() ? &row_of(op.id) : nullptr;
  const auto rows = composite_rows();
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const CompositeRow& r) { return r.op == op.name(); });
  return found == rows.end() ? nullptr : &found->row;
}

std::string_view why_not(const Op& op) {
  const std::string_view why = op.id == Prim::none ? std::string_view() : row_of(op.id).why_not;
  return why.empty() ? "it is an op of its own, without lines that it is made of" : why;
}

}  // namespace thunder::onnx_export
