#include "base/text.h"
#include "ir/dim_reads.h"
#include "ops/place_view.h"
#include "tracer/tracing.h"

namespace thunder {

Draw TracingRecorder::draw() { return scope_.draw(); }

ValueId TracingRecorder::add_input(const TensorType& type, const Tensor* layout) {
  const ValueId v = store().add(type);
  if (layout && !layout->contiguous()) set_strides(v, layout->strides());
  return v;
}

std::vector<ValueId> TracingRecorder::add_gradient(std::span<const Arg> args, std::span<const ValueId> wrt) {
  std::vector<ValueId> results;
  for (ValueId v : wrt) results.push_back(store().add(type(v)));
  nodes().push_back(store().node(&registry().get("grad"), args, results, {}, where()));
  return results;
}

namespace {

Sizes hint_sizes(std::span<const Dim> shape) {
  Sizes sizes;
  for (Dim d : shape) sizes.push_back(hint(d));
  return sizes;
}

}  // namespace

void TracingRecorder::enter(const OpDef& op) {
  reads_.push_back(DimReads::current() ? DimReads::current()->noted().size() : 0);
  Recorder::enter(op);
}

void TracingRecorder::abandon() {
  reads_.pop_back();
  Recorder::abandon();
}

namespace {

// Whether it is 2 or more whatever the sizes are.
bool is_two_or_more(const TracingScope& scope, Dim d, size_t depth = 0) {
  if (d.constant()) return d.value() >= 2;
  const DimExpr& e = *d.expr();
  if (e.op == DimOp::symbol) return scope.is_size(d);
  const auto at_least = [&](Dim part, int64_t least) {
    return part.constant() ? part.value() >= least : is_two_or_more(scope, part, depth + 1);
  };
  if (depth == 32) return false;
  if (e.op == DimOp::mul) return at_least(e.a, 1) && at_least(e.b, 1) && (at_least(e.a, 2) || at_least(e.b, 2));
  return e.op == DimOp::add && at_least(e.a, 0) && at_least(e.b, 0) && (at_least(e.a, 2) || at_least(e.b, 2));
}

}  // namespace

// An op that leaves no line may be a no-op for these sizes only: dims that are expressions could be 0 or 1 for others.
Results TracingRecorder::leave(const OpDef& op, std::span<const Arg> args, const Results& results) {
  closed_ = false;
  const Results made = Recorder::leave(op, args, results);
  const size_t before = reads_.back();
  reads_.pop_back();
  DimReads* reads = DimReads::current();
  if (!reads) return made;
  if (closed_) return reads->forget_after(before), made;
  const auto note = [&](ValueId v) {
    for (Dim d : type(v).shape) {
      if (d.constant() || is_two_or_more(scope_, d)) continue;
      if (unnoted_hint(d) >= 2) compare(2, DimCondition::Is::at_most, d);
      else reads->note(d.expr());
    }
  };
  for_each_value(args, note);
  for (ValueId v : made) note(v);
  return made;
}

Sizes TracingRecorder::strides(ValueId v) const {
  const DimReads::Pause layout;  // matters to writes alone
  if (auto it = strides_.find(v); it != strides_.end()) return it->second;
  return dense_strides(hint_sizes(type(v).shape));
}

// Sizes are read as numbers where it depends on them.
bool TracingRecorder::is_contiguous(ValueId v) const {
  const auto it = strides_.find(v);
  return it == strides_.end() || is_dense(hint_sizes(type(v).shape), it->second);
}

bool TracingScope::is_contiguous(const Tensor& proxy) {
  recorder_->build();
  return recorder_->is_contiguous(proxy.value());
}

// The strides of a view come from the sizes of what it shows and from the numbers of the views on the way.
void TracingRecorder::read_sizes_of_reshapes() const {
  for (ValueId v : reshaped_) {
    hint_sizes(type(v).shape);
    for (const Node* view = aliases_.view_of(v); view; view = aliases_.view_of(view->args[0].v)) {
      hint_sizes(type(view->args[0].v).shape);
      for (const Arg& a : view->args)
        if (a.kind == ArgKind::dims) hint_sizes(a.dim_list());
    }
  }
}

void TracingRecorder::recorded(const Node& node) {
  if (!def(node).view) return;
  if (node.op->name() == "prims.reshape" && strides_.contains(node.args[0].v))
    reshaped_.insert(reshaped_.end(), {node.args[0].v, node.results[0]});
  const DimReads::Pause layout;
  // The layout is decided on plain integers, as at run time.
  std::vector<Shape> lists(node.args.size());
  std::vector<Arg> args(node.args.begin(), node.args.end());
  for (size_t i = 0; i < args.size(); i++) {
    if (args[i].kind != ArgKind::dims) continue;
    for (Dim d : args[i].dim_list()) lists[i].push_back(hint(d));
    args[i] = Arg::dims(lists[i]);
  }
  const ValueId base = node.args[0].v;
  ViewOf v{strides(base)};
  if (!place_view(def(node), hint_sizes(type(base).shape), args, hint_sizes(type(node.results[0]).shape), v)) return;
  aliases_.add_view(node);
  strides_[node.results[0]] = v.strides;
}

}  // namespace thunder
