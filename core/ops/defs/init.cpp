// torch.nn.init: first values of parameters, in a tensor of the argument's shape and dtype; init_NAME_ stores it.
#include <algorithm>
#include <array>

#include "ops/linalg.h"

namespace thunder {
namespace {

// Calls `values(shape, dtype)` with a dtype to compute in, and converts the result to the argument's.
template <class Values>
Results draw_like_tensor(Call& c, Values values) {
  const TensorType type = c.type(0);
  c.require(is_real(type.dtype), "tensor must be real, got ", name(type.dtype));
  return to_device(convert(values(type.shape, compute_dtype(type.dtype)), type.dtype), type.device);
}

Results draw_uniform(Call& c, double low, double high) {
  return draw_like_tensor(c, [&](const Shape& shape, DType d) {
    return c.builder.call("rand", {shape, d, c.type(0).device}) * (high - low) + low;
  });
}
Results draw_normal(Call& c, double mean, double deviation) {
  return draw_like_tensor(c, [&](const Shape& shape, DType d) {
    return c.builder.call("randn", {shape, d, c.type(0).device}) * deviation + mean;
  });
}
Results uniform(Call& c) { return draw_uniform(c, c.real(1), c.real(2)); }
Results normal(Call& c) { return draw_normal(c, c.real(1), c.real(2)); }

// By the inverse of the distribution function, which is more exact below the mean: intervals above it are mirrored.
Results trunc_normal(Call& c) {
  const double mean = c.real(1), deviation = c.real(2);
  c.require(deviation > 0, "std must be positive, got ", deviation);
  c.require(c.real(3) <= c.real(4), "a must not exceed b, got ", c.real(3), " and ", c.real(4));
  double low = (c.real(3) - mean) / deviation, high = (c.real(4) - mean) / deviation;
  const double side = low > 0 ? -1 : 1;
  if (side < 0) low = -std::exchange(high, -low);
  const auto level = [](double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); };
  return draw_like_tensor(c, [&](const Shape& shape, DType) {
    Var levels = c.builder.call("rand", {shape, DType::f64, c.type(0).device});
    levels = levels * (level(high) - level(low)) + level(low);
    return clamped(clamped(apply("ndtri", levels), low, high) * (side * deviation) + mean, c.real(3), c.real(4));
  });
}

Results eye(Call& c) {
  const TensorType type = c.type(0);
  c.require(type.rank() == 2, "a tensor of two dims was expected, got ", name(type.shape));
  return c.builder.call("eye", {hint(type.shape[0]), hint(type.shape[1]), type.dtype, type.device});
}

// The Q of a matrix of normal numbers, its signs such that R's diagonal is positive: each rotation is as likely.
Results orthogonal(Call& c) {
  const TensorType type = c.type(0);
  c.require(type.rank() >= 2, "a tensor of at least two dims was expected, got ", name(type.shape));
  int64_t rows = hint(type.shape[0]), columns = 1;
  for (size_t i = 1; i < type.rank(); i++) columns *= hint(type.shape[i]);
  const bool wide = rows < columns;
  if (wide) std::swap(rows, columns);
  return draw_like_tensor(c, [&](const Shape& shape, DType) {
    Var x = c.builder.call("randn", {Shape{rows, columns}, DType::f64, Device{}});
    const Results qr = c.builder.results(Prim::qr, {x, false});
    Var q = c.builder.var(qr[0]), diagonal = c.builder.call("diagonal", {c.builder.var(qr[1]), 0, 0, 1});
    q = q * where(lt(diagonal, 0.0), -1.0, full_like(diagonal, 1)) * c.real(1);
    return c.builder.call("reshape", {wide ? swap_last_two(q) : q, shape});
  });
}

// ---- by the number of connections ----

constexpr std::array<std::pair<std::string_view, double>, 12> kGains = {
    {{"linear", 1}, {"conv1d", 1}, {"conv2d", 1}, {"conv3d", 1}, {"conv_transpose1d", 1}, {"conv_transpose2d", 1},
     {"conv_transpose3d", 1}, {"sigmoid", 1}, {"tanh", 5.0 / 3}, {"relu", std::numbers::sqrt2}, {"selu", 0.75},
     {"leaky_relu", 0}}};

// The gain of the standard deviation for the nonlinearity that follows the layer.
double gain_of_nonlinearity(const Call& c, std::string_view nonlinearity, double slope) {
  if (nonlinearity == "leaky_relu") return std::sqrt(2 / (1 + slope * slope));
  const auto row = std::find_if(kGains.begin(), kGains.end(), [&](auto& r) { return r.first == nonlinearity; });
  std::vector<std::string_view> names;
  for (auto& r : kGains) names.push_back(r.first);
  c.require(row != kGains.end(), "unknown nonlinearity '", nonlinearity, "'", suggest(nonlinearity, names));
  return row->second;
}
Results calculate_gain(Call& c) {
  return c.builder.call("full", {Shape{}, gain_of_nonlinearity(c, c.text(0), c.has(1) ? c.real(1) : 0.01), DType::f64});
}

struct Fans {
  double in, out;  // of an element of the result, and of the input
};
Fans compute_fans(const Call& c) {
  const Shape& shape = c.type(0).shape;
  c.require(shape.size() >= 2, "a tensor of at least two dims was expected, got ", name(shape));
  double field = 1;
  for (size_t i = 2; i < shape.size(); i++) field *= static_cast<double>(hint(shape[i]));
  return {static_cast<double>(hint(shape[1])) * field, static_cast<double>(hint(shape[0])) * field};
}
double xavier_deviation(const Call& c) {
  const Fans f = compute_fans(c);
  return c.real(1) * std::sqrt(2 / (f.in + f.out));
}
double kaiming_deviation(const Call& c) {
  const std::string_view mode = c.text(2);
  c.require(mode == "fan_in" || mode == "fan_out", "mode must be 'fan_in' or 'fan_out', got '", mode, "'");
  const Fans f = compute_fans(c);
  return gain_of_nonlinearity(c, c.text(3), c.real(1)) / std::sqrt(mode == "fan_in" ? f.in : f.out);
}
template <double (*deviation)(const Call&)>
Results draw_uniform_by_deviation(Call& c) {
  const double bound = std::numbers::sqrt3 * deviation(c);
  return draw_uniform(c, -bound, bound);
}
template <double (*deviation)(const Call&)>
Results draw_normal_by_deviation(Call& c) { return draw_normal(c, 0, deviation(c)); }

// ---- samples ----

void sample_anew(Samples& s) {
  s.add_without_gradient({TensorSpec{{2, 3}}});
  s.add_without_gradient({TensorSpec{{2, 3, 2}, DType::bf16}});
  s.refuse({TensorSpec{{2, 2}, DType::i64, -9, 9}}, "real");
}
void sample_matrices(Samples& s) {
  sample_anew(s);
  s.add_without_gradient({TensorSpec{{3, 2}, DType::f64}});
  s.refuse({TensorSpec{{3}}}, "at least two dims");
}
void sample_truncated_normals(Samples& s) {
  sample_anew(s);
  s.add_without_gradient({TensorSpec{{4}}, 0.0, 1.0, 4.0, 5.0});
  s.refuse({TensorSpec{{2}}, 0.0, 1.0, 2.0, 1.0}, "exceed");
}
void sample_eyes(Samples& s) {
  s.add_without_gradient({TensorSpec{{2, 3}}});
  s.refuse({TensorSpec{{3}}}, "two dims");
}
void sample_kaimings(Samples& s) {
  sample_matrices(s);
  s.add_without_gradient({TensorSpec{{2, 3}}, 0.0, "fan_out", "relu"});
  s.refuse({TensorSpec{{2, 3}}, 0.0, "fan"}, "fan_in");
  s.refuse({TensorSpec{{2, 3}}, 0.0, "fan_in", "relux"}, "did you mean 'relu'");
}
void sample_gains(Samples& s) {
  s.add({"tanh"});
  s.add({"leaky_relu", 0.2});
  s.refuse({"relux"}, "did you mean 'relu'");
}

constexpr OpRow kRows[] = {
    composite("init_uniform(tensor tensor, float a=0, float b=1) -> tensor", CastPolicy::none,
              "Numbers between a and b.", uniform, sample_anew, kRandom | kInplace, {.nondiff = "it is made anew"}),
    composite("init_normal(tensor tensor, float mean=0, float std=1) -> tensor", CastPolicy::none, "Normal numbers.",
              normal, sample_anew, kRandom | kInplace, {.nondiff = "it is made anew"}),
    composite("init_trunc_normal(tensor tensor, float mean=0, float std=1, float a=-2, float b=2) -> tensor",
              CastPolicy::none, "Normal numbers between a and b.", trunc_normal, sample_truncated_normals,
              kRandom | kInplace, {.nondiff = "it is made anew"}),
    composite("init_eye(tensor tensor) -> tensor", CastPolicy::none,
              "Ones on the diagonal of a matrix, zeros elsewhere.", eye, sample_eyes, 0 | kInplace,
              {.nondiff = "it is made anew"}),
    composite("init_orthogonal(tensor tensor, float gain=1) -> tensor", CastPolicy::none,
              "Orthonormal rows, or columns where there are more rows; what has more dims is a matrix of its first.",
              orthogonal, sample_matrices, kRandom | kInplace, {.nondiff = "it is made anew"}),
    composite("init_xavier_uniform(tensor tensor, float gain=1) -> tensor", CastPolicy::none,
              "Uniform numbers of deviation gain * sqrt(2 / (fan_in + fan_out)).",
              draw_uniform_by_deviation<xavier_deviation>, sample_matrices, kRandom | kInplace,
              {.nondiff = "it is made anew"}),
    composite("init_xavier_normal(tensor tensor, float gain=1) -> tensor", CastPolicy::none,
              "Normal numbers of deviation gain * sqrt(2 / (fan_in + fan_out)).",
              draw_normal_by_deviation<xavier_deviation>, sample_matrices, kRandom | kInplace,
              {.nondiff = "it is made anew"}),
    composite(
        "init_kaiming_uniform(tensor tensor, float a=0, str mode='fan_in', str nonlinearity='leaky_relu') -> tensor",
        CastPolicy::none, "Uniform numbers of deviation gain / sqrt(fan), where a is a leaky_relu's slope.",
        draw_uniform_by_deviation<kaiming_deviation>, sample_kaimings, kRandom | kInplace,
        {.nondiff = "it is made anew"}),
    composite(
        "init_kaiming_normal(tensor tensor, float a=0, str mode='fan_in', str nonlinearity='leaky_relu') -> tensor",
        CastPolicy::none, "Normal numbers of deviation gain / sqrt(fan), where a is a leaky_relu's slope.",
        draw_normal_by_deviation<kaiming_deviation>, sample_kaimings, kRandom | kInplace,
        {.nondiff = "it is made anew"}),
    composite("init_calculate_gain(str nonlinearity, float? param=None) -> tensor", CastPolicy::none,
              "How much of the deviation is kept for what follows the layer; param: the slope of a leaky_relu.",
              calculate_gain, sample_gains),
};

}  // namespace

extern const OpRows init_ops = kRows;

}  // namespace thunder
