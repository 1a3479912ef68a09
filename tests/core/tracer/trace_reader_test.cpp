// Every op on every input it declares: the line that is recorded prints, reads back and prints the same, also when
// each op has descended into prims.
// covers: core/ops/samples.cpp
#include "tracer/trace_reader.h"

#include <gtest/gtest.h>

#include <deque>

#include "ir/print.h"
#include "ir/verify.h"
#include "ops/samples.h"
#include "passes/verify_types.h"
#include "support/traces.h"

namespace thunder {
namespace {

class DrawingRecorder : public Recorder {
 public:
  using Recorder::Recorder;
  Draw draw() override { return {var(state), ordinal++}; }
  ValueId state = kNoValue;
  int64_t ordinal = 3;
};

// One recorded line of `op`, with an input for each tensor of the sample.
class SampleTrace {
 public:
  SampleTrace(const Registry& registry) : recorder_(registry, std::make_shared<Store>()) {
    trace.store = recorder_.shared_store();
    trace.function = "sample";
    recorder_.state = input("random", Source::constant, tests::tensor_type({2}, DType::i64));
  }

  void record(const OpDef& op, const Sample& sample) {
    std::vector<Arg> args;
    for (const SampleArg& a : sample.args) args.push_back(std::visit([&](auto& v) { return arg(v); }, a.value));
    CompleteArgs complete(op, args);
    recorder_.set_where("sample.c:1");
    const Results results = recorder_.invoke(op, complete.span());
    trace.nodes = recorder_.nodes();
    trace.outputs.assign(results.begin(), results.end());
  }

  Trace trace;

 private:
  ValueId input(std::string name, Source source, const TensorType& type) {
    const ValueId v = recorder_.store().add(type);
    trace.inputs.push_back({v, source, static_cast<uint32_t>(source == Source::constant ? 0 : trace.inputs.size()), std::move(name)});
    return v;
  }
  ValueId tensor(const TensorSpec& spec) {
    TensorType t;
    t.dtype = spec.dtype;
    for (int64_t n : spec.shape) t.shape.push_back(n);
    return input("x", Source::argument, t);
  }
  Arg arg(std::monostate) { return Arg::none(); }
  Arg arg(const TensorSpec& spec) { return Arg::value(tensor(spec)); }
  Arg arg(const std::vector<TensorSpec>& specs) {
    auto& list = lists_.emplace_back();
    for (auto& spec : specs) list.push_back(tensor(spec));
    return Arg::values(list);
  }
  Arg arg(bool b) { return Arg::boolean(b); }
  Arg arg(int64_t i) { return Arg::integer(i); }
  Arg arg(double f) { return Arg::real(f); }
  Arg arg(const std::string& s) { return Arg::string(s); }
  Arg arg(const std::vector<int64_t>& d) {
    auto& dims = dims_.emplace_back(d.begin(), d.end());
    return Arg::dims(dims);
  }
  Arg arg(DType d) { return Arg::of(d); }

  DrawingRecorder recorder_;
  std::deque<std::vector<ValueId>> lists_;
  std::deque<std::vector<Dim>> dims_;
};

void descend(Trace& trace) {
  std::vector<const Node*> todo(trace.nodes.rbegin(), trace.nodes.rend()), prims;
  while (!todo.empty()) {
    const Node* node = todo.back();
    todo.pop_back();
    if (node->op->prim) prims.push_back(node);
    todo.insert(todo.end(), node->body.rbegin(), node->body.rend());
  }
  trace.nodes = std::move(prims);
}

TEST(Reader, reads_back_every_op) {
  const Registry registry;
  size_t read = 0;
  for (auto& op : registry.all()) {
    if (!op->samples) continue;
    Samples samples;
    op->samples(samples);
    for (size_t i = 0; i < samples.all.size(); i++) {
      if (samples.all[i].eager) continue;
      SCOPED_TRACE(cat(op->name(), ", sample ", i));
      try {
        SampleTrace sample(registry);
        sample.record(*op, samples.all[i]);
        for (bool prims : {false, true}) {
          if (prims) descend(sample.trace);
          verify(sample.trace);
          verify_types(sample.trace, registry);
          const std::string text = print(sample.trace);
          const Trace back = read_trace(text, registry);
          EXPECT_EQ(print(back), text);
          EXPECT_EQ(print(back, {.bodies = true}), print(sample.trace, {.bodies = true}));
          read++;
        }
      } catch (const Error& e) {
        ADD_FAILURE() << e.message();
      }
    }
  }
  EXPECT_GT(read, 100u);
}

}  // namespace
}  // namespace thunder
