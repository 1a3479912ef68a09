#include <algorithm>

#include "base/text.h"
#include "onnx/rows.h"

namespace thunder::onnx {

namespace {

constexpr const ImportTable* kTables[] = {
#define THUNDER_ONNX_ROWS(stem) &stem##_rows,
#include "onnx/rows.inc"
#undef THUNDER_ONNX_ROWS
};

template <class F>
void for_each_row(std::string_view domain, std::string_view op, F&& f) {
  for (const ImportTable* table : kTables)
    if (table->domain == domain)
      for (const ImportRow& row : table->rows)
        if (row.op == op) f(row);
}

}  // namespace

std::span<const ImportTable* const> import_tables() {
  return kTables;
}

const ImportRow* find_row(std::string_view domain, std::string_view op, int64_t opset) {
  const ImportRow* found = nullptr;
  for_each_row(domain, op, [&](const ImportRow& row) {
    if (row.since <= opset && opset <= row.until) found = &row;
  });
  return found;
}

void refuse_op(std::string_view domain, std::string_view op, int64_t opset) {
  std::string known;
  for_each_row(domain, op, [&](const ImportRow& row) {
    if (row.run) known += cat(known.empty() ? "" : ", ", row.since, " to ", row.until);
  });
  const std::string of = domain.empty() ? "ONNX" : cat("domain '", domain.substr(0, 100), "'");
  if (known.empty()) fail(Code::unimplemented, "the op ", op.substr(0, 100), " of ", of, " is not imported");
  fail(Code::unimplemented, "the op ", op, " of ", of, " is imported for the opsets ", known, "; the model uses ",
       opset);
}

}  // namespace thunder::onnx
