// The tables of oracles, searched as one.
#include "battery/oracle.h"

#include <array>

namespace thunder::battery {

Oracle find_oracle(std::string_view op) {
  for (auto family : {unary_oracles, binary_oracles, ternary_oracles, element_oracles, reduce_oracles, create_oracles, shape_oracles, index_oracles,
                      matrix_oracles, window_oracles, norm_oracles, loss_oracles, order_oracles, pool_oracles, image_oracles, piece_oracles, number_oracles,
                      product_oracles, linalg_oracles, scatter_oracles, activation_oracles, elementwise_loss_oracles,
                      recurrent_oracles, nonzero_oracles, collective_oracles})
    for (const OracleRow& row : family())
      if (row.op == op) return row.oracle;
  return nullptr;
}

}  // namespace thunder::battery
