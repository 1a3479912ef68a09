// What becomes of some functions, as text: the claimed trace and the nest of each kernel. A change of what is fused, or
// of how, is seen here. THUNDER_UPDATE_GOLDEN=1 writes the files.
#include <fstream>
#include <sstream>

#include "core/executors/fusion/support.h"
#include "ir/print.h"

namespace thunder::fusion {
namespace {

struct Golden : FusedTest {
  // The strides of each value as the memory plan has them: views of views, all else dense.
  static std::vector<std::vector<int64_t>> strides_of(const Trace& trace) {
    std::vector<std::vector<int64_t>> strides(trace.store->size());
    const auto dense = [&](ValueId v) {
      const Sizes s = dense_strides(trace.type(v).shape);
      strides[v].assign(s.begin(), s.end());
    };
    for (const Input& in : trace.inputs) dense(in.value);
    for (const Node* n : trace.nodes) {
      for (ValueId r : n->results) dense(r);
      if (!def(*n).view) continue;
      ViewOf view{Sizes(strides[n->args[0].v].begin(), strides[n->args[0].v].end())};
      if (def(*n).view(concrete(trace.type(n->args[0].v).shape), n->args, concrete(trace.type(n->results[0]).shape), view))
        strides[n->results[0]].assign(view.strides.begin(), view.strides.end());
    }
    return strides;
  }
  std::string text(const Body& body, const Tensors& in) {
    auto f = compile([&](Scope& s, const Values& values, Values& out) {
      std::vector<Tensor*> tensors;
      for (size_t i = 0; i < values.size(); i++) tensors.push_back(values[i].tensor.get());
      for (Tensor* t : body(s, tensors)) out.push(Any::tensor(t));
    }, only("fusion").get());
    thunder::Values given;
    for (auto& t : in) given.push(Any::tensor(t.get()));
    if (Status* failed = f->prepare(given)) return Ref<Status>::adopt(failed)->message();
    Trace trace = f->traces().back();
    trace.milliseconds = 0;
    std::string out = print(trace);
    const auto strides = strides_of(trace);
    for (const Node* n : trace.nodes) {
      if (std::string_view(n->executor) != "fusion" || def(*n).view) continue;
      std::vector<std::vector<int64_t>> inputs;
      for_each_value(n->args, [&](ValueId v) { inputs.push_back(strides[v]); });
      out += print(lowered(*n, *trace.store, inputs).nest);
    }
    return out;
  }
  static void check(const std::string& name, const std::string& made) {
    const std::string path = "golden/fusion/" + name + ".txt";
    if (std::getenv("THUNDER_UPDATE_GOLDEN")) std::ofstream(path) << made;
    std::ostringstream expected;
    expected << std::ifstream(path).rdbuf();
    EXPECT_EQ(made, expected.str()) << path;
  }
};
using In = std::span<Tensor* const>;

TEST_F(Golden, softmax) {
  check("softmax", text([](Scope& s, In in) { return std::vector{call(s, "softmax", {arg(in[0]), arg(int64_t{1})})}; }, {numbers({64, 100})}));
}

TEST_F(Golden, layer_norm_with_its_gradients) {
  check("layer_norm", text([](Scope& s, In t) {
    return with_gradients(s, call(s, "layer_norm", {arg(t[0]), arg(std::vector<int64_t>{100}), arg(t[1]), arg(t[2])}), t, 3);
  }, {numbers({64, 100}), numbers({100}), numbers({100}), numbers({64, 100})}));
}

TEST_F(Golden, cross_entropy_with_its_gradient) {
  check("cross_entropy", text([](Scope& s, In t) {
    Tensor* loss = call(s, "cross_entropy", {arg(t[0]), arg(t[1])});
    thunder::Values wrt;
    wrt.push(Ref<Tensor>(t[0]));
    return std::vector{loss, (*s.grad(loss, wrt))[0].tensor.get()};
  }, {numbers({64, 1000}), numbers({64}, DType::i64, 0, 1000)}));
}

}  // namespace
}  // namespace thunder::fusion
