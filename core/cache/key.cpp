#include "cache/key.h"

#include <cstring>

#include "base/hash.h"
#include "base/text.h"

namespace thunder {
namespace {

// The first word of a leaf is its guard_word; what follows depends on it.
ArgKind kind_of(uint64_t h) { return static_cast<ArgKind>(h & 0xff); }
DType dtype_of(uint64_t h) { return static_cast<DType>(h >> 8 & 0xffff); }
size_t rank_of(uint64_t h) { return h >> 24 & 0x7f; }
bool strided(uint64_t h) { return h >> 31 & 1; }
Device device_of(uint64_t h) { return static_cast<Device>(static_cast<int32_t>(h >> 32)); }

size_t text_words(size_t bytes) { return (bytes + 7) / 8; }

// How many words follow the first one.
size_t count_words_after(const uint64_t* leaf) {
  switch (kind_of(*leaf)) {
    case ArgKind::value: return rank_of(*leaf) * (strided(*leaf) ? 2 : 1);
    case ArgKind::none:
    case ArgKind::real: return 0;
    case ArgKind::string:
    case ArgKind::dims:
    case ArgKind::reals: return 1 + text_words(leaf[1]);
    default: return 1;
  }
}

uint64_t plain_word(ArgKind kind, DType dtype = DType::none) { return guard_word(kind, dtype, 0, false, Device::none); }
// The first word of a symbolic integer.
uint64_t any_integer_word() { return plain_word(ArgKind::integer, DType::i64); }

// The same walk packs keys and compares them: a sink takes words, sizes and bytes in order, and says whether to go on.
class Packer {
 public:
  explicit Packer(std::vector<uint64_t>& words) : words_(words) {}
  bool word(uint64_t w) { return words_.push_back(w), true; }
  bool integer(int64_t value) { return word(plain_word(ArgKind::integer)) && word(static_cast<uint64_t>(value)); }
  bool sizes(const int64_t* s, size_t n) { return words_.insert(words_.end(), s, s + n), true; }
  bool bytes(const void* data, size_t n) {
    const size_t at = words_.size();
    words_.resize(at + text_words(n));
    if (n) std::memcpy(words_.data() + at, data, n);
    return true;
  }

 private:
  std::vector<uint64_t>& words_;
};

// Two leaves of equal first words (and, of texts, equal lengths) have as many words to follow, and two structures as
// many leaves: nothing is read beyond the end.
class Matcher {
 public:
  explicit Matcher(const uint64_t* at) : at_(at) {}
  bool word(uint64_t w) { return *at_++ == w; }
  bool integer(int64_t value) {
    at_ += 2;
    return at_[-2] == any_integer_word() ||
           (at_[-2] == plain_word(ArgKind::integer) && at_[-1] == static_cast<uint64_t>(value));
  }
  bool sizes(const int64_t* s, size_t n) {
    uint64_t differ = 0;
    for (size_t i = 0; i < n; i++) differ |= static_cast<uint64_t>(s[i]) ^ at_[i];
    at_ += n;
    return differ == 0;
  }
  bool bytes(const void* data, size_t n) {
    const bool same = n == 0 || std::memcmp(at_, data, n) == 0;
    at_ += text_words(n);
    return same;
  }

 private:
  const uint64_t* at_;
};

// What a key compares but for values, some of which may be any.
class Hasher {
 public:
  bool word(uint64_t w) { return hash_ = mix(hash_, w), true; }
  bool integer(int64_t) { return word(any_integer_word()); }
  bool sizes(const int64_t* s, size_t n) { return hash_ = hash_bytes(s, n * sizeof *s, hash_), true; }
  bool bytes(const void*, size_t) { return true; }
  uint64_t hash() const { return hash_; }

