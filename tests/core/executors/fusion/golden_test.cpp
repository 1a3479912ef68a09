// What becomes of some functions, as text: the claimed trace and the nest of each kernel. A change of what is fused, or
// of how, is seen here. THUNDER_UPDATE_GOLDEN=1 writes the files.
#include <fstream>
#include <sstream>

#include "core/executors/fusion/support.h"
#include "ir/print.h"

namespace thunder::fusion {
namespace {

struct Golden : FusedTest {
  std::string text(const Body& body, const Tensors& in) {
    Trace trace = traced(body, in);
    trace.milliseconds = 0;
    std::string out = print(trace);
    for (const CpuNest& nest : nests(trace)) out += print(nest);
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
