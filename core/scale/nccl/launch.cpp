// What a communicator asks NCCL for: each collective as the library's calls.
#include "base/text.h"
#include "scale/nccl/group.h"

namespace thunder::scale::nccl {
namespace {

int type_of(DType d) {
  switch (d) {
    case DType::i8: return kInt8;
    case DType::boolean:
    case DType::u8: return kUint8;
    case DType::i32: return kInt32;
    case DType::u32: return kUint32;
    case DType::i64: return kInt64;
    case DType::u64: return kUint64;
    case DType::f32: return kFloat32;
    case DType::f64: return kFloat64;
    default:
      // Not a failure of the world: all ranks are told the same.
      fail(Code::invalid_argument, "nccl: it has no reductions of ", thunder::name(d),
           "; convert the tensor to int32 or float32 before, and back behind it");
  }
}

int reduction_of(RankReduction r) {
  return r == RankReduction::sum ? kSum : r == RankReduction::max ? kMax : kMin;
}

bool reduces(const GroupCall& c) {
  return c.what == Collective::all_reduce || c.what == Collective::reduce_scatter;
}
}  // namespace

void NcclGroup::check_type(const GroupCall& c) {
  if (reduces(c)) type_of(c.dtype);
}

// What `begin` begins is one launch. Groups lie in each other.
template <class F>
void NcclGroup::for_group(F&& begin) {
  library_.check(library_.group_start(), "ncclGroupStart", comm_);
  try {
    begin();
  } catch (...) {
    library_.group_end();  // of this thread, which may not stay in it
    throw;
  }
  library_.check(library_.group_end(), "ncclGroupEnd", comm_);
}

void NcclGroup::launch_together(std::span<const GroupCall> calls) {
  for_group([&] {
    for (const GroupCall& c : calls) launch(c, c.in, c.out);
  });
}

void NcclGroup::launch(const GroupCall& c, const void* in, void* out) {
  const auto count = static_cast<size_t>(c.count), bytes = count * size_of(c.dtype);
  switch (c.what) {
    case Collective::all_reduce:
      library_.check(library_.all_reduce(in, out, count, type_of(c.dtype), reduction_of(c.reduction), comm_, stream_),
                     "ncclAllReduce", comm_);
      break;
    case Collective::all_gather:
      library_.check(library_.all_gather(in, out, bytes, kUint8, comm_, stream_), "ncclAllGather", comm_);
      break;
    case Collective::reduce_scatter:
      library_.check(
          library_.reduce_scatter(in, out, count, type_of(c.dtype), reduction_of(c.reduction), comm_, stream_),
          "ncclReduceScatter", comm_);
      break;
    case Collective::broadcast:
      library_.check(library_.broadcast(in, out, bytes, kUint8, c.root, comm_, stream_), "ncclBroadcast", comm_);
      break;
    case Collective::all_to_all:
      for_group([&] {
        for (int64_t r = 0; r < ranks_; r++) {
          const size_t at = static_cast<size_t>(r) * bytes;
          send_bytes(static_cast<const std::byte*>(in) + at, bytes, r);
          receive_bytes(static_cast<std::byte*>(out) + at, bytes, r);
        }
      });
      break;
    case Collective::ppermute:
      for_group([&] {
        if (c.passing.to >= 0) send_bytes(in, bytes, c.passing.to);
        if (c.passing.from >= 0) receive_bytes(out, bytes, c.passing.from);
      });
      break;
    case Collective::barrier:
      break;  // the ranks have met
  }
}

void NcclGroup::send_bytes(const void* in, size_t bytes, int64_t to) {
  library_.check(library_.send(in, bytes, kUint8, static_cast<int>(to), comm_, stream_), "ncclSend", comm_);
}
void NcclGroup::receive_bytes(void* out, size_t bytes, int64_t from) {
  library_.check(library_.recv(out, bytes, kUint8, static_cast<int>(from), comm_, stream_), "ncclRecv", comm_);
}

}  // namespace thunder::scale::nccl
