// Kernels that read and write by indices, on several threads: every element gets what one thread would give it, in the order of the indices.
#include <cmath>

#include "base/text.h"
#include "base/thread_pool.h"
#include "support/eager.h"
#include "support/failure.h"

namespace thunder {
namespace {

using Ints = std::vector<int64_t>;
const Registry kRegistry;

struct Array {
  Ints shape, strides;
  std::vector<double> data;
  Buffer buffer() {
    Buffer b;
    b.data = data.data(), b.shape = shape.data(), b.strides = strides.data(), b.rank = static_cast<int32_t>(shape.size()), b.dtype = DType::f64;
    return b;
  }
};
struct Index {
  Ints shape, strides, data;
  Buffer buffer() {
    Buffer b;
    b.data = data.data(), b.shape = shape.data(), b.strides = strides.data(), b.rank = static_cast<int32_t>(shape.size()), b.dtype = DType::i64;
    return b;
  }
};
Ints dense(const Ints& shape) {
  Ints out(shape.size());
  int64_t step = 1;
  for (size_t i = shape.size(); i-- > 0; step *= shape[i]) out[i] = step;
  return out;
}
int64_t count(const Ints& shape) {
  int64_t n = 1;
  for (int64_t d : shape) n *= d;
  return n;
}
Array numbers(const Ints& shape, int64_t seed) {
  Array a{shape, dense(shape), {}};
  for (int64_t i = 0; i < count(shape); i++) a.data.push_back(std::sin(static_cast<double>(i * 7 + seed)));
  return a;
}
// From -size to size - 1, many of them equal.
Index places(const Ints& shape, int64_t size, bool negative, int64_t seed) {
  Index a{shape, dense(shape), {}};
  for (int64_t i = 0; i < count(shape); i++) {
    const int64_t at = (i * i * 31 + seed * i + seed) % size;
    a.data.push_back(negative && i % 3 == 0 ? at - size : at);
  }
  return a;
}

// [40, 9, 7, 5] read or written at `used` index tensors of 6000 positions.
void expect_index_put(size_t used, bool accumulate) {
  const Ints sizes{40, 9, 7, 5};
  Array in = numbers(sizes, 1);
  Ints shape{100, 60};
  std::vector<Index> indices;
  for (size_t d = 0; d < used; d++) indices.push_back(places(shape, sizes[d], true, static_cast<int64_t>(d) + 3));
  Ints values_shape = shape;
  for (size_t d = used; d < 4; d++) values_shape.push_back(sizes[d]);
  Array values = numbers(values_shape, 2);
  std::vector<double> want = in.data;
  const int64_t slab = count(values_shape) / 6000;
  for (int64_t p = 0; p < 6000; p++) {
    int64_t at = 0;
    for (size_t d = 0; d < used; d++) {
      const int64_t i = indices[d].data[static_cast<size_t>(p)];
      at += (i < 0 ? i + sizes[d] : i) * in.strides[d];
    }
    for (int64_t s = 0; s < slab; s++) {
      double& to = want[static_cast<size_t>(at + s)];
      const double v = values.data[static_cast<size_t>(p * slab + s)];
      to = accumulate ? to + v : v;
    }
  }
  ThreadPool pool(3);
  for (ThreadPool* threads : {static_cast<ThreadPool*>(nullptr), &pool}) {
    Array out{sizes, in.strides, std::vector<double>(in.data.size())};
    std::vector<Buffer> buffers{in.buffer()};
    for (Index& i : indices) buffers.push_back(i.buffer());
    buffers.push_back(values.buffer());
    const Buffer to = out.buffer();
    const Arg args[] = {Arg(), Arg(), Arg(), Arg::boolean(accumulate)};
    const OpDef& op = kRegistry.get("prims.index_put");
    ASSERT_EQ(op.reference({buffers, {&to, 1}, args, &op, threads}), nullptr);
    ASSERT_EQ(out.data, want) << used << " indices" << (threads ? ", threads" : "");
    // And back: what is read is what was put last.
    buffers.pop_back(), buffers[0] = to;
    Array read{values_shape, dense(values_shape), std::vector<double>(values.data.size())};
    const Buffer result = read.buffer();
    const OpDef& index = kRegistry.get("prims.index");
    ASSERT_EQ(index.reference({buffers, {&result, 1}, {}, &index, threads}), nullptr);
    for (int64_t p = 0; p < 6000; p++) {
      int64_t at = 0;
      for (size_t d = 0; d < used; d++) {
        const int64_t i = indices[d].data[static_cast<size_t>(p)];
        at += (i < 0 ? i + sizes[d] : i) * in.strides[d];
      }
      for (int64_t s = 0; s < slab; s++) ASSERT_EQ(read.data[static_cast<size_t>(p * slab + s)], want[static_cast<size_t>(at + s)]);
    }
  }
}
TEST(IndexPut, stores_or_adds_in_the_order_of_the_indices_on_any_threads) {
  for (size_t used : {1u, 2u, 3u, 4u})
    for (bool accumulate : {false, true}) expect_index_put(used, accumulate);
}

TEST(IndexPut, that_refuses_changes_nothing) {
  Eager e;
  Tensor *x = e.tensor({3}, {1, 2, 3}), *at = e.tensor({2}, {0, 3}, DType::i64), *v = e.tensor({2}, {7, 8});
  Tensor* const list[] = {at};
  Any indices;
  indices.kind = ArgKind::values, indices.count = 1, indices.ts = list;
  EXPECT_PRED2(contains, e.refused("index_put_", {any(x), indices, any(v)}), "index 3 is out of range for dim 0 of size 3");
  EXPECT_EQ(values(x), (Doubles{1, 2, 3}));
  for (int64_t far : {INT64_MAX, INT64_MIN}) {
    reinterpret_cast<int64_t*>(at->data())[1] = far;
    EXPECT_PRED2(contains, e.refused("index_put_", {any(x), indices, any(v)}), cat("index ", far, " is out of range"));
    EXPECT_PRED2(contains, e.refused("prims.gather", {any(x), any(0), any(at)}), cat("index ", far, " is out of range"));
    EXPECT_PRED2(contains, e.refused("prims.take_add", {any(x), any(0), any(at), any(v)}), cat("index ", far, " is out of range"));
  }
}

// Adds along a dim, the last or another: the slabs of one index, in the order of the index.
TEST(TakeAdd, adds_what_one_thread_adds_along_each_dim) {
  ThreadPool pool(3);
  for (int64_t dim : {0, 1, 2}) {
    Array in = numbers({30, 20, 25}, 1);
    Index index = places({4, 15}, in.shape[static_cast<size_t>(dim)], false, 5);
    Ints shape;
    for (int64_t d = 0; d < 3; d++)
      if (d == dim) shape.push_back(4), shape.push_back(15);
      else shape.push_back(in.shape[static_cast<size_t>(d)]);
    Array src = numbers(shape, 3);
    std::vector<double> want = in.data;
    for (int64_t a = 0; a < shape[0]; a++)
      for (int64_t b = 0; b < shape[1]; b++)
        for (int64_t c = 0; c < shape[2]; c++)
          for (int64_t d = 0; d < shape[3]; d++) {
            const int64_t at[] = {a, b, c, d};
            int64_t to = 0, from = 0, rest = 0;
            for (int64_t i = 0; i < 4; i++) from += at[i] * src.strides[static_cast<size_t>(i)];
            const int64_t i = index.data[static_cast<size_t>(at[dim] * 15 + at[dim + 1])];
            for (int64_t k = 0; k < 3; k++) to += (k == dim ? i : at[rest]) * in.strides[static_cast<size_t>(k)], rest += k == dim ? 2 : 1;
            want[static_cast<size_t>(to)] += src.data[static_cast<size_t>(from)];
          }
    for (ThreadPool* threads : {static_cast<ThreadPool*>(nullptr), &pool}) {
      Array out{in.shape, in.strides, std::vector<double>(in.data.size())};
      const Buffer buffers[] = {in.buffer(), index.buffer(), src.buffer()}, to = out.buffer();
      const Arg args[] = {Arg(), Arg::integer(dim)};
      const OpDef& op = kRegistry.get("prims.take_add");
      ASSERT_EQ(op.reference({buffers, {&to, 1}, args, &op, threads}), nullptr);
      ASSERT_EQ(out.data, want) << "dim " << dim;
    }
  }
}

TEST(ScatterReduce, keeps_nan_and_works_on_one_element) {
  Eager e;
  Tensor *x = e.tensor({3}, {1, 2, 3}), *at = e.tensor({3}, {0, 0, 2}, DType::i64), *src = e.tensor({3}, {NAN, 5, 1});
  const Doubles found = values(e.run("scatter_reduce", {any(x), any(0), any(at), any(src), any("amax")}));
  EXPECT_TRUE(std::isnan(found[0]));
  EXPECT_EQ(found[1], 2);
  EXPECT_EQ(found[2], 3);
  Tensor *one = e.scalar(3), *zero = e.scalar(0, DType::i64);
  EXPECT_EQ(values(e.run("scatter_reduce", {any(one), any(0), any(zero), any(e.scalar(4)), any("prod")})), (Doubles{12}));
}

TEST(Erfinv, of_the_ends_is_infinite_and_beyond_them_no_number) {
  Eager e;
  const Doubles y = values(e.run("erfinv", {any(e.tensor({5}, {-1, 1, 0, 1.5, NAN}))}));
  EXPECT_EQ(y[0], -INFINITY);
  EXPECT_EQ(y[1], INFINITY);
  EXPECT_EQ(y[2], 0);
  EXPECT_TRUE(std::isnan(y[3]) && std::isnan(y[4]));
}

TEST(I0, overflows_no_earlier_than_f32_does) {
  Eager e;
  const Doubles y = values(e.run("i0", {any(e.tensor({4}, {90, -90, INFINITY, NAN}))}));
  EXPECT_NEAR(y[0] / 5.138e37, 1, 1e-3);
  EXPECT_EQ(y[0], y[1]);
  EXPECT_EQ(y[2], INFINITY);
  EXPECT_TRUE(std::isnan(y[3]));
}

TEST(Cdist, of_many_equal_rows_is_zero_with_a_gradient_of_zero) {
  Eager e(true);
  Tensor* x = e.tensor({30, 2}, Doubles(60, 1.0));
  Tensor* y = e.run("cdist", {any(x), any(e.tensor({1, 2}, {1, 1}))});
  EXPECT_EQ(values(y), Doubles(30, 0.0));
  EXPECT_EQ(values(e.grad(e.run("sum", {any(y)}), {x})[0]), Doubles(60, 0.0));
}

TEST(Flip, refuses_a_dim_named_twice) {
  Eager e;
  Tensor* x = e.tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(values(e.run("prims.flip", {any(x), any(Ints{0, 1})})), (Doubles{6, 5, 4, 3, 2, 1}));
  EXPECT_NE(e.refused("prims.flip", {any(x), any(Ints{1, -1})}), "");
  EXPECT_NE(e.refused("prims.flip", {any(x), any(Ints{2})}), "");
}

}  // namespace
}  // namespace thunder
