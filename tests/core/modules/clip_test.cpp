// Gradients made smaller.
#include "fixture.h"

namespace thunder {
namespace {

struct Clip : Modules {
  Ref<Tensor> a = tensor({2}, {3, 0}), b = tensor({1}, {-4});

  // The clipped values of a and b, and the norm, of both scopes alike.
  std::vector<Floats> clipped(double max_norm) {
    auto body = [&](Scope& s, const Values& in, Values& out) {
      Tensor* total = nullptr;
      out.assign(*clip_grad_norm(s, in, max_norm, &total));
      out.push(Ref<Tensor>(total));
    };
    auto f = compile(body);
    Values in, out;
    in.push(a), in.push(b);
    EXPECT_EQ(f->call(in, out), nullptr);
    std::vector<Floats> results;
    for (size_t i = 0; i < out.size(); i++) results.push_back(floats(*out[i].tensor));
    EXPECT_EQ(floats(*eager(body, {a, b})), results[0]);
    return results;
  }
};

TEST_F(Clip, scales_to_the_norm_of_all) {
  auto r = clipped(1);
  EXPECT_EQ(r[2], Floats{5});
  expect_near(r[0], {0.6f, 0}, 1e-6f);
  expect_near(r[1], {-0.8f}, 1e-6f);
}

TEST_F(Clip, leaves_small_gradients_alone) {
  auto r = clipped(10);
  EXPECT_EQ(r[0], floats(*a));
  EXPECT_EQ(r[1], floats(*b));
}

TEST_F(Clip, bounds_each_element) {
  auto y = eager([&](Scope& s, const Values& in, Values& out) { out.assign(*clip_grad_value(s, in, 2)); }, {a});
  EXPECT_EQ(floats(*y), (Floats{2, 0}));
  EXPECT_EQ(floats(*a), (Floats{3, 0})) << "the gradient itself stays";
  eager([&](Scope& s, const Values& in, Values& out) { out.assign(*clip_grad_norm(s, in, -1, nullptr)); }, {a});
  EXPECT_NE(error.find("max_norm must not be negative, got -1"), std::string::npos);
}

}  // namespace
}  // namespace thunder
