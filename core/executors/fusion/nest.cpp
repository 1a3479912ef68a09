#include "executors/fusion/nest.h"

#include "base/text.h"

namespace thunder::fusion {

std::vector<int64_t> parameters(const Nest& nest) {
  std::vector<int64_t> out = nest.extents;
  for (const Map& map : nest.maps)
    for (int64_t stride : map)
      if (step_of(stride) == Step::any) out.push_back(stride);
  for (const Expr& e : nest.exprs)
    if (e.fn == Fn::uniform) out.push_back(e.ordinal);
  return out;
}

int64_t work_items(const Nest& nest, int64_t piece, int64_t block) {
  const auto parts = [](int64_t extent, int64_t length) { return (extent + length - 1) / length; };
  int64_t items = 1;
  for (uint32_t a = 0; a < nest.outer; a++)
    if (a != nest.lane) items *= nest.extents[a];
  if (nest.split || nest.lane_is_outer()) items *= parts(nest.extents[nest.lane], piece);
  if (nest.blocked) items *= parts(nest.extents[nest.block_axis()], block);
  return items;
}

namespace {

std::string print_expr(const Nest& nest, const Expr& e) {
  const auto at = [&] {
    std::string steps;
    for (int64_t stride : nest.maps[e.map]) steps += static_cast<char>(step_of(stride));
    return cat("map", e.map, "<", steps, ">");
  };
  std::string out = cat(name(e.fn), ".", name(e.dtype));
  switch (e.fn) {
    case Fn::load: return cat(out, "(b", e.buffer, ", ", at(), e.offset ? cat(" + ", e.offset) : "", ")");
    case Fn::position: return cat(out, "(", at(), ")");
    default: break;
  }
  out += "(";
  for (uint32_t i = 0; i < e.count; i++) out += cat(i ? ", " : "", "e", e.in[i]);
  if (has_axis(e)) out += cat(", axis ", e.axis);
  return out + (e.fn == Fn::choose ? cat(" < ", e.bound, ")") : ")");
}

}  // namespace

std::string print(const Nest& nest) {
  std::string out = cat("nest ", nest.outer, " outer, ", nest.inner, " inner of ", nest.axes(), " axes, lane ", nest.lane,
                        nest.split ? " split" : "", nest.backwards ? " backwards" : "", nest.blocked ? " blocked" : "", is_short(nest) ? " short" : is_even(nest) ? " even" : "", "\nbuffers");
  for (DType d : nest.buffers) out += cat(" ", name(d));
  for (size_t i = 0; i < nest.exprs.size(); i++) out += cat("\n  e", i, " = ", print_expr(nest, nest.exprs[i]));
  for (ExprId e : nest.kept) out += cat("\n  keep e", e);
  for (const Nest::Ahead& a : nest.ahead) out += cat("\n  ahead e", a.load, " in pass ", a.pass);
  for (const Output& s : nest.stores) {
    std::string steps;
    for (int64_t stride : nest.maps[s.map]) steps += static_cast<char>(step_of(stride));
    out += cat("\n  b", s.buffer, "[map", s.map, "<", steps, ">] ", s.kind == OutputKind::column ? "+=" : "=", " e", s.value, s.streams ? " streams" : "");
  }
  return out + "\n";
}

}  // namespace thunder::fusion
