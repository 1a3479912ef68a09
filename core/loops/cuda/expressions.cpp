// The bodies of a kernel's loops: expressions, and the stores of their values.
#include "loops/cuda/arithmetic.h"
#include "loops/cuda/writer.h"

namespace thunder::loops {

// Everything is computed before anything is stored: an output may lie in an input's memory.
void Writer::store_all(const Wanted& wanted) {
  std::vector<std::pair<const Output*, std::string>> values;
  for (const Output& s : nest_.stores)
    if (wanted(s) && s.only.empty()) values.emplace_back(&s, emit_value(s.value));
  for (auto& [s, v] : values) store(*s, v);
  for (const Output& s : nest_.stores)
    if (wanted(s) && !s.only.empty()) store_in_intervals(s);
}

void Writer::store_in_intervals(const Output& s) {
  std::string here;
  for (const Interval& only : s.only) {
    if (only.begin > 0)
      here += cat(here.empty() ? "" : " && ", index_[only.axis], " >= ", cuts_.at({only.axis, only.begin}));
    if (only.end < nest_.extents[only.axis])
      here += cat(here.empty() ? "" : " && ", index_[only.axis], " < ", cuts_.at({only.axis, only.end}));
  }
  line("if (", here.empty() ? "true" : here, ") {");
  const bool before = std::exchange(for_some_, true);
  in_own_scope([&] { store(s, emit_value(s.value)); });
  for_some_ = before;
}

void Writer::store(const Output& s, const std::string& v) {
  const DType d = nest_.buffers[s.buffer];
  const auto k = static_cast<size_t>(&s - nest_.stores.data());
  const std::string& more = store_offsets_[k];
  const std::string to = in_pack_ && schedule_.pack > 1 && schedule_.packed_stores[k]
                             ? cat("out", k, ".at[v]")
                             : cat("((", memory_type_name(d), "*)b.at[", s.buffer, "])[", offset_text(s.map),
                                   more.empty() ? "" : " + " + more, "]");
  line(to, " = ", to_memory_text(d, v), ";");
}

std::string Writer::offset_text(uint32_t map) const {
  std::string sum = "0";
  for (uint32_t a = 0; a < nest_.axes(); a++) {
    const std::string& step = strides_[map][a];
    if (!step.empty()) sum += cat(" + ", index_[a], step == "1" ? "" : cat(" * (", step, ")"));
  }
  return sum;
}

// The variable that holds an expression's value at the current position of the text.
std::string Writer::emit_value(ExprId id) {
  Memo& memo = nest_.exprs[id].axes & gathered_ ? gathers_ : nest_.is_row(id) ? row_ : position_;
  if (!memo[id].empty()) return memo[id];
  const Expr& e = nest_.exprs[id];
  const std::string variable = cat("e", id, gathered_ ? cat("_", depth_) : "");
  if (e.fn == Fn::select) {
    select(id, variable);
  } else {
    const std::string text = e.fn == Fn::gather ? gather(id) : expression_text(id);
    line("const ", register_type_name(e.dtype), " ", variable, " = ", text, ";");
  }
  return (nest_.exprs[id].axes & gathered_ ? gathers_ : nest_.is_row(id) ? row_ : position_)[id] = variable;
}

// Only the selected operand is computed: the other one's load may be out of bounds.
void Writer::select(ExprId id, const std::string& variable) {
  const Expr& e = nest_.exprs[id];
  line(register_type_name(e.dtype), " ", variable, ";");
  const bool chosen = in_pack_ && uniform_selects_[id] && !(gathered_ & axis_bit(e.axis));
  const bool before = std::exchange(for_some_, for_some_ || !chosen);
  for (int i : {0, 1}) {
    line(i          ? "else {"
         : chosen ? cat("if (first", id, ") {")
                  : cat("if (", index_[e.axis], " < ", cuts_.at({e.axis, e.bound}), ") {"));
    in_own_scope([&] { line(variable, " = ", emit_value(e.in[i]), ";"); });
  }
  for_some_ = before;
}

std::string Writer::gather(ExprId id) {
  const Expr& e = nest_.exprs[id];
  const std::string index = emit_value(e.in[1]);
  line("const place at", id, " = (place)checked(", index, ", p.at[", e.axis, "], ", id, ", assertion);");
  const std::string before = std::exchange(index_[e.axis], cat("at", id));
  const AxisSet outside = std::exchange(gathered_, gathered_ | axis_bit(e.axis));
  Memo others = std::exchange(gathers_, Memo(nest_.exprs.size()));
  const bool some = std::exchange(for_some_, true);
  depth_++;
  const std::string found = emit_value(e.in[0]);
  index_[e.axis] = before, gathered_ = outside, gathers_ = std::move(others), for_some_ = some;
  return found;
}

std::string Writer::expression_text(ExprId id) {
  const Expr& e = nest_.exprs[id];
  const std::string more = e.offset && e.fn != Fn::uniform ? " + " + offsets_[id] : "";
  if (e.fn == Fn::number) return constant_text(e.number, e.dtype);
  if (e.fn == Fn::load) {
    const DType d = nest_.buffers[e.buffer];
    const std::string from =
        is_host_scalar(e.buffer) ? cat("(n.at + ", 2 * numbers_[e.buffer], ")") : cat("b.at[", e.buffer, "]");
    const bool there = in_pack_ && loaded_[id] && !(for_some_ && guarded_[id]) && !(e.axes & gathered_);
    const std::string read =
        there ? cat("pack", id, keeps(Keep::registers, id) ? "[trip]" : "", ".at[v]")
              : cat("((const ", memory_type_name(d), "*)", from, ")[", offset_text(e.map), more, "]");
    return from_memory_text(d, read);
  }
  if (e.fn == Fn::iota)
    return rounded_text(e, cat("(", register_type_name(e.dtype), ")(", offset_text(e.map), more, ")"));
  std::vector<std::string> x;
  for (uint32_t i = 0; i < e.count; i++) x.push_back(emit_value(e.in[i]));
  if (e.fn == Fn::uniform) {
    if (!in_pack_) line("Draws draws", id, ";");
    return cat("uniform_", name(e.dtype), "(draws", id, ", ", x[0], ", ", x[1], ", ", x[2], ", ", offsets_[id], ")");
  }
  if (may_fail(e))
    return cat(e.fn == Fn::div ? "quotient(" : "remainder_of(", x[0], ", ", x[1], ", ", id, ", assertion)");
  if (e.fn == Fn::where) return cat(x[0], " ? ", x[1], " : ", x[2]);
  if (e.fn == Fn::convert) {
    const DType from = nest_.exprs[e.in[0]].dtype;
    return from == e.dtype ? x[0] : rounded_text(e, converted_text(x[0], from, e.dtype));
  }
  // What gives one of its operands, but for the sign, has no more digits than they have.
  if (e.fn == Fn::abs || e.fn == Fn::neg) return unary_text(e.fn, x[0], e.dtype);
  if (e.fn == Fn::maximum || e.fn == Fn::minimum) return binary_text(e.fn, x[0], x[1], e.dtype);
  return rounded_text(
      e, e.count == 2 ? binary_text(e.fn, x[0], x[1], nest_.exprs[e.in[0]].dtype) : unary_text(e.fn, x[0], e.dtype));
}

}  // namespace thunder::loops
