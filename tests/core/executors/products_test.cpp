// Products of f32: every size and layout, with each algorithm, with oneDNN and without it, on any number of threads.
// Covers products/algorithms, products/onednn and the products of isa: neon, avx2 and avx512.
// covers: core/executors/cpu/isa/avx2.cpp core/executors/cpu/isa/avx512.cpp core/executors/cpu/isa/neon.cpp
// covers: core/executors/cpu/products/algorithms.cpp core/executors/cpu/products/onednn.cpp
#include "executors/cpu/products/products.h"

#include <dlfcn.h>

#include <cmath>

#include "base/text.h"
#include "executors/cpu/isa/kernels.h"
#include "executors/cpu/products/algorithms.h"
#include "support/functions.h"
#include "support/machines.h"
#include "support/products.h"

namespace thunder::test {
namespace {

const Library* library() {
  std::string report;
  return Library::open(Library::names(), this_machine(), report);
}

// The backends of this machine, with oneDNN if it is there or without it, and the rows that they allow for any product.
Backends backends(bool with_library = true) {
  const Instructions i = this_machine().instructions;
  return {kernels_for(i)->products, i, with_library ? library() : nullptr, nullptr, false};
}
std::vector<bool> rows_there(const Backends& m) { return rows_for(algorithms<float>(), m, Precision::highest, {1000, 1000, 1000}); }
const AlgorithmRow<float>* row_named(std::string_view name) {
  const auto rows = algorithms<float>();
  return &*std::find_if(rows.begin(), rows.end(), [&](auto& row) { return row.name == name; });
}

void product(Scope& s, const Values& in, Values& out) {
  out.push(Ref<Tensor>(op(s, "matmul", {any(in[0].tensor.get()), any(in[1].tensor.get())})));
}
void linear(Scope& s, const Values& in, Values& out) {
  out.push(Ref<Tensor>(op(s, "linear", {any(in[0].tensor.get()), any(in[1].tensor.get()), any(in[2].tensor.get())})));
}

struct Products : CompiledTest {
  void SetUp() override {
    if (!kernels_for(this_machine().instructions)) GTEST_SKIP() << "no vectors here";
  }
  // Whether the executor gives what host gives, and takes `op`.
  void expect_like_host(const Lambda::Body& body, std::vector<Tensor*> in, const std::string& op) {
    const Floats expected = run(*compile(body, only("host").get()), in);
    ASSERT_FALSE(expected.empty()) << error;
    auto compiled = compile(body, only("products").get());
    const Floats got = run(*compiled, in);
    ASSERT_EQ(got.size(), expected.size()) << error;
    for (size_t i = 0; i < got.size(); i++) ASSERT_NEAR(got[i], expected[i], 2e-5 * (1 + std::fabs(expected[i]))) << op << " at " << i;
    EXPECT_GT(lines_of(*compiled, "products", op), 0) << op;
  }
};

struct Onednn : Products {
  void SetUp() override {
    Products::SetUp();
    if (!library()) GTEST_SKIP() << "no libdnnl here: tools/setup installs it";
  }
};

// In the way that is chosen with oneDNN and without it.
TEST_F(Products, handle_every_size_and_layout) {
  for (const bool with_library : {true, false})
    each_product([&](const Product& p) {
      const Backends m = backends(with_library);
      ThreadPool threads(1);
      BatchedProduct<float> one;
      one.each = p;
      Buffer c;
      Launch launch;
      launch.outputs = &c;
      launch.parallel_for = parallel_for;
      launch.threads = &threads;
      EXPECT_EQ(run_products(m, rows_there(m), &launch, one), nullptr);
    });
}

TEST_F(Products, blocked_algorithm_handles_every_size_and_layout) {
  each_product([](const Product& p) { multiply_blocked(backends().kernels, p); });
}

// Each element is summed in one order, whatever is a block.
TEST_F(Products, blocked_and_unblocked_results_have_the_same_bits) {
  const Sizes3 s{200, 70, 600};
  const std::vector<float> a = noise(s.m * s.k, 1), b = noise(s.k * s.n, 2);
  std::vector<float> whole(static_cast<size_t>(s.m * s.n)), blocks = whole;
  Product p{s.m, s.n, s.k, {a.data(), s.k, 1}, {b.data(), s.n, 1}, whole.data(), s.n, false};
  backends().kernels.small(p);
  p.c = blocks.data();
  multiply_blocked(backends().kernels, p);
  EXPECT_EQ(blocks, whole);
}

// The table's order is the cost model: what stands first is tried first.
TEST_F(Products, use_the_first_profitable_algorithm) {
  const auto algorithm = [](int64_t m, int64_t n, int64_t k, bool with_library) {
    BatchedProduct<float> p;
    p.each = {m, n, k, {nullptr, k, 1}, {nullptr, n, 1}, nullptr, n, false};
    const Backends has = backends(with_library);
    return choose_algorithm(has, rows_there(has), p).row->name;
  };
  EXPECT_EQ(algorithm(1, 768, 768, false), "thin");
  EXPECT_EQ(algorithm(16, 32, 16, false), "small");
  EXPECT_EQ(algorithm(512, 512, 512, false), "blocked");
  if (library()) {
    EXPECT_EQ(algorithm(512, 512, 512, true), "onednn");
  }
}

// Those are gathered in parts, of which the last ones are smaller.
TEST_F(Onednn, copies_rows_whose_stride_is_a_multiple_of_512_bytes) {
  for (const Sizes3& s : {Sizes3{300, 600, 300}, Sizes3{128, 640, 256}, Sizes3{70, 90, 5}})
    for (const bool a_collides : {true, false})
      for (const bool b_collides : {true, false})
        for (const bool add : {true, false}) {
          const int64_t far = a_collides ? 384 : 385, apart = b_collides ? 640 : 641;
          const std::vector<float> a = noise(far * s.k + 1, 1), b = noise(apart * s.k + 1, 2), before = noise(s.m * 700, 3);
          std::vector<float> c = before;
          const Product p{s.m, s.n, s.k, {a.data(), 1, far}, {b.data(), apart, 1}, c.data(), 700, add};
          const std::vector<double> expected = product_of(p, before);
          for (const auto multiply : {&Library::multiply, &Library::multiply_with_copies}) {
            std::copy(before.begin(), before.end(), c.begin());
            ASSERT_TRUE((library()->*multiply)(p));
            expect_near(p, expected, cat(s.m, "x", s.k, "x", s.n, add ? ", added" : ""), 1e-6);
            for (int64_t i = 0; i < s.m; i++)
              for (int64_t j = s.n; j < 700; j++) ASSERT_EQ(c[static_cast<size_t>(i * 700 + j)], before[static_cast<size_t>(i * 700 + j)]) << "wrote beside a row";
          }
        }
}

// Those that run here.
std::vector<const IsaKernels*> all_kernels() {
  std::vector<const IsaKernels*> out;
  for (Instructions i : {Instructions::neon, Instructions::avx2, Instructions::avx512})
    if (i <= this_machine().instructions) out.push_back(kernels_for(i));
  return out;
}

TEST(ProductKernel, small_handles_every_size_and_layout) {
  for (const IsaKernels* k : all_kernels()) each_product(k->products.small);
}

TEST(ProductKernel, thin_handles_dense_rows_or_columns) {
  for (const IsaKernels* k : all_kernels())
    each_product([&](const Product& p) { (p.a.column == 1 && (p.b.row == 1 || p.b.column == 1) ? k->products.thin : k->products.small)(p); });
}

TEST(ProductKernel, packed_handles_every_size_and_layout) {
#if defined(__x86_64__)
  const auto packed = [](const ProductKernels& k) {
    each_product([&](Product p) {
      std::vector<float> panels(static_cast<size_t>((p.n + k.panel_columns - 1) / k.panel_columns * k.panel_columns * p.k), NAN);
      k.pack(p.b, p.k, p.n, panels.data());
      const int64_t last = (p.n - 1) / k.panel_columns * k.panel_columns;
      for (int64_t l = 0; l < p.k; l++)
        for (int64_t j = p.n - last; p.n && j < k.panel_columns; j++)
          EXPECT_EQ(panels[static_cast<size_t>(last * p.k + l * k.panel_columns + j)], 0) << "beside " << p.n << " columns";
      p.b = {panels.data(), k.panel_columns, p.k};
      k.packed(p);
    });
  };
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) packed(avx2_kernels().products);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl")) packed(avx512_kernels().products);
#endif
}

// Fewer are taken at a time.
TEST(ProductKernel, small_and_packed_handle_row_strides_of_whole_pages) {
  for (const IsaKernels* k : all_kernels())
    for (const int64_t rows : {7, 8, 13, 25}) {
      const std::vector<float> a = noise(rows * 2048, 1), b = noise(300 * 40, 2), before(static_cast<size_t>(rows * 40), 0);
      std::vector<float> small = before, packed = before, panels(static_cast<size_t>(300 * 64));
      const Matrix apart{a.data(), 2048, 1}, matrix{b.data(), 40, 1};
      const Product p{rows, 40, 300, apart, matrix, small.data(), 40, false};
      const std::vector<double> expected = product_of(p, before);
      k->products.small(p);
      expect_near(p, expected, cat(k->name, ", small"), 1e-6);
      k->products.pack(matrix, 300, 40, panels.data());
      const Product q{rows, 40, 300, apart, {panels.data(), k->products.panel_columns, 300}, packed.data(), 40, false};
      k->products.packed(q);
      expect_near(q, expected, cat(k->name, ", packed"), 1e-6);
    }
}

// a's rows as panels for `transposed_result`, in a vector.
std::vector<float> packed_rows(const ProductKernels& k, const Product& p) {
  std::vector<float> panels(static_cast<size_t>((p.m + k.panel_columns - 1) / k.panel_columns * k.panel_columns * p.k), NAN);
  k.pack({p.a.data, p.a.column, p.a.row}, p.k, p.m, panels.data());
  return panels;
}

TEST(ProductKernel, transposed_result_handles_every_size_and_dense_columns) {
  for (const IsaKernels* k : all_kernels())
    each_product([&](Product p) {
      if (p.b.row != 1) return k->products.small(p);
      const std::vector<float> panels = packed_rows(k->products, p);
      p.a = {panels.data()};
      k->products.transposed_result(p, nullptr);
    });
}

// Of more rows, columns and depth than are computed at a time; rows of the weight also whole pages apart.
TEST(ProductKernel, transposed_result_writes_only_inside_the_rows_of_large_products) {
  for (const IsaKernels* k : all_kernels())
    for (const auto& [add, depth] : {std::pair(false, 2100), std::pair(true, 2100), std::pair(true, 2048)}) {
      const Sizes3 s{150, 215, depth};
      const int64_t row = s.n + 5;
      const std::vector<float> a = noise(s.m * s.k, 1), b = noise(s.n * s.k, 2), before = noise(s.m * row, 3);
      std::vector<float> c = before;
      Product p{s.m, s.n, s.k, {a.data(), s.k, 1}, {b.data(), 1, s.k}, c.data(), row, add};
      const std::vector<double> expected = product_of(p, before);
      const std::vector<float> panels = packed_rows(k->products, p);
      p.a = {panels.data()};
      k->products.transposed_result(p, nullptr);
      expect_near(p, expected, cat(k->name, add ? ", added" : ""), 1e-6);
      for (int64_t i = 0; i < s.m; i++)
        for (int64_t j = s.n; j < row; j++) ASSERT_EQ(c[static_cast<size_t>(i * row + j)], before[static_cast<size_t>(i * row + j)]) << "wrote beside a row";
    }
}

TEST_F(Products, transposed_results_have_the_same_bits_for_any_number_of_threads) {
  const Sizes3 s{300, 700, 1100};
  const std::vector<float> a = noise(s.m * s.k, 1), b = noise(s.k * s.n, 2), bias = noise(s.n, 3);
  std::vector<float> results[3];
  for (int64_t rows : {64, 256, 300}) {
    const Algorithm algorithm{row_named("transposed"), {rows, 64 + rows}};
    const Backends m = backends();
    ThreadPool threads(rows == 64 ? 1 : 3);
    std::vector<float>& c = results[rows == 64 ? 0 : 1];
    c.resize(static_cast<size_t>(s.m * s.n));
    BatchedProduct<float> p;
    p.each = {s.m, s.n, s.k, {a.data(), s.k, 1}, {b.data(), 1, s.k}, c.data(), s.n, false};
    p.bias = bias.data();
    const Panels scratch = allocate_panels(scratch_bytes_of(m, p.each, algorithm));
    Buffer out;
    Launch launch;
    launch.outputs = &out;
    launch.scratch = scratch.get();
    launch.parallel_for = parallel_for;
    launch.threads = &threads;
    EXPECT_EQ(run_products(m, rows_there(m), &launch, p, &algorithm), nullptr);
    std::vector<float> begun;
    for (int64_t i = 0; i < s.m; i++) begun.insert(begun.end(), bias.begin(), bias.end());
    p.each.add = true;
    if (rows == 64) expect_near(p.each, product_of(p.each, begun), "turned", 1e-6);
    EXPECT_EQ(c, results[0]) << rows << " rows at a time";
  }
}

TEST_F(Products, transpose_the_result_of_linear_with_a_moderate_number_of_rows) {
  auto x = random({40, 770}, 1), w = random({130, 770}, 2), bias = random({130}, 3);
  auto plain = compile(linear, only("host").get()), turned = compile(linear, only("products").get());
  const Floats expected = run(*plain, {x.get(), w.get(), bias.get()}), got = run(*turned, {x.get(), w.get(), bias.get()});
  ASSERT_EQ(got.size(), expected.size()) << error;
  for (size_t i = 0; i < got.size(); i++) ASSERT_NEAR(got[i], expected[i], 2e-5 * (1 + std::fabs(expected[i]))) << i;
  const size_t width = static_cast<size_t>(backends().kernels.panel_columns);
  EXPECT_EQ(turned->reports().statistics().peak_bytes, (40 + width - 1) / width * width * 770 * sizeof(float)) << "rows of x as panels, and nothing else";
}

TEST_F(Products, prepack_frozen_weights_and_repack_them_after_writes) {
  auto w = random({130, 770}, 2), bias = random({130}, 3);
  auto frozen = only("products");
  frozen->set("freezing", Any::boolean(true));
  const auto layer = [&](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(op(s, "linear", {any(in[0].tensor), any(w), any(bias)}))); };
  const auto square = [&](Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(op(s, "matmul", {any(in[0].tensor), any(op(s, "transpose", {any(w), Any::integer(0), Any::integer(1)}))})));
  };
  for (const Lambda::Body& body : {Lambda::Body(layer), Lambda::Body(square)})
    for (std::vector<int64_t> rows : {std::vector<int64_t>{1}, {40}, {3, 5, 11}}) {
      rows.push_back(770);
      auto x = random(rows, 1);
      auto plain = compile(body, only("host").get()), packed = compile(body, frozen.get());
      for (int write = 0; write < 3; write++) {
        const Floats expected = run(*plain, {x.get()}), got = run(*packed, {x.get()});
        ASSERT_EQ(got.size(), expected.size()) << error;
        for (size_t i = 0; i < got.size(); i++) ASSERT_NEAR(got[i], expected[i], 2e-5 * (1 + std::fabs(expected[i]))) << i;
        std::fill_n(reinterpret_cast<float*>(w->data()) + 100 * write, 100, 0.5f);
        w->bump();
      }
      EXPECT_EQ(packed->reports().statistics().misses, 1u);
      const bool packs = rows[0] > 1 && this_machine().instructions == Instructions::avx2;
      auto unfrozen = compile(body, only("products").get());
      run(*unfrozen, {x.get()});
      EXPECT_EQ(packed->reports().statistics().peak_bytes >= unfrozen->reports().statistics().peak_bytes + 130 * 770 * sizeof(float), packs);
    }
}

