// Memory of the stand-in for libcuda: blocks of the device, pinned blocks of the host, copies and fills.
#include <cstring>

#include "driver_state.h"

using namespace fake_driver;

namespace {

constexpr size_t kPage = 4096;
constexpr unsigned char kFresh = 0xcd, kFreed = 0xdd;

bool pinned(const void* at) {
  auto it = state().host.upper_bound(at);
  if (it == state().host.begin()) return false;
  --it;
  return static_cast<const std::byte*>(at) < static_cast<const std::byte*>(it->first) + it->second;
}

bool inside(unsigned long long at, size_t bytes) {
  auto it = state().blocks.upper_bound(at);
  if (it == state().blocks.begin()) return false;
  --it;
  return at + bytes <= it->first + it->second;
}

}  // namespace

extern "C" {

int cuMemAlloc_v2(unsigned long long* out, size_t bytes) {
  ENTRY();
  State& s = state();
  if (!bytes) return kInvalidValue;
  const size_t rounded = (bytes + kPage - 1) / kPage * kPage;
  auto it = s.free.find(rounded);
  if (it != s.free.end()) {
    *out = it->second;
    s.free.erase(it);
  } else {
    if (s.used + rounded > s.limit || s.used + rounded > kReserved) return kOutOfMemory;
    *out = reinterpret_cast<unsigned long long>(s.memory + s.used);
    s.used += rounded;
  }
  s.blocks[*out] = bytes;
  const Reach reach;
  std::memset(pointer(*out), kFresh, bytes);
  return 0;
}
int cuMemFree_v2(unsigned long long at) {
  const Entry entry;
  State& s = state();
  auto it = s.blocks.find(at);
  if (it == s.blocks.end()) return kInvalidValue;
  reach_all();
  do_late();
  const Reach reach;
  std::memset(pointer(at), kFreed, it->second);
  s.free.emplace((it->second + kPage - 1) / kPage * kPage, at);
  s.blocks.erase(it);
  return 0;
}
int cuPointerGetAttributes(unsigned, int*, void** out, unsigned long long at) {
  const Entry entry;
  *static_cast<unsigned*>(out[0]) = pinned(pointer(at)) ? 1 : 0;
  return 0;
}
int cuMemHostAlloc(void** out, size_t bytes, unsigned) {
  ENTRY();
  *out = ::operator new(bytes);
  return state().host[*out] = bytes, 0;
}
int cuMemFreeHost(void* at) {
  const Entry entry;
  reach_all();
  do_late();
  if (!state().host.erase(at)) return kInvalidValue;
  return ::operator delete(at), 0;
}

int cuMemcpyHtoDAsync_v2(unsigned long long to, const void* from, size_t bytes, void* stream) {
  ENTRY();
  if (!inside(to, bytes)) return kInvalidValue;
  const auto copy = [=] {
    const Reach reach;
    return std::memcpy(pointer(to), from, bytes), 0;
  };
  const bool later = must_wait(stream);
  if (later && pinned(from)) return enqueue(stream, copy);
  if (later) {  // what is not pinned has been read when this returns
    const auto* bytes_of = static_cast<const std::byte*>(from);
    return enqueue(stream, [to, kept = std::vector<std::byte>(bytes_of, bytes_of + bytes)] {
      const Reach reach;
      return std::memcpy(pointer(to), kept.data(), kept.size()), 0;
    });
  }
  if (pinned(from)) return state().late.emplace_back(copy), 0;
  do_late();
  return copy();
}
int cuMemcpyDtoHAsync_v2(void* to, unsigned long long from, size_t bytes, void* stream) {
  ENTRY();
  if (!inside(from, bytes)) return kInvalidValue;
  force(point_in(stream));
  do_late();
  const Reach reach;
  return std::memcpy(to, pointer(from), bytes), 0;
}
int cuMemcpyDtoDAsync_v2(unsigned long long to, unsigned long long from, size_t bytes, void* stream) {
  ENTRY();
  if (!inside(from, bytes) || !inside(to, bytes)) return kInvalidValue;
  return enqueue(stream, [=] {
    const Reach reach;
    return std::memmove(pointer(to), pointer(from), bytes), 0;
  });
}
int cuMemsetD8Async(unsigned long long to, unsigned char value, size_t bytes, void* stream) {
  ENTRY();
  if (!inside(to, bytes)) return kInvalidValue;
  return enqueue(stream, [=] {
    const Reach reach;
    return std::memset(pointer(to), value, bytes), 0;
  });
}
int cuMemsetD32Async(unsigned long long to, unsigned value, size_t words, void* stream) {
  ENTRY();
  if (!inside(to, words * 4)) return kInvalidValue;
  return enqueue(stream, [=] {
    const Reach reach;
    for (size_t i = 0; i < words; i++) std::memcpy(pointer(to) + 4 * i, &value, 4);
    return 0;
  });
}
}
