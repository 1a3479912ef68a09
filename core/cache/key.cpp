#include "cache/key.h"

#include <bit>
#include <cstring>

#include "base/text.h"

namespace thunder {
namespace {

// The first word of a leaf: kind, dtype, rank, whether strides follow, and the number of words that follow.
uint64_t head(ArgKind kind, DType dtype, size_t rank, bool strided, size_t follow) {
  return static_cast<uint64_t>(kind) | static_cast<uint64_t>(dtype) << 8 | static_cast<uint64_t>(rank) << 24 |
         static_cast<uint64_t>(strided) << 31 | static_cast<uint64_t>(follow) << 32;
}
ArgKind kind_of(uint64_t h) { return static_cast<ArgKind>(h & 0xff); }
DType dtype_of(uint64_t h) { return static_cast<DType>(h >> 8 & 0xffff); }
size_t rank_of(uint64_t h) { return h >> 24 & 0x7f; }
bool strided(uint64_t h) { return h >> 31 & 1; }
size_t follow(uint64_t h) { return h >> 32; }

}  // namespace

void Key::add(const Tensor& t) {
  const size_t rank = t.type().rank();
  const bool number = t.kind() == Tensor::Kind::number;
  const bool layout = t.concrete() && !t.contiguous();
  words_.push_back(head(number ? ArgKind::real : ArgKind::value, t.type().dtype, rank, layout, number ? 0 : 1 + rank * (layout ? 2 : 1)));
  if (number) return;
  words_.push_back(static_cast<uint64_t>(static_cast<uint32_t>(t.type().device)));
  for (size_t i = 0; i < rank; i++) words_.push_back(static_cast<uint64_t>(t.sizes()[i]));
  if (!layout) return;
  for (size_t i = 0; i < rank; i++) words_.push_back(static_cast<uint64_t>(t.strides()[i]));
}

void Key::add(const Leaf& leaf) {
  auto text = [&](const void* data, size_t bytes) {
    const size_t first = words_.size() + 1, n = (bytes + 7) / 8;
    words_.push_back(head(leaf.kind, DType::none, 0, false, n + 1));
    words_.push_back(bytes);
    words_.resize(first + 1 + n, 0);
    if (bytes) std::memcpy(words_.data() + first + 1, data, bytes);
  };
  switch (leaf.kind) {
    case ArgKind::value: return add(*leaf.tensor);
    // A float is live: its value is no part of the key.
    case ArgKind::real: return words_.push_back(head(ArgKind::real, DType::f64, 0, false, 0));
    case ArgKind::none: return words_.push_back(head(ArgKind::none, DType::none, 0, false, 0));
    case ArgKind::string: return text(leaf.text.data(), leaf.text.size());
    case ArgKind::dims: return text(leaf.ints.data(), leaf.ints.size() * sizeof(int64_t));
    case ArgKind::reals: return text(leaf.reals.data(), leaf.reals.size() * sizeof(double));
    default:
      words_.push_back(head(leaf.kind, DType::none, 0, false, 1));
      words_.push_back(static_cast<uint64_t>(leaf.i));
  }
}

void Key::add_structure(std::string_view text) {
  Leaf leaf;
  leaf.kind = ArgKind::string;
  leaf.text = text;
  add(leaf);
}

std::string Key::describe(size_t at, std::string_view field) const {
  const uint64_t h = words_[at];
  const uint64_t* w = words_.data() + at + 1;
  auto list = [&](size_t from) {
    std::span<const uint64_t> items(w + from, rank_of(h));
    return cat("[", join(items, ", ", [](uint64_t v) { return static_cast<int64_t>(v); }), "]");
  };
  if (field == "dtype") return std::string(name(dtype_of(h)));
  if (field == "device") return name(static_cast<Device>(static_cast<int32_t>(w[0])));
  if (field == "shape") return list(1);
  if (field == "layout") return strided(h) ? cat("strides ", list(1 + rank_of(h))) : "contiguous";
  if (field == "value" && kind_of(h) == ArgKind::string)
    return cat("'", std::string_view(reinterpret_cast<const char*>(w + 1), std::min<size_t>(w[0], 40)), "'");
  if (field == "value" && kind_of(h) == ArgKind::boolean) return w[0] ? "true" : "false";
  if (field == "value" && kind_of(h) == ArgKind::integer) return cat(static_cast<int64_t>(w[0]));
  constexpr std::string_view kinds[] = {"None", "a tensor", "an integer", "a float", "a boolean", "a string", "a list of integers", "a list of floats", "a list", "a dtype", "a device"};
  return field == "kind" ? std::string(kinds[static_cast<size_t>(kind_of(h))]) : "different";
}

std::string Key::difference(const Key& cached, std::span<const std::string> names) const {
  // The structure comes first in both.
  if (describe(0, "value") != cached.describe(0, "value") || follow(words_[0]) != follow(cached.words_[0]))
    return cat("the inputs' structure is ", describe(0, "value"), ", was ", cached.describe(0, "value"));
  size_t a = 1 + follow(words_[0]), b = 1 + follow(cached.words_[0]);
  for (size_t leaf = 0; a < words_.size() && b < cached.words_.size(); leaf++) {
    const size_t na = 1 + follow(words_[a]), nb = 1 + follow(cached.words_[b]);
    if (na != nb || std::memcmp(words_.data() + a, cached.words_.data() + b, na * 8)) {
      std::string which = leaf < names.size() ? cat("input '", names[leaf], "'") : cat("input ", leaf);
      const bool tensors = kind_of(words_[a]) == ArgKind::value && kind_of(cached.words_[b]) == ArgKind::value;
      const bool kinds = kind_of(words_[a]) != kind_of(cached.words_[b]);
      std::string_view field = kinds ? "kind" : !tensors ? "value" : "";
      for (std::string_view f : {"dtype", "device", "shape", "layout"})
        if (field.empty() && describe(a, f) != cached.describe(b, f)) field = f;
      return cat(which, ": ", field, " is ", describe(a, field), ", was ", cached.describe(b, field));
    }
    a += na, b += nb;
  }
  return "the number of inputs differs";
}

}  // namespace thunder
