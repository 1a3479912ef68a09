// The board of a communicator of the stand-in for NCCL, and what collectives make of the operands on it.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "collectives.h"

namespace fake_nccl {
namespace {

size_t bytes_of_board(int ranks) { return sizeof(Board) + static_cast<size_t>(ranks) * 2 * kAreaBytes; }

template <class T>
void reduce(Board& board, const Call& call, int ranks, size_t from, void* out) {
  for (uint64_t i = 0; i < call.count; i++) {
    T sum{};
    for (int r = 0; r < ranks; r++) {
      T x;
      std::memcpy(&x, board.area(r) + (from + i) * sizeof(T), sizeof x);
      if (r == 0) sum = x;
      else if (call.reduction == 0) sum = static_cast<T>(sum + x);
      else if (call.reduction == 2 ? x > sum : x < sum) sum = x;
    }
    std::memcpy(static_cast<std::byte*>(out) + i * sizeof(T), &sum, sizeof sum);
  }
}

}  // namespace

std::string Call::text() const {
  std::string text = std::string(kKinds[static_cast<int>(kind)]) + "(" + std::to_string(count) + " of type " + std::to_string(type);
  if (kind == Kind::broadcast) text += ", root " + std::to_string(root);
  return text + ", op " + std::to_string(reduction) + ")";
}

Board* Board::attach(const std::string& name, int ranks) {
  const int file = ::shm_open(name.c_str(), O_CREAT | O_RDWR, 0600);
  if (file < 0) return nullptr;
  void* at = ::ftruncate(file, static_cast<off_t>(bytes_of_board(ranks))) ? MAP_FAILED
             : ::mmap(nullptr, bytes_of_board(ranks), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
  ::close(file);
  if (at == MAP_FAILED) return nullptr;
  auto* board = static_cast<Board*>(at);
  if (++board->attached == ranks) ::shm_unlink(name.c_str());
  return board;
}

void Board::detach(Board* board, int ranks) { ::munmap(board, bytes_of_board(ranks)); }

size_t size_of_type(int type) {
  constexpr size_t kSizes[] = {1, 1, 4, 4, 8, 8, 0, 4, 8};
  return type >= 0 && type < 9 ? kSizes[type] : 0;
}

void compute(Board& board, const Call& call, int rank, int ranks, void* out) {
  const size_t bytes = call.count * size_of_type(call.type);
  if (call.kind == Kind::all_gather) {
    for (int r = 0; r < ranks; r++) std::memcpy(static_cast<std::byte*>(out) + static_cast<size_t>(r) * bytes, board.area(r), bytes);
    return;
  }
  if (call.kind == Kind::broadcast) {
    std::memcpy(out, board.area(call.root), bytes);
    return;
  }
  const size_t from = call.kind == Kind::reduce_scatter ? static_cast<size_t>(rank) * call.count : 0;
  switch (call.type) {
    case 0: return reduce<int8_t>(board, call, ranks, from, out);
    case 1: return reduce<uint8_t>(board, call, ranks, from, out);
    case 2: return reduce<int32_t>(board, call, ranks, from, out);
    case 3: return reduce<uint32_t>(board, call, ranks, from, out);
    case 4: return reduce<int64_t>(board, call, ranks, from, out);
    case 5: return reduce<uint64_t>(board, call, ranks, from, out);
    case 7: return reduce<float>(board, call, ranks, from, out);
    default: return reduce<double>(board, call, ranks, from, out);
  }
}

}  // namespace fake_nccl
