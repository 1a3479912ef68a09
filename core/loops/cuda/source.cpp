#include "loops/cuda/source.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/text.h"
#include "loops/cuda/arithmetic.h"
#include "loops/cuda/prelude.h"

namespace thunder::loops {
namespace {

class Writer {
 public:
  Writer(const Nest& nest, const CudaSchedule& schedule, const std::string& name)
      : nest_(nest), schedule_(schedule), name_(name), index_(nest.axes()), rows_by_block_(schedule.rows == CudaSchedule::Rows::block) {
    size_t next = nest.axes();
    for (const Map& map : nest.maps) {
      strides_.emplace_back();
      for (int64_t stride : map) strides_.back().push_back(step_of(stride) == Step::any ? parameter(next++) : stride ? "1" : "");
    }
    // The number of a draw is no place in memory.
    for (const Expr& e : nest.exprs)
      offsets_.push_back(!has_parameter(e) ? "" : e.fn == Fn::uniform ? cat("p.at[", next++, "]") : parameter(next++));
    for (const Output& s : nest.stores) store_offsets_.push_back(s.offset ? parameter(next++) : "");
    for (uint32_t a = 0; a < nest.axes(); a++)
      for (int64_t at : nest.cuts(a)) cuts_[{a, at}] = parameter(next++);
    parameters_ = next;
    for (size_t b = 0; b < nest.buffers.size(); b++) numbers_.push_back(is_number(b) ? count_of_numbers_++ : 0);
  }

  std::string run() {
    out_ = cat(kCudaPrelude, "\ntypedef ", schedule_.narrow ? "int" : "i64", " place;\nstruct Buffers { void* at[", nest_.buffers.size(),
               "]; };\nstruct Parameters { i64 at[", std::max<size_t>(1, parameters_), "]; };\nstruct Numbers { i64 at[",
               std::max<size_t>(1, 2 * count_of_numbers_), "]; };\n\nextern \"C\" __global__ void ", name_,
               "(const Buffers b, const Parameters p, const Numbers n, Refusal* refusal) {\n");
    if (reduces()) rows();
    else elements();
    return out_ + "}\n";
  }

 private:
  using Memo = std::vector<std::string>;  // by expression: the variable that holds it; "": not yet

  bool reduces() const { return nest_.passes > 1 || std::any_of(nest_.exprs.begin(), nest_.exprs.end(), [](const Expr& e) { return is_reduction(e.fn); }); }

  template <class... T>
  void line(const T&... parts) { out_ += cat(indent_, parts..., "\n"); }
  void open() { indent_ += "  "; }
  void close() { indent_.resize(indent_.size() - 2), line("}"); }

  bool is_number(size_t buffer) const { return buffer < schedule_.on_host.size() && schedule_.on_host[buffer]; }
  static std::string parameter(size_t number) { return cat("(place)p.at[", number, "]"); }

  std::string product(uint32_t begin, uint32_t end) const {
    std::string all = "(place)1";
    for (uint32_t a = begin; a < end; a++) all += cat(" * ", parameter(a));
    return all;
  }
  // The indices of the axes from a position among them; the last one runs fastest.
  void unfold(const std::string& position, uint32_t begin, uint32_t end) {
    line("place rest", begin, " = ", position, ";");
    for (uint32_t a = end; a-- > begin;) {
      index_[a] = cat("i", a);
      if (a == begin) {
        line("const place i", a, " = rest", begin, ";");
        continue;
      }
      line("const place next", a, " = rest", begin, " / (", parameter(a), "), i", a, " = rest", begin, " - next", a, " * (", parameter(a), ");");
      line("rest", begin, " = next", a, ";");
    }
  }

  void elements() {
    const uint32_t axes = nest_.outer + nest_.inner;
    line("for (place at = blockIdx.x * (place)blockDim.x + threadIdx.x; at < ", product(0, axes), "; at += (place)gridDim.x * blockDim.x) {");
    open();
    unfold("at", 0, axes);
    row_.assign(nest_.exprs.size(), ""), position_ = row_;
    store_all([](const Output&) { return true; });
    close();
  }

