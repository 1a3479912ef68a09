// A forward ends at the first error, wherever among its ops that is: nothing is computed from results that there are not.
#include <deque>
#include <map>

#include "fixture.h"

namespace thunder {
namespace {

// An eager scope in which one argument of an op, counted over all of a forward, cannot be read.
class FailingScope : public EagerScope {
 public:
  FailingScope(ScopeEnvironment environment, bool taped, int fails_at)
      : EagerScope(std::move(environment), taped), fails_at_(fails_at) {}
  ValueId enter(Tensor* t) override {
    if (entered_++ == fails_at_) throw Error(Code::out_of_memory, cat("no memory for argument ", fails_at_));
    return EagerScope::enter(t);
  }
  int entered() const { return entered_; }

 private:
  const int fails_at_;
  int entered_ = 0;
};

struct Forwards : Modules {
  struct Case {
    Ref<Module> module;
    std::vector<Ref<Tensor>> in;
  };
  std::vector<int64_t> three{3, 3}, width{6}, split{2, 3};
  std::deque<std::string> names;  // of cases that are not spelled out

  std::multimap<std::string_view, Case> cases() {
    std::multimap<std::string_view, Case> all;
    const auto add = [&](std::string_view kind, std::vector<Any> args, std::vector<Ref<Tensor>> in) {
      all.emplace(kind, Case{module(kind, std::move(args)), std::move(in)});
    };
    const Ref<Tensor> x = wave({4, 6}), image = wave({2, 3, 6, 6}), labels = integers({4}, {0, 5, 2, 1});
    const Ref<Tensor> signal = wave({2, 3, 6}), volume = wave({1, 3, 4, 4, 4});
    const Any one = Any::integer(1), two = Any::integer(2), three_channels = Any::integer(3);
    for (int dims = 1; dims <= 3; dims++) {
      const Ref<Tensor>& input = dims == 1 ? signal : dims == 2 ? image : volume;
      for (auto* kind : {"LazyConv", "LazyConvTranspose"}) add(names.emplace_back(cat(kind, dims, "d")), {two, two}, {input});
      for (auto* kind : {"LazyBatchNorm", "LazyInstanceNorm"}) add(names.emplace_back(cat(kind, dims, "d")), {}, {input});
      for (auto* kind : {"ZeroPad", "ReflectionPad", "ReplicationPad", "CircularPad"}) add(names.emplace_back(cat(kind, dims, "d")), {one}, {input});
      add(names.emplace_back(cat("ConstantPad", dims, "d")), {one, Any::real(2)}, {input});
      if (dims != 2) add(names.emplace_back(cat("BatchNorm", dims, "d")), {three_channels}, {input});
      if (dims != 2) add(names.emplace_back(cat("Conv", dims, "d")), {three_channels, two, two, one, one, one, one, Any::boolean(true), Any::string("circular")}, {input});
      for (const bool tracked : {false, true})
        add(names.emplace_back(cat("InstanceNorm", dims, "d")), {three_channels, Any::real(1e-5), Any::real(0.1), Any::boolean(tracked), Any::boolean(tracked)}, {input});
    }
    add("BatchNorm1d", {three_channels, Any::real(1e-5), Any()}, {signal});
    add("Softmax2d", {}, {image});
    add("Unflatten", {Any::integer(1), Any::dims(split)}, {x});
    add("Unfold", {two}, {image});
    for (auto* kind : {"UpsamplingNearest2d", "UpsamplingBilinear2d"}) add(kind, {Any::dims(width)}, {image});
    const Ref<Tensor> sequence = wave({3, 2, 6}), state = wave({1, 2, 3}), cell_state = wave({2, 3}), one_step = wave({2, 6});
    for (auto* kind : {"RNN", "GRU", "LSTM"}) add(kind, {Any::integer(6), three_channels}, {sequence}), add(kind, {Any::integer(6), three_channels}, {wave({3, 6})});
    add("RNN", {Any::integer(6), three_channels}, {sequence, state});
    add("LSTM", {Any::integer(6), three_channels}, {sequence, state, state});
    for (auto* kind : {"RNNCell", "GRUCell"}) add(kind, {Any::integer(6), three_channels}, {one_step, cell_state});
    for (auto* kind : {"RNNCell", "GRUCell", "LSTMCell"}) add(kind, {Any::integer(6), three_channels}, {one_step});
    add("TransformerEncoderLayer", {Any::integer(6), two, three_channels}, {sequence});
    add("TransformerDecoderLayer", {Any::integer(6), two, three_channels}, {sequence, sequence});
    const std::vector<Any> small{Any::integer(6), two, one, one, three_channels};
    add("Transformer", small, {sequence, sequence});
    all.emplace("TransformerEncoder", Case{Ref<Module>(module("Transformer", small)->find("encoder")), {sequence}});
    all.emplace("TransformerDecoder", Case{Ref<Module>(module("Transformer", small)->find("decoder")), {sequence, sequence}});
    for (auto* kind : {"Identity", "ReLU", "GELU", "SiLU", "Sigmoid", "Tanh"}) add(kind, {}, {x});
    add("Softmax", {Any::integer(-1)}, {x});
    add("Dropout", {}, {x});
    add("Conv2d", {Any::integer(3), Any::integer(2), Any::dims(three)}, {image});
    add("MaxPool2d", {Any::dims(three)}, {image});
    add("Flatten", {}, {image});
    add("Linear", {Any::integer(6), Any::integer(5)}, {x});
    add("LazyLinear", {Any::integer(5)}, {x});
    add("SyncBatchNorm", {Any::integer(3)}, {image});
    add("CrossMapLRN2d", {three_channels}, {image});
    add("AdaptiveLogSoftmaxWithLoss", {Any::integer(6), Any::integer(9), Any::dims(split), two}, {x, labels});
    add("Embedding", {Any::integer(9), Any::integer(3), Any(), Any::real(0.5)}, {labels});
    add("EmbeddingBag", {Any::integer(9), Any::integer(3), Any::real(0.5)}, {integers({2, 3}, {0, 5, 2, 1, 3, 3})});
    add("Embedding", {Any::integer(9), Any::integer(3)}, {labels});
    add("CrossEntropyLoss", {}, {x, labels});
    add("NLLLoss", {}, {x, labels});
    add("MSELoss", {}, {x, x});
    add("LayerNorm", {Any::dims(width)}, {x});
    add("RMSNorm", {Any::dims(width)}, {x});
    add("BatchNorm2d", {Any::integer(3)}, {image});
    const Ref<Tensor> words = wave({5, 2, 6}), keys = wave({4, 2, 6}, 1);
    for (const bool bias_kv : {false, true}) {
      const std::vector<Any> args{Any::integer(6), Any::integer(2), Any::real(0.5), Any::boolean(true), Any::boolean(bias_kv), Any::boolean(bias_kv)};
      add("MultiheadAttention", args, {words, words, words});
      add("MultiheadAttention", args, {words, keys, keys});
      add("MultiheadAttention", args, {wave({5, 6}), wave({4, 6}), wave({4, 6})});
    }
    all.emplace("Sequential", Case{sequential({module("Linear", {Any::integer(6), Any::integer(6)}), module("LayerNorm", {Any::dims(width)}),
                                               sequential({module("GELU"), module("Dropout")})}), {x}});
    return all;
  }
};

TEST_F(Forwards, end_at_the_first_op_that_fails) {
  const auto all = cases();
  for (auto& kind : environment.kinds->all())
    EXPECT_TRUE(!kind->forward || !kind->op().empty() || all.contains(kind->name())) << kind->name() << " is of several ops and has no case";
  int tried = 0;
  for (const auto& [kind, given] : all)
    for (const bool taped : {false, true})
      for (int at = 0;; at++, tried++) {
        SCOPED_TRACE(cat(kind, ", argument ", at));
        FailingScope scope(context->scope_environment(), taped, at);
        Values in;
        for (auto& t : given.in) in.push(t);
        module_call(scope, *given.module, in);
        if (!scope.status()) break;
        const std::string& message = scope.status()->message();
        EXPECT_NE(message.find(cat("no memory for argument ", at)), message.npos) << message;
        EXPECT_EQ(scope.entered(), at + 1);
      }
  EXPECT_GT(tried, 150);
}

}  // namespace
}  // namespace thunder
