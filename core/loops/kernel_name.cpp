#include "loops/kernel_name.h"

#include <algorithm>

#include "base/text.h"

namespace thunder::loops {

std::string kernel_name(const Nest& nest) {
  constexpr size_t kMostNamed = 6;
  std::vector<Fn> named;
  for (const Expr& e : nest.exprs) {
    const bool is_named = e.fn == Fn::load || e.fn == Fn::number || e.fn == Fn::convert ||
                          std::find(named.begin(), named.end(), e.fn) != named.end();
    if (!is_named && named.size() < kMostNamed) named.push_back(e.fn);
  }
  std::string out = "fused";
  for (Fn fn : named) out += cat("_", name(fn));
  return out;
}

}  // namespace thunder::loops
