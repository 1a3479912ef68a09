// Blocks of another library's allocator.
#include "device/cuda/device.h"

namespace thunder::nvidia {

void CudaDevice::borrow_from(const std::optional<BlockLender>& lender) {
  std::lock_guard lock(lent_mutex_);
  lender_ = lender;
}

// Requires: the context is current.
void* CudaDevice::borrow(const BlockLender& lender, size_t bytes) {
  Lent lent{lender, nullptr, nullptr};
  const auto lend = [&] {
    void* stream = stream_;
    void* const at = lender.lend(bytes, &stream, &lent.block, lender.user);
    lent.stream = static_cast<Stream>(stream);
    return at;
  };
  void* at = lend();
  if (!at && pool_.statistics().kept) pool_.trim(), at = lend();
  if (!at) return nullptr;
  Status* const failed = order(lent.stream, stream_);
  try {
    if (failed) throw Error(Ref<Status>::adopt(failed));
    std::lock_guard lock(lent_mutex_);
    lent_.emplace(at, lent);
    return at;
  } catch (const std::exception&) {
    lender.give_back(lent.block, lender.user);
    return nullptr;
  }
}

// False: the block does not belong to a lender.
bool CudaDevice::give_back_block(const void* block) {
  Lent lent;
  {
    std::lock_guard lock(lent_mutex_);
    const auto found = lent_.find(block);
    if (found == lent_.end()) return false;
    lent = found->second;
    lent_.erase(found);
  }
  if (Status* failed = order(stream_, lent.stream)) {
    failed->release();
    driver_.stream_wait(stream_);
  }
  lent.from.give_back(lent.block, lent.from.user);
  return true;
}

}  // namespace thunder::nvidia
