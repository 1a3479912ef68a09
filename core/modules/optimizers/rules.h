// Shared by the rows of optimisers: checks of options, options that several of them have, words of their formulas.
#pragma once

#include "base/text.h"
#include "modules/optimizer.h"

namespace thunder {

// The rows of each file.
extern const OptimizerRows momentum_rows;
extern const OptimizerRows adam_rows;
extern const OptimizerRows adaptive_rows;
extern const OptimizerRows sign_rows;
extern const OptimizerRows muon_rows;
extern const OptimizerRows closure_rows;
extern const OptimizerRows factored_rows;

inline void check_fraction(std::string_view who, std::string_view option, double value) {
  require(value >= 0 && value < 1, who, ": ", option, " must lie in [0, 1), got ", value);
}
inline void check_positive(std::string_view who, std::string_view option, double value) {
  require(value >= 0, who, ": ", option, " must not be negative, got ", value);
}
inline void check_positive(std::string_view who, const Settings& o, std::initializer_list<std::string_view> options) {
  for (std::string_view option : options) check_positive(who, option, o.real(option));
}
inline void check_betas(std::string_view who, const Settings& o) {
  const auto& betas = o.reals("betas");
  require(betas.size() == 2, who, ": betas must be two numbers, got ", betas.size());
  for (double beta : betas) check_fraction(who, "betas", beta);
}

constexpr OptionRow kLr{"lr", ArgKind::real, "0.001", "The learning rate; a tensor."};
constexpr OptionRow kEps{"eps", ArgKind::real, "1e-08", "Added to what the direction is divided by."};
constexpr OptionRow kL2{"weight_decay", ArgKind::real, "0", "The L2 penalty added to the gradient."};
constexpr OptionRow kMaximize{"maximize", ArgKind::boolean, "false", "Steps along the gradient instead of against it."};
consteval OptionRow lr(std::string_view fallback) {
  return {"lr", ArgKind::real, fallback, "The learning rate; a tensor."};
}

inline Var op(std::string_view name, Var x) { return x.builder->call(name, {x}); }
inline Var op(std::string_view name, Var x, In y) { return x.builder->call(name, {x, y}); }
inline Var op(std::string_view name, Var x, In y, In z) { return x.builder->call(name, {x, y, z}); }
inline Var square_root(Var x) {
  return op("sqrt", x);
}
// base^exponent, of f64.
inline Var power(double base, Var exponent) { return exponent.builder->call("pow", {base, exponent}); }
// A 0-d number of a parameter's state as PyTorch keeps it, in f32 whatever the parameter's dtype.
inline Var as_number(Var x) { return convert(convert(x, DType::f32), DType::f64); }
// 1 - base^step, of f64.
inline Var bias_correction(const OptimizerStep& s, double base) { return -power(base, s.step) + 1.0; }
// x moved towards y by a share.
inline Var lerp(Var x, Var y, In share) { return x + (y - x) * share; }

// The momentum of a step, or the first of betas: a number, or what a schedule writes.
inline In momentum_of(const OptimizerStep& s) {
  if (s.momentum) return s.momentum;
  return s.settings.has("momentum") ? s.settings.real("momentum") : s.settings.reals("betas")[0];
}
// 1 less that.
inline In rest_of_momentum(const OptimizerStep& s) {
  if (s.momentum) return -s.momentum + 1.0;
  return 1 - momentum_of(s).f;
}
// 1 - momentum^step, of f64.
inline Var momentum_correction(const OptimizerStep& s) {
  return s.momentum ? -op("pow", s.momentum, s.step) + 1.0 : bias_correction(s, momentum_of(s).f);
}

// weight_decay as a penalty in the gradient, or as a share taken off the parameter.
inline void decay_by_gradient(OptimizerStep& s) {
  const double decay = s.settings.real("weight_decay");
  if (decay != 0) s.gradient = s.gradient + s.parameter * decay;
}
inline void decay_by_share(OptimizerStep& s) {
  const double decay = s.settings.real("weight_decay");
  if (decay != 0) s.parameter = s.parameter * (s.lr * -decay + 1.0);
}

}  // namespace thunder
