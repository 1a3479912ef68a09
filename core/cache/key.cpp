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

// One walk packs and compares: a sink takes words in order and says whether to go on.
template <class Sink>
bool pack_text(Sink& sink, ArgKind kind, const void* data, size_t bytes) {
  if (!sink(head(kind, DType::none, 0, false, 1 + (bytes + 7) / 8)) || !sink(bytes)) return false;
  const char* p = static_cast<const char*>(data);
  for (size_t at = 0; at < bytes; at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, p + at, std::min<size_t>(8, bytes - at));
    if (!sink(word)) return false;
  }
  return true;
}

template <class Sink>
bool pack_tensor(Sink& sink, const Tensor& t) {
  if (t.kind() == Tensor::Kind::number) return sink(head(ArgKind::real, t.type().dtype, 0, false, 0));
  const size_t rank = t.type().rank();
  const bool layout = !t.contiguous();
  bool same = sink(head(ArgKind::value, t.type().dtype, rank, layout, 1 + rank * (layout ? 2 : 1)));
  same = same && sink(static_cast<uint64_t>(static_cast<uint32_t>(t.type().device)));
  for (size_t i = 0; same && i < rank; i++) same = sink(static_cast<uint64_t>(t.sizes()[i]));
  for (size_t i = 0; same && layout && i < rank; i++) same = sink(static_cast<uint64_t>(t.strides()[i]));
  return same;
}

template <class Sink>
bool pack_leaf(Sink& sink, const Leaf& leaf) {
  switch (leaf.kind) {
    case ArgKind::value: return pack_tensor(sink, *leaf.tensor);
    // A float is live: its value is no part of the key.
    case ArgKind::real: return sink(head(ArgKind::real, DType::f64, 0, false, 0));
    case ArgKind::none: return sink(head(ArgKind::none, DType::none, 0, false, 0));
    case ArgKind::string: return pack_text(sink, leaf.kind, leaf.text.data(), leaf.text.size());
    case ArgKind::dims: return pack_text(sink, leaf.kind, leaf.ints.data(), leaf.ints.size() * sizeof(int64_t));
    case ArgKind::reals: return pack_text(sink, leaf.kind, leaf.reals.data(), leaf.reals.size() * sizeof(double));
    default: return sink(head(leaf.kind, DType::none, 0, false, 1)) && sink(static_cast<uint64_t>(leaf.i));
  }
}

// The structure of positional tensors, as their values would have it.
constexpr std::string_view kStars = "*,*,*,*,*,*,*,*,*,*,*,*,*,*,*,*,*,*,*,*,*,*,*,*,*,*,*,*,*,*,*,*";

template <class Sink>
bool pack(Sink&& sink, const Inputs& in) {
  if (in.values) {
    bool same = pack_text(sink, ArgKind::string, in.values->structure().data(), in.values->structure().size());
    for (size_t i = 0; same && i < in.count; i++) same = pack_leaf(sink, (*in.values)[i]);
    return same;
  }
  const size_t length = in.count ? 2 * in.count - 1 : 0;
  std::string longer;
  if (length > kStars.size())
    for (size_t i = 0; i < length; i++) longer += i % 2 ? ',' : '*';
  bool same = pack_text(sink, ArgKind::string, longer.empty() ? kStars.data() : longer.data(), length);
  for (size_t i = 0; same && i < in.count; i++) same = pack_tensor(sink, *in.tensors[i]);
  return same;
}

}  // namespace

Key::Key(const Inputs& in) {
  pack([this](uint64_t word) { return words_.push_back(word), true; }, in);
}

bool Key::matches(const Inputs& in) const {
  const uint64_t *at = words_.data(), *end = at + words_.size();
  return pack([&](uint64_t word) { return at != end && *at++ == word; }, in) && at == end;
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