  void rows() {
    // What a thread leaves of a reduction is at most a number and a place.
    if (rows_by_block_) line("__shared__ i64 room[", 2 * kCudaThreads, "];");
    if (rows_by_block_) line("for (place row = blockIdx.x; row < ", product(0, nest_.outer), "; row += gridDim.x) {");
    else line("for (place row = blockIdx.x * (place)blockDim.x + threadIdx.x; row < ", product(0, nest_.outer), "; row += (place)gridDim.x * blockDim.x) {");
    open();
    unfold("row", 0, nest_.outer);
    row_.assign(nest_.exprs.size(), "");
    for (uint32_t pass = 0; pass < nest_.passes; pass++) write_pass(pass);
    row_values(nest_.passes);
    if (rows_by_block_) line("if (threadIdx.x == 0) {"), open();
    store_all([this](const Output& s) { return nest_.is_row(s); });
    if (rows_by_block_) close();
    close();
  }

  // What is known for a whole row before this pass stands before its loop.
  void row_values(uint32_t pass) {
    const AxisSet walked = nest_.outer_set();
    for (ExprId id = 0; id < nest_.exprs.size(); id++)
      if (!(nest_.exprs[id].axes & ~walked) && nest_.exprs[id].level <= pass && !is_reduction(nest_.exprs[id].fn)) value(id);
  }

  void write_pass(uint32_t pass) {
    std::vector<ExprId> sums;
    for (ExprId id = 0; id < nest_.exprs.size(); id++)
      if (is_reduction(nest_.exprs[id].fn) && nest_.exprs[id].level == pass + 1) sums.push_back(id);
    const auto stored = [&](const Output& s) { return !nest_.is_row(s) && nest_.exprs[s.value].level == pass; };
    if (sums.empty() && std::none_of(nest_.stores.begin(), nest_.stores.end(), stored)) return;
    row_values(pass);
    for (ExprId id : sums) line(held_type(id), " sum", id, " = ", neutral(id), ";");
    const std::string columns = product(nest_.outer, nest_.outer + nest_.inner);
    if (rows_by_block_) line("for (place at = threadIdx.x; at < ", columns, "; at += blockDim.x) {");
    else line("for (place at = 0; at < ", columns, "; at++) {");
    open();
    unfold("at", nest_.outer, nest_.outer + nest_.inner);
    position_.assign(nest_.exprs.size(), "");
    for (ExprId id : sums) {
      const std::string now = element(id);
      line("sum", id, " = ", combined(nest_.exprs[id], cat("sum", id), now), ";");
    }
    store_all(stored);
    close();
    for (ExprId id : sums) {
      const Expr& e = nest_.exprs[id];
      const std::string type = held_type(id);
      if (rows_by_block_) line("sum", id, " = together<", type, ">(sum", id, ", (", type, "*)room, [](", type, " x, ", type, " y) { return ", combined(e, "x", "y"), "; });");
      row_[id] = e.fn == Fn::argmax ? cat("(i64)sum", id, ".at") : cat("sum", id);
      if (e.dtype == DType::bf16) line("sum", id, " = round_bf16(sum", id, ");");
    }
  }

