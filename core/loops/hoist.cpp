#include "loops/hoist.h"

#include <algorithm>

#include "ir/symbolic/size.h"
#include "loops/value_ranges.h"

namespace thunder::loops {
namespace {

struct Factor {
  ExprId row;
  bool divides;
};

// Memoized facts of expressions: sums share operands, so recursion without a memo would be exponential.
template <class S>
class NestFacts {
 public:
  NestFacts(const NestOf<S>& n, AxisSet reduced)
      : nest_(n),
        reduced_(reduced),
        ranges_(value_ranges(n)),
        factors_(n.exprs.size(), 0),
        of_sums_(n.exprs.size(), 0) {
    for (ExprId id = 0; id < n.exprs.size(); id++) {
      const ExprOf<S>& e = n.exprs[id];
      of_sums_[id] = is_reduction(e.fn) ? e.fn == Fn::sum
                                        : e.level == 0 || std::all_of(e.in.begin(), e.in.begin() + e.count,
                                                                      [this](ExprId in) { return of_sums_[in] != 0; });
      const int many = is_row(id)        ? 1
                       : e.fn == Fn::mul ? factors_[e.in[0]] + factors_[e.in[1]]
                       : is_division_by_row(e)      ? factors_[e.in[0]] + 1
                                         : 0;
      factors_[id] = static_cast<uint8_t>(std::min(many, 2));
    }
  }

  const NestOf<S>& nest() const { return nest_; }
  bool is_row(ExprId id) const { return !(nest_.exprs[id].axes & reduced_) && nest_.exprs[id].level > 0; }
  bool is_division_by_row(const ExprOf<S>& e) const { return e.fn == Fn::div && is_row(e.in[1]); }
  // How many factors of a product are constant along the row: none, one, or more.
  int count_row_factors(ExprId id) const { return factors_[id]; }
  bool is_of_sums(ExprId id) const { return of_sums_[id]; }
  bool is_at_most_one(ExprId id) const { return ranges_[id].is_within(1); }

 private:
  const NestOf<S>& nest_;
  const AxisSet reduced_;
  const std::vector<ValueRange> ranges_;
  std::vector<uint8_t> factors_, of_sums_;
};

// The operand of a sum as its one factor that is constant along the row, and the product of the others. Requires: it
// has such a factor.
template <class S>
class Product {
 public:
  Product(const NestFacts<S>& facts, ExprId of) : facts_(facts) { collect_factors(of); }

  const Factor& factor() const { return factor_; }
  const std::vector<ExprId>& other_factors() const { return rest_; }
  bool saves_a_pass() const {
    const auto& exprs = facts_.nest().exprs;
    return !rest_.empty() && std::all_of(rest_.begin(), rest_.end(),
                                         [&](ExprId id) { return exprs[id].level < exprs[factor_.row].level; });
  }
  // Whether no product can overflow or underflow that did not before. If the factor is a square root of sums, as in
  // norms, the summed squares are further from the limits than the product is. Otherwise all other factors but one must
  // be at most 1.
  bool keeps_range() const {
    const ExprOf<S>& row = facts_.nest().exprs[factor_.row];
    if (row.fn == (factor_.divides ? Fn::sqrt : Fn::rsqrt) && facts_.is_of_sums(row.in[0])) return true;
    const auto small = static_cast<size_t>(
        std::count_if(rest_.begin(), rest_.end(), [this](ExprId id) { return facts_.is_at_most_one(id); }));
    return small > 0 && small + 1 >= rest_.size();
  }

 private:
  // A term without the factor stays as it is.
  void collect_factors(ExprId id) {
    const ExprOf<S>& e = facts_.nest().exprs[id];
    if (facts_.count_row_factors(id) == 0) rest_.push_back(id);
    else if (facts_.is_row(id)) factor_ = {id, false};
    else if (facts_.is_division_by_row(e)) factor_ = {e.in[1], true}, rest_.push_back(e.in[0]);
    else collect_factors(e.in[0]), collect_factors(e.in[1]);
  }