 private:
  uint64_t hash_ = 0;
};

template <class Sink>
bool pack_text(Sink& sink, ArgKind kind, const void* data, size_t bytes) {
  return sink.word(plain_word(kind)) && sink.word(bytes) && sink.bytes(data, bytes);
}

// Inlined: a call for each tensor would take longer than its body.
template <class Sink>
[[gnu::always_inline]] inline bool pack_tensor(Sink& sink, const Tensor& t) {
  const uint64_t guard = t.guard();
  if (!sink.word(guard)) return false;
  const size_t rank = rank_of(guard);
  return sink.sizes(t.sizes(), rank) && (!strided(guard) || sink.sizes(t.strides().data(), rank));
}

template <class Sink>
bool pack_leaf(Sink& sink, const Leaf& leaf) {
  switch (leaf.kind) {
    case ArgKind::value: return pack_tensor(sink, *leaf.tensor);
    // A float is a live input of the program: its value is no part of the key.
    case ArgKind::real: return sink.word(plain_word(ArgKind::real, DType::f64));
    case ArgKind::none: return sink.word(plain_word(ArgKind::none));
    case ArgKind::string: return pack_text(sink, leaf.kind, leaf.text.data(), leaf.text.size());
    case ArgKind::dims: return pack_text(sink, leaf.kind, leaf.ints.data(), leaf.ints.size() * sizeof(int64_t));
    case ArgKind::reals: return pack_text(sink, leaf.kind, leaf.reals.data(), leaf.reals.size() * sizeof(double));
    case ArgKind::integer: return sink.integer(leaf.i);
    default: return sink.word(plain_word(leaf.kind)) && sink.word(static_cast<uint64_t>(leaf.i));
  }
}

template <class Sink>
bool pack_leaves(Sink& sink, const Inputs& in) {
  bool same = true;
  if (in.values)
    for (size_t i = 0; same && i < in.count; i++) same = pack_leaf(sink, (*in.values)[i]);
  else
    for (size_t i = 0; same && i < in.count; i++) same = in.tensors[i] && pack_tensor(sink, *in.tensors[i]);
  return same;
}

// The structure of tensors by position, as their values would have it.
std::string flat_structure(size_t count) {
  std::string stars;
  for (size_t i = 0; i < count; i++) stars += i ? ",*" : "*";
  return stars;
}

}  // namespace

uint64_t hash_of(const Inputs& in) {
  Hasher hasher;
  pack_leaves(hasher, in);
  return hasher.hash();
}

Key::Key(const Inputs& in, std::span<const uint32_t> integers) {
  const std::string flat = flat_structure(in.count);
  const std::string& structure = in.values ? in.values->structure() : flat;
  if (structure == flat) flat_ = in.count;
  Packer packer(words_);
  pack_text(packer, ArgKind::string, structure.data(), structure.size());
  leaves_ = words_.size();
  pack_leaves(packer, in);
  size_t at = leaves_;
  for (uint32_t leaf = 0; leaf < in.count && !integers.empty(); leaf++) {
    if (leaf == integers.front()) words_[at] = any_integer_word(), words_[at + 1] = 0, integers = integers.subspan(1);
    at += 1 + count_words_after(words_.data() + at);
  }
}

bool Key::matches(const Inputs& in) const {
  if (in.values) {
    Matcher structure(words_.data());
    if (!pack_text(structure, ArgKind::string, in.values->structure().data(), in.values->structure().size()))
      return false;
  } else if (in.count != flat_) {
    return false;
  }
  Matcher matcher(words_.data() + leaves_);
  return pack_leaves(matcher, in);
}

std::string Key::describe(size_t at, std::string_view field) const {
  const uint64_t h = words_[at];
  const uint64_t* w = words_.data() + at + 1;
  auto list = [&](size_t from) {
    std::span<const uint64_t> items(w + from, rank_of(h));
    return cat("[", join(items, ", ", [](uint64_t v) { return static_cast<int64_t>(v); }), "]");
  };
  if (field == "dtype") return std::string(name(dtype_of(h)));
  if (field == "device") return name(device_of(h));
  if (field == "shape") return list(0);
  if (field == "layout") return strided(h) ? cat("strides ", list(rank_of(h))) : "contiguous";
  if (field == "value" && kind_of(h) == ArgKind::string)
    return cat("'", std::string_view(reinterpret_cast<const char*>(w + 1), std::min<size_t>(w[0], 40)), "'");
  if (field == "value" && kind_of(h) == ArgKind::boolean) return w[0] ? "true" : "false";
  if (field == "value" && h == any_integer_word()) return "any";
  if (field == "value" && kind_of(h) == ArgKind::integer) return cat(static_cast<int64_t>(w[0]));
  constexpr std::string_view kinds[] = {"None",     "a tensor",           "an integer",       "a float", "a boolean",
                                        "a string", "a list of integers", "a list of floats", "a list",  "a dtype",
                                        "a device"};
  return field == "kind" ? std::string(kinds[static_cast<size_t>(kind_of(h))]) : "different";
}

std::string Key::describe_change(const Inputs& in, std::span<const std::string> names) const {
  const Key now(in);
  size_t a = now.leaves_, b = leaves_;
  for (size_t leaf = 0; a < now.words_.size() && b < words_.size(); leaf++) {
    const uint64_t *x = now.words_.data() + a, *y = words_.data() + b;
    const std::string which = leaf < names.size() ? cat("input '", names[leaf], "'") : cat("input ", leaf);
    const auto differ = [&](std::string_view field) {
      return cat(which, ": ", field, " is ", now.describe(a, field), ", was ", describe(b, field));
    };
    if (kind_of(*x) != kind_of(*y)) return differ("kind");
    if (kind_of(*x) == ArgKind::value || kind_of(*x) == ArgKind::real) {
      for (std::string_view field : {"dtype", "device"})
        if (now.describe(a, field) != describe(b, field)) return differ(field);
      const auto elements = [](const uint64_t* leaf_words) {
        uint64_t n = 1;
        for (size_t i = 0; i < rank_of(*leaf_words); i++) n *= leaf_words[1 + i];
        return n;
      };
      const bool is_tensor = kind_of(*x) == ArgKind::value;
      if (is_tensor && (rank_of(*x) != rank_of(*y) || elements(x) != elements(y))) return differ("shape");
      if (is_tensor && (strided(*x) || strided(*y)) &&
          (*x != *y || std::memcmp(x + 1, y + 1, count_words_after(x) * 8)))
        return differ("layout");
    }
    a += 1 + count_words_after(x), b += 1 + count_words_after(y);
  }
  return a == now.words_.size() && b == words_.size() ? "" : "there are more or fewer of them";
}

std::string Key::difference(const Key& cached, std::span<const std::string> names) const {
  // The structure comes first in both.
  if (leaves_ != cached.leaves_ || std::memcmp(words_.data(), cached.words_.data(), leaves_ * 8))
    return cat("the inputs' structure is ", describe(0, "value"), ", was ", cached.describe(0, "value"));
  size_t a = leaves_, b = leaves_;
  for (size_t leaf = 0; a < words_.size() && b < cached.words_.size(); leaf++) {
    const size_t na = 1 + count_words_after(words_.data() + a), nb = 1 + count_words_after(cached.words_.data() + b);
    const bool any = cached.words_[b] == any_integer_word() && kind_of(words_[a]) == ArgKind::integer;
    if (!any && (na != nb || std::memcmp(words_.data() + a, cached.words_.data() + b, na * 8))) {
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
