// The sums of a kernel: how they begin, what a position adds, and how those of several threads become one.
#include <algorithm>

#include "loops/cuda/arithmetic.h"
#include "loops/cuda/writer.h"

namespace thunder::loops {
namespace {

// The least and the greatest of a type, as text.
std::string type_limit(DType d, bool least) {
  if (is_real(d)) return least ? "-__int_as_float(0x7f800000)" : "__int_as_float(0x7f800000)";
  if (!is_signed(d)) return cat("(", register_type_name(d), ")", least ? "0" : d == DType::boolean ? "1" : "-1");
  const std::string greatest = cat((uint64_t{1} << info(d).digits) - 1, "LL");
  return cat("(", register_type_name(d), ")(", least ? cat("-", greatest, " - 1") : greatest, ")");
}

}  // namespace

void Writer::declare_sums(const std::vector<ExprId>& sums) {
  for (ExprId id : sums)
    if (columns_)
      line(accumulator_type(id), " sum", id, "[", schedule_.pack, "];"),
          line("for (int v = 0; v < ", schedule_.pack, "; v++) ", sum(id), " = ", neutral(id), ";");
    else line(accumulator_type(id), " sum", id, " = ", neutral(id), ";");
}

// Code that combines the results of two threads, as a function.
std::string Writer::combiner_text(ExprId id) const {
  const std::string type = accumulator_type(id);
  return cat("[](", type, " x, ", type, " y) { return ", combined_text(nest_.exprs[id], "x", "y"), "; }");
}

bool Writer::needs_group_reduction() const {
  return has_reductions(nest_) && (schedule_.split() || (rows_ == Rows::column && schedule_.groups() > 1));
}

// Declares shared memory for the results of a block's groups, so many columns a thread.
void Writer::declare_shared(uint32_t columns) {
  size_t most = sizeof(float);  // narrow reals are accumulated so
  for (const Expr& e : nest_.exprs)
    if (is_reduction(e.fn)) most = std::max(most, e.fn == Fn::argmax ? kPartialBytes : size_of(e.dtype));
  const size_t words = (static_cast<size_t>(schedule_.threads) * columns * most + 7) / sizeof(int64_t);
  if (needs_group_reduction()) line("__shared__ i64 shared[", words, "];");
}

void Writer::reduce_groups(ExprId id, uint32_t columns, int lanes) {
  const std::string type = accumulator_type(id);
  line("of_groups<", type, ", ", columns, ", ", lanes, ">(", columns_ ? "" : "&", "sum", id, ", (", type, "*)shared, ",
       combiner_text(id), ");");
}

void Writer::reduce_threads(ExprId id) {
  if (columns_ && schedule_.groups() > 1) reduce_groups(id, schedule_.pack, schedule_.lanes);
  if (rows_ == Rows::thread || columns_) return;
  const std::string type = accumulator_type(id), combine = this->combiner_text(id);
  if (rows_ == Rows::warp) line("sum", id, " = of_warp<", type, ">(sum", id, ", ", combine, ");");
  else line("sum", id, " = of_block<", type, ">(sum", id, ", (", type, "*)shared, ", combine, ");");
}

void Writer::finish_reduction(ExprId id) {
  const Expr& e = nest_.exprs[id];
  row_[id] = e.fn == Fn::argmax ? cat("(i64)", sum(id), ".at") : sum(id);
  const std::string each = columns_ ? cat("for (int v = 0; v < ", schedule_.pack, "; v++) ") : "";
  if (is_half(e.dtype)) line(each, sum(id), " = ", rounded_text(e, sum(id)), ";");
}

// The accumulator of a reduction: its type, its neutral element, and how a position is added to it.
std::string Writer::accumulator_type(ExprId id) const {
  const Expr& e = nest_.exprs[id];
  if (e.fn != Fn::argmax) return register_type_name(e.dtype);
  return cat("Best<", register_type_name(nest_.exprs[e.in[0]].dtype), ", ",
             register_type_name(nest_.exprs[e.in[1]].dtype), ">");
}
std::string Writer::neutral(ExprId id) const {
  const Expr& e = nest_.exprs[id];
  if (e.fn == Fn::sum) return "0";
  return e.fn == Fn::argmax ? cat("{", type_limit(nest_.exprs[e.in[0]].dtype, true), ", 0}")
                            : type_limit(e.dtype, e.fn == Fn::amax);
}
std::string Writer::reduced_element(ExprId id) {
  const Expr& e = nest_.exprs[id];
  const std::string v = emit_value(e.in[0]);
  return e.fn == Fn::argmax ? cat(accumulator_type(id), "{", v, ", ", emit_value(e.in[1]), "}") : v;
}
std::string Writer::combined_text(const Expr& e, const std::string& x, const std::string& y) const {
  if (e.fn == Fn::sum) return cat("(", register_type_name(e.dtype), ")(", x, " + ", y, ")");
  return cat(e.fn == Fn::argmax ? "better(" : e.fn == Fn::amax ? "greater(" : "lesser(", x, ", ", y, ")");
}

}  // namespace thunder::loops
