// MultiheadAttention against numbers that PyTorch 2.11 gives for the same weights and inputs.
#include <numeric>

#include "fixture.h"

namespace thunder {
namespace {

struct MultiheadAttention : Modules {
  // Weights that any language can make again: parameter i, in the order of their names, is a wave
  // of phase 0.7 (i + 1), halved.
  Ref<Module> make(std::vector<Any> args) {
    auto m = module("MultiheadAttention", std::move(args));
    Values params;
    list_parameters(*m, params);
    for (size_t i = 0; i < params.size(); i++) {
      Tensor& p = *params[i].tensor;
      Shape64 shape;
      for (Dim d : p.type().shape) shape.push_back(d.value());
      const Floats values = floats(*wave(shape, 0.7f * static_cast<float>(i + 1)));
      for (size_t j = 0; j < values.size(); j++) reinterpret_cast<float*>(p.data())[j] = values[j] / 2;
    }
    return m;
  }
  std::string parameters(const Ref<Module>& m) {
    Values params;
    list_parameters(*m, params);
    std::string out;
    for (const std::string& path : leaf_names(params))
      out += cat(path, " ", name(m->find_tensor(path)->tensor->type()), "\n");
    return out;
  }
  // The results, eager and compiled alike.
  std::vector<Ref<Tensor>> call(const Ref<Module>& m, std::vector<Ref<Tensor>> in,
                                const std::vector<std::pair<const char*, Any>>& named = {}) {
    Values given, out;
    for (auto& t : in) given.push(t);
    if (!named.empty()) given.open(true, {});
    for (auto& [key, value] : named) given.key(key), given.push(value);
    if (!named.empty()) given.close();
    auto f = compile(m);
    auto failed = f->call(given, out);
    error = failed ? failed->message() : "";
    std::vector<Ref<Tensor>> results;
    for (size_t i = 0; i < out.size(); i++) results.push_back(out[i].tensor);
    EagerScope scope(context->scope_environment(), false);
    Values* eagerly = module_call(scope, *m, given);
    EXPECT_EQ(scope.status() ? scope.status()->message() : "", error);
    for (size_t i = 0; i < results.size(); i++)
      if (results[i]) expect_near(floats(*results[i]), floats(*(*eagerly)[i].tensor), 1e-6f);
    scope.reset();
    return results;
  }
  Ref<Tensor> booleans(const Shape64& shape, const std::vector<bool>& values) {
    Shape dims;
    for (int64_t d : shape) dims.push_back(d);
    auto t = Tensor::empty(default_allocator(), TensorType{DType::boolean, Device::cpu, false, dims});
    for (size_t i = 0; i < values.size(); i++) reinterpret_cast<bool*>(t->data())[i] = values[i];
    return t;
  }
  void refused(const Ref<Module>& m, std::vector<Ref<Tensor>> in, std::string_view piece,
               const std::vector<std::pair<const char*, Any>>& named = {}) {
    call(m, std::move(in), named);
    EXPECT_NE(error.find(piece), std::string::npos) << error;
  }
};

TEST_F(MultiheadAttention, of_one_sequence_with_itself) {
  auto m = make({Any::integer(4), Any::integer(2)});
  EXPECT_EQ(parameters(m),
            "in_proj_bias f32[12]\nin_proj_weight f32[12, 4]\nout_proj.bias "
            "f32[4]\nout_proj.weight f32[4, 4]\n");
  auto x = wave({3, 2, 4});
  const Floats wanted = {1.15165f, 0.262655f, -0.0873984f, 0.276915f, 1.20224f, 0.361868f, -0.0106154f, 0.368048f,
                         1.20633f, 0.381148f, 0.0525575f,  0.477934f, 1.24403f, 0.419163f, 0.0385469f,  0.422988f,
                         1.14554f, 0.37636f,  0.103424f,   0.620987f, 1.26738f, 0.447348f, 0.0696025f,  0.460844f};
  const Floats weights = {0.224402f, 0.368406f, 0.407192f, 0.222292f, 0.20158f,  0.576128f,
                          0.376829f, 0.133166f, 0.490005f, 0.191393f, 0.265004f, 0.543603f,
                          0.185141f, 0.204574f, 0.610284f, 0.233016f, 0.202512f, 0.564472f};
  auto is = call(m, {x, x, x});
  ASSERT_EQ(is.size(), 2u) << error;
  EXPECT_EQ(cat(name(is[0]->type()), name(is[1]->type())), "f32[3, 2, 4]f32[2, 3, 3]");
  expect_near(floats(*is[0]), wanted, 1e-5f);
  expect_near(floats(*is[1]), weights, 1e-5f);

  // Without weights, and by other handles, which are projected one by one.
  auto alone = call(m, {x, wave({3, 2, 4}), wave({3, 2, 4})}, {{"need_weights", Any::boolean(false)}});
  ASSERT_EQ(alone.size(), 2u) << error;
  EXPECT_FALSE(alone[1]);
  expect_near(floats(*alone[0]), wanted, 1e-5f);
}

TEST_F(MultiheadAttention, of_other_widths_with_every_option) {
  auto m = make({Any::integer(4), Any::integer(2), Any::real(0), Any::boolean(true), Any::boolean(true),
                 Any::boolean(true), Any::integer(3), Any::integer(5), Any::boolean(true)});
  EXPECT_EQ(parameters(m),
            "bias_k f32[1, 1, 4]\nbias_v f32[1, 1, 4]\nin_proj_bias f32[12]\nk_proj_weight f32[4, "
            "3]\nout_proj.bias "
            "f32[4]\nout_proj.weight f32[4, 4]\nq_proj_weight f32[4, 4]\nv_proj_weight f32[4, 5]\n");
  auto hidden = booleans({2, 3}, {false, true, false, false, false, true});
  auto padded = booleans({2, 3}, {false, false, false, true, false, false});
  auto is = call(
      m, {wave({2, 2, 4}, 1), wave({2, 3, 3}, 2), wave({2, 3, 5}, 3)},
      {{"attn_mask", any(hidden)}, {"average_attn_weights", Any::boolean(false)}, {"key_padding_mask", any(padded)}});
  ASSERT_EQ(is.size(), 2u) << error;
  expect_near(floats(*is[0]),
              {-0.293425f, -0.496352f, 0.471815f, 0.604752f, -0.0458052f, -0.366102f, 0.207451f, 0.298598f, -0.396267f,
               -0.575763f, 0.400394f, 0.548526f, -0.376235f, -0.787698f, -0.349875f, -0.275392f},
              1e-5f);
  expect_near(floats(*is[1]),
              {0.193897f, 0, 0.337178f, 0.210236f, 0.258689f, 0.187153f, 0.203476f, 0, 0.235167f, 0.374204f,
               0.202927f, 0, 0.436697f, 0.174916f, 0.185459f, 0.258488f, 0.216624f, 0, 0.275865f, 0.249023f,
               0,         0, 0.276944f, 0.280573f, 0.442483f, 0,         0.528054f, 0, 0.202452f, 0.269494f,
               0,         0, 0.348792f, 0.35123f,  0.299978f, 0,         0.399926f, 0, 0.337334f, 0.26274f},
              1e-5f);
}

TEST_F(MultiheadAttention, without_a_batch_and_causal) {
  auto m = make({Any::integer(4), Any::integer(2), Any::real(0), Any::boolean(false)});
  EXPECT_EQ(parameters(m), "in_proj_weight f32[12, 4]\nout_proj.weight f32[4, 4]\n");
  auto x = wave({3, 4});
  auto later = booleans({3, 3}, {false, true, true, false, false, true, false, false, false});
  const Floats wanted = {0.127733f, 0.182315f, 0.288396f,  0.422361f,   -0.0343095f, 0.0590157f,
                         0.223517f, 0.438937f, -0.180187f, -0.0650125f, 0.148582f,   0.446559f};
  auto quick =
      call(m, {x, x, x},
           {{"attn_mask", any(later)}, {"is_causal", Any::boolean(true)}, {"need_weights", Any::boolean(false)}});
  ASSERT_EQ(quick.size(), 2u) << error;
  expect_near(floats(*quick[0]), wanted, 1e-5f);
  auto is = call(m, {x, x, x}, {{"attn_mask", any(later)}});
  ASSERT_EQ(is.size(), 2u) << error;
  expect_near(floats(*is[0]), wanted, 1e-5f);
  expect_near(floats(*is[1]), {1, 0, 0, 0.486175f, 0.513825f, 0, 0.331934f, 0.316886f, 0.35118f}, 1e-5f);
}

TEST_F(MultiheadAttention, adds_masks_of_numbers) {
  auto m = make({Any::integer(4), Any::integer(2), Any::real(0), Any::boolean(true), Any::boolean(false),
                 Any::boolean(false), Any(), Any(), Any::boolean(true)});
  auto memory = wave({2, 3, 4}, 2), mask = wave({4, 2, 3}, 0.4f), padding = wave({2, 3}, 0.9f);
  auto is =
      call(m, {wave({2, 2, 4}, 1), memory, memory}, {{"attn_mask", any(mask)}, {"key_padding_mask", any(padding)}});
  ASSERT_EQ(is.size(), 2u) << error;
  expect_near(floats(*is[0]),
              {0.947943f, 0.0771701f, -0.264632f, 0.102997f, 1.07936f, 0.212249f, -0.163462f, 0.182686f, 0.126237f,
               -0.71815f, -0.973973f, -0.449771f, 0.129378f, -0.697851f, -0.94396f, -0.394456f},
              1e-5f);
  expect_near(floats(*is[1]),
              {0.23751f, 0.533902f, 0.228588f, 0.365949f, 0.447952f, 0.186099f, 0.212312f, 0.720379f, 0.0673089f,
               0.0930994f, 0.666143f, 0.240758f},
              1e-5f);
}

TEST_F(MultiheadAttention, starts_and_drops_out_as_pytorchs) {
  seed(3);
  auto m = module("MultiheadAttention", {Any::integer(64), Any::integer(4), Any::real(0.5)});
  for (auto* bias : {"in_proj_bias", "out_proj.bias"})
    for (float b : floats(*m->find_tensor(bias)->tensor)) EXPECT_EQ(b, 0);
  Floats w = floats(*m->find_tensor("in_proj_weight")->tensor);
  auto [low, high] = std::minmax_element(w.begin(), w.end());
  const float bound = std::sqrt(6.0f / (64 + 3 * 64));
  EXPECT_TRUE(*low >= -bound && *low < -0.99f * bound && *high<bound&& * high> 0.99f * bound) << *low << " " << *high;

  auto x = wave({8, 1, 64});
  const auto weights = [&] {
    return floats(*eager(
        [&](Scope& s, const Values& in, Values& out) { out.push((*module_call(s, *m, in))[1].tensor); }, {x, x, x}));
  };
  const auto row = [](const Floats& all) { return std::accumulate(all.begin(), all.begin() + 8, 0.0f); };
  EXPECT_NE(weights(), weights()) << "each call drops others";
  m->set_training(false);
  EXPECT_NEAR(row(weights()), 1, 1e-5);
}

TEST_F(MultiheadAttention, says_what_does_not_fit) {
  EXPECT_NE(thrown([&] {
              module("MultiheadAttention", {Any::integer(6), Any::integer(4)});
            }).find("multiple of num_heads, got 6 and 4"),
            std::string::npos);
  EXPECT_NE(thrown([&] {
              module("MultiheadAttention", {Any::integer(4), Any::integer(2), Any::real(1.5)});
            }).find("got 1.5"),
            std::string::npos);
  auto m = module("MultiheadAttention", {Any::integer(4), Any::integer(2)});
  auto x = wave({3, 2, 4}), longer = wave({5, 2, 4}), other = wave({3, 7, 4});
  refused(m, {x, x}, "argument 'value' is missing");
  refused(m, {wave({4}), x, x}, "must have 3 dims, or 2 without a batch, got f32[4], f32[3, 2, 4]");
  refused(m, {wave({3, 2, 5}), x, x}, "must be 4, 4 and 4 wide, got f32[3, 2, 5]");
  refused(m, {x, longer, x}, "key and value differ in length, got f32[3, 2, 4], f32[5, 2, 4] and f32[3, 2, 4]");
  refused(m, {x, other, other}, "differ in batch");
  refused(m, {x, x, x}, "is_causal says what attn_mask holds, which is missing", {{"is_causal", Any::boolean(true)}});
  auto narrow = wave({3, 2}), one = wave({3});
  refused(m, {x, x, x}, "attn_mask must be [3, 3] or [4, 3, 3], got f32[3, 2]", {{"attn_mask", any(narrow)}});
  refused(m, {x, x, x}, "key_padding_mask must be [2, 3], got f32[3]", {{"key_padding_mask", any(one)}});
}

TEST_F(MultiheadAttention, passes_gradients_to_all_its_parameters) {
  auto m = make({Any::integer(4), Any::integer(2), Any::real(0), Any::boolean(true), Any::boolean(true),
                 Any::boolean(false), Any::integer(3), Any::integer(5)});
  auto q = wave({2, 2, 4}, 1), k = wave({3, 2, 3}, 2), v = wave({3, 2, 5}, 3);
  Values params;
  list_parameters(*m, params);
  for (bool weights : {false, true}) {
    const auto loss_of = [&](Scope& s, const Values& in) {
      Values given;
      for (size_t i = 0; i < 3; i++) given.push(in[i].tensor);
      given.push(Any()), given.push(Any::boolean(weights));
      Tensor* y = (*module_call(s, *m, given))[0].tensor.get();
      return op(s, "prims.sum", {any(op(s, "mul", {any(y), any(wave({2, 2, 4}, 0.3f))})), Any::dims({})});
    };
    const auto loss = [&] {
      return floats(*eager([&](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(loss_of(s, in))); },
                           {q, k, v}))[0];
    };
    for (size_t i = 0; i < params.size(); i++) {
      auto f = compile(
          [&](Scope& s, const Values& in, Values& out) { out.push((*s.grad(loss_of(s, in), params))[i].tensor); });
      const Floats gradient = floats(*run(*f, {q, k, v}));
      Tensor& p = *params[i].tensor;
      const auto at = static_cast<size_t>(p.elements() / 2);
      auto* data = reinterpret_cast<float*>(p.data());
      const float kept = data[at], step = 0.02f;
      data[at] = kept + step;
      const double up = loss();
      data[at] = kept - step;
      const double down = loss();
      data[at] = kept;
      EXPECT_NEAR(gradient[at], (up - down) / (2 * step), 0.005) << leaf_names(params)[i];
    }
  }
}

}  // namespace
}  // namespace thunder
