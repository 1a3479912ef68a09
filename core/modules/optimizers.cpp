// The optimisers' rows, file by file. Formulas, names and defaults are PyTorch's, those of Lion its authors'.
#include "modules/optimizers/rules.h"

namespace thunder {

OptimizerRows optimizer_rows() {
  static const std::vector<OptimizerRow> all = [] {
    std::vector<OptimizerRow> rows;
    for (OptimizerRows list :
         {momentum_rows, adam_rows, adaptive_rows, sign_rows, muon_rows, closure_rows, factored_rows})
      rows.insert(rows.end(), list.begin(), list.end());
    return rows;
  }();
  return all;
}

}  // namespace thunder
