// Oracles of products of vectors and matrices, as sums over indices.
#include <algorithm>
#include <cmath>
#include <map>

#include "battery/oracle.h"

namespace thunder::battery {
namespace {

// Sums of products by labels: "ij,jk->ik". Labels of all operands that the result lacks are summed over.
Array summed(const std::vector<std::string>& terms, const std::string& result, const Arrays& x) {
  std::map<char, int64_t> sizes;
  for (size_t t = 0; t < terms.size(); t++)
    for (size_t d = 0; d < terms[t].size(); d++) sizes[terms[t][d]] = std::max(sizes[terms[t][d]], x[t].shape[d]);
  std::string inside;
  for (auto& [label, n] : sizes)
    if (result.find(label) == result.npos) inside += label;
  Ints shape, rest;
  for (char label : result) shape.push_back(sizes[label]);
  for (char label : inside) rest.push_back(sizes[label]);
  return make(shape, [&](const Ints& i) {
    double sum = 0;
    each_index(rest, [&](const Ints& j) {
      double product = 1;
      for (size_t t = 0; t < terms.size(); t++) {
        Ints at;
        for (size_t d = 0; d < terms[t].size(); d++) {
          const size_t own = result.find(terms[t][d]);
          const int64_t v = own != result.npos ? i[own] : j[inside.find(terms[t][d])];
          at.push_back(x[t].shape[d] == 1 ? 0 : v);
        }
        product *= battery::at(x[t], at);
      }
      sum += product;
    });
    return sum;
  });
}
Array summed(std::string equation, const Arrays& x) {
  std::vector<std::string> terms(1);
  // Dims that dots stand for, by their distance from the last.
  size_t most = 0;
  std::vector<size_t> ranks;
  for (const Array& a : x) ranks.push_back(a.shape.size());
  std::string left = equation.substr(0, equation.find("->")), result;
  for (char c : left) {
    if (c == ',') terms.emplace_back();
    else terms.back() += c;
  }
  for (size_t t = 0; t < terms.size(); t++) {
    const size_t dots = terms[t].find("...");
    if (dots == terms[t].npos) continue;
    const size_t n = ranks[t] - (terms[t].size() - 3);
    most = std::max(most, n);
    std::string digits;
    for (size_t k = n; k-- > 0;) digits += static_cast<char>('0' + k);
    terms[t].replace(dots, 3, digits);
  }
  if (equation.find("->") != equation.npos) {
    result = equation.substr(equation.find("->") + 2);
    std::string digits;
    for (size_t k = most; k-- > 0;) digits += static_cast<char>('0' + k);
    if (result.find("...") != result.npos) result.replace(result.find("..."), 3, digits);
  } else {
    std::map<char, int> counts;
    for (auto& t : terms)
      for (char c : t) counts[c]++;
    for (auto& [c, n] : counts)
      if (n == 1) result += c;
  }
  return summed(terms, result, x);
}
Array matmul(const Array& a, const Array& b) {
  return summed(a.shape.size() == 3 ? "bij,bjk->bik" : b.shape.size() == 1 ? "ij,j->i" : "ij,jk->ik", {a, b});
}
Arrays added(const Arguments& a, const Array& product) {
  return {make(product.shape, [&](const Ints& i) { return a.number(3, 1) * broadcast_at(a.tensor(0), i) + a.number(4, 1) * at(product, i); })};
}
Arrays tensordot(const Arguments& a) {
  const Array &x = a.tensor(0), &y = a.tensor(1);
  std::string left, right, result;
  for (size_t d = 0; d < x.shape.size(); d++) left += static_cast<char>('a' + d);
  for (size_t d = 0; d < y.shape.size(); d++) right += static_cast<char>('n' + d);
  Ints from, to;
  if (a.has(3)) from = a.ints(3), to = a.ints(4);
  else
    for (int64_t i = 0; i < a.integer(2, 2); i++) from.push_back(static_cast<int64_t>(x.shape.size()) - a.integer(2, 2) + i), to.push_back(i);
  for (size_t k = 0; k < from.size(); k++) right[axis_of(to[k], y.shape.size())] = left[axis_of(from[k], x.shape.size())];
  for (char c : left)
    if (right.find(c) == right.npos) result += c;
  for (char c : right)
    if (left.find(c) == left.npos) result += c;
  return {summed({left, right}, result, {x, y})};
}
Arrays kron(const Arguments& a) {
  Array x = a.tensor(0), y = a.tensor(1);
  const size_t rank = std::max(x.shape.size(), y.shape.size());
  x.shape.insert(x.shape.begin(), rank - x.shape.size(), 1), y.shape.insert(y.shape.begin(), rank - y.shape.size(), 1);
  Ints shape;
  for (size_t d = 0; d < rank; d++) shape.push_back(x.shape[d] * y.shape[d]);
  return {make(shape, [&](const Ints& i) {
    Ints p = i, q = i;
    for (size_t d = 0; d < rank; d++) p[d] = i[d] / y.shape[d], q[d] = i[d] % y.shape[d];
    return at(x, p) * at(y, q);
  })};
}
Arrays cross(const Arguments& a) {
  const Ints shape = broadcast_shape(a.tensor(0).shape, a.tensor(1).shape);
  const size_t dim = axis_of(a.integer(2, -1), shape.size());
  return {make(shape, [&](const Ints& i) {
    Ints next = i, last = i;
    next[dim] = (i[dim] + 1) % 3, last[dim] = (i[dim] + 2) % 3;
    return broadcast_at(a.tensor(0), next) * broadcast_at(a.tensor(1), last) - broadcast_at(a.tensor(0), last) * broadcast_at(a.tensor(1), next);
  })};
}
Arrays multi_dot(const Arguments& a) {
  Array y = a.tensors(0)[0];
  for (size_t i = 1; i < a.tensors(0).size(); i++) y = matmul(y, a.tensors(0)[i]);
  return {y};
}
Arrays bilinear(const Arguments& a) {
  Array y = summed("ni,nj,oij->no", {a.tensor(0), a.tensor(1), a.tensor(2)});
  if (!a.has(3)) return {y};
  return {make(y.shape, [&](const Ints& i) { return at(y, i) + a.tensor(3).data[static_cast<size_t>(i[1])]; })};
}
double norm(const std::vector<double>& v, double p) {
  double sum = 0, top = 0;
  for (double x : v) sum += std::pow(std::fabs(x), p), top = std::max(top, std::fabs(x));
  return std::isinf(p) ? top : std::pow(sum, 1 / p);
}
Arrays cdist(const Arguments& a) {
  const Array &x = a.tensor(0), &y = a.tensor(1);
  Ints shape = x.shape;
  shape.back() = y.shape[y.shape.size() - 2];
  return {make(shape, [&](const Ints& i) {
    std::vector<double> d;
    for (int64_t k = 0; k < x.shape.back(); k++) {
      Ints p = i, q = i;
      p.back() = k, q[q.size() - 2] = i.back(), q.back() = k;
      d.push_back(at(x, p) - at(y, q));
    }
    return norm(d, a.number(2, 2));
  })};
}
Arrays pdist(const Arguments& a) {
  const Array& x = a.tensor(0);
  Array y{{}, {}, DType::none};
  for (int64_t i = 0; i < x.shape[0]; i++)
    for (int64_t j = i + 1; j < x.shape[0]; j++) {
      std::vector<double> d;
      for (int64_t k = 0; k < x.shape[1]; k++) d.push_back(at(x, {i, k}) - at(x, {j, k}));
      y.data.push_back(norm(d, a.number(1, 2)));
    }
  y.shape = {static_cast<int64_t>(y.data.size())};
  return {y};
}
// Columns count as often as their weights say; aweights, or nothing, lessen what the correction takes.
Array covariances(const Array& given, double correction, const std::vector<double>& weights = {}, const std::vector<double>& shares = {}) {
  const Array x{{given.shape.size() < 2 ? 1 : given.shape[0], given.shape.empty() ? 1 : given.shape.back()}, given.data, DType::none};
  const auto weight = [&](int64_t k) { return weights.empty() ? 1 : weights[static_cast<size_t>(k)]; };
  double n = 0, shared = 0;
  for (int64_t k = 0; k < x.shape[1]; k++) n += weight(k), shared += weight(k) * (shares.empty() ? 1 : shares[static_cast<size_t>(k)]);
  const auto mean = [&](int64_t r) {
    double sum = 0;
    for (int64_t k = 0; k < x.shape[1]; k++) sum += weight(k) * at(x, {r, k});
    return sum / n;
  };
  Array y = make({x.shape[0], x.shape[0]}, [&](const Ints& i) {
    double sum = 0;
    for (int64_t k = 0; k < x.shape[1]; k++) sum += weight(k) * (at(x, {i[0], k}) - mean(i[0])) * (at(x, {i[1], k}) - mean(i[1]));
    return sum / (n - correction * shared / n);
  });
  if (given.shape.size() < 2) y.shape = {};
  return y;
}
Arrays corrcoef(const Arguments& a) {
  const Array y = covariances(a.tensor(0), 1);
  return {make(y.shape, [&](const Ints& i) { return at(y, i) / std::sqrt(at(y, {i[0], i[0]}) * at(y, {i[1], i[1]})); })};
}

// The first group whose end is behind t; -1: none.
int64_t group_of(const Array& ends, int64_t t) {
  for (size_t e = 0; e < ends.data.size(); e++)
    if (ends.data[e] > static_cast<double>(t)) return static_cast<int64_t>(e);
  return -1;
}
Arrays grouped_mm(const Arguments& a) {
  const Array &x = a.tensor(0), &y = a.tensor(1);
  if (!a.has(2)) return {matmul(x, y)};
  const Array& ends = a.tensor(2);
  const auto sum_to = [](int64_t n, auto f) {
    double sum = 0;
    for (int64_t k = 0; k < n; k++) sum += f(k);
    return sum;
  };
  if (x.shape.size() == 3)
    return {make({x.shape[1], y.shape[1]}, [&](const Ints& i) {
      const int64_t e = group_of(ends, i[1]);
      return e < 0 ? 0 : sum_to(y.shape[0], [&](int64_t k) { return at(x, {e, i[0], k}) * at(y, {k, i[1]}); });
    })};
  if (y.shape.size() == 3)
    return {make({x.shape[0], y.shape[2]}, [&](const Ints& i) {
      const int64_t e = group_of(ends, i[0]);
      return e < 0 ? 0 : sum_to(x.shape[1], [&](int64_t k) { return at(x, {i[0], k}) * at(y, {e, k, i[1]}); });
    })};
  return {make({ends.shape[0], x.shape[0], y.shape[1]}, [&](const Ints& i) {
    return sum_to(x.shape[1], [&](int64_t t) { return group_of(ends, t) == i[0] ? at(x, {i[1], t}) * at(y, {t, i[2]}) : 0; });
  })};
}

constexpr OracleRow kRows[] = {
    {"grouped_mm", grouped_mm},
    {"einsum", [](const Arguments& a) { return Arrays{summed(a.text(0, ""), a.tensors(1))}; }},
    {"outer", [](const Arguments& a) { return Arrays{summed("i,j->ij", {a.tensor(0), a.tensor(1)})}; }},
    {"inner", [](const Arguments& a) {
       return Arrays{a.tensor(0).shape.size() == 1 ? summed("i,i->", {a.tensor(0), a.tensor(1)}) : summed("ij,abj->iab", {a.tensor(0), a.tensor(1)})};
     }},
    {"vecdot", [](const Arguments& a) { return Arrays{summed(a.integer(2, -1) == 0 ? "ij,ij->j" : "ij,ij->i", {a.tensor(0), a.tensor(1)})}; }},
    {"addmm", [](const Arguments& a) { return added(a, matmul(a.tensor(1), a.tensor(2))); }},
    {"addmv", [](const Arguments& a) { return added(a, matmul(a.tensor(1), a.tensor(2))); }},
    {"baddbmm", [](const Arguments& a) { return added(a, matmul(a.tensor(1), a.tensor(2))); }},
    {"addbmm", [](const Arguments& a) { return added(a, summed("bij,bjk->ik", {a.tensor(1), a.tensor(2)})); }},
    {"addr", [](const Arguments& a) { return added(a, summed("i,j->ij", {a.tensor(1), a.tensor(2)})); }},
    {"tensordot", tensordot},
    {"kron", kron},
    {"cross", cross},
    {"multi_dot", multi_dot},
    {"trace", [](const Arguments& a) { return Arrays{make({}, [&](const Ints&) {
       double sum = 0;
       for (int64_t i = 0; i < std::min(a.tensor(0).shape[0], a.tensor(0).shape[1]); i++) sum += at(a.tensor(0), {i, i});
       return sum;
     })}; }},
    {"bilinear", bilinear},
    {"cdist", cdist}, {"pdist", pdist},
    {"cov", [](const Arguments& a) {
       std::vector<double> weights(static_cast<size_t>(a.tensor(0).shape.back()), 1), shares = a.has(3) ? a.tensor(3).data : std::vector<double>();
       for (size_t k = 0; k < weights.size(); k++) weights[k] = (a.has(2) ? a.tensor(2).data[k] : 1) * (a.has(3) ? shares[k] : 1);
       return Arrays{covariances(a.tensor(0), a.number(1, 1), weights, shares)};
     }},
    {"corrcoef", corrcoef},
};

}  // namespace

std::span<const OracleRow> product_oracles() { return kRows; }

}  // namespace thunder::battery
