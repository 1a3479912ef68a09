// The table of imported ops: a row for an op and the opset versions in which it means the same.
#pragma once

#include <span>
#include <string_view>

#include "onnx/node.h"

namespace thunder::onnx {

constexpr int kLatestOpset = 28;
constexpr int kNow = kLatestOpset;  // as the last opset of a row: to this day

struct ImportRow {
  std::string_view op;
  int since, until;               // opset versions of its domain
  void (*run)(Node&);             // gives the results; null: it is refused, `note` says why
  bool (*host)(Node&) = nullptr;  // the same where the inputs are known; false: they are not
  std::string_view note = {};     // for the documentation
};

struct ImportTable {
  std::string_view domain;
  std::span<const ImportRow> rows;
};
// Families of rows: each file of rows/ defines one, STEM_rows.
std::span<const ImportTable* const> import_tables();
#define THUNDER_ONNX_ROWS(stem) extern const ImportTable stem##_rows;
#include "onnx/rows.inc"
#undef THUNDER_ONNX_ROWS

// The row for an op, or null.
const ImportRow* find_row(std::string_view domain, std::string_view op, int64_t opset);
// Throws unimplemented, saying in which versions of its domain the op is imported, if in any.
[[noreturn]] void refuse_op(std::string_view domain, std::string_view op, int64_t opset);

// The name of one of the library's ops as a template argument.
template <size_t N>
struct OpName {
  constexpr OpName(const char (&name)[N]) {
    for (size_t i = 0; i < N; i++) text[i] = name[i];
  }
  char text[N];
};
// Rows that call one of the library's ops on the first inputs.
template <OpName name>
void unary(Node& n) {
  n.give(n.op(name.text, {n[0]}));
}
template <OpName name>
void binary(Node& n) {
  Tensor *a = n[0], *b = n[1];
  n.require(a->type().dtype == b->type().dtype, "its inputs are ", thunder::name(a->type()), " and ",
            thunder::name(b->type()), ", they must be of one dtype");
  n.give(n.op(name.text, {a, b}));
}

}  // namespace thunder::onnx
