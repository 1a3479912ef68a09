// Adafactor: the running square of a matrix's gradient as a product of its rows' and its columns' means.
#include "ir/limits.h"
#include "modules/optimizers/rules.h"

namespace thunder {
namespace {

constexpr std::array kAdafactor = {
    lr("0.01"),
    OptionRow{"beta2_decay", ArgKind::real, "-0.8", "The power of the step by which the running squares move."},
    OptionRow{"eps", ArgKind::reals, "0, 0.001",
              "The root of the least running square, 0 standing for the dtype's eps as PyTorch's None does, and the "
              "least size of a parameter."},
    OptionRow{"d", ArgKind::real, "1", "An update's root mean square is brought down to this."},
    OptionRow{"weight_decay", ArgKind::real, "0", "The share of a parameter, times lr, taken off it at each step."},
    kMaximize,
};

void check_adafactor(std::string_view who, const Settings& o) {
  check_positive(who, o, {"weight_decay"});
  require(o.real("beta2_decay") <= 0, who, ": beta2_decay must not be positive, got ", o.real("beta2_decay"));
  require(o.real("d") >= 1, who, ": d must be at least 1, got ", o.real("d"));
  const auto& eps = o.reals("eps");
  require(eps.size() == 2, who, ": eps must be two numbers, got ", eps.size());
  for (double value : eps) check_positive(who, "eps", value);
}

std::vector<Moment> adafactor_moments(const Settings&, const TensorType& parameter) {
  if (parameter.rank() < 2) return {{"variance"}};
  return {{"row_var", 0, false, Moment::Part::rows}, {"col_var", 0, false, Moment::Part::columns}};
}

// The decay of the running squares, and the greatest relative step.
std::vector<Var> prepare_adafactor(const OptimizerStep& s) {
  return {op("pow", s.step, s.settings.real("beta2_decay")), op("minimum", s.lr, op("rsqrt", s.step))};
}

Var mean_along(Var x, int64_t dim) {
  return x.builder->call("mean", {x, Shape{dim}, true});
}
Var root_mean_square(Var x) {
  return square_root(x.builder->call("mean", {x * x}));
}

void update_adafactor(OptimizerStep& s) {
  const auto& eps = s.settings.reals("eps");
  const double least = eps[0] == 0 ? limits_of(s.dtype).eps : eps[0], decay = s.settings.real("weight_decay");
  Var share = s.shared[0], square = s.gradient * s.gradient;
  Var length = op("maximum", root_mean_square(s.parameter), eps[1]) * s.shared[1];
  if (decay != 0) s.parameter = s.parameter * (s.lr * -decay + 1.0);
  Var variance;
  if (s.moments.size() == 2) {
    Var &rows = s.moments[0], &columns = s.moments[1];
    rows = rows + (mean_along(square, -1) - rows) * share;
    columns = columns + (mean_along(square, -2) - columns) * share;
    variance = rows * columns / op("maximum", mean_along(rows, -2), least);
  } else {
    Var& whole = s.moments[0];
    variance = whole = whole + (square - whole) * share;
  }
  Var update = op("rsqrt", op("maximum", variance, least * least)) * s.gradient;
  Var scale = op("maximum", root_mean_square(update) / s.settings.real("d"), 1.0);
  s.parameter = s.parameter - update * (length / scale);
}

constexpr OptimizerRow kRows[] = {
    {.name = "Adafactor",
     .doc = "Adam without momentum, whose running squares of a matrix are those of its rows and columns alone; the "
            "step is relative to the parameter's size.",
     .options = kAdafactor,
     .check = check_adafactor,
     .prepare = prepare_adafactor,
     .update = update_adafactor,
     .moments_of = adafactor_moments,
     .needs_whole = true},
};

}  // namespace

extern const OptimizerRows factored_rows = kRows;

}  // namespace thunder