  // What a reduction holds while it goes over a row, what it begins with, and what a position adds to it.
  std::string held_type(ExprId id) const {
    const Expr& e = nest_.exprs[id];
    if (e.fn != Fn::argmax) return type_of(e.dtype);
    return cat("Best<", type_of(nest_.exprs[e.in[0]].dtype), ", ", type_of(nest_.exprs[e.in[1]].dtype), ">");
  }
  std::string neutral(ExprId id) const {
    const Expr& e = nest_.exprs[id];
    if (e.fn == Fn::sum) return "0";
    return e.fn == Fn::argmax ? cat("{", bound(nest_.exprs[e.in[0]].dtype, true), ", 0}") : bound(e.dtype, e.fn == Fn::amax);
  }
  std::string element(ExprId id) {
    const Expr& e = nest_.exprs[id];
    const std::string v = value(e.in[0]);
    return e.fn == Fn::argmax ? cat(held_type(id), "{", v, ", ", value(e.in[1]), "}") : v;
  }
  static std::string bound(DType d, bool least) {
    switch (d) {
      case DType::boolean: return least ? "false" : "true";
      case DType::u8: return least ? "0" : "255";
      case DType::i32: return least ? "-2147483647 - 1" : "2147483647";
      case DType::i64: return least ? "-9223372036854775807LL - 1" : "9223372036854775807LL";
      default: return least ? "-__int_as_float(0x7f800000)" : "__int_as_float(0x7f800000)";
    }
  }
  static std::string combined(const Expr& e, const std::string& x, const std::string& y) {
    if (e.fn == Fn::sum) return cat("(", type_of(e.dtype), ")(", x, " + ", y, ")");
    return cat(e.fn == Fn::argmax ? "better(" : e.fn == Fn::amax ? "greater(" : "lesser(", x, ", ", y, ")");
  }

  // Everything is computed before anything is stored: an output may lie in an input's memory.
  template <class F>
  void store_all(F&& wanted) {
    std::vector<std::pair<const Output*, std::string>> values;
    for (const Output& s : nest_.stores)
      if (wanted(s) && s.only.empty()) values.emplace_back(&s, value(s.value));
    for (auto& [s, v] : values) store(*s, v);
    for (const Output& s : nest_.stores) {
      if (!wanted(s) || s.only.empty()) continue;
      std::string here;
      for (const Stretch& only : s.only) {
        if (only.begin > 0) here += cat(here.empty() ? "" : " && ", index_[only.axis], " >= ", cuts_.at({only.axis, only.begin}));
        if (only.end < nest_.extents[only.axis]) here += cat(here.empty() ? "" : " && ", index_[only.axis], " < ", cuts_.at({only.axis, only.end}));
      }
      line("if (", here.empty() ? "true" : here, ") {");
      apart([&] { store(s, value(s.value)); });
    }
  }
  void store(const Output& s, const std::string& v) {
    const DType d = nest_.buffers[s.buffer];
    const std::string& more = store_offsets_[static_cast<size_t>(&s - nest_.stores.data())];
    line("((", memory_type(d), "*)b.at[", s.buffer, "])[", place_of(s.map), more.empty() ? "" : " + " + more, "] = ", d == DType::bf16 ? cat("to_bf16(", v, ")") : v, ";");
  }
  // A block, of which nothing is known outside.
  template <class F>
  void apart(F&& write) {
    const Memo row = row_, position = position_, picks = picks_;
    open();
    write();
    close();
    row_ = row, position_ = position, picks_ = picks;
  }

  std::string place_of(uint32_t map) const {
    std::string sum = "0";
    for (uint32_t a = 0; a < nest_.axes(); a++) {
      const std::string& step = strides_[map][a];
      if (!step.empty()) sum += cat(" + ", index_[a], step == "1" ? "" : cat(" * (", step, ")"));
    }
    return sum;
  }

  // The variable that holds an expression where the text now stands.
  std::string value(ExprId id) {
    Memo& memo = nest_.exprs[id].axes & picked_ ? picks_ : nest_.is_row(id) ? row_ : position_;
    if (!memo[id].empty()) return memo[id];
    const Expr& e = nest_.exprs[id];
    const std::string variable = cat("e", id, picked_ ? cat("_", depth_) : "");
    if (e.fn == Fn::choose) {
      choose(e, variable);
    } else {
      const std::string text = e.fn == Fn::pick ? pick(id) : formula(id);
      line("const ", type_of(e.dtype), " ", variable, " = ", text, ";");
    }
    return (nest_.exprs[id].axes & picked_ ? picks_ : nest_.is_row(id) ? row_ : position_)[id] = variable;
  }

