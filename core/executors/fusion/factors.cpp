#include "executors/fusion/factors.h"

#include <algorithm>
#include <optional>

#include "executors/fusion/bounds.h"

namespace thunder::fusion {
namespace {

struct Factor {
  ExprId row;
  bool divides;
};

// One sum's operand as a factor of the row and a product of what else there is.
class Product {
 public:
  Product(const Nest& n, AxisSet reduced, ExprId of) : nest_(n), reduced_(reduced) { split(of); }

  std::optional<Factor> factor() const { return factors_.size() == 1 && !rest_.empty() && rest_is_known_before() ? std::optional(factors_[0]) : std::nullopt; }
  const std::vector<ExprId>& rest() const { return rest_; }

  // The square root of sums, as norms have: what could be squared and summed has room for another factor. Otherwise, what is left are
  // numbers of at most 1, or one other beside them.
  bool keeps_range(const std::vector<Bounds>& known) const {
    const auto [row, divides] = factors_[0];
    if (nest_.exprs[row].fn == (divides ? Fn::sqrt : Fn::rsqrt) && is_of_sums(nest_.exprs[row].in[0])) return true;
    const auto small = static_cast<size_t>(std::count_if(rest_.begin(), rest_.end(), [&](ExprId id) { return known[id].within(1); }));
    return small > 0 && small + 1 >= rest_.size();
  }

 private:
  bool is_row(ExprId id) const { return !(nest_.exprs[id].axes & reduced_) && nest_.exprs[id].level > 0; }

  // A part without factors stays as it is.
  void split(ExprId id) {
    const Expr& e = nest_.exprs[id];
    if (is_row(id)) return factors_.push_back({id, false});
    const size_t before = factors_.size(), rest = rest_.size();
    if (e.fn == Fn::mul) split(e.in[0]), split(e.in[1]);
    if (e.fn == Fn::div && is_row(e.in[1])) split(e.in[0]), factors_.push_back({e.in[1], true});
    if (factors_.size() > before) return;
    rest_.resize(rest);
    rest_.push_back(id);
  }

  bool rest_is_known_before() const {
    return std::all_of(rest_.begin(), rest_.end(), [&](ExprId id) { return nest_.exprs[id].level < nest_.exprs[factors_[0].row].level; });
  }

  bool is_of_sums(ExprId id) const {
    const Expr& e = nest_.exprs[id];
    if (is_reduction(e.fn)) return e.fn == Fn::sum;
    return e.level == 0 || std::all_of(e.in.begin(), e.in.begin() + e.count, [this](ExprId in) { return is_of_sums(in); });
  }

  const Nest& nest_;
  const AxisSet reduced_;
  std::vector<Factor> factors_;
  std::vector<ExprId> rest_;
};

// The expressions again, with others between them.
class Rewrite {
 public:
  explicit Rewrite(Lowered& l) : lowered_(l), now_(l.nest.exprs.size()) {}

  void run(AxisSet reduced) {
    const Nest& n = lowered_.nest;
    const std::vector<Bounds> known = bounds(n);
    for (ExprId id = 0; id < n.exprs.size(); id++) {
      const Expr& e = n.exprs[id];
      if (e.fn == Fn::sum && is_real(e.dtype)) {
        const Product product(n, reduced, e.in[0]);
        if (product.factor() && product.keeps_range(known)) {
          now_[id] = apart(e, product.rest(), *product.factor());
          continue;
        }
      }
      Expr same = e;
      for (uint32_t i = 0; i < e.count; i++) same.in[i] = now_[e.in[i]];
      now_[id] = add(same);
    }
    finish();
  }

 private:
  ExprId add(const Expr& e) {
    exprs_.push_back(e);
    return static_cast<ExprId>(exprs_.size() - 1);
  }
  ExprId add(Fn fn, DType dtype, std::initializer_list<ExprId> in) {
    Expr e;
    e.fn = fn, e.dtype = dtype, e.count = static_cast<uint32_t>(in.size());
    std::copy(in.begin(), in.end(), e.in.begin());
    return add(e);
  }
  ExprId apart(const Expr& sum, const std::vector<ExprId>& rest, const Factor& factor) {
    ExprId product = now_[rest[0]];
    for (size_t i = 1; i < rest.size(); i++) product = add(Fn::mul, sum.dtype, {product, now_[rest[i]]});
    return add(factor.divides ? Fn::div : Fn::mul, sum.dtype, {add(Fn::sum, sum.dtype, {product}), now_[factor.row]});
  }

  // What nothing needs any more is left out.
  void finish() {
    Nest& n = lowered_.nest;
    if (exprs_.size() == n.exprs.size()) return;
    std::vector<uint8_t> needed(exprs_.size(), 0);
    for (const Output& s : n.stores) needed[now_[s.value]] = 1;
    for (size_t id = exprs_.size(); id-- > 0;)
      for (uint32_t i = 0; needed[id] && i < exprs_[id].count; i++) needed[exprs_[id].in[i]] = 1;
    std::vector<ExprId> places(exprs_.size());
    n.exprs.clear();
    for (size_t id = 0; id < exprs_.size(); id++) {
      if (!needed[id]) continue;
      places[id] = static_cast<ExprId>(n.exprs.size());
      Expr& e = n.exprs.emplace_back(exprs_[id]);
      for (uint32_t i = 0; i < e.count; i++) e.in[i] = places[e.in[i]];
    }
    for (Output& s : n.stores) s.value = places[now_[s.value]];
    std::vector<Check> checks(lowered_.checks.empty() ? 0 : n.exprs.size());
    for (size_t id = 0; id < lowered_.checks.size(); id++)
      if (needed[now_[id]]) checks[places[now_[id]]] = std::move(lowered_.checks[id]);
    lowered_.checks = std::move(checks);
  }

  Lowered& lowered_;
  std::vector<ExprId> now_;  // by number before
  std::vector<Expr> exprs_;
};

}  // namespace

void take_factors_out_of_sums(Lowered& lowered, AxisSet reduced) {
  if (!reduced) return;
  find_levels(lowered.nest, reduced);
  Rewrite(lowered).run(reduced);
}

}  // namespace thunder::fusion
