// An examination for people and for programs.
#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "base/utf8.h"
#include "jit/reports/examine.h"

namespace thunder {

bool Examination::sound() const {
  return std::none_of(remarks.begin(), remarks.end(), [](const Remark& f) {
    return f.kind == "unsupported" || f.kind == "wrong" || f.kind == "nan";
  });
}

std::string Examination::text() const {
  const auto millions = [](double v) { return cat(std::round(v * 1e-4) / 100); };
  std::string out = cat(function, ": ", sound() ? "sound" : "not sound", "\n");
  if (cost.steps)
    out += cat(cost.steps, cost.steps == 1 ? " step, " : " steps, ", millions(cost.flops), " MFLOP, ",
               millions(cost.bytes), " MB to read and write, at most ", cost.peak_bytes, " bytes of memory, and ",
               cost.result_bytes, " of results\n");
  if (checked || unchecked)
    out += cat(checked, " steps were compared with the reference",
               gradients ? ", those of the gradients among them" : "",
               unchecked ? cat("; ", unchecked, " on devices or in joined launches were not") : "", "\n");
  for (const Remark& f : remarks)
    out += cat(f.kind, ": ", f.op, f.op.empty() ? "" : f.where.empty() ? ": " : " at ", f.where,
               f.where.empty() ? "" : ": ", f.text, "\n");
  if (ops.empty()) return out;
  out += "ops, how often, and who runs them:\n";
  for (const ExaminedOp& op : ops)
    out += cat("  ", op.op, "  ", op.times, "  ",
               op.executors.empty() ? "nobody: a view, or folded away" : op.executors,
               op.where.empty() ? "" : cat("  first at ", op.where), "\n");
  return out;
}

std::string Examination::json() const {
  const auto op = [](const ExaminedOp& o) {
    return cat("{\"op\":", json_quote(o.op), ",\"times\":", o.times, ",\"executors\":", json_quote(o.executors),
               ",\"where\":", json_quote(o.where), "}");
  };
  const auto remark = [](const Remark& f) {
    return cat("{\"kind\":", json_quote(f.kind), ",\"op\":", json_quote(f.op), ",\"where\":", json_quote(f.where),
               ",\"text\":", json_quote(f.text), "}");
  };
  return cat("{\"function\":", json_quote(function), ",\"sound\":", sound() ? "true" : "false", ",\"flops\":",
             cost.flops, ",\"bytes\":", cost.bytes, ",\"peak_bytes\":", cost.peak_bytes, ",\"result_bytes\":",
             cost.result_bytes, ",\"steps\":", cost.steps, ",\"checked\":", checked,
             ",\"unchecked\":", unchecked, ",\"gradients\":",
             gradients ? "true" : "false", ",\"findings\":[", join(remarks, ",", remark), "],\"ops\":[",
             join(ops, ",", op), "]}");
}

}  // namespace thunder