  // Only what is chosen is computed: the other may not be there.
  void choose(const Expr& e, const std::string& variable) {
    line(type_of(e.dtype), " ", variable, ";");
    for (int i : {0, 1}) {
      line(i ? "else {" : cat("if (", index_[e.axis], " < ", cuts_.at({e.axis, e.bound}), ") {"));
      apart([&] { line(variable, " = ", value(e.in[i]), ";"); });
    }
  }

  std::string pick(ExprId id) {
    const Expr& e = nest_.exprs[id];
    const std::string index = value(e.in[1]);
    line("const place at", id, " = (place)checked(", index, ", p.at[", e.axis, "], ", id, ", refusal);");
    const std::string before = std::exchange(index_[e.axis], cat("at", id));
    const AxisSet outside = std::exchange(picked_, picked_ | bit(e.axis));
    Memo others = std::exchange(picks_, Memo(nest_.exprs.size()));
    depth_++;
    const std::string found = value(e.in[0]);
    index_[e.axis] = before, picked_ = outside, picks_ = std::move(others);
    return found;
  }

  std::string formula(ExprId id) {
    const Expr& e = nest_.exprs[id];
    const std::string more = e.offset && e.fn != Fn::uniform ? " + " + offsets_[id] : "";
    if (e.fn == Fn::number) return number(e.number, e.dtype);
    if (e.fn == Fn::load) {
      const DType d = nest_.buffers[e.buffer];
      const std::string from = is_number(e.buffer) ? cat("(n.at + ", 2 * numbers_[e.buffer], ")") : cat("b.at[", e.buffer, "]");
      const std::string read = cat("((const ", memory_type(d), "*)", from, ")[", place_of(e.map), more, "]");
      return d == DType::bf16 ? cat("from_bf16(", read, ")") : d == DType::boolean ? cat(read, " != 0") : read;
    }
    if (e.fn == Fn::position) return rounded(e, cat("(", type_of(e.dtype), ")(", place_of(e.map), more, ")"));
    std::vector<std::string> x;
    for (uint32_t i = 0; i < e.count; i++) x.push_back(value(e.in[i]));
    if (e.fn == Fn::uniform) return cat("uniform_", name(e.dtype), "(", x[0], ", ", x[1], ", ", x[2], ", ", offsets_[id], ")");
    if (e.fn == Fn::where) return cat(x[0], " ? ", x[1], " : ", x[2]);
    if (e.fn == Fn::convert) return rounded(e, converted(x[0], nest_.exprs[e.in[0]].dtype, e.dtype));
    return rounded(e, e.count == 2 ? binary(e.fn, x[0], x[1], nest_.exprs[e.in[0]].dtype) : unary(e.fn, x[0], e.dtype));
  }
  const Nest& nest_;
  const CudaSchedule& schedule_;
  const std::string& name_;
  std::string out_, indent_ = "  ";
  std::vector<std::string> index_;                 // by axis: the variable that walks it
  std::vector<std::vector<std::string>> strides_;  // by map and axis; "": it is not walked
  std::vector<std::string> offsets_, store_offsets_;  // by expression, by output; "": 0
  std::map<std::pair<uint32_t, int64_t>, std::string> cuts_;
  size_t parameters_ = 0;
  std::vector<size_t> numbers_;  // by argument: which of those that are passed by value
  size_t count_of_numbers_ = 0;
  bool rows_by_block_;
  Memo row_, position_, picks_;
  AxisSet picked_ = 0;
  int depth_ = 0;
};

}  // namespace

CudaSource cuda_source(const Nest& nest, const CudaSchedule& schedule, const std::string& name) {
  for (const Output& s : nest.stores)
    if (s.kind == OutputKind::column) return {"", "sums over the outer axes are not written as CUDA C++ yet"};
  for (const Expr& e : nest.exprs)
    if (e.fn == Fn::cumsum) return {"", "sums that run along an axis are not written as CUDA C++ yet"};
  return {Writer(nest, schedule, name).run(), ""};
}

}  // namespace thunder::loops
