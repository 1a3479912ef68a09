#include "ir/verify.h"

#include <algorithm>
#include <set>

#include "ir/print.h"

namespace thunder {
namespace {

bool accepts(const Param& p, const Arg& a) {
  if (a.kind == ArgKind::none) return p.optional || (p.has_default && p.fallback.kind == ArgKind::none);
  switch (p.kind) {
    case ParamKind::tensor:
      return a.kind == ArgKind::value || (p.number && is_number(a));
    case ParamKind::tensors: return a.kind == ArgKind::values;
    case ParamKind::integer: return a.is_integer();
    case ParamKind::real: return a.kind == ArgKind::real;
    case ParamKind::boolean: return a.kind == ArgKind::boolean;
    case ParamKind::string: return a.kind == ArgKind::string;
    case ParamKind::dims: return a.kind == ArgKind::dims || (p.text && a.kind == ArgKind::string);
    case ParamKind::reals: return a.kind == ArgKind::reals;
    case ParamKind::dtype: return a.kind == ArgKind::dtype && known(a.dtype);
    case ParamKind::device: return a.kind == ArgKind::device;
  }
  return false;
}

class Verifier {
 public:
  explicit Verifier(const Trace& trace) : trace_(trace), states_(trace.store->size(), State::undefined) {}

  void run() {
    inputs();
    for (line_ = 0; line_ < trace_.nodes.size(); line_++) {
      node(trace_.nodes[line_]);
      for (ValueId r : trace_.nodes[line_]->results) define(r);
    }
    check_outputs_and_writes();
  }

 private:
  enum class State : uint8_t { undefined, defined, inside };  // inside: of a decomposition that has ended

  template <class... T>
  void check(bool holds, const T&... parts) {
    if (holds) [[likely]] return;
    const bool in_line = line_ < trace_.nodes.size() && trace_.nodes[line_] && trace_.nodes[line_]->op;
    ensure(false, in_line ? describe_line(trace_, line_) : cat("after ", trace_.pass), ": ", parts...);
  }

  void check_typed(ValueId v) {
    check(v < states_.size(), "value ", v, " does not exist");
    check(known(trace_.type(v).dtype), "value ", v, " has no dtype");
  }
  void define(ValueId v) {
    check_typed(v);
    check(states_[v] != State::defined, "value ", v, " is defined twice");
    check(states_[v] != State::inside, "value ", v, " is also defined inside another line");
    states_[v] = State::defined;
    log_.push_back(v);
  }
  void check_defined(ValueId v, std::string_view by) {
    check(v < states_.size() && states_[v] != State::undefined, by, ": value ", v, " is used before it is defined");
    check(states_[v] == State::defined, by, ": value ", v, " belongs to the inside of another line");
  }

  void inputs() {
    line_ = trace_.nodes.size();
    std::set<std::pair<Source, uint32_t>> seen;
    for (const Input& in : trace_.inputs) {
      define(in.value);
      check(seen.insert({in.source, in.index}).second, "two inputs have the same place, ",
            "ipc"[static_cast<size_t>(in.source)], "[", in.index + 1, "]");
    }
  }

  void arguments(const Node& n) {
    const auto& params = n.op->schema.params;
    check(n.args.size() == params.size(), n.op->name(), " has ", n.args.size(), " arguments, its schema ",
          params.size());
    for (size_t i = 0; i < params.size(); i++) {
      check(accepts(params[i], n.args[i]) || (params[i].has_default && same(n.args[i], params[i].fallback)),
            n.op->name(), ": argument '", params[i].name, "' is not of kind ", kind_name(params[i].kind));
    }
    for_each_value(n.args, [&](ValueId v) { check_defined(v, n.op->name()); });
  }

  // Depth is that of the ops' own definitions.
  void node(const Node* n) {
    check(n && n->op, "a line without an operation");
    arguments(*n);
    check(n->op->schema.variadic() || n->results.size() == n->op->schema.results.size(), n->op->name(), " has ",
          n->results.size(), " results, its schema ", n->op->schema.results.size());
    // A region is the one prim with a body: the lines that its executor runs as one.
    check(n->op->prim || !n->body.empty(), n->op->name(), " has lost its decomposition");
    const size_t mark = log_.size();
    for (const Node* inner : n->body) {
      node(inner);
      for (ValueId r : inner->results) define(r);
    }
    if (n->body.empty()) return;
    for (ValueId r : n->results)
      check(std::find(log_.begin() + static_cast<ptrdiff_t>(mark), log_.end(), r) != log_.end(), n->op->name(),
            ": the decomposition does not define result ", r);
    for (; log_.size() > mark; log_.pop_back()) states_[log_.back()] = State::inside;
    for (ValueId r : n->results) states_[r] = State::undefined;
  }

  void check_outputs_and_writes() {
    line_ = trace_.nodes.size();
    for (ValueId v : trace_.outputs) check_defined(v, "return");
    std::vector<bool> written(trace_.inputs.size());
    for (const Write& w : trace_.writes) {
      check(w.input < trace_.inputs.size(), "a write to input ", w.input, " of ", trace_.inputs.size());
      check_defined(w.value, "copy_");
      check(!written[w.input], "input ", w.input, " is written twice");
      written[w.input] = true;
      TensorType to = trace_.type(trace_.inputs[w.input].value), from = trace_.type(w.value);
      to.weak = from.weak = false;
      check(to == from, "a write of ", name(from), " to an input that is ", name(to));
    }
  }

  const Trace& trace_;
  std::vector<State> states_;
  std::vector<ValueId> log_;  // what was defined, in order: a body's definitions end with it
  size_t line_ = 0;
};

}  // namespace

void verify(const Trace& trace) {
  ensure(trace.store != nullptr, "after ", trace.pass, ": a trace without a store");
  Verifier(trace).run();
}

std::string describe_line(const Trace& trace, size_t line) {
  return cat("after ", trace.pass, ", line ", line + 1, ", ", print_line(trace, *trace.nodes[line]));
}

}  // namespace thunder
