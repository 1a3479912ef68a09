// Random shapes, strides and offsets given to create, borrow, view and DLPack import: exactly those that lie inside of
// the memory are taken, as arithmetic of 128 bits says, and what was taken can be read and seen in other ways.
#include <thunder.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "support/generator.h"
#include "tensor/dlpack_abi.h"

namespace {

using namespace thunder::tests;
__extension__ using Wide = __int128;
using Generator = std::mt19937_64;

struct Context {
  Context() {
    thunder_hooks hooks{};
    hooks.size = sizeof hooks;
    // A copy of what is expanded to millions of elements is refused for lack of memory.
    hooks.allocate = [](size_t bytes, size_t align, void*) -> void* {
      return bytes > 1 << 20 ? nullptr : std::aligned_alloc(align, (bytes + align - 1) / align * align);
    };
    hooks.deallocate = [](void* p, size_t, size_t, void*) { std::free(p); };
    EXPECT_EQ(thunder_context_create(&hooks, &handle), nullptr);
  }
  ~Context() { thunder_context_release(handle); }
  Context(const Context&) = delete;
  thunder_context* handle = nullptr;
};

constexpr size_t kMaxRank = 32;
constexpr struct {
  thunder_dtype dtype;
  int64_t item;
} kTypes[] = {{THUNDER_F32, 4}, {THUNDER_U8, 1}, {THUNDER_F64, 8}, {THUNDER_BF16, 2}};

struct Metadata {
  thunder_dtype dtype = THUNDER_F32;
  int64_t item = 4;
  std::vector<int64_t> shape, strides;
  bool strided = false;
  int64_t offset = 0;  // in elements

  explicit Metadata(Generator& g) {
    const auto& type = kTypes[below(g, std::size(kTypes))];
    dtype = type.dtype, item = type.item;
    const size_t rank = one_in(g, 20) ? below(g, 80) : below(g, 5);
    const bool hostile = one_in(g, 2);
    for (size_t i = 0; i < rank; i++) {
      shape.push_back(hostile ? hostile_integer(g) : static_cast<int64_t>(below(g, 4)));
      strides.push_back(hostile || one_in(g, 8) ? hostile_integer(g) : static_cast<int64_t>(below(g, 9)) - 3);
    }
    strided = one_in(g, 2);
    if (!one_in(g, 3)) offset = one_in(g, 3) ? hostile_integer(g) : static_cast<int64_t>(below(g, 12)) - 3;
  }

