// What looks at the order of elements, against comparing sorts, with threads and without: ties, NaN, zeros of both signs, layouts.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/thread_pool.h"
#include "support/eager.h"
#include "support/noise.h"

namespace thunder {
namespace {

using Ints = std::vector<int64_t>;

template <class T>
bool before(T a, T b) {
  const auto x = static_cast<Compute<T>>(a), y = static_cast<Compute<T>>(b);
  return x < y || (y != y && x == x);
}
template <class T>
bool same(T a, T b) {
  const auto x = static_cast<Compute<T>>(a), y = static_cast<Compute<T>>(b);
  return (x == y && std::signbit(static_cast<double>(x)) == std::signbit(static_cast<double>(y))) || (x != x && y != y);
}
template <class T>
Ints order_of(const std::vector<T>& line, bool descending) {
  Ints order(line.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    const T x = line[static_cast<size_t>(a)], y = line[static_cast<size_t>(b)];
    return descending ? before(y, x) : before(x, y);
  });
  return order;
}

// Few different numbers, or many; reals with NaN and zeros of both signs among them.
template <class T>
std::vector<T> line_of(int64_t n, bool many) {
  std::vector<T> out;
  uint64_t state = 7;
  for (int64_t i = 0; i < n; i++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const auto bits = static_cast<int64_t>(state >> 33);
    if constexpr (std::is_integral_v<T>) out.push_back(static_cast<T>(many ? bits - (1 << 29) : bits % 5));
    else if (bits % 11 == 0) out.push_back(static_cast<T>(NAN));
    else if (bits % 7 == 0) out.push_back(static_cast<T>(bits % 2 ? -0.0f : 0.0f));
    else out.push_back(static_cast<T>(static_cast<float>(many ? bits - (1 << 29) : bits % 5 - 2) / 1024));
  }
  return out;
}

// Runs the kernel of a prim over lines of one matrix, [lines, n] or transposed.
struct Prim {
  std::string_view op;
  std::vector<Arg> args;  // behind input and dim
  int64_t results;        // of a line
};
template <class T>
struct Result {
  std::vector<T> values;
  Ints places;  // both a line after the other
};
template <class T>
Result<T> run(const Prim& prim, DType dtype, const std::vector<T>& data, int64_t lines, bool transposed, ThreadPool* threads) {
  static const Registry registry;
  const int64_t n = static_cast<int64_t>(data.size()) / std::max<int64_t>(lines, 1);
  std::vector<T> elements(data.size());
  for (int64_t l = 0; l < lines; l++)
    for (int64_t i = 0; i < n; i++)
      elements[static_cast<size_t>(transposed ? i * lines + l : l * n + i)] = data[static_cast<size_t>(l * n + i)];
  // Seen as [lines, n] in any case; the results are laid out as the input is.
  const Ints shape{lines, n}, to{lines, prim.results};
  const Ints strides = transposed ? Ints{1, lines} : Ints{n, 1}, to_strides = transposed ? Ints{1, lines} : Ints{prim.results, 1};
  std::vector<T> values(static_cast<size_t>(lines * prim.results));
  Ints places(values.size());
  const auto buffer = [](void* p, const Ints& sizes, const Ints& steps, DType d) {
    Buffer b;
    b.data = p, b.shape = sizes.data(), b.strides = steps.data(), b.rank = 2, b.dtype = d;
    return b;
  };
  const Buffer in = buffer(elements.data(), shape, strides, dtype);
  const Buffer out[] = {buffer(values.data(), to, to_strides, dtype), buffer(places.data(), to, to_strides, DType::i64)};
  std::vector<Arg> args{Arg(), Arg::integer(1)};
  args.insert(args.end(), prim.args.begin(), prim.args.end());
  const OpDef& op = registry.get(prim.op);
  EXPECT_EQ(op.reference({{&in, 1}, out, args, &op, threads}), nullptr);
  Result<T> result;
  for (int64_t l = 0; l < lines; l++)
    for (int64_t i = 0; i < prim.results; i++) {
      const auto at = static_cast<size_t>(transposed ? i * lines + l : l * prim.results + i);
      result.values.push_back(values[at]), result.places.push_back(places[at]);
    }
  return result;
}

// Calls f(zero of the type, dtype, n, lines, many) for element types, sizes around those where the way changes, and a few lines.
template <class F>
void each_case(F f) {
  const auto sizes = [&](auto zero, DType d) {
    for (bool many : {false, true})
      for (auto [n, lines] : {std::pair<int64_t, int64_t>{0, 2}, {1, 3}, {2, 1}, {255, 19}, {257, 2}, {2049, 5}, {70000, 1}})
        f(zero, d, n, lines, many);
  };
  sizes(float{}, DType::f32), sizes(double{}, DType::f64), sizes(bf16{}, DType::bf16), sizes(f16{}, DType::f16);
  sizes(int32_t{}, DType::i32), sizes(int64_t{}, DType::i64), sizes(uint8_t{}, DType::u8), sizes(uint64_t{}, DType::u64);
}
template <class T>
void expect_line(const Result<T>& got, int64_t line, const std::vector<T>& data, int64_t n, const Ints& places, const std::string& what) {
  for (size_t i = 0; i < places.size(); i++) {
    const size_t at = static_cast<size_t>(line) * places.size() + i;
    ASSERT_EQ(got.places[at], places[i]) << what << ", line " << line << ", place " << i << " of " << n;
    ASSERT_TRUE(same(got.values[at], data[static_cast<size_t>(line * n + places[i])])) << what << ", line " << line << ", value " << i;
  }
}
// Expects of each line the places that `wanted` finds, in both layouts, with threads and without.
template <class F>
void expect_places(std::string_view op, const std::vector<Arg>& args, F wanted) {
  ThreadPool threads(3);
  each_case([&](auto zero, DType d, int64_t n, int64_t lines, bool many) {
    using T = decltype(zero);
    const std::vector<T> data = line_of<T>(n * lines, many);
    std::vector<Ints> places;
    for (int64_t l = 0; l < lines; l++) {
      const std::vector<T> line(data.begin() + l * n, data.begin() + (l + 1) * n);
      places.push_back(wanted(line));
    }
    if (n == 0 && op != "prims.sort") return;
    for (bool transposed : {false, true})
      for (ThreadPool* pool : {static_cast<ThreadPool*>(nullptr), &threads}) {
        const auto got = run<T>({op, args, static_cast<int64_t>(places[0].size())}, d, data, lines, transposed, pool);
        for (int64_t l = 0; l < lines; l++)
          expect_line(got, l, data, n, places[static_cast<size_t>(l)], cat(op, " of ", name(d), transposed ? " turned" : ""));
      }
  });
}

TEST(Sort, keeps_equal_elements_as_they_are_and_puts_nan_last) {
  for (bool descending : {false, true})
    expect_places("prims.sort", {Arg::boolean(descending)}, [=](const auto& line) { return order_of(line, descending); });
}

TEST(Topk, gives_the_first_of_a_sort) {
  for (bool largest : {false, true})
    for (double share : {0.0, 0.01, 0.5, 1.0})
      each_case([&](auto zero, DType d, int64_t n, int64_t lines, bool many) {
        using T = decltype(zero);
        if (n == 0) return;
        const std::vector<T> data = line_of<T>(n * lines, many);
        const auto k = static_cast<int64_t>(share * static_cast<double>(n));
        ThreadPool threads(3);
        for (bool transposed : {false, true}) {
          const auto got = run<T>({"prims.topk", {Arg::integer(k), Arg::boolean(largest)}, k}, d, data, lines, transposed, &threads);
          for (int64_t l = 0; l < lines; l++) {
            Ints places = order_of(std::vector<T>(data.begin() + l * n, data.begin() + (l + 1) * n), largest);
            places.resize(static_cast<size_t>(k));
            expect_line(got, l, data, n, places, cat("topk ", k, " of ", name(d)));
          }
        }
      });
}

TEST(Kthvalue, finds_the_element_and_the_place_that_a_sort_would_put_there) {
  each_case([&](auto zero, DType d, int64_t n, int64_t lines, bool many) {
    using T = decltype(zero);
    const std::vector<T> data = line_of<T>(n * lines, many);
    for (int64_t k : {int64_t{1}, n / 3 + 1, n}) {
      if (n == 0) continue;
      const auto got = run<T>({"prims.kthvalue", {Arg::integer(k)}, 1}, d, data, lines, n % 2 == 0, nullptr);
      for (int64_t l = 0; l < lines; l++) {
        const Ints order = order_of(std::vector<T>(data.begin() + l * n, data.begin() + (l + 1) * n), false);
        expect_line(got, l, data, n, Ints{order[static_cast<size_t>(k - 1)]}, cat(k, "-th of ", name(d)));
      }
    }
  });
}

TEST(Median, is_the_first_nan_or_without_them_the_lower_middle) {
  for (bool without_nan : {false, true})
    expect_places("prims.median", {Arg::boolean(without_nan)}, [=](const auto& line) {
      using T = std::decay_t<decltype(line[0])>;
      if (line.empty()) return Ints{0};
      const auto numbers = std::count_if(line.begin(), line.end(), [](T v) { return v == v; });
      const auto n = static_cast<int64_t>(line.size());
      const int64_t rank = without_nan || numbers == n ? std::max<int64_t>(numbers - 1, 0) / 2 : numbers;
      return Ints{order_of(line, false)[static_cast<size_t>(rank)]};
    });
}

TEST(Mode, is_the_least_of_the_commonest_at_its_last_place) {
  Eager e;
  Tensor* x = e.tensor({2, 6}, {3, 1, 3, 1, 2, 0, 5, 5, -1, -1, -1, 5});
  EXPECT_EQ(values(e.run("mode", {any(x)})), (Doubles{1, -1}));
  EXPECT_EQ(values(e.run("mode", {any(e.tensor({4}, {NAN, NAN, NAN, 2}))})), (Doubles{2})) << "no NaN equals another";
}

TEST(Searchsorted, finds_places_beside_nan_and_equals) {
  Eager e;
  Tensor *edges = e.tensor({5}, {-1, 0, 0, 2, NAN}), *x = e.tensor({7}, {-2, -1, -0.0, 1, 2, 3, NAN});
  EXPECT_EQ(values(e.run("searchsorted", {any(edges), any(x), any(false)})), (Doubles{0, 0, 1, 3, 3, 4, 4}));
  EXPECT_EQ(values(e.run("searchsorted", {any(edges), any(x), any(true)})), (Doubles{0, 1, 3, 3, 4, 4, 5}));
}

TEST(Nonzero, finds_what_one_thread_finds) {
  static const Registry registry;
  ThreadPool threads(3);
  for (int64_t n : {0, 1, 63, 64, 65, 70000, 1 << 16}) {
    std::vector<uint8_t> flags(static_cast<size_t>(n));
    Ints wanted;
    for (int64_t i = 0; i < n; i++)
      if ((flags[static_cast<size_t>(i)] = (i * 7919) % 13 < 4)) wanted.push_back(i);
    for (int64_t less : {0, 5}) {
      const int64_t size = std::max<int64_t>(0, static_cast<int64_t>(wanted.size()) - less) + (less ? 0 : 2);
      Ints found(static_cast<size_t>(size)), shape{n}, step{1}, to{size, 1}, to_step{1, 1};
      Buffer in, out;
      in.data = flags.data(), in.shape = shape.data(), in.strides = step.data(), in.rank = 1, in.dtype = DType::boolean;
      out.data = found.data(), out.shape = to.data(), out.strides = to_step.data(), out.rank = 2, out.dtype = DType::i64;
      const Arg args[] = {Arg(), Arg::integer(size), Arg::integer(-9)};
      const OpDef& op = registry.get("prims.nonzero");
      EXPECT_EQ(op.reference({{&in, 1}, {&out, 1}, args, &op, &threads}), nullptr);
      for (int64_t i = 0; i < size; i++)
        ASSERT_EQ(found[static_cast<size_t>(i)], i < static_cast<int64_t>(wanted.size()) ? wanted[static_cast<size_t>(i)] : -9) << n << ", " << i;
    }
  }
}

}  // namespace
}  // namespace thunder
