#include "passes/pattern.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

#include "ir/cursor.h"
#include "passes/constants.h"

namespace thunder {
namespace {

constexpr size_t kMaxDepth = 16;

// Recursive; kMaxDepth bounds the recursion.
class Reader {
 public:
  Reader(Cursor& cursor, const Registry& registry, std::string_view prefix, std::vector<std::string>& variables)
      : cursor_(cursor), registry_(registry), prefix_(prefix), variables_(variables) {}

  std::vector<Term> parse_side(bool may_add_variables) {
    terms_.clear();
    may_add_ = may_add_variables;
    parse_term(0);
    return std::move(terms_);
  }

 private:
  uint32_t parse_term(size_t depth) {
    if (depth > kMaxDepth) cursor_.bad("a rule is nested more than ", kMaxDepth, " deep");
    const auto at = static_cast<uint32_t>(terms_.size());
    terms_.emplace_back();
    cursor_.at("");
    if (!cursor_.at_word()) {
      terms_[at].kind = Term::Kind::number;
      int64_t i = 0;
      double f = 0;
      terms_[at].number = cursor_.number(i, f) ? static_cast<double>(i) : f;
      return at;
    }
    std::string name(cursor_.word());
    while (cursor_.accept(".")) name += cat('.', cursor_.word());
    if (cursor_.accept("(")) call(at, name, depth);
    else parse_variable(at, name);
    return at;
  }

  [[noreturn]] void fail_unknown_op(const std::string& name) {
    std::vector<std::string_view> known;
    for (const OpDef* op : registry_.all())
      if (op->name().rfind(prefix_, 0) == 0) known.push_back(op->name());
    cursor_.bad("unknown op '", prefix_, name, "'", suggest(cat(prefix_, name), known));
  }

  void call(uint32_t at, const std::string& name, size_t depth) {
    const OpDef* op = registry_.find(cat(prefix_, name));
    if (!op) fail_unknown_op(name);
    if (op->schema.results.size() != 1 || op->schema.variadic()) cursor_.bad(op->name(), " has not one result");
    std::vector<uint32_t> args;
    while (!cursor_.accept(")")) {
      if (!args.empty()) cursor_.expect(",");
      args.push_back(parse_term(depth + 1));
    }
    if (args.size() > op->schema.params.size())
      cursor_.bad(op->name(), " takes at most ", op->schema.params.size(), " arguments");
    terms_[at].kind = Term::Kind::call;
    terms_[at].op = op;
    terms_[at].args = std::move(args);
  }

  void parse_variable(uint32_t at, const std::string& name) {
    auto it = std::find(variables_.begin(), variables_.end(), name);
    if (it == variables_.end() && !may_add_) cursor_.bad("'", name, "' does not occur on the left");
    terms_[at].variable = static_cast<uint32_t>(it - variables_.begin());
    if (it == variables_.end()) variables_.push_back(name);
  }

  Cursor& cursor_;
  const Registry& registry_;
  std::string_view prefix_;
  std::vector<std::string>& variables_;
  std::vector<Term> terms_;
  bool may_add_ = false;
};

bool is_number(double wanted, const Arg& is) {
  if (is.kind != ArgKind::real) return wanted == static_cast<double>(is.i);
  return std::bit_cast<uint64_t>(wanted) == std::bit_cast<uint64_t>(is.f);
}

class Matcher {
 public:
  Matcher(const Rewriter& rewriter, const std::vector<Term>& terms, std::vector<Arg>& bound)
      : rewriter_(rewriter), terms_(terms), bound_(bound), taken_(bound.size(), false) {}

  bool match_node(const Term& t, const Node& n) {
    if (n.op != t.op || n.results.size() != 1) return false;
    const auto& params = t.op->schema.params;
    for (size_t i = t.args.size(); i < n.args.size(); i++)
      if (!same(n.args[i], params[i].fallback)) return false;
    for (size_t i = 0; i < t.args.size(); i++)
      if (!match_arg(terms_[t.args[i]], n.args[i])) return false;
    return true;
  }

 private:
  bool match_arg(const Term& t, const Arg& a) {
    switch (t.kind) {
      case Term::Kind::variable:
        if (!taken_[t.variable]) {
          taken_[t.variable] = true;
          bound_[t.variable] = a;
          return true;
        }
        return same(bound_[t.variable], a);
      case Term::Kind::number: return match_number(t.number, a);
      case Term::Kind::call: break;
    }
    const Node* made = a.kind == ArgKind::value ? rewriter_.producer(a.v) : nullptr;
    return made && match_node(t, *made);
  }

  bool match_number(double wanted, const Arg& a) {
    if (a.kind != ArgKind::value) return a.kind != ArgKind::symbolic && thunder::is_number(a) && is_number(wanted, a);
    const auto value = constant_value(rewriter_, a.v);
    return value && is_number(wanted, *value);
  }