  size_t rank() const { return shape.size(); }
  bool empty() const {
    for (int64_t n : shape)
      if (n == 0) return true;
    return false;
  }
  // Bytes of the elements without gaps, an axis of size 0 counted as 1; -1: none are wanted for these sizes.
  Wide dense() const {
    if (rank() > kMaxRank) return -1;
    Wide bytes = item;
    for (int64_t n : shape) {
      if (n < 0) return -1;
      bytes *= n > 1 ? n : 1;
      if (bytes > INT64_MAX) return -1;
    }
    return bytes;
  }
  // The bytes touched, from the first element on: [low, high).
  std::pair<Wide, Wide> touched() const {
    if (empty()) return {0, 0};
    Wide low = 0, high = item, step = item;
    for (size_t i = rank(); i-- > 0;) {
      const Wide reach = Wide(shape[i] - 1) * (strided ? Wide(strides[i]) * item : step);
      (reach < 0 ? low : high) += reach;
      step *= shape[i];
    }
    return {low, high};
  }
  // Whether it lies in `bytes` bytes, with the first element `at` bytes from their begin.
  bool inside(Wide at, Wide bytes) const {
    if (dense() < 0) return false;
    const auto [low, high] = touched();
    return at + low >= 0 && at + high <= bytes;
  }
};

// Sees the tensor in other ways and reads it: addresses outside of its memory are the sanitizer's to find.
void use(thunder_context* c, thunder_tensor* t, Generator& g) {
  const size_t bytes = thunder_tensor_nbytes(t);
  if (bytes <= 1 << 16) {
    std::vector<char> host(bytes + 1);
    EXPECT_EQ(thunder_tensor_read(t, host.data(), bytes), nullptr);
  }
  thunder_scope* s = nullptr;
  ASSERT_EQ(thunder_scope_create(c, one_in(g, 2) ? THUNDER_SCOPE_TAPED : 0, &s), nullptr);
  for (int i = 0; i < 3; i++) {
    std::array<int64_t, 4> list;
    for (int64_t& n : list) n = hostile_integer(g);
    auto integer = [&] { return thunder_any{THUNDER_INT, 0, {.i = hostile_integer(g)}}; };
    const thunder_any tensor{THUNDER_TENSOR, 0, {.t = t}}, sizes{THUNDER_DIMS, static_cast<uint32_t>(below(g, 5)), {.d = list.data()}};
    const thunder_any args[][5] = {{tensor, integer(), integer()}, {tensor, integer(), integer(), integer(), integer()}, {tensor, sizes}};
    const struct {
      const char* op;
      size_t args, form;
    } ops[] = {{"transpose", 3, 0}, {"select", 3, 0},    {"slice", 5, 1},  {"slice", 4, 1},   {"reshape", 2, 2},
               {"expand", 2, 2},    {"permute", 2, 2},   {"flatten", 3, 0}, {"unsqueeze", 2, 0}, {"squeeze", 2, 0}};
    const auto& op = ops[below(g, std::size(ops))];
    thunder_tensor* seen = thunder_op_invoke(s, op.op, args[op.form], op.args, nullptr, nullptr, 0, nullptr);
    if (thunder_tensor_is_concrete(seen) && thunder_tensor_nbytes(seen) <= 1 << 12) {
      std::vector<char> host(thunder_tensor_nbytes(seen) + 1);
      EXPECT_EQ(thunder_tensor_read(seen, host.data(), host.size() - 1), nullptr);
      const thunder_any sum[] = {{THUNDER_TENSOR, 0, {.t = seen}}};
      thunder_op_invoke(s, "sum", sum, 1, nullptr, nullptr, 0, nullptr);
    }
    thunder_scope_reset(s);
  }
  thunder_scope_release(s);
}

// `made`, as the arithmetic says, or an error.
void judge(thunder_context* c, thunder_status* failed, thunder_tensor* made, bool expected, Generator& g) {
  const std::string message = thunder_status_message(failed);
  EXPECT_EQ(failed == nullptr, expected) << message;
  if (failed) {
    EXPECT_EQ(thunder_status_code(failed), THUNDER_INVALID_ARGUMENT) << message;
    EXPECT_NE(message, "");
    EXPECT_EQ(made, nullptr);
    thunder_status_release(failed);
  }
  if (made && !failed) use(c, made, g);
  thunder_tensor_release(made);
}

constexpr size_t kBytes = 192;
struct alignas(64) Memory {
  char bytes[kBytes] = {};
};

void create(thunder_context* c, const Metadata& m, Generator& g) {
  const auto memory = std::make_unique<Memory>();
  const Wide wanted = m.dense() < 0 ? -1 : m.empty() ? 0 : m.dense();
  const size_t bytes = wanted >= 0 && wanted <= static_cast<Wide>(kBytes) ? static_cast<size_t>(wanted) : below(g, kBytes);
  thunder_tensor* made = nullptr;
  thunder_status* failed =
      thunder_tensor_create(c, m.dtype, m.rank(), m.shape.data(), THUNDER_CPU, memory->bytes, bytes, &made);
  judge(c, failed, made, wanted == static_cast<Wide>(bytes), g);
}

void borrow(thunder_context* c, const Metadata& m, Generator& g) {
  // Just as long as it says, so that the sanitizer sees what is read beyond.
  const size_t bytes = below(g, kBytes);
  const std::unique_ptr<char[]> memory(new char[bytes + 1]());
  thunder_tensor* made = nullptr;
  thunder_status* failed = thunder_tensor_borrow(c, m.dtype, m.rank(), m.shape.data(), m.strided ? m.strides.data() : nullptr,
                                                 THUNDER_CPU, memory.get(), bytes, nullptr, nullptr, &made);
  judge(c, failed, made, m.inside(0, static_cast<Wide>(bytes)), g);
}

void view(thunder_context* c, const Metadata& m, Generator& g) {
  const auto memory = std::make_unique<Memory>();
  const auto length = static_cast<int64_t>(below(g, kBytes / static_cast<size_t>(m.item)));
  thunder_tensor *base = nullptr, *made = nullptr;
  ASSERT_EQ(thunder_tensor_create(c, m.dtype, 1, &length, THUNDER_CPU, memory->bytes, static_cast<size_t>(length * m.item), &base),
            nullptr);
  thunder_status* failed =
      thunder_tensor_view(base, m.rank(), m.shape.data(), m.strided ? m.strides.data() : nullptr, m.offset, &made);
  thunder_tensor_release(base);
  judge(c, failed, made, m.inside(Wide(m.offset) * m.item, Wide(length) * m.item), g);
}

// DLPack says nothing of where the memory ends: what is taken is used when it lies in ours.
void import(thunder_context* c, const Metadata& m, Generator& g) {
  const auto memory = std::make_unique<Memory>();
  std::vector<int64_t> shape = m.shape, strides = m.strides;
  DLManagedTensor managed{};
  DLTensor& t = managed.dl_tensor;
  const uint64_t half = kBytes / 2;
  t.data = memory->bytes + half;
  t.byte_offset = static_cast<uint64_t>(m.offset) * static_cast<uint64_t>(m.item);
  t.device = {1, 0};
  t.ndim = one_in(g, 16) ? static_cast<int32_t>(hostile_integer(g)) : static_cast<int32_t>(m.rank());
  t.dtype = {static_cast<uint8_t>(m.dtype >> 8), static_cast<uint8_t>(m.dtype & 0xff), 1};
  shape.resize(kMaxRank + 1), strides.resize(kMaxRank + 1);
  t.shape = one_in(g, 16) ? nullptr : shape.data();
  t.strides = m.strided ? strides.data() : nullptr;
  thunder_tensor* made = nullptr;
  thunder_status* failed = thunder_tensor_from_dlpack_legacy(c, &managed, &made);
  const bool as_it_is = t.shape && t.ndim == static_cast<int32_t>(m.rank());
  const bool ours = as_it_is && m.offset >= 0 && m.inside(Wide(m.offset) * m.item + half, kBytes);
  EXPECT_EQ(failed == nullptr, made != nullptr);
  if (failed) {
    EXPECT_FALSE(ours) << thunder_status_message(failed);
    thunder_status_release(failed);
  } else if (as_it_is) {
    EXPECT_GE(m.dense(), 0);
    if (ours) use(c, made, g);
  }
  thunder_tensor_release(made);
}

TEST(Metadata, at_random_is_taken_where_it_lies_inside_the_memory_and_refused_elsewhere) {
  Context c;
  for_each_seed(20'000, [&](Generator& g) {
    const Metadata m(g);
    constexpr decltype(&create) ways[] = {create, borrow, view, import};
    ways[below(g, std::size(ways))](c.handle, m, g);
  });
}

}  // namespace