  const NestFacts<S>& facts_;
  Factor factor_{};
  std::vector<ExprId> rest_;
};

// Rebuilds the list of expressions, with the new ones inserted.
template <class S>
class Rewrite {
 public:
  explicit Rewrite(LoweredRegionOf<S>& region) : region_(region), new_ids_(region.nest.exprs.size()) {}

  void run(AxisSet reduced) {
    const NestOf<S>& n = region_.nest;
    const NestFacts<S> facts(n, reduced);
    for (ExprId id = 0; id < n.exprs.size(); id++) {
      const ExprOf<S>& e = n.exprs[id];
      if (e.fn == Fn::sum && is_real(e.dtype) && facts.count_row_factors(e.in[0]) == 1) {
        const Product<S> product(facts, e.in[0]);
        if (product.saves_a_pass() && product.keeps_range()) {
          new_ids_[id] = add_hoisted_sum(e, product.other_factors(), product.factor());
          continue;
        }
      }
      ExprOf<S> same = e;
      for (uint32_t i = 0; i < e.count; i++) same.in[i] = new_ids_[e.in[i]];
      new_ids_[id] = add(same);
    }
    remove_unused();
  }

 private:
  ExprId add(const ExprOf<S>& e) {
    exprs_.push_back(e);
    return static_cast<ExprId>(exprs_.size() - 1);
  }
  ExprId add(Fn fn, DType dtype, std::initializer_list<ExprId> in) {
    ExprOf<S> e;
    e.fn = fn, e.dtype = dtype, e.count = static_cast<uint32_t>(in.size());
    std::copy(in.begin(), in.end(), e.in.begin());
    return add(e);
  }
  ExprId add_hoisted_sum(const ExprOf<S>& sum, const std::vector<ExprId>& rest, const Factor& factor) {
    ExprId product = new_ids_[rest[0]];
    for (size_t i = 1; i < rest.size(); i++) product = add(Fn::mul, sum.dtype, {product, new_ids_[rest[i]]});
    const ExprId total = add(Fn::sum, sum.dtype, {product});
    return add(factor.divides ? Fn::div : Fn::mul, sum.dtype, {total, new_ids_[factor.row]});
  }

  // Expressions without uses are left out.
  void remove_unused() {
    NestOf<S>& n = region_.nest;
    if (exprs_.size() == n.exprs.size()) return;
    std::vector<uint8_t> needed(exprs_.size(), 0);
    for (const OutputOf<S>& s : n.stores) needed[new_ids_[s.value]] = 1;
    for (size_t id = exprs_.size(); id-- > 0;)
      for (uint32_t i = 0; needed[id] && i < exprs_[id].count; i++) needed[exprs_[id].in[i]] = 1;
    std::vector<ExprId> moved_to(exprs_.size());
    n.exprs.clear();
    for (size_t id = 0; id < exprs_.size(); id++) {
      if (!needed[id]) continue;
      moved_to[id] = static_cast<ExprId>(n.exprs.size());
      ExprOf<S>& e = n.exprs.emplace_back(exprs_[id]);
      for (uint32_t i = 0; i < e.count; i++) e.in[i] = moved_to[e.in[i]];
    }
    for (OutputOf<S>& s : n.stores) s.value = moved_to[new_ids_[s.value]];
    std::vector<BoundsCheckOf<S>> checks(region_.checks.empty() ? 0 : n.exprs.size());
    for (size_t id = 0; id < region_.checks.size(); id++)
      if (needed[new_ids_[id]]) checks[moved_to[new_ids_[id]]] = std::move(region_.checks[id]);
    region_.checks = std::move(checks);
  }

  LoweredRegionOf<S>& region_;
  std::vector<ExprId> new_ids_;  // by old id: the new one
  std::vector<ExprOf<S>> exprs_;
};

}  // namespace

template <class S>
void hoist_from_reductions(LoweredRegionOf<S>& region) {
  if (!region.reduced) return;
  find_levels(region.nest, region.reduced);
  Rewrite<S>(region).run(region.reduced);
}

template void hoist_from_reductions(LoweredRegionOf<int64_t>&);
template void hoist_from_reductions(LoweredRegionOf<Size>&);

}  // namespace thunder::loops
