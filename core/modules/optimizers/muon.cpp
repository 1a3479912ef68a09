// Muon: momentum of matrices, made nearly orthogonal by Newton and Schulz's iteration.
#include <algorithm>
#include <cmath>

#include "modules/optimizers/rules.h"

namespace thunder {
namespace {

constexpr std::array kMuon = {
    kLr,
    OptionRow{"weight_decay", ArgKind::real, "0.1", "The share of a parameter, times lr, taken off it at each step."},
    OptionRow{"momentum", ArgKind::real, "0.95", "How much of the last step's direction is kept."},
    OptionRow{"nesterov", ArgKind::boolean, "true", "Looks ahead along the direction."},
    OptionRow{"ns_coefficients", ArgKind::reals, "3.4445, -4.775, 2.0315", "Of the iteration's polynomial."},
    OptionRow{"eps", ArgKind::real, "1e-07", "The least norm that the direction is divided by."},
    OptionRow{"ns_steps", ArgKind::integer, "5", "How many iterations are made."},
    OptionRow{"adjust_lr_fn", ArgKind::string, "original",
              "How the shape scales lr: 'original' by sqrt(max(1, rows / columns)), 'match_rms_adamw' by 0.2 * "
              "sqrt(max(rows, columns))."},
    kMaximize,
};

void check_muon(std::string_view who, const Settings& o) {
  check_positive(who, o, {"weight_decay", "momentum", "eps"});
  require(o.reals("ns_coefficients").size() == 3, who, ": ns_coefficients must be three numbers, got ",
          o.reals("ns_coefficients").size());
  const int64_t steps = o.integer("ns_steps");
  require(steps >= 0 && steps < 100, who, ": ns_steps must lie in [0, 100), got ", steps);
  const std::string& adjust = o.leaf("adjust_lr_fn").text;
  require(adjust == "original" || adjust == "match_rms_adamw", who,
          ": adjust_lr_fn must be 'original' or 'match_rms_adamw', got '", adjust, "'");
}
void check_matrix(std::string_view who, std::string_view parameter, const TensorType& type) {
  require(type.rank() == 2, who, ": parameter '", parameter, "' must be a matrix, got ", name(type),
          "; give others to AdamW");
}

std::vector<Moment> muon_moments(const Settings&) {
  return {{"momentum_buffer"}};
}

// Computed in bf16, as PyTorch does it.
Var orthogonalize(Var matrix, const Settings& o) {
  const auto& c = o.reals("ns_coefficients");
  Var x = convert(matrix, DType::bf16);
  const bool tall = x.size(0).value() > x.size(1).value();
  if (tall) x = op("transpose", x, 0, 1);
  x = x / op("clamp", op("norm", x), o.real("eps"));
  const auto addmm = [](Var added, Var a, Var b, double beta, double alpha) {
    return added.builder->call("addmm", {added, a, b, beta, alpha});
  };
  for (int64_t i = 0; i < o.integer("ns_steps"); i++) {
    Var gram = op("matmul", x, op("transpose", x, 0, 1));
    x = addmm(x, addmm(gram, gram, gram, c[1], c[2]), x, c[0], 1);
  }
  return convert(tall ? op("transpose", x, 0, 1) : x, matrix.type().dtype);
}

void update_muon(OptimizerStep& s) {
  const auto rows = static_cast<double>(s.parameter.size(0).value()),
             columns = static_cast<double>(s.parameter.size(1).value());
  Var& buffer = s.moments[0];
  buffer = lerp(buffer, s.gradient, rest_of_momentum(s));
  Var direction = s.settings.flag("nesterov") ? lerp(s.gradient, buffer, momentum_of(s)) : buffer;
  const bool original = s.settings.leaf("adjust_lr_fn").text == "original";
  const double scale =
      original ? std::sqrt(std::max(1.0, rows / columns)) : 0.2 * std::sqrt(std::max(rows, columns));
  decay_by_share(s);
  s.parameter = s.parameter - orthogonalize(direction, s.settings) * (s.lr * scale);
}

constexpr OptimizerRow kRows[] = {
    {.name = "Muon",
     .doc = "Steps of matrices along their momentum, whose singular values are made nearly 1. For weights of hidden "
            "layers; give the others to AdamW.",
     .options = kMuon,
     .check = check_muon,
     .moments = muon_moments,
     .update = update_muon,
     .check_parameter = check_matrix,
     .needs_whole = true},
};

}  // namespace

extern const OptimizerRows muon_rows = kRows;

}  // namespace thunder
