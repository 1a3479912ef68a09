// Updates at places that many indices name, which are sorted first (updates, scatters, radix), give the CPU's bits; very
// many at one place (runs), and reals in fixed point (scatters), its numbers, and the same bits each time.
// covers: core/executors/cuda/radix.cpp core/executors/cuda/rules/scatters.cpp core/executors/cuda/rules/updates.cpp
#include <algorithm>
#include <cmath>
#include <random>

#include "cuda/cuda.h"

namespace thunder::test {
namespace {

struct CudaUpdates : CudaTest {
  Ref<CompileOptions> all = make<CompileOptions>();

  void agrees(const Lambda::Body& body, const std::vector<Ref<Tensor>>& in, std::string_view prim, float tolerance = 0) {
    auto f = compile(body, all.get());
    std::vector<Tensor*> here, there;
    std::vector<Ref<Tensor>> moved;
    for (const Ref<Tensor>& t : in) moved.push_back(on_gpu(t)), here.push_back(t.get()), there.push_back(moved.back().get());
    const Floats expected = CompiledTest::run(*f, here);
    ASSERT_FALSE(expected.empty()) << error;
    const Floats got = run(*f, there);
    ASSERT_EQ(got.size(), expected.size()) << error;
    for (size_t i = 0; i < got.size(); i++) ASSERT_NEAR(got[i], expected[i], tolerance * std::fabs(expected[i])) << i;
    EXPECT_EQ(run(*f, there), got);
    EXPECT_EQ(executor_of(*f, prim), "cuda");
  }
  // Each of them many times, in no order.
  static std::vector<int64_t> mixed(int64_t count, int64_t places) {
    std::vector<int64_t> out;
    for (int64_t i = 0; i < count; i++) out.push_back((i * 7919 + i / 3) % places);
    return out;
  }
};

TEST_F(CudaUpdates, of_many_indices_add_in_their_order) {
  for (const int64_t places : {20, 40, 70000})
    agrees([](Scope& s, const Values& in, Values& out) {
      out.push(Ref<Tensor>(op(s, "index_add", {any(in[0].tensor), Any::integer(0), any(in[1].tensor), any(in[2].tensor)})));
    }, {random({places, 3}, 1), integers({1500}, mixed(1500, places)), random({1500, 3}, 2)}, "prims.take_add");
}

// Parts of a sort begin and end inside of runs, with them, and cover nothing of them.
TEST_F(CudaUpdates, of_very_many_at_one_place_are_joined_by_parts) {
  std::vector<int64_t> at;
  const int64_t lengths[] = {255, 256, 257, 1, 512, 700, 3, 0, 1000, 256};
  for (int64_t place = 0; place < 10; place++) at.insert(at.end(), static_cast<size_t>(lengths[place]), place);
  std::mt19937 shuffled(1);
  std::shuffle(at.begin(), at.end(), shuffled);
  const auto n = static_cast<int64_t>(at.size());
  agrees([](Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(op(s, "index_add", {any(in[0].tensor), Any::integer(0), any(in[1].tensor), any(in[2].tensor)})));
  }, {random({10, 3}, 1, 1, 2), integers({n}, at), random({n, 3}, 2, 1, 2)}, "prims.take_add", 1e-5F);
  for (const char* how : {"prod", "amax", "amin"})
    agrees([how](Scope& s, const Values& in, Values& out) {
      out.push(Ref<Tensor>(op(s, "prims.scatter_reduce", {any(in[0].tensor), Any::integer(0), any(in[1].tensor), any(in[2].tensor), Any::string(how)})));
    }, {random({10}, 1, 0.99, 1.01), integers({n}, at), random({n}, 2, 0.99, 1.01)}, "prims.scatter_reduce", how == std::string_view("prod") ? 1e-4F : 0);
}

// In whatever order, without sorting: into few places through a block's own sums, and into many.
TEST_F(CudaUpdates, of_integers_are_added_at_once) {
  for (const int64_t places : {3, 5000})
    for (const DType d : {DType::i32, DType::i64}) {
      SCOPED_TRACE(cat(name(d), " into ", places));
      const auto both = [d](const char* prim) {
        return [d, prim](Scope& s, const Values& in, Values& out) {
          Tensor *x = op(s, "to", {any(in[0].tensor), as(d)}), *src = op(s, "to", {any(in[2].tensor), as(d)});
          out.push(Ref<Tensor>(op(s, "to", {any(op(s, prim, {any(x), Any::integer(0), any(in[1].tensor), any(src)})), as(DType::f32)})));
        };
      };
      const std::vector<Ref<Tensor>> in = {random({places}, 1, -9, 9), integers({2000}, mixed(2000, places)), random({2000}, 2, -9, 9)};
      agrees(both("index_add"), in, "prims.take_add");
      agrees(both("prims.scatter_add"), in, "prims.scatter_add");
    }
}

// Of slices, and of elements of four bytes and of one, which are sorted.
TEST_F(CudaUpdates, of_many_indices_keep_the_last_slice) {
  for (const int64_t width : {1, 3, 40, 300})
    for (const DType d : {DType::f32, DType::u8}) {
      SCOPED_TRACE(cat(width, " of ", name(d)));
      agrees([d](Scope& s, const Values& in, Values& out) {
        Tensor *const index[] = {in[1].tensor.get()}, *x = op(s, "to", {any(in[0].tensor), as(d)}), *src = op(s, "to", {any(in[2].tensor), as(d)});
        Any indices;
        indices.kind = ArgKind::values, indices.count = 1, indices.ts = index;
        out.push(Ref<Tensor>(op(s, "to", {any(op(s, "index_put", {any(x), indices, any(src), Any::boolean(false)})), as(DType::f32)})));
      }, {random({700, width}, 1, 0, 250), integers({900}, mixed(900, 650)), random({900, width}, 2, 0, 250)}, "prims.index_put");
    }
}

TEST_F(CudaUpdates, of_many_indices_keep_the_last_value) {
  for (const bool accumulate : {false, true})
    agrees([accumulate](Scope& s, const Values& in, Values& out) {
      Tensor* const index[] = {in[1].tensor.get(), in[2].tensor.get()};
      Any indices;
      indices.kind = ArgKind::values, indices.count = 2, indices.ts = index;
      out.push(Ref<Tensor>(op(s, "index_put", {any(in[0].tensor), indices, any(in[3].tensor), Any::boolean(accumulate)})));
    }, {random({20, 30}, 1), integers({900}, mixed(900, 20)), integers({900}, mixed(900, 29)), random({900}, 2)}, "prims.index_put");
}

TEST_F(CudaUpdates, scatter_along_every_dim) {
  for (const int64_t dim : {0, 1})
    for (const char* how : {"add", "prod", "amax", "amin"}) {
      SCOPED_TRACE(cat(how, " along ", dim));
      agrees([=](Scope& s, const Values& in, Values& out) {
        const std::vector<Any> add = {any(in[0].tensor), Any::integer(dim), any(in[1].tensor), any(in[2].tensor)};
        std::vector<Any> reduce = add;
        reduce.push_back(Any::string(how));
        const bool adds = how == std::string_view("add");
        out.push(Ref<Tensor>(op(s, adds ? "prims.scatter_add" : "prims.scatter_reduce", adds ? add : reduce)));
      }, {random({50, 60}, 1, 1, 2), integers({40, 50}, mixed(2000, 50)), random({45, 55}, 2, 1, 2)}, how == std::string_view("add") ? "prims.scatter_add" : "prims.scatter_reduce", how == std::string_view("add") ? 1e-6F : 0);
    }
}

// In a block's own places (of one line and of several, or of few places in all), in a table of all, and by a sort.
TEST_F(CudaUpdates, scatter_reals_in_any_order) {
  const struct { std::vector<int64_t> into, index, from; int64_t dim; } cases[] = {
      {{200, 60}, {200, 50}, {200, 55}, 1}, {{200, 60}, {150, 50}, {170, 50}, 1}, {{200, 3}, {200, 2000}, {200, 2000}, 1}, {{20}, {3000}, {3000}, 0},
      {{5000}, {9000}, {9000}, 0}, {{60, 70}, {50, 70}, {50, 70}, 0}, {{100000}, {100}, {100}, 0}};
  for (const auto& c : cases)
    for (const DType d : {DType::f32, DType::bf16, DType::f16}) {
      int64_t count = 1, places = 1;
      for (const int64_t n : c.index) count *= n;
      for (const int64_t n : c.into) places *= n;
      if (d != DType::f32 && count > 10 * places) continue;  // the CPU rounds each sum to their few bits
      SCOPED_TRACE(cat(name(d), " of ", count, " along ", c.dim));
      agrees([&](Scope& s, const Values& in, Values& out) {
        Tensor *x = op(s, "to", {any(in[0].tensor), as(d)}), *src = op(s, "to", {any(in[2].tensor), as(d)});
        out.push(Ref<Tensor>(op(s, "to", {any(op(s, "prims.scatter_add", {any(x), Any::integer(c.dim), any(in[1].tensor), any(src)})), as(DType::f32)})));
      }, {random(c.into, 1, 1, 2), integers(c.index, mixed(count, c.into[static_cast<size_t>(c.dim)])), random(c.from, 2, 1, 2)}, "prims.scatter_add", d == DType::f32 ? 1e-5F : 0.03F);
    }
}

// Each place has an exponent of its own, so small values beside large ones elsewhere are kept.
TEST_F(CudaUpdates, scatter_small_large_and_infinite_reals) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();
  const float values[] = {1e-30F, 2e-30F, 1e38F, -3e37F, kInfinity, 1, kInfinity, -kInfinity, kNan, 1, -kInfinity, 1e-44F, 1e-45F};
  const std::vector<int64_t> places = {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 6, 6};
  const Floats expected = {3e-30F, 7e37F, kInfinity, kNan, kNan, -kInfinity, 1e-44F + 1e-45F, 0};
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(op(s, "prims.scatter_add", {any(in[0].tensor), Any::integer(0), any(in[1].tensor), any(in[2].tensor)})));
  }, all.get());
  for (const int64_t into : {8, 5000}) {
    const int64_t copies = into == 8 ? 1 : 500;  // so many that a table is worth it
    std::vector<int64_t> at;
    Floats from;
    for (int64_t i = 0; i < copies; i++)
      for (size_t n = 0; n < places.size(); n++) at.push_back(places[n]), from.push_back(i ? 0 : values[n]);
    const auto count = static_cast<int64_t>(at.size());
    const Floats got = run(*f, {on_gpu(random({into}, 1, 0, 0)).get(), on_gpu(integers({count}, at)).get(), on_gpu(tensor({count}, from)).get()});
    ASSERT_EQ(got.size(), static_cast<size_t>(into)) << error;
    for (size_t i = 0; i < expected.size(); i++) {
      if (std::isnan(expected[i])) EXPECT_TRUE(std::isnan(got[i])) << i;
      else EXPECT_FLOAT_EQ(got[i], expected[i]) << i;
    }
  }
}

