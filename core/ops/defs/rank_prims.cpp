// Elements of a line by their rank in its order, without putting all of it in order: topk, kthvalue, median.
#include "ops/sorted_lines.h"

namespace thunder {
namespace {

// ---- one rank ----

constexpr int kTopBits = 11;

// The item of rank `rank` among n, whose place in memory is any after this. Items that differ from it in their first
// bits are left out first. `spare` has room for n.
template <class Item>
Item select_rank(Item* items, Item* spare, int64_t n, int64_t rank) {
  constexpr int64_t kFewToCount = 1 << kTopBits;
  if (n > kFewToCount) {
    constexpr int kShift = static_cast<int>(8 * sizeof(items->key())) - kTopBits;
    std::array<int64_t, 1 << kTopBits> counts{};
    for (int64_t i = 0; i < n; i++) counts[static_cast<size_t>(items[i].key() >> kShift)]++;
    size_t top = 0;
    while (rank >= counts[top]) rank -= counts[top++];
    int64_t found = 0;
    for (int64_t i = 0; i < n; i++) {
      spare[found] = items[i];
      found += static_cast<size_t>(items[i].key() >> kShift) == top;
    }
    items = spare, n = found;
  }
  std::nth_element(items, items + rank, items + n);
  return items[rank];
}

// Calls rank_of(items of a line) for each line and puts the element of that rank, which results have one place for.
template <class F>
Status* put_ranked(const KernelArgs& k, const F& rank_of) {
  return by_lines_of_items(k, 1, false, [&]<class T, class Item>(const ItemLines<T, Item>& lines) {
    return each_line_group(
        k, {&k.in[0], &k.out[0], &k.out[1]}, lines.axis, false, lines.lines_per_group(), Room<Item>(),
        [&](const LineGroup& g, Room<Item>& room) -> Status* {
          Item* items = room.of((lines.lines_per_group() + 1) * lines.size);
          if (!items) return out_of_memory_status();
          lines.load(g, items, 0, lines.size);
          for (int64_t l = 0; l < g.count; l++) {
            Item* line = items + l * lines.size;
            int64_t numbers = lines.size;
            if constexpr (is_real_number<T>)
              numbers -= std::count_if(line, line + lines.size, [](const Item& i) { return i.key() == kNanKey<T>; });
            lines.put(k, g, static_cast<size_t>(l),
                      select_rank(line, items + lines.lines_per_group() * lines.size, lines.size,
                                  rank_of(numbers, lines.size)));
          }
          return nullptr;
        });
  });
}

TensorType reduced_line_type(const Call& c) {
  TensorType t = c.type(0);
  const size_t axis = c.axis(1, t.rank());
  c.require(t.rank() == 0 || !(t.shape[axis] == Dim(0)), "dim ", c.integer(1), " of ", name(t), " has no elements");
  if (t.rank()) t.shape[axis] = 1;
  return t;
}
int64_t line_size(const Call& c) {
  const TensorType& t = c.type(0);
  return t.rank() ? hint(t.shape[c.axis(1, t.rank())]) : 1;
}
void push_with_places(Types& out, TensorType t) {
  out.push(t);
  t.dtype = DType::i64;
  out.push(t);
}

void kthvalue_meta(const Call& c, Types& out) {
  push_with_places(out, reduced_line_type(c));
  c.require(c.integer(2) >= 1 && c.integer(2) <= line_size(c), "k must be between 1 and the size ", line_size(c),
            " of dim ", c.integer(1), ", got ", c.integer(2));
}
Status* kthvalue_kernel(const KernelArgs& k) {
  const int64_t rank = k.args[2].i - 1;
  return put_ranked(k, [rank](int64_t, int64_t) { return rank; });
}

void median_meta(const Call& c, Types& out) { push_with_places(out, reduced_line_type(c)); }
// The lower of the two in the middle of the numbers. NaN sorts behind them.
Status* median_kernel(const KernelArgs& k) {
  const bool without_nan = k.args[2].i;
  return put_ranked(k, [without_nan](int64_t numbers, int64_t size) {
    return without_nan || numbers == size ? std::max<int64_t>(numbers - 1, 0) / 2 : numbers;
  });
}

// ---- topk ----

void topk_meta(const Call& c, Types& out) {
  TensorType t = c.type(0);
  const size_t axis = c.axis(1, t.rank());
  const int64_t k = c.integer(2), n = line_size(c);
  c.require(t.rank() > 0, "input must have at least one dim, got ", name(t));
  c.require(k >= 0 && k <= n, "k must be between 0 and the size ", n, " of dim ", c.integer(1), ", got ", k);
  t.shape[axis] = k;
  push_with_places(out, t);
}

// The least k items of a line in order, of those that were offered: a buffer that is cut down when it is full.
template <class Item>
class Least {
 public:
  static int64_t buffer_size(int64_t k) { return 2 * k + 64; }
  Least(Item* items, int64_t k) : items_(items), k_(k) {}

