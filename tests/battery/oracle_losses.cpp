// Oracles of losses that are formulas of each element.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "battery/oracle.h"

namespace thunder::battery {
namespace {

Arrays reduced(const Array& loss, const std::string& how) {
  if (how == "none") return {loss};
  double sum = 0;
  for (double v : loss.data) sum += v;
  return {Array{{}, {how == "mean" ? sum / static_cast<double>(loss.data.size()) : sum}, DType::none}};
}
// f of each input and target, reduced by the option at `how`.
template <class F>
Arrays loss(const Arguments& a, size_t how, F f) {
  const Array &x = a.tensor(0), &y = a.tensor(1);
  return reduced(make(broadcast_shape(x.shape, y.shape), [&](const Ints& i) { return f(broadcast_at(x, i), broadcast_at(y, i), i); }), a.text(how, "mean"));
}
double weight(const Arguments& a, size_t param, const Ints& i) { return a.has(param) ? broadcast_at(a.tensor(param), i) : 1; }
double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }

Arrays smooth_l1(const Arguments& a) {
  const double beta = a.number(3, 1);
  return loss(a, 2, [=](double x, double y, const Ints&) {
    const double d = std::fabs(x - y);
    return d < beta ? d * d / (2 * beta) : d - beta / 2;
  });
}
Arrays huber(const Arguments& a) {
  const double delta = a.number(3, 1);
  return loss(a, 2, [=](double x, double y, const Ints&) {
    const double d = std::fabs(x - y);
    return d <= delta ? d * d / 2 : delta * (d - delta / 2);
  });
}
Arrays binary_cross_entropy(const Arguments& a) {
  return loss(a, 3, [&](double x, double y, const Ints& i) { return -weight(a, 2, i) * (y * std::max(std::log(x), -100.0) + (1 - y) * std::max(std::log(1 - x), -100.0)); });
}
Arrays with_logits(const Arguments& a) {
  return loss(a, 3, [&](double x, double y, const Ints& i) { return weight(a, 2, i) * (weight(a, 4, i) * y * softplus(-x) + (1 - y) * softplus(x)); });
}
Arrays kl_div(const Arguments& a) {
  std::string how = a.text(2, "mean");
  const auto each = [&](double x, double y, const Ints&) { return a.flag(3, false) ? std::exp(y) * (y - x) : (y > 0 ? y * std::log(y) : 0) - y * x; };
  if (how != "batchmean") return loss(a, 2, each);
  const Array &x = a.tensor(0), &y = a.tensor(1);
  double sum = 0;
  for (size_t i = 0; i < x.data.size(); i++) sum += each(x.data[i], y.data[i], {});
  return {Array{{}, {x.shape.empty() ? sum : sum / static_cast<double>(x.shape[0])}, DType::none}};
}
Arrays poisson(const Arguments& a) {
  return loss(a, 5, [&](double x, double y, const Ints&) {
    const double own = a.flag(2, true) ? std::exp(x) - y * x : x - y * std::log(x + a.number(4, 1e-8));
    return own + (a.flag(3, false) && y > 1 ? y * std::log(y) - y + 0.5 * std::log(2 * std::numbers::pi * y) : 0);
  });
}
Arrays gaussian(const Arguments& a) {
  return loss(a, 5, [&](double x, double y, const Ints& i) {
    const double v = std::max(broadcast_at(a.tensor(2), i), a.number(4, 1e-6));
    return (std::log(v) + (x - y) * (x - y) / v + (a.flag(3, false) ? std::log(2 * std::numbers::pi) : 0)) / 2;
  });
}
Arrays margin_ranking(const Arguments& a) {
  return loss(a, 4, [&](double x, double y, const Ints& i) { return std::max(0.0, -broadcast_at(a.tensor(2), i) * (x - y) + a.number(3, 0)); });
}
double dot(const Array& x, const Array& y, int64_t row) {
  double sum = 0;
  for (int64_t k = 0; k < x.shape[1]; k++) sum += at(x, {row, k}) * at(y, {row, k});
  return sum;
}
Arrays cosine_embedding(const Arguments& a) {
  const Array &x = a.tensor(0), &y = a.tensor(1), &t = a.tensor(2);
  return reduced(make(t.shape, [&](const Ints& i) {
    const double cosine = dot(x, y, i[0]) / std::sqrt(dot(x, x, i[0]) * dot(y, y, i[0]));
    return at(t, i) == 1 ? 1 - cosine : at(t, i) == -1 ? std::max(0.0, cosine - a.number(3, 0)) : 0.0;
  }), a.text(4, "mean"));
}
Arrays triplet(const Arguments& a) {
  const double p = a.number(4, 2);
  const auto distance = [&](size_t u, size_t v, int64_t row) {
    double sum = 0;
    for (int64_t k = 0; k < a.tensor(u).shape[1]; k++) sum += std::pow(std::fabs(at(a.tensor(u), {row, k}) - at(a.tensor(v), {row, k}) + a.number(5, 1e-6)), p);
    return std::pow(sum, 1 / p);
  };
  return reduced(make({a.tensor(0).shape[0]}, [&](const Ints& i) {
    double far = distance(0, 2, i[0]);
    if (a.flag(6, false)) far = std::min(far, distance(1, 2, i[0]));
    return std::max(0.0, distance(0, 1, i[0]) - far + a.number(3, 1));
  }), a.text(7, "mean"));
}
Arrays multilabel_soft_margin(const Arguments& a) {
  const Array &x = a.tensor(0), &y = a.tensor(1);
  return reduced(make({x.shape[0]}, [&](const Ints& r) {
    double sum = 0;
    for (int64_t k = 0; k < x.shape[1]; k++) {
      const Ints i{r[0], k};
      sum += weight(a, 2, i) * (at(y, i) * softplus(-at(x, i)) + (1 - at(y, i)) * softplus(at(x, i)));
    }
    return sum / static_cast<double>(x.shape[1]);
  }), a.text(3, "mean"));
}
Arrays multi_margin(const Arguments& a) {
  const Array &x = a.tensor(0), &y = a.tensor(1);
  return reduced(make(y.shape, [&](const Ints& r) {
    const auto own = static_cast<int64_t>(at(y, r));
    double sum = 0;
    for (int64_t k = 0; k < x.shape[1]; k++)
      if (k != own)
        sum += std::pow(std::max(0.0, a.number(3, 1) - at(x, {r[0], own}) + at(x, {r[0], k})), a.number(2, 1)) *
               (a.has(4) ? a.tensor(4).data[static_cast<size_t>(own)] : 1);
    return sum / static_cast<double>(x.shape[1]);
  }), a.text(5, "mean"));
}
Arrays multilabel_margin(const Arguments& a) {
  Array x = a.tensor(0), y = a.tensor(1);
  const bool single = x.shape.size() == 1;
  if (single) x.shape.insert(x.shape.begin(), 1), y.shape = x.shape;
  const int64_t classes = x.shape[1];
  Array losses = make({x.shape[0]}, [&](const Ints& r) {
    std::vector<int64_t> labels;
    for (int64_t k = 0; k < classes && at(y, {r[0], k}) >= 0; k++) labels.push_back(static_cast<int64_t>(at(y, {r[0], k})));
    double sum = 0;
    for (const int64_t label : labels)
      for (int64_t k = 0; k < classes; k++)
        if (std::find(labels.begin(), labels.end(), k) == labels.end())
          sum += std::max(0.0, 1 - at(x, {r[0], label}) + at(x, {r[0], k}));
    return sum / static_cast<double>(classes);
  });
  if (single) losses.shape.clear();
  return reduced(losses, a.text(2, "mean"));
}

// The sum over all alignments, one by one: a path is one of a label sequence if that is left when neighbours that are
// equal are joined and blanks are taken out.
double alignments(const std::vector<std::vector<double>>& log_probs, const std::vector<int64_t>& labels,
                  int64_t blank) {
  const auto classes = static_cast<int64_t>(log_probs.empty() ? 0 : log_probs[0].size());
  double whole = 0;
  each_index(Ints(log_probs.size(), classes), [&](const Ints& path) {
    std::vector<int64_t> left;
    double sum = 0;
    for (size_t t = 0; t < path.size(); t++) {
      sum += log_probs[t][static_cast<size_t>(path[t])];
      if (path[t] != blank && (t == 0 || path[t] != path[t - 1])) left.push_back(path[t]);
    }
    if (left == labels) whole += std::exp(sum);
  });
  return -std::log(whole);
}
Arrays ctc(const Arguments& a) {
  Array x = a.tensor(0), targets = a.tensor(1);
  const bool single = x.shape.size() == 2;
  if (single) x.shape.insert(x.shape.begin() + 1, 1);
  Array losses{{}, {}, DType::none};
  if (!single) losses.shape = {x.shape[1]};
  size_t before = 0;
  for (int64_t n = 0; n < x.shape[1]; n++) {
    const auto sequence = static_cast<size_t>(n);
    std::vector<std::vector<double>> rows(static_cast<size_t>(a.tensor(2).data[sequence]));
    for (size_t t = 0; t < rows.size(); t++)
      for (int64_t c = 0; c < x.shape[2]; c++) rows[t].push_back(at(x, {static_cast<int64_t>(t), n, c}));
    std::vector<int64_t> labels;
    const auto length = static_cast<size_t>(a.tensor(3).data[sequence]);
    const size_t first = targets.shape.size() == 2 ? sequence * static_cast<size_t>(targets.shape[1]) : before;
    for (size_t i = 0; i < length; i++) labels.push_back(static_cast<int64_t>(targets.data[first + i]));
    before += length;
    double loss = alignments(rows, labels, a.integer(4, 0));
    if (a.flag(6, false) && std::isinf(loss)) loss = 0;
    losses.data.push_back(a.text(5, "mean") == "mean" ? loss / static_cast<double>(std::max<size_t>(length, 1)) : loss);
  }
  return reduced(losses, a.text(5, "mean"));
}

constexpr OracleRow kRows[] = {
    {"ctc_loss", ctc},
    {"l1_loss", [](const Arguments& a) { return loss(a, 2, [](double x, double y, const Ints&) { return std::fabs(x - y); }); }},
    {"smooth_l1_loss", smooth_l1},
    {"huber_loss", huber},
    {"binary_cross_entropy", binary_cross_entropy},
    {"binary_cross_entropy_with_logits", with_logits},
    {"kl_div", kl_div},
    {"poisson_nll_loss", poisson},
    {"gaussian_nll_loss", gaussian},
    {"hinge_embedding_loss", [](const Arguments& a) {
       return loss(a, 3, [&](double x, double y, const Ints&) { return (y != -1 ? x : 0) + (y != 1 ? std::max(0.0, a.number(2, 1) - x) : 0); });
     }},
    {"soft_margin_loss", [](const Arguments& a) { return loss(a, 2, [](double x, double y, const Ints&) { return std::log1p(std::exp(-y * x)); }); }},
    {"margin_ranking_loss", margin_ranking},
    {"cosine_embedding_loss", cosine_embedding},
    {"triplet_margin_loss", triplet},
    {"multilabel_soft_margin_loss", multilabel_soft_margin},
    {"multi_margin_loss", multi_margin},
    {"multilabel_margin_loss", multilabel_margin},
};

}  // namespace

std::span<const OracleRow> elementwise_loss_oracles() { return kRows; }

}  // namespace thunder::battery