  const Rewriter& rewriter_;
  const std::vector<Term>& terms_;
  std::vector<Arg>& bound_;
  SmallVector<bool, 8> taken_;
};

// A number on the right side of a rule, as the argument `p` of `op` or as the whole side.
Arg number_argument(Builder& builder, double value, const OpDef* op, const Param* p, const TensorType& type) {
  const bool plain = p && p->number && !op->prim;
  if (p && (p->kind == ParamKind::integer || (plain && !is_real(type.dtype))))
    return Arg::integer(static_cast<int64_t>(value));
  if (p && (p->kind == ParamKind::real || plain)) return Arg::real(value);
  return Arg::value(expand_to(full(builder, {}, value, type.dtype, type.device), type.shape).id);
}

// Recursion is bounded by the rule's depth, which is at most kMaxDepth.
Arg build_term(Builder& builder, const std::vector<Term>& side, const Term& t, const OpDef* op, const Param* p,
               std::span<const Arg> bound, const TensorType& type) {
  if (t.kind == Term::Kind::variable) return bound[t.variable];
  if (t.kind == Term::Kind::number) return number_argument(builder, t.number, op, p, type);
  SmallVector<Arg, 8> args;
  for (size_t i = 0; i < t.args.size(); i++)
    args.push_back(build_term(builder, side, side[t.args[i]], t.op, &t.op->schema.params[i], bound, type));
  CompleteArgs complete(*t.op, args);
  return Arg::value(builder.invoke(*t.op, complete.span())[0]);
}

}  // namespace

Rule::Rule(std::string_view text, const Registry& registry, std::string_view prefix) {
  Cursor cursor(text, 1, "rule");
  Reader reader(cursor, registry, prefix, variables);
  left = reader.parse_side(true);
  if (left[0].kind != Term::Kind::call) cursor.bad("the left side must be an op");
  cursor.expect("->");
  right = reader.parse_side(false);
  for (bool more = cursor.accept_word("if"); more; more = cursor.accept_word("and"))
    guards.emplace_back(cursor, variables);
  if (!cursor.done()) cursor.expected("the end of the rule");
}

bool Rule::match(const Rewriter& rewriter, const Node& node, std::vector<Arg>& bound) const {
  bound.assign(variables.size(), Arg::none());
  if (!Matcher(rewriter, left, bound).match_node(left[0], node)) return false;
  return std::all_of(guards.begin(), guards.end(), [&](const Guard& g) { return g.holds(rewriter, bound); });
}

ValueId Rule::build(Builder& builder, const std::vector<Term>& side, std::span<const Arg> bound,
                    const TensorType& type) const {
  return build_term(builder, side, side[0], nullptr, nullptr, bound, type).v;
}

std::optional<Trace> apply_rules(const Trace& trace, const Registry& registry, std::span<const Rule> rules,
                                 bool (*allowed)(size_t, const TensorType&, const void*), const void* user) {
  std::unordered_map<const Op*, std::vector<size_t>> by_op;
  for (size_t i = 0; i < rules.size(); i++) by_op[rules[i].left[0].op].push_back(i);
  Rewriter rewriter(trace, registry);
  std::vector<Arg> bound;
  // The rules that were applied to the node: the right side of a rule may match the rule again, as in
  // "exp(a) -> exp(mul(a, 0.5))".
  SmallVector<size_t, 8> had;
  // The value that replaces the node's result when one rule is applied, or kNoValue.
  auto once = [&](const Node& node) {
    auto candidates = by_op.find(node.op);
    if (candidates == by_op.end()) return kNoValue;
    const TensorType& type = rewriter.type(node.results[0]);
    for (size_t i : candidates->second) {
      if (std::find(had.begin(), had.end(), i) != had.end() || (allowed && !allowed(i, type, user))) continue;
      if (!rules[i].match(rewriter, node, bound)) continue;
      const Term& right = rules[i].right[0];
      // A variable may be bound to a value of another type, with which the rule would change the result's type.
      if (right.kind == Term::Kind::variable &&
          (bound[right.variable].kind != ArgKind::value || !(rewriter.type(bound[right.variable].v) == type)))
        continue;
      had.push_back(i);
      return rewriter.build_for(node, [&] { return rules[i].build(rewriter, rules[i].right, bound, type); });
    }
    return kNoValue;
  };
  for (const Node* old : trace.nodes) {
    const Node* node = rewriter.substituted(old);
    had.clear();
    ValueId value = kNoValue;
    for (const Node* made = node; made && made->results.size() == 1;) {
      const size_t before = rewriter.nodes().size();
      const ValueId next = once(*made);
      if (next == kNoValue) break;
      value = next;
      // A rule whose right side is a variable records no node, and rules were applied to that argument's node before.
      made = rewriter.nodes().size() > before ? rewriter.producer(value) : nullptr;
    }
    if (value == kNoValue || !rewriter.replace(node->results[0], value)) rewriter.keep(node);
  }
  return rewriter.finish();
}

}  // namespace thunder