  // Items come by ascending index: one whose key is not below the worst of the k kept ones is not among them.
  template <class Key>
  bool accepts(Key key) const {
    return !full_ || key < worst_;
  }
  void add(const Item& item) {
    items_[count_++] = item;
    if (count_ == buffer_size(k_)) keep_smallest();
  }
  // Gives k items.
  Item* finish() {
    if (count_ > k_) keep_smallest();
    std::sort(items_, items_ + k_);
    return items_;
  }

 private:
  void keep_smallest() {
    std::nth_element(items_, items_ + k_ - 1, items_ + count_);
    count_ = k_, full_ = true, worst_ = items_[k_ - 1].key();
  }

  Item* items_;
  int64_t k_, count_ = 0;
  decltype(Item().key()) worst_ = 0;
  bool full_ = false;
};

template <class T, class Item>
Item* least_of_line(const ItemLines<T, Item>& lines, int64_t from, int64_t k, Item* items) {
  Least<Item> least(items, k);
  const T* at = lines.in->template as<T>() + from;
  for (int64_t j = 0; j < lines.size; j++) {
    const auto key = order_key(at[j * lines.step]) ^ lines.turned;
    if (least.accepts(key)) least.add(Item(key, j));
  }
  return least.finish();
}
Status* topk_kernel(const KernelArgs& k) {
  const int64_t wanted = k.args[2].i;
  if (wanted == 0) return nullptr;
  return by_lines_of_items(k, 1, k.args[3].i, [&]<class T, class Item>(const ItemLines<T, Item>& lines) {
    const int64_t to = step_along(k.out[0], lines.axis), at = step_along(k.out[1], lines.axis);
    return each_line_group(k, {&k.in[0], &k.out[0], &k.out[1]}, lines.axis, false, 1, Room<Item>(),
                           [&](const LineGroup& g, Room<Item>& room) -> Status* {
                             Item* items = room.of(Least<Item>::buffer_size(wanted));
                             if (!items) return out_of_memory_status();
                             const Item* found = least_of_line(lines, g.in[0], wanted, items);
                             for (int64_t j = 0; j < wanted; j++) {
                               k.out[0].as<T>()[g.a[0] + j * to] = lines.element(g.in[0], found[j]);
                               k.out[1].as<int64_t>()[g.b[0] + j * at] = found[j].place();
                             }
                             return nullptr;
                           });
  });
}

constexpr OpRow kRows[] = {
    primitive("prims.kthvalue(tensor input, int dim, int k) -> (tensor, tensor)",
              "The k-th least along dim, and its place; dim stays with size 1. Equal ones count by their places, "
              "NaN is the greatest.",
              kthvalue_meta, kthvalue_kernel, picked_vjp),
    primitive("prims.median(tensor input, int dim, bool without_nan) -> (tensor, tensor)",
              "The lower middle along dim, and its place; dim stays with size 1. The first NaN if there is one, "
              "or the middle of the others.",
              median_meta, median_kernel, picked_vjp),
    primitive("prims.topk(tensor input, int dim, int k, bool largest) -> (tensor, tensor)",
              "The first k along dim as prims.sort would put them in order, and where they were.", topk_meta,
              topk_kernel, picked_vjp),
};

}  // namespace

extern const OpRows rank_prims_ops = kRows;

}  // namespace thunder