TEST_F(CudaUpdates, scatter_into_a_dim_of_size_0) {
  const auto f = compile([](Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(op(s, "prims.scatter_add", {any(in[0].tensor), Any::integer(1), any(in[1].tensor), any(in[2].tensor)})));
  }, all.get());
  const auto scattered = [&](int64_t count) {
    return run(*f, {on_gpu(random({200, 0}, 1)).get(), on_gpu(integers({200, count}, std::vector<int64_t>(static_cast<size_t>(200 * count)))).get(),
                    on_gpu(random({200, count}, 2)).get()});
  };
  EXPECT_EQ(scattered(0), Floats{});
  EXPECT_EQ(error, "");
  EXPECT_EQ(scattered(3), Floats{});
  EXPECT_NE(error.find("an index is out of range for dim 1 of size 0"), std::string::npos) << error;
}

TEST_F(CudaUpdates, refuse_indices_into_a_dim_of_size_0) {
  const auto add = compile([](Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(op(s, "index_add", {any(in[0].tensor), Any::integer(0), any(in[1].tensor), any(in[2].tensor)})));
  }, all.get());
  const auto added = [&](int64_t count) {
    return run(*add, {on_gpu(random({0, 3}, 1)).get(), on_gpu(integers({count}, std::vector<int64_t>(static_cast<size_t>(count)))).get(),
                      on_gpu(random({count, 3}, 2)).get()});
  };
  EXPECT_EQ(added(0), Floats{});
  EXPECT_EQ(error, "");
  for (const int64_t count : {2, 1000}) {
    error.clear();
    EXPECT_EQ(added(count), Floats{});
    EXPECT_NE(error.find("an index is out of range for dim 0 of size 0"), std::string::npos) << error;
  }
}

