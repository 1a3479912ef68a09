// Reductions whose rows lie beside each other in memory: a block takes a tile of them (loops/cuda/columns, reductions), whole or in parts.
// And packs that selects choose (packs).
// covers: core/executors/cuda/cuda.cpp core/loops/cuda/columns.cpp core/loops/cuda/packs.cpp
// covers: core/loops/cuda/reductions.cpp
#include "cuda/cuda.h"

namespace thunder::test {
namespace {

const std::vector<int64_t> kRows = {0}, kOneRow = {1, 64}, kOneRowOfBoth = {1, 192}, kRowOfMatrices = {1, 2, 64};

struct CudaColumns : CudaTest {
  // A list of two tensors, which lives as long as the test.
  Any both(Tensor* a, Tensor* b) {
    Tensor** const pair = pairs_.emplace_back(new Tensor*[2]{a, b}).get();
    Any list;
    list.kind = ArgKind::values, list.count = 2, list.ts = pair;
    return list;
  }
  std::vector<std::unique_ptr<Tensor*[]>> pairs_;


  Ref<CompileOptions> all = make<CompileOptions>();

  // What it gives on the device is what it gives on the CPU, and the same bits in a second call.
  void agrees(const Lambda::Body& body, const std::vector<Ref<Tensor>>& in, float within = 2e-5F) {
    auto f = compile(body, all.get());
    std::vector<Tensor*> here, there;
    std::vector<Ref<Tensor>> moved;
    for (const Ref<Tensor>& t : in) moved.push_back(on_gpu(t)), here.push_back(t.get()), there.push_back(moved.back().get());
    const Floats expected = CompiledTest::run(*f, here), got = run(*f, there);
    ASSERT_FALSE(expected.empty()) << error;
    ASSERT_EQ(got.size(), expected.size()) << error;
    for (size_t i = 0; i < got.size(); i++) ASSERT_NEAR(got[i], expected[i], within * (1 + std::abs(expected[i]))) << "at " << i;
    EXPECT_EQ(run(*f, there), got) << "the same bits again";
  }
  void reduces(const char* name, const std::vector<int64_t>& shape, DType dtype, std::vector<int64_t> dims) {
    SCOPED_TRACE(cat(name, " of ", thunder::name(dtype), " ", shape[0], ", ", shape[1]));
    agrees([=](Scope& s, const Values& in, Values& out) {
      Tensor* x = op(s, "to", {any(in[0].tensor), as(dtype)});
      out.push(Ref<Tensor>(op(s, "to", {any(op(s, name, {any(x), Any::dims(dims)})), as(DType::f32)})));
    }, {random(shape, 1)}, dtype == DType::bf16 ? 2e-2F : 2e-5F);
  }
};

// Many columns, few, no whole packs, rows that are cut in parts, and few rows.
TEST_F(CudaColumns, are_reduced_whatever_their_number) {
  for (const DType dtype : {DType::f32, DType::bf16, DType::f64})
    for (const std::vector<int64_t>& shape : std::vector<std::vector<int64_t>>{{900, 80}, {3000, 3}, {701, 77}, {40, 512}, {3, 300}, {5, 1}}) {
      reduces("sum", shape, dtype, {0});
      reduces("amax", shape, dtype, {0});
    }
}

TEST_F(CudaColumns, are_reduced_between_other_dims) {
  reduces("sum", {6, 50, 24}, DType::f32, {1});
  reduces("sum", {6, 50, 24}, DType::f32, {0, 1});
  reduces("mean", {6, 3, 40}, DType::bf16, {1});
}

TEST_F(CudaColumns, are_normalised_by_what_was_reduced) {
  for (const std::vector<int64_t>& shape : std::vector<std::vector<int64_t>>{{300, 96}, {50, 33}, {4, 2048}})
    agrees([](Scope& s, const Values& in, Values& out) {
      out.push(Ref<Tensor>(op(s, "softmax", {any(in[0].tensor), Any::integer(0)})));
    }, {random(shape, 1)});
}

// Few columns of many rows: sums in parts, and what is computed of them in a second launch (fission).
TEST_F(CudaColumns, are_normalised_in_two_launches_where_they_are_long_and_few) {
  for (const DType dtype : {DType::f32, DType::bf16})
    for (const std::vector<int64_t>& shape : std::vector<std::vector<int64_t>>{{5000, 16}, {3001, 7}, {1500, 64}}) {
      SCOPED_TRACE(cat(thunder::name(dtype), " ", shape[0], ", ", shape[1]));
      agrees([dtype](Scope& s, const Values& in, Values& out) {
        const std::vector<int64_t> rows = {0};
        Tensor* x = op(s, "to", {any(op(s, "to", {any(in[0].tensor), as(dtype)})), as(DType::f32)});
        Tensor* mean = op(s, "mean", {any(x), Any::dims(rows)});
        Tensor* square = op(s, "mean", {any(op(s, "mul", {any(x), any(x)})), Any::dims(rows)});
        Tensor* scale = op(s, "rsqrt", {any(op(s, "add", {any(square), any(in[1].tensor)}))});
        Tensor* y = op(s, "mul", {any(op(s, "sub", {any(x), any(mean)})), any(scale)});
        out.push(Ref<Tensor>(op(s, "add", {any(op(s, "to", {any(y), as(dtype)})), any(mean)})));
      }, {random(shape, 1), random({shape[1]}, 2, 0, 1)}, dtype == DType::bf16 ? 2e-2F : 1e-4F);
    }
}

TEST_F(CudaColumns, name_the_place_of_the_greatest) {
  agrees([](Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(op(s, "to", {any(op(s, "argmax", {any(in[0].tensor), Any::integer(0)})), as(DType::f32)})));
  }, {random({700, 33}, 1)});
}

// The gradient of a bias beside that of what it was added to.
TEST_F(CudaColumns, are_summed_beside_what_is_stored_whole) {
  agrees([this](Scope& s, const Values& in, Values& out) {
    Tensor* y = op(s, "mul", {any(in[0].tensor), any(in[1].tensor)});
    Tensor* column = op(s, "reshape", {any(op(s, "sum", {any(y), Any::dims(kRows)})), Any::dims(kOneRow)});
    out.push(Ref<Tensor>(op(s, "cat", {both(y, column), Any::integer(0)})));
  }, {random({2000, 64}, 1), random({2000, 64}, 2)});
}

// Whole packs of one operand or the other, and packs that a bound divides.
TEST_F(CudaColumns, of_concatenated_parts_are_read_in_packs) {
  for (const int64_t first : {64, 63})
    agrees([this](Scope& s, const Values& in, Values& out) {
      Tensor* joined = op(s, "cat", {both(in[0].tensor.get(), op(s, "neg", {any(in[1].tensor)})), Any::integer(1)});
      Tensor* column = op(s, "reshape", {any(op(s, "sum", {any(joined), Any::dims(kRows)})), Any::dims(kOneRowOfBoth)});
      out.push(Ref<Tensor>(op(s, "cat", {both(joined, column), Any::integer(0)})));
    }, {random({500, first}, 1), random({500, 192 - first}, 2)});
}

// A pack that is read behind the middle alone is not there for what is chosen, element by element, before it.
TEST_F(CudaColumns, of_which_a_part_in_the_middle_is_replaced_are_read_where_they_lie) {
  for (const int64_t size : {12, 15, 18, 64, 66})
    for (const int64_t at : {8, 9, 10})
      agrees([=](Scope& s, const Values& in, Values& out) {
        const Any x = any(in[0].tensor), from = Any::integer(at), to = Any::integer(at + 1), first = Any::integer(0);
        Tensor* part = op(s, "neg", {any(op(s, "slice", {x, first, from, to}))});
        out.push(Ref<Tensor>(op(s, "slice_scatter", {x, any(part), first, from, to})));
      }, {random({size}, 1)});
}

// What is stored of one part alone, as the last state of an RNN, is computed elsewhere than where the part is chosen.
TEST_F(CudaColumns, of_concatenated_parts_may_be_stored_too) {
  auto f = compile([this](Scope& s, const Values& in, Values& out) {
    const auto row = [&](Tensor* x) { return op(s, "reshape", {any(x), Any::dims(kRowOfMatrices)}); };
    Tensor* last = op(s, "tanh", {any(op(s, "add", {any(in[0].tensor), any(in[1].tensor)}))});
    out.push(Ref<Tensor>(op(s, "cat", {both(row(in[2].tensor.get()), row(last)), Any::integer(0)})));
    out.push(Ref<Tensor>(last));
  }, all.get());
  const Ref<Tensor> x = random({2, 64}, 1), y = random({2, 64}, 2), before = random({2, 64}, 3);
  const Ref<Tensor> here[] = {x, y, before}, there[] = {on_gpu(x), on_gpu(y), on_gpu(before)};
  Values in, moved, expected, got;
  for (size_t i = 0; i < 3; i++) in.push(here[i]), moved.push(there[i]);
  ASSERT_EQ(f->call(in, expected), nullptr);
  ASSERT_EQ(f->call(moved, got), nullptr);
  for (size_t i = 0; i < 2; i++) {
    const Floats a = CompiledTest::data(*expected[i].tensor), b = data(*got[i].tensor);
    ASSERT_EQ(a.size(), b.size());
    for (size_t k = 0; k < a.size(); k++) ASSERT_NEAR(a[k], b[k], 1e-6F) << "result " << i << " at " << k;
  }
}

// A bound divides the row that a softmax keeps in shared memory.
TEST_F(CudaColumns, of_long_concatenated_rows_are_read_in_packs) {
  agrees([this](Scope& s, const Values& in, Values& out) {
    Tensor* joined = op(s, "cat", {both(in[0].tensor.get(), in[1].tensor.get()), Any::integer(1)});
    out.push(Ref<Tensor>(op(s, "softmax", {any(joined), Any::integer(1)})));
  }, {random({3, 8192}, 1), random({3, 4096}, 2)});
}

// A thread reads its short row in packs, which it keeps between the passes.
TEST_F(CudaColumns, beside_each_other_in_short_rows_are_normalised) {
  for (const int64_t n : {16, 32, 12, 7})
    agrees([](Scope& s, const Values& in, Values& out) {
      out.push(Ref<Tensor>(op(s, "softmax", {any(in[0].tensor), Any::integer(1)})));
    }, {random({500, n}, 1)});
}

}  // namespace
}  // namespace thunder::test
