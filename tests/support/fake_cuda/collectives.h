// What the ranks of a communicator of the stand-in for NCCL share: a file in memory that each of them maps.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace fake_nccl {

constexpr int kMostRanks = 16, kMostSplits = 16;
// Of a rank's operand, and of what it sends to single ranks; only what is written takes memory.
constexpr size_t kAreaBytes = size_t{64} << 20, kMessageBytes = kAreaBytes / kMostRanks;

enum class Kind : int32_t { all_reduce, all_gather, reduce_scatter, broadcast };
constexpr const char* kKinds[] = {"all_reduce", "all_gather", "reduce_scatter", "broadcast"};

struct Call {
  Kind kind;
  int32_t type, reduction, root;
  uint64_t count;
  bool operator==(const Call&) const = default;
  std::string text() const;
};

struct Board {
  struct Rank {
    std::atomic<uint64_t> posted, done;  // collectives whose operand is in the area, or whose result it has
    Call call;
    // What it sent to each rank: how many messages, how many of them have been received, and of how many bytes the last is.
    std::atomic<uint64_t> sent[kMostRanks], received[kMostRanks];
    uint64_t message_bytes[kMostRanks];
    std::atomic<uint64_t> splits;
    int32_t color[kMostSplits], key[kMostSplits];
  };
  std::atomic<int32_t> attached;
  Rank rank[kMostRanks];

  std::byte* area(int rank) { return reinterpret_cast<std::byte*>(this) + sizeof(Board) + static_cast<size_t>(rank) * 2 * kAreaBytes; }
  std::byte* message(int from, int to) { return area(from) + kAreaBytes + static_cast<size_t>(to) * kMessageBytes; }
  // The file of that name, made by whoever comes first and unlinked by the last of the ranks.
  static Board* attach(const std::string& name, int ranks);
  static void detach(Board* board, int ranks);
};

// 0: NCCL has no such type.
size_t size_of_type(int type);
// This rank's result of the collective for which all operands are in the areas.
void compute(Board& board, const Call& call, int rank, int ranks, void* out);

}  // namespace fake_nccl