TEST_F(CudaUpdates, refuse_an_index_out_of_range) {
  std::vector<int64_t> indices = mixed(1000, 40);
  indices[777] = 40;
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(op(s, "index_add", {any(in[0].tensor), Any::integer(0), any(in[1].tensor), any(in[2].tensor)})));
  }, all.get());
  const Ref<Tensor> x = on_gpu(random({40, 3}, 1)), at = on_gpu(integers({1000}, indices)), more = on_gpu(random({1000, 3}, 2));
  const Ref<Tensor> out = result(*f, {x.get(), at.get(), more.get()});
  const bool refused = !out || [&] {
    try {
      data(*out);
      return false;
    } catch (const Error& e) {
      error = e.what();
      return true;
    }
  }();
  EXPECT_TRUE(refused);
  EXPECT_NE(error.find("index 40 is out of range for dim 0 of size 40"), std::string::npos) << error;
}

// A function that is gone before its kernels have run still reports what they refuse.
TEST_F(CudaUpdates, refuse_an_index_after_their_function_is_gone) {
  const Ref<Tensor> x = on_gpu(random({40, 3}, 1)), at = on_gpu(integers({2}, {1, 40})), more = on_gpu(random({2, 3}, 2));
  Ref<Tensor> out;
  {
    auto f = compile([](Scope& s, const Values& in, Values& made) {
      made.push(Ref<Tensor>(op(s, "index_add", {any(in[0].tensor), Any::integer(0), any(in[1].tensor), any(in[2].tensor)})));
    }, all.get());
    out = result(*f, {x.get(), at.get(), more.get()});
  }
  ASSERT_TRUE(out) << error;
  try {
    data(*out);
    FAIL() << "the index was taken";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("index 40 is out of range for dim 0 of size 40"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace thunder::test
