#include "onnx/export/rows.h"

#include <algorithm>

namespace thunder::onnx_export {

std::span<const Row> export_rows() {
  static const std::vector<Row> all = [] {
    std::vector<Row> rows;
    for (const auto of :
         {elementwise_rows, index_rows, layer_rows, random_rows, reduction_rows, shape_rows, special_rows, window_rows})
      rows.insert(rows.end(), of().begin(), of().end());
    std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.op < b.op; });
    return rows;
  }();
  return all;
}

const Row* find_row(std::string_view op) {
  const std::span<const Row> rows = export_rows();
  const auto found = std::lower_bound(rows.begin(), rows.end(), op, [](auto& r, auto name) { return r.op < name; });
  return found == rows.end() || found->op != op ? nullptr : &*found;
}

}  // namespace thunder::onnx_export
