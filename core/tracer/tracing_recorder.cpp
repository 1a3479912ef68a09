#include "base/text.h"
#include "ir/dim_reads.h"
#include "ir/prim.h"
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
  if (auto it = strides_.find(v); it != strides_.end()) return hint_sizes(it->second);
  return dense_strides(hint_sizes(type(v).shape));
}

void TracingRecorder::set_strides(ValueId v, const Sizes& strides) {
  strides_[v] = Shape(strides.begin(), strides.end());
}

Shape TracingRecorder::stride_formulas(ValueId v) const {
  const auto it = strides_.find(v);
  return it == strides_.end() ? dense_stride_formulas(type(v).shape) : it->second;
}

// Sizes are read as numbers where it depends on them.
bool TracingRecorder::is_contiguous(ValueId v) const {
  const auto it = strides_.find(v);
  return it == strides_.end() || is_dense(hint_sizes(type(v).shape), hint_sizes(it->second));
}

bool TracingScope::is_contiguous(const Tensor& proxy) {
  recorder_->build();
  return recorder_->is_contiguous(proxy.value());
}

// What decided of the views from the root to each of these reshapes: it is asked again, and noted.
void TracingRecorder::note_places_of_reshapes() const {
  std::unordered_map<ValueId, Shape> placed;
  for (const Node* reshape : reshapes_) {
    std::vector<const Node*> chain;
    for (const Node* view = reshape; view; view = made_by(view->args[0].v)) chain.push_back(view);
    for (; !chain.empty(); chain.pop_back()) {
      const Node& view = *chain.back();
      const ValueId base = view.args[0].v, made = view.results[0];
      if (placed.contains(made)) continue;
      const auto known = placed.find(base);
      ViewAt<Dim> v{known == placed.end() ? stride_formulas(base) : known->second};
      if (place_view(def(view), type(base).shape, view.args, type(made).shape, v)) placed[made] = v.strides;
    }
  }
}

const Node* TracingRecorder::made_by(ValueId v) const {
  const auto it = views_.find(v);
  return it == views_.end() ? nullptr : it->second;
}

void TracingRecorder::recorded(const Node& node) {
  if (!def(node).view) return;
  const ValueId base = node.args[0].v, made = node.results[0];
  if (node.op->id == Prim::reshape && strides_.contains(base)) reshapes_.push_back(&node);
  const DimReads::Pause layout;
  ViewAt<Dim> v{stride_formulas(base)};
  if (!place_view(def(node), type(base).shape, node.args, type(made).shape, v)) return;
  aliases_.add_view(node);
  strides_[made] = v.strides, views_[made] = &node;
}

}  // namespace thunder
