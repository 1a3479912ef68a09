// Evaluates a formula in post-order: operands before what is made of them. Nothing recurses: formulas may be deep.
#pragma once

#include <optional>
#include <vector>

#include "ir/dim.h"

namespace thunder {

// find(dim): its value, an optional, where that is known. make(expr, a, b) makes the value of an expression of those of
// its operands known to `find`. The result is the value of `d`.
template <class Find, class Make>
auto evaluate_post_order(Dim d, const Find& find, const Make& make) {
  std::vector<Dim> todo = {d};
  while (!todo.empty()) {
    const Dim top = todo.back();
    if (find(top)) {
      todo.pop_back();
      continue;
    }
    const DimExpr& e = *top.expr();
    const auto a = find(e.a), b = find(e.b);
    if (a && b) make(e, *a, *b);
    if (!b) todo.push_back(e.b);
    if (!a) todo.push_back(e.a);
  }
  return *find(d);
}

}  // namespace thunder
