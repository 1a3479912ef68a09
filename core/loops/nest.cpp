#include "loops/nest.h"

#include <algorithm>

#include "base/text.h"
#include "ir/symbolic/size.h"

namespace thunder::loops {

template <class S>
std::vector<S> parameters(const NestOf<S>& nest) {
  std::vector<S> out = nest.extents;
  for (const auto& map : nest.maps)
    for (const S& stride : map)
      if (stride_kind(stride) == StrideKind::any) out.push_back(stride);
  for (const auto& e : nest.exprs)
    if (has_parameter(e)) out.push_back(e.offset);
  for (const auto& s : nest.stores)
    if (s.offset != 0) out.push_back(s.offset);
  for (uint32_t a = 0; a < nest.axes(); a++) {
    const auto cuts = nest.cuts(a);
    out.insert(out.end(), cuts.begin(), cuts.end());
  }
  return out;
}

template <class S>
void find_levels(NestOf<S>& n, AxisSet inner) {
  for (auto& e : n.exprs) {
    e.axes = 0, e.level = 0;
    if (e.fn == Fn::load || e.fn == Fn::iota)
      for (uint32_t a = 0; a < n.axes(); a++)
        if (n.maps[e.map][a] != 0) e.axes |= axis_bit(a);
    if (e.fn == Fn::select || e.fn == Fn::cumsum) e.axes |= axis_bit(e.axis);
    for (uint32_t i = 0; i < e.count; i++) {
      AxisSet from = n.exprs[e.in[i]].axes;
      if (e.fn == Fn::gather && i == 0) from &= ~axis_bit(e.axis);
      e.axes |= from;
      e.level = std::max(e.level, n.exprs[e.in[i]].level);
    }
    if (is_reduction(e.fn)) e.axes &= ~inner, e.level++;
  }
}

namespace {

// Prints a cut of an axis by its number; "0" and "end" for the axis' beginning and end.
template <class S>
std::string print_cut(const NestOf<S>& nest, uint32_t axis, const S& at) {
  if (at <= 0 || at >= nest.extents[axis]) return at <= 0 ? "0" : "end";
  const auto cuts = nest.cuts(axis);
  return cat("cut ", static_cast<size_t>(std::find(cuts.begin(), cuts.end(), at) - cuts.begin()));
}

template <class S>
std::string print_expr(const NestOf<S>& nest, const ExprOf<S>& e) {
  const auto at = [&] {
    std::string kinds;
    for (const S& stride : nest.maps[e.map]) kinds += static_cast<char>(stride_kind(stride));
    return cat("map", e.map, "<", kinds, ">");
  };
  std::string out = cat(name(e.fn), ".", name(e.dtype));
  switch (e.fn) {
    case Fn::load: return cat(out, "(b", e.buffer, ", ", at(), e.offset != 0 ? " + offset" : "", ")");
    case Fn::iota: return cat(out, "(", at(), e.offset != 0 ? " + offset" : "", ")");
    case Fn::number: return cat(out, "(", e.number, ")");
    default: break;
  }
  out += "(";
  for (uint32_t i = 0; i < e.count; i++) out += cat(i ? ", " : "", "e", e.in[i]);
  if (has_axis(e)) out += cat(", axis ", e.axis);
  return out + (e.fn == Fn::select ? cat(" < ", print_cut(nest, e.axis, e.bound), ")") : ")");
}

}  // namespace

template <class S>
std::string print(const NestOf<S>& nest) {
  std::string out = cat("nest ", nest.outer, " outer, ", nest.inner, " inner of ", nest.axes(), " axes",
                        nest.backwards ? " backwards" : "", "\nbuffers");
  for (DType d : nest.buffers) out += cat(" ", name(d));
  for (size_t i = 0; i < nest.exprs.size(); i++) out += cat("\n  e", i, " = ", print_expr(nest, nest.exprs[i]));
  for (const auto& s : nest.stores) {
    std::string kinds;
    for (const S& stride : nest.maps[s.map]) kinds += static_cast<char>(stride_kind(stride));
    out += cat("\n  b", s.buffer, "[map", s.map, "<", kinds, ">", s.offset != 0 ? " + offset" : "", "] ",
               s.kind == OutputKind::column ? "+=" : "=", " e", s.value);
    for (const auto& only : s.only)
      out += cat(" where ", print_cut(nest, only.axis, only.begin), " <= axis ", only.axis, " < ",
                 print_cut(nest, only.axis, only.end));
  }
  return out + "\n";
}

template std::vector<int64_t> parameters(const NestOf<int64_t>&);
template std::vector<Size> parameters(const NestOf<Size>&);
template void find_levels(NestOf<int64_t>&, AxisSet);
template void find_levels(NestOf<Size>&, AxisSet);
template std::string print(const NestOf<int64_t>&);
template std::string print(const NestOf<Size>&);

}  // namespace thunder::loops
