// Prims that depend on the order of a line's elements: sort and mode.
#include "ops/sorted_lines.h"

namespace thunder {
namespace {

// ---- sort ----

void sort_meta(const Call& c, Types& out) {
  TensorType t = c.type(0);
  c.axis(1, t.rank());
  out.push(t);
  t.dtype = DType::i64;
  out.push(t);
}
template <class T, class Item>
void put_sorted(const KernelArgs& k, const ItemLines<T, Item>& lines, const LineGroup& g, Item* const* sorted) {
  const Buffer &values = k.out[0], &indices = k.out[1];
  const int64_t to = step_along(values, lines.axis), at = step_along(indices, lines.axis);
  for (int64_t j = 0; j < lines.size; j++)
    for (size_t l = 0; l < static_cast<size_t>(g.count); l++) {
      const Item item = sorted[l][j];
      values.as<T>()[g.a[l] + j * to] = lines.element(g.in[l], item);
      indices.as<int64_t>()[g.b[l] + j * at] = item.place();
    }
}
template <class T, class Item>
Status* sort_lines(const KernelArgs& k, const ItemLines<T, Item>& lines) {
  if (lines.worth_all_threads(k))
    return each_line_group(KernelArgs{k.in, k.out, k.args}, {&k.in[0], &k.out[0], &k.out[1]}, lines.axis, false, 1,
                           Room<Item>(), [&](const LineGroup& g, Room<Item>& room) -> Status* {
                             Item* items = room.of(2 * lines.size);
                             if (!items) return out_of_memory_status();
                             in_parts(k, lines.size, lines.size,
                                      [&](int64_t begin, int64_t end) { lines.load(g, items, begin, end); });
                             Item* sorted = sort_items_together(k, items, items + lines.size, lines.size);
                             in_parts(k, lines.size, lines.size, [&](int64_t begin, int64_t end) {
                               ItemLines<T, Item> part = lines;
                               LineGroup from = g;
                               part.size = end - begin;
                               from.a[0] += begin * step_along(k.out[0], lines.axis);
                               from.b[0] += begin * step_along(k.out[1], lines.axis);
                               Item* first = sorted + begin;
                               put_sorted(k, part, from, &first);
                             });
                             return nullptr;
                           });
  return each_line_group(k, {&k.in[0], &k.out[0], &k.out[1]}, lines.axis, false, lines.lines_per_group(), Room<Item>(),
                         [&](const LineGroup& g, Room<Item>& room) -> Status* {
                           Item* sorted[LineGroup::kMost];
                           if (Status* failed = lines.load_sorted(g, room, sorted)) return failed;
                           put_sorted(k, lines, g, sorted);
                           return nullptr;
                         });
}
Status* sort_kernel(const KernelArgs& k) {
  return by_lines_of_items(k, 1, k.args[2].i, [&](const auto& lines) { return sort_lines(k, lines); });
}

// ---- mode ----

void mode_meta(const Call& c, Types& out) {
  TensorType t = c.type(0);
  const size_t axis = c.axis(1, t.rank());
  c.require(t.rank() == 0 || !(t.shape[axis] == Dim(0)), "dim ", c.integer(1), " of ", name(t), " has no elements");
  if (t.rank()) t.shape[axis] = 1;
  out.push(t);
  t.dtype = DType::i64;
  out.push(t);
}
// The least of the commonest values, at its last place. No NaN is equal to another.
template <class T, class Item>
Item most_frequent_item(const Item* order, int64_t n) {
  int64_t best = 0, longest = 0, run = 0;
  for (int64_t j = 0; j < n; j++) {
    const auto key = order[j].key();
    run = j && key == order[j - 1].key() && !(is_real_number<T> && key == kNanKey<T>) ? run + 1 : 1;
    if (run > longest) longest = run, best = j;
  }
  return order[best];
}
Status* mode_kernel(const KernelArgs& k) {
  return by_lines_of_items(k, 1, false, [&]<class T, class Item>(const ItemLines<T, Item>& lines) {
    return each_line_group(k, {&k.in[0], &k.out[0], &k.out[1]}, lines.axis, false, lines.lines_per_group(),
                           Room<Item>(), [&](const LineGroup& g, Room<Item>& room) -> Status* {
                             Item* sorted[LineGroup::kMost];
                             if (Status* failed = lines.load_sorted(g, room, sorted)) return failed;
                             for (size_t l = 0; l < static_cast<size_t>(g.count); l++)
                               lines.put(k, g, l, most_frequent_item<T>(sorted[l], lines.size));
                             return nullptr;
                           });
  });
}

constexpr OpRow kRows[] = {
    primitive("prims.sort(tensor input, int dim, bool descending) -> (tensor, tensor)",
              "The elements along dim in order, and where they were; equal ones stay as they are, NaN is the greatest.",
              sort_meta, sort_kernel, picked_vjp),
    primitive("prims.mode(tensor input, int dim) -> (tensor, tensor)",
              "The commonest value along dim, of several the least, and its last place; dim stays with size 1.",
              mode_meta, mode_kernel, picked_vjp),
};

}  // namespace

extern const OpRows order_prims_ops = kRows;

}  // namespace thunder