TEST_F(Products, results_have_the_same_bits_for_any_number_of_threads) {
  for (const Sizes3& s : {Sizes3{300, 1100, 80}, Sizes3{1, 5000, 300}, Sizes3{7, 40, 30}}) {
    const std::vector<float> a = noise(3 * s.m * s.k, 1), b = noise(s.k * s.n, 2), bias = noise(s.n, 3);
    std::vector<float> results[2];
    for (int parallel : {0, 1}) {
      ThreadPool threads(parallel ? 3 : 1);
      results[parallel].resize(static_cast<size_t>(3 * s.m * s.n));
      BatchedProduct<float> p;
      p.each = {s.m, s.n, s.k, {a.data(), 1, s.m}, {b.data(), 1, s.k}, results[parallel].data(), s.n, false};
      p.bias = bias.data();
      p.batch[p.rank++] = {3, s.m * s.k, 0, s.m * s.n};
      Launch launch;
      launch.parallel_for = parallel_for;
      launch.threads = &threads;
      EXPECT_EQ(run_products(backends(), rows_there(backends()), &launch, p), nullptr);
    }
    EXPECT_EQ(results[0], results[1]);
  }
}

// By tiles of a size that does not divide the rows.
TEST_F(Products, are_divided_evenly_between_two_threads) {
  for (const Sizes3& s : {Sizes3{394, 768, 768}, Sizes3{300, 3072, 768}, Sizes3{900, 300, 64}, Sizes3{32, 384, 384}, Sizes3{128, 1376, 512}, Sizes3{196, 384, 1536}, Sizes3{784, 192, 768}}) {
    BatchedProduct<float> p;
    p.each = {s.m, s.n, s.k, {nullptr, s.k, 1}, {nullptr, 1, s.k}, nullptr, s.n, false};
    static int64_t half, work[2];
    work[0] = work[1] = 0;
    Launch launch;
    launch.parallel_for = [](const Launch*, int64_t n, int64_t, ThreadPool::Body body, void* arg) -> Status* {
      half = 0;
      Status* failed = body(0, (n + 1) / 2, arg);
      half = 1;
      return failed ? failed : body((n + 1) / 2, n, arg);
    };
    const auto count = [](const Product& tile) { return work[half] += tile.m * tile.n, true; };
    EXPECT_EQ(TiledProducts(p, tiling(s.m, s.n, s.k, 1 << 28), count).run(&launch), nullptr);
    EXPECT_EQ(work[0] + work[1], s.m * s.n);
    EXPECT_LE(std::max(work[0], work[1]), s.m * s.n * 0.54) << s.m;
  }
}

