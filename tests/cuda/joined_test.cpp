// Steps of one kernel text as one launch (joined_steps, joined): the results of steps that go one by one, in how many launches, and
// what is not joined.
// covers: core/loops/cuda/joined.cpp
// covers: core/loops/cuda/launcher.cpp
#include "cuda/cuda.h"
#include "modules/optimizer.h"
#include "support/fake_cuda/counted.h"
#include "jit/reports/explain.h"

namespace thunder::test {
namespace {

struct CudaJoined : CudaTest {
  ModuleEnvironment environment = context->module_environment();

  static Values list(const std::vector<Ref<Tensor>>& tensors) {
    Values out;
    out.open(false, {});
    for (auto& t : tensors) out.push(t);
    out.close();
    return out;
  }
  static Ref<CompileOptions> mode(const char* name) {
    auto options = make<CompileOptions>();
    if (name) options->set("mode", Any::string(name));
    return options;
  }
  // Of what runs: -1 where the driver is a real one.
  template <class F>
  int64_t launches_of(F&& run) {
    const int64_t before = kernel_launches();
    run();
    return before < 0 ? -1 : kernel_launches() - before;
  }

  // Parameters of GPT-2's shapes, each dim 64 times smaller or whole where it is small: matrices and biases of twelve layers.
  static std::vector<std::vector<int64_t>> shapes() {
    std::vector<std::vector<int64_t>> out = {{200, 12}, {16, 12}, {12}, {12}};
    for (int layer = 0; layer < 12; layer++)
      for (const std::vector<int64_t>& shape : std::vector<std::vector<int64_t>>{
               {36, 12}, {36}, {12, 12}, {12}, {48, 12}, {48}, {12, 48}, {12}, {12}, {12}, {12}, {12}})
        out.push_back(shape);
    return out;
  }
  // Parameters on a device after some steps of AdamW, of which the learning rate moves; `most`: launches of each step but the first.
  std::vector<Floats> trained(bool on_device, const CompileOptions& options, int64_t* most = nullptr) {
    std::vector<Ref<Tensor>> parameters, gradients;
    uint32_t seed = 0;
    for (const auto& shape : shapes()) {
      parameters.push_back(random(shape, ++seed)), gradients.push_back(random(shape, ++seed));
      if (on_device) parameters.back() = on_gpu(parameters.back()), gradients.back() = on_gpu(gradients.back());
    }
    auto optimizer = make<Optimizer>(environment, "AdamW", list(parameters), nullptr);
    auto f = compile([&](Scope& s, const Values& in, Values&) { optimizer->step(s, in); }, &options);
    for (int step = 0; step < 4; step++) {
      optimizer->set_f64("lr", 0.01 * (step + 1));
      // Other memory in each call, which the parameters of a recorded kernel are updated for.
      std::vector<Ref<Tensor>> given;
      for (const Ref<Tensor>& g : gradients) given.push_back(on_device && step % 2 ? on_gpu(host(*g)) : g);
      const int64_t launches = launches_of([&] { take(*f, given); });
      if (most && step) *most = std::max(*most, launches);
    }
    std::vector<Floats> out;
    for (const Ref<Tensor>& p : parameters) out.push_back(on_device ? data(*p) : CompiledTest::data(*p));
    return out;
  }
  void take(Compiled& f, const std::vector<Ref<Tensor>>& tensors) {
    Values out;
    const auto failed = Ref<Status>::adopt(f.call(list(tensors), out));
    ASSERT_FALSE(failed) << failed->message();
  }
};

TEST_F(CudaJoined, steps_of_an_optimizer_are_few_launches) {
  const std::vector<Floats> expected = trained(false, *mode(nullptr));
  for (const char* name : {static_cast<const char*>(nullptr), "reduce-overhead"}) {
    int64_t most = -1;
    const std::vector<Floats> got = trained(true, *mode(name), &most);
    ASSERT_EQ(got.size(), expected.size());
    for (size_t i = 0; i < got.size(); i++)
      for (size_t k = 0; k < got[i].size(); k++) ASSERT_NEAR(got[i][k], expected[i][k], 2e-6) << i << " at " << k;
    EXPECT_LE(most, 10) << "148 tensors have a launch each otherwise";
  }
}

// Each of four tensors of its own text, size and alignment, in their own memory.
TEST_F(CudaJoined, nests_differ_in_sizes_and_addresses) {
  const auto options = mode(nullptr);
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    for (size_t i = 0; i < in.size(); i++) out.push(Ref<Tensor>(op(s, "exp", {any(in[i].tensor)})));
  }, options.get());
  std::vector<Ref<Tensor>> x;
  std::vector<Tensor*> given;
  for (int64_t n : {3, 1001, 7, 70001, 5}) x.push_back(on_gpu(random({n}, static_cast<uint32_t>(n)))), given.push_back(x.back().get());
  for (int call = 0; call < 2; call++) {
    std::vector<Tensor*> made(x.size());
    const int64_t launches = launches_of([&] {
      Status* failed = f->call_tensors(given.data(), given.size(), made.data(), made.size());
      ASSERT_FALSE(failed) << failed->message();
    });
    if (launches >= 0) {
      EXPECT_EQ(launches, 1);
    }
    for (size_t i = 0; i < x.size(); i++) {
      const Floats in = data(*x[i]), got = data(*Ref<Tensor>::adopt(made[i]));
      for (size_t k = 0; k < in.size(); k++) ASSERT_NEAR(got[k], std::exp(in[k]), 1e-6) << i << " at " << k;
    }
  }
}

// The second reads what the first makes, through a product between them; of six steps no four are free of one another.
TEST_F(CudaJoined, steps_that_need_one_another_stay_apart) {
  const auto options = mode(nullptr);
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    Tensor* x = in[0].tensor.get();
    for (int i = 0; i < 6; i++) x = op(s, "tanh", {any(op(s, "matmul", {any(x), any(in[1].tensor)}))});
    out.push(Ref<Tensor>(x));
  }, options.get());
  const Ref<Tensor> x = random({4, 4}, 1), w = random({4, 4}, 2);
  const Floats expected = CompiledTest::run(*f, {x.get(), w.get()}), got = run(*f, {on_gpu(x).get(), on_gpu(w).get()});
  ASSERT_EQ(got.size(), expected.size()) << error;
  for (size_t i = 0; i < got.size(); i++) EXPECT_NEAR(got[i], expected[i], 1e-6);
}

// The kernel after each says that it is in the launch of the first.
TEST_F(CudaJoined, kernels_are_explained) {
  const auto options = mode(nullptr);
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    for (size_t i = 0; i < in.size(); i++) out.push(Ref<Tensor>(op(s, "exp", {any(in[i].tensor)})));
  }, options.get());
  std::vector<Ref<Tensor>> x;
  for (uint32_t i = 0; i < 4; i++) x.push_back(on_gpu(random({5 + 2 * static_cast<int64_t>(i)}, i)));
  take(*f, x);
  const std::string report = explain(*f, "loops");
  EXPECT_NE(report.find("in one launch with the 3 kernels that follow"), std::string::npos) << report;
  EXPECT_NE(report.find("in the launch of the kernel before"), std::string::npos) << report;
}

}  // namespace
}  // namespace thunder::test
