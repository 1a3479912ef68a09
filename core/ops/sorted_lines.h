// The lines of a tensor as items that sort, for the kernels of prims that look at the order of elements.
#pragma once

#include "ops/lines.h"
#include "ops/sorting.h"
#include "ops/tables.h"

namespace thunder {

template <class T>
constexpr bool is_real_number = !std::is_integral_v<T>;
template <class T>
constexpr OrderKey<T> kNanKey = ~OrderKey<T>{0};

inline int64_t step_along(const Buffer& b, size_t axis) { return b.rank ? b.strides[axis] : 0; }

// The scratch of one thread, for all its items.
template <class Item>
class Room {
 public:
  Room() = default;
  Room(const Room&) {}
  Room& operator=(const Room&) = delete;
  // Memory for n items; n must be the same at each call. Null: out of memory.
  Item* of(int64_t n) {
    if (!items_) items_ = room_for<Item>(n);
    return items_.get();
  }

 private:
  std::unique_ptr<Item[]> items_;
};

template <class T, class Item>
struct ItemLines {
  using Key = OrderKey<T>;

  const Buffer* in;
  size_t axis;
  int64_t size, step;
  Key turned;  // what keys are combined with: all bits where the order descends

  // Lines that are read side by side are sorted in groups.
  int64_t lines_per_group() const { return side_by_side(*in, axis) ? LineGroup::kMost : 1; }
  // Few and long.
  bool worth_all_threads(const KernelArgs& k) const {
    return k.threads && size >= 4 * kFewElements && in->elements() / size < static_cast<int64_t>(k.threads->threads());
  }

  // Items begin .. end of the lines of a group, line after line.
  void load(const LineGroup& g, Item* items, int64_t begin, int64_t end) const {
    const T* from = in->as<T>();
    for (int64_t j = begin; j < end; j++)
      for (int64_t l = 0; l < g.count; l++)
        items[l * size + j] = Item(order_key(from[g.in[static_cast<size_t>(l)] + j * step]) ^ turned, j);
  }
  // All lines of a group in order; sorted[l] is where those of line l lie, in the room.
  Status* load_sorted(const LineGroup& g, Room<Item>& room, Item** sorted) const {
    Item* items = room.of((lines_per_group() + 1) * size);
    if (!items) return out_of_memory_status();
    Item* spare = items + lines_per_group() * size;
    load(g, items, 0, size);
    for (int64_t l = 0; l < g.count; l++) {
      Item* line = items + l * size;
      if (sort_items(line, spare, size) != line) std::copy_n(spare, size, line);
      sorted[l] = line;
    }
    return nullptr;
  }
  // The element of an item of the line that begins at `from`.
  T element(int64_t from, const Item& item) const {
    const Key key = static_cast<Key>(item.key()) ^ turned;
    return is_of_many<T>(key) ? in->as<T>()[from + item.place() * step] : of_key<T>(key);
  }
  // Puts one item of line l where results have lost the axis, or have one place of it.
  void put(const KernelArgs& k, const LineGroup& g, size_t l, const Item& item) const {
    k.out[0].as<T>()[g.a[l]] = element(g.in[l], item);
    k.out[1].as<int64_t>()[g.b[l]] = item.place();
  }
};

// Calls f(ItemLines) for the lines of the first input along args[axis_at].
template <class F>
Status* by_lines_of_items(const KernelArgs& k, size_t axis_at, bool descending, const F& f) {
  const Buffer& in = k.in[0];
  const size_t axis = normalize_axis(k.args[axis_at].i, static_cast<size_t>(in.rank));
  const int64_t size = in.rank ? in.shape[axis] : 1;
  return by_item(in.dtype, size, [&](auto zero, auto item) -> Status* {
    using T = decltype(zero);
    const ItemLines<T, decltype(item)> lines{&in, axis, size, step_along(in, axis),
                                             descending ? ~OrderKey<T>{0} : OrderKey<T>{0}};
    return f(lines);
  });
}

}  // namespace thunder