TEST_F(Onednn, preserves_the_callers_openmp_thread_count) {
  void* openmp = dlopen("libgomp.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (!openmp) GTEST_SKIP() << "another OpenMP than libgomp";
  auto* set = reinterpret_cast<void (*)(int)>(dlsym(openmp, "omp_set_num_threads"));
  auto* get = reinterpret_cast<int (*)()>(dlsym(openmp, "omp_get_max_threads"));
  const int before = get();
  set(3);
  auto x = random({80, 80}, 1);
  run(*compile(product), {x.get(), x.get()});
  EXPECT_EQ(get(), 3);
  set(before);
  dlclose(openmp);
}

TEST_F(Products, run_batched_matmul) {
  const std::vector<std::vector<std::vector<int64_t>>> shapes = {
      {{70, 80}, {80, 90}}, {{4, 30, 20}, {20, 50}}, {{4, 30, 20}, {4, 20, 50}}, {{2, 1, 5, 30}, {3, 30, 4}}, {{30}, {30, 40}}, {{40, 30}, {30}},
      {{2, 3, 70, 66}, {2, 3, 66, 68}}, {{3, 40, 30}, {3, 30, 1}}, {{1, 300}, {300, 2000}}};
  for (auto& s : shapes)
    expect_like_host(product, {random(s[0], 1).get(), random(s[1], 2).get()}, "prims.matmul");
}

TEST_F(Products, run_linear_of_any_rank) {
  for (std::vector<int64_t> shape : {std::vector<int64_t>{}, {1}, {33}, {4, 9}, {70, 5, 2}}) {
    shape.push_back(77);
    expect_like_host(linear, {random(shape, 1).get(), random({65, 77}, 2).get(), random({65}, 3).get()}, "linear");
    expect_like_host(linear, {random(shape, 1).get(), random({77}, 2).get(), random({}, 3).get()}, "linear");
  }
}

// Groups of one row, of many, none, and rows behind the last end; what is summed in such groups, too.
TEST_F(Products, run_groups_of_rows_with_a_matrix_each) {
  auto grouped = [](Scope& s, const Values& in, Values& out) {
    out.push(Ref<Tensor>(op(s, "grouped_mm", {any(in[0].tensor.get()), any(in[1].tensor.get()), any(in[2].tensor.get())})));
  };
  for (const std::vector<int64_t>& groups : {std::vector<int64_t>{1, 70, 70, 90}, {0, 0, 0, 0}, {25, 50, 75, 100}, {40, 30, 120, 7}}) {
    auto ends = integers({4}, groups);
    expect_like_host(grouped, {random({100, 80}, 1).get(), random({4, 80, 96}, 2).get(), ends.get()}, "prims.grouped_matmul");
    expect_like_host(grouped, {random({80, 100}, 1).get(), random({100, 96}, 2).get(), ends.get()}, "prims.grouped_matmul");
    expect_like_host(grouped, {random({4, 96, 80}, 1).get(), random({80, 100}, 2).get(), ends.get()}, "prims.grouped_matmul");
  }
}

// A fused addition runs tile by tile, also on rows that are in no group.
TEST_F(Products, run_an_addition_on_all_rows_of_groups) {
  auto added = [](Scope& s, const Values& in, Values& out) {
    Tensor* y = op(s, "grouped_mm", {any(in[0].tensor.get()), any(in[1].tensor.get()), any(in[2].tensor.get())});
    out.push(Ref<Tensor>(op(s, "add", {any(y), any(in[3].tensor.get())})));
  };
  auto ends = integers({3}, {20, 20, 50});
  std::vector<Ref<Tensor>> in = {random({60, 40}, 1), random({3, 40, 48}, 2), ends, random({60, 48}, 3)};
  std::vector<Tensor*> given = {in[0].get(), in[1].get(), in[2].get(), in[3].get()};
  const Floats expected = run(*compile(added, only("host").get()), given);
  const Floats got = run(*compile(added, only("products,fusion").get()), given);
  ASSERT_EQ(got.size(), expected.size()) << error;
  for (size_t i = 0; i < got.size(); i++) ASSERT_NEAR(got[i], expected[i], 1e-5) << i;
}

TEST_F(Products, run_the_gradients_of_linear) {
  for (size_t input : {0u, 1u}) {
    auto gradient = [input](Scope& s, const Values& in, Values& out) {
      Tensor* y = op(s, "linear", {any(in[0].tensor.get()), any(in[1].tensor.get()), any(in[2].tensor.get())});
      Values wrt;
      wrt.push(in[input].tensor);
      out.push((*s.grad(op(s, "sum", {any(op(s, "mul", {any(y), any(y)}))}), wrt))[0].tensor);
    };
    expect_like_host(gradient, {random({33, 77}, 1).get(), random({65, 77}, 2).get(), random({65}, 3).get()}, "prims.matmul");
  }
}

// Whatever the layout of the image, whose rows or columns may be the last dim; and the gradients.
TEST_F(Products, run_convolutions_of_one_pixel) {
  constexpr const char* kOps[] = {"prims.conv2d_input_grad", "prims.conv2d_weight_grad", "prims.conv2d"};
  for (std::vector<int64_t> x : {std::vector<int64_t>{8, 30, 7, 7}, {3, 70, 1, 1}, {1, 5, 33, 40}, {2, 9, 1, 12}})
    for (bool turned : {false, true})
      for (size_t which : {0u, 1u, 2u}) {  // the gradient by the image or the weight, or the result
        auto body = [turned, which](Scope& s, const Values& in, Values& out) {
          const int64_t order[] = {0, 1, 3, 2};
          Tensor* image = in[0].tensor.get();
          if (turned) image = op(s, "prims.permute", {any(image), Any::dims(order)});
          Tensor* y = op(s, "conv2d", {any(image), any(in[1].tensor.get())});
          if (which == 2) return out.push(Ref<Tensor>(y));
          Values wrt;
          wrt.push(in[which].tensor);
          out.push((*s.grad(op(s, "sum", {any(op(s, "mul", {any(y), any(y)}))}), wrt))[0].tensor);
        };
        expect_like_host(body, {random(x, 1).get(), random({40, x[1], 1, 1}, 2).get()}, kOps[which]);
      }
}

TEST_F(Products, leave_other_convolutions) {
  const int64_t two[] = {2, 2}, one[] = {1, 1}, none[] = {0, 0};
  for (auto [stride, padding, taps] : {std::tuple(two, none, 1), std::tuple(one, one, 1), std::tuple(one, one, 3)}) {
    auto compiled = compile([=](Scope& s, const Values& in, Values& out) {
      Tensor* y = op(s, "conv2d", {any(in[0].tensor.get()), any(in[1].tensor.get()), Any(), Any::dims({stride, 2}), Any::dims({padding, 2})});
      out.push(Ref<Tensor>(y));
    });
    run(*compiled, {random({2, 4, 6, 6}, 1).get(), random({5, 4, taps, taps}, 2).get()});
    EXPECT_EQ(lines_of(*compiled, "products", "prims.conv2d"), 0);
  }
}

TEST_F(Products, decline_other_dtypes) {
  auto x = integers({2, 2}, {3, 3, 3, 3});
  auto compiled = compile(product);
  Tensor *in[] = {x.get(), x.get()}, *out = nullptr;
  ASSERT_EQ(compiled->call_tensors(in, 2, &out, 1), nullptr);
  EXPECT_EQ(*reinterpret_cast<int64_t*>(out->data()), 18);
  EXPECT_STREQ(compiled->reports().traces().back().nodes[0]->executor, "host");
  out->release();
}

// By the names that the executor's ways had as executors, too.
TEST_F(Products, precede_host_unless_the_executors_option_reorders_them) {
  auto x = random({3, 3}, 1);
  const std::pair<const char*, const char*> cases[] = {{"", "products"}, {"products", "products"}, {"half", "products"}, {"host", "host"}};
  for (auto [given, expected] : cases) {
    auto compiled = compile(product, only(given).get());
    run(*compiled, {x.get(), x.get()});
    EXPECT_STREQ(compiled->reports().traces().back().nodes[0]->executor, expected) << given;
  }
}

TEST(OnednnLibrary, a_found_library_is_logged_only_where_hints_are_asked_for) {
  std::vector<std::string> log;
  ContextHooks hooks;
  hooks.user = &log;
  hooks.log = [](int32_t, const char* component, const char* text, size_t bytes, void* user) {
    static_cast<std::vector<std::string>*>(user)->push_back(cat(component, ": ", std::string_view(text, bytes)));
  };
  auto context = make<Context>(hooks);
  EXPECT_TRUE(log.empty()) << "nobody asked for hints";
}

TEST(OnednnLibrary, a_missing_library_is_named) {
  const char* const names[] = {"libnone.so.1", "libnone.so.2"};
  std::string report;
  EXPECT_EQ(Library::open(names, this_machine(), report), nullptr);
  EXPECT_EQ(products_executor(this_machine(), {}, report, names).has_value(), this_machine().instructions != Instructions::none);
  EXPECT_EQ(report, "none of libnone.so.1, libnone.so.2 can be opened");
}

TEST(OnednnLibrary, a_library_without_the_expected_symbols_is_named) {
  const char* const names[] = {"libm.so.6"};
  std::string report;
  EXPECT_EQ(Library::open(names, this_machine(), report), nullptr);
  EXPECT_EQ(report, "libm.so.6 has no dnnl_sgemm");
}

}  // namespace
}  // namespace thunder::test
