// Random permutations as a function of the random state, as random_prims.cpp has its numbers.
#include <algorithm>
#include <new>
#include <vector>

#include "ops/batch.h"
#include "ops/elementwise.h"
#include "ops/random_words.h"

namespace thunder {
namespace {

void permutation_meta(const Call& c, Types& out) {
  TensorType t = c.type(0);
  c.require(t.dtype == DType::i64 && t.rank() == 1 && t.shape[0] == Dim(2), "state must be i64[2] {seed, draws}; ",
            c.types());
  c.require(c.integer(1) >= 0, "ordinal must not be negative, got ", c.integer(1));
  t.shape = Shape(c.dims(2));
  c.require(!t.shape.empty(), "shape must have at least one dim");
  for (Dim d : t.shape) c.require(!d.constant() || d.value() >= 0, "a size must not be negative, got ", name(t.shape));
  out.push(t);
}

// [0, n) of 32 bits: uniform to within n / 2^32.
int64_t bounded_word(uint32_t bits, int64_t n) {
  return static_cast<int64_t>((static_cast<uint64_t>(bits) * static_cast<uint64_t>(n)) >> 32);
}

// A line of the result, and the first of the words that it is drawn with: a word an element for the bins, and another
// for the order within them.
struct Line {
  Philox random;
  int64_t first, n;
  int64_t* out;
  int64_t step;

  int64_t padded_word_count() const { return (n + 3) / 4 * 4; }
};

// Fisher and Yates: the elements [begin, end) of the line in random order.
void shuffle(const Line& line, int64_t begin, int64_t end) {
  constexpr int64_t kWords = 256;
  uint32_t words[kWords];
  for (int64_t at = begin; at < end;) {
    const int64_t skipped = at % 4, n = std::min(kWords - skipped, end - at);
    fill_words(line.random, line.first + line.padded_word_count() + at - skipped, skipped + n, words);
    for (int64_t i = 0; i < n; i++, at++)
      std::swap(line.out[at * line.step],
                line.out[(begin + bounded_word(words[skipped + i], at - begin + 1)) * line.step]);
  }
}

// Rao and Sandelius: each number is put into a bin at random, and the bins, which fit into caches, are shuffled.
constexpr int64_t kBin = 4096;

// Puts the numbers into the bins, and says where each begins.
void put_into_bins(const KernelArgs& k, const Line& line, std::vector<int64_t>& begins) {
  const auto bins = static_cast<int64_t>(begins.size()) - 1;
  std::vector<uint32_t> all(static_cast<size_t>(line.n));
  uint32_t* words = all.data();
  Status* none = in_parts(k, line.padded_word_count() / 4, line.n * 4, [&](int64_t begin, int64_t end) {
    fill_words(line.random, line.first + 4 * begin, std::min(line.n, 4 * end) - 4 * begin, words + 4 * begin);
  });
  (void)none;  // nothing refuses
  for (int64_t i = 0; i < line.n; i++) begins[static_cast<size_t>(bounded_word(words[i], bins)) + 1]++;
  for (size_t b = 1; b < begins.size(); b++) begins[b] += begins[b - 1];
  std::vector<int64_t> next = begins;
  for (int64_t i = 0; i < line.n; i++)
    line.out[next[static_cast<size_t>(bounded_word(words[i], bins))]++ * line.step] = i;
}
void permute_line(const KernelArgs& k, const Line& line) {
  if (line.n <= 2 * kBin) {
    for (int64_t i = 0; i < line.n; i++) line.out[i * line.step] = i;
    return shuffle(line, 0, line.n);
  }
  std::vector<int64_t> begins(static_cast<size_t>((line.n + kBin - 1) / kBin) + 1);
  put_into_bins(k, line, begins);
  Status* none = in_parts(k, static_cast<int64_t>(begins.size()) - 1, line.n * 8, [&](int64_t first, int64_t end) {
    for (auto b = static_cast<size_t>(first); b < static_cast<size_t>(end); b++)
      shuffle(line, begins[b], begins[b + 1]);
  });
  (void)none;
}
void permute(const KernelArgs& k) {
  const auto* state = k.in[0].as<int64_t>();
  const Philox random{static_cast<uint64_t>(state[0]), static_cast<uint64_t>(state[k.in[0].strides[0]]),
                      static_cast<uint64_t>(k.args[1].i)};
  const Buffer& out = k.out[0];
  const auto axis = static_cast<size_t>(out.rank - 1);
  const int64_t n = out.shape[axis];
  if (out.elements() == 0) return;
  Buffer lines = out;
  lines.rank--;
  Rows<1> rows(lines, {&lines});
  for (int64_t r = 0, number = 0; r < rows.rows(); r++, rows.next())
    for (int64_t i = 0; i < rows.row(); i++, number++) {
      const int64_t words = 2 * ((n + 3) / 4 * 4);
      const Line line{random, number * words, n, out.as<int64_t>() + rows.offset[0] + i * rows.step[0],
                      out.strides[axis]};
      permute_line(k, line);
    }
}
Status* permutation_kernel(const KernelArgs& k) {
  try {
    permute(k);
  } catch (const std::bad_alloc&) {
    return out_of_memory_status();
  }
  return nullptr;
}

// Each example gets another order, as in a loop over the batch.
Results batch_permutation(Batch& b) {
  return b.invoke_same_op({b.args[0], b.args[1], b.with_front(b.size(), b.dims(2))});
}

constexpr OpRow kRows[] = {
    primitive("prims.philox_permutation(tensor state, int ordinal, int[] shape) -> tensor",
              "The integers below the last size, along the last dim, in random orders.", permutation_meta,
              permutation_kernel, nullptr, kRandom,
              {.nondiff = "the state is made of integers", .batch = batch_permutation}),
};

}  // namespace

extern const OpRows permutation_prims_ops = kRows;

}  // namespace thunder
