// Functions of a whole device: statistics of its memory, waiting for it.
#include "capi/context.h"
#include "capi/handle.h"
#include "device/arenas.h"
#include "device/exchange.h"

using namespace thunder;
using namespace thunder::capi;

namespace {

void throw_if_failed(Status* failed) {
  if (failed) throw Error(Ref<Status>::adopt(failed));
}

// Null: the CPU.
Accelerator* find_accelerator(Context& context, thunder_device device) {
  const Device on = device_of(context, device);
  return on == Device::cpu ? nullptr : &context.devices().accelerator(on);
}

MemoryStatistics memory_of(Context& context, thunder_device device) {
  if (const Accelerator* on = find_accelerator(context, device)) return on->memory();
  const BlockCache* const blocks = context.block_cache();
  return blocks ? blocks->statistics() : MemoryStatistics{};
}

}  // namespace

extern "C" {

thunder_status* thunder_context_memory_stats(thunder_context* context, thunder_device device,
                                             thunder_memory_stats* out) noexcept {
  return given(guarded(__func__, [&] {
    need(context, "context"), need(out, "out");
    check(out->size >= sizeof out->size, "out->size is ", out->size, ", not the size of thunder_memory_stats");
    const MemoryStatistics s = memory_of(*core(context), device);
    const thunder_memory_stats filled{std::min(out->size, sizeof filled),
                                      s.used,
                                      s.most_used,
                                      s.used + s.kept,
                                      s.most_reserved,
                                      s.hits,
                                      s.misses,
                                      s.retries};
    std::memcpy(out, &filled, filled.size);
  }));
}

thunder_status* thunder_context_reset_peak_memory_stats(thunder_context* context, thunder_device device) noexcept {
  return given(guarded(__func__, [&] {
    need(context, "context");
    if (Accelerator* on = find_accelerator(*core(context), device))
      on->reset_peak_memory();
    else if (BlockCache* blocks = core(context)->block_cache())
      blocks->reset_peaks();
  }));
}

thunder_status* thunder_context_empty_cache(thunder_context* context, thunder_device device) noexcept {
  return given(guarded(__func__, [&] {
    need(context, "context");
    Accelerator* const on = find_accelerator(*core(context), device);
    Arenas::shared_for(core(context)->devices().allocator(on ? on->id() : Device::cpu))->trim();
    if (on)
      throw_if_failed(on->trim_memory());
    else if (BlockCache* blocks = core(context)->block_cache())
      blocks->trim();
  }));
}

thunder_status* thunder_context_set_device_allocator(thunder_context* context, thunder_device device,
                                                     const thunder_device_allocator* allocator) noexcept {
  return given(guarded(__func__, [&] {
    need(context, "context");
    Accelerator* const on = find_accelerator(*core(context), device);
    check(on != nullptr, "the CPU's blocks are those of thunder_hooks");
    if (!allocator) return exchange_of(*on).borrow_from(std::nullopt);
    check(allocator->size >= sizeof *allocator, "allocator->size is ", allocator->size,
          ", not the size of thunder_device_allocator");
    check(allocator->lend && allocator->give_back, "allocator->lend or give_back is NULL");
    exchange_of(*on).borrow_from(BlockLender{allocator->lend, allocator->give_back, allocator->user});
  }));
}

thunder_status* thunder_context_device_info(thunder_context* context, thunder_device device,
                                            thunder_device_info* out) noexcept {
  return given(guarded(__func__, [&] {
    need(context, "context"), need(out, "out");
    check(out->size >= sizeof out->size, "out->size is ", out->size, ", not the size of thunder_device_info");
    Accelerator* const on = find_accelerator(*core(context), device);
    check(on != nullptr, "the CPU is described by thunder_context_describe(context, \"machine\")");
    const DeviceFacts facts = exchange_of(*on).facts();
    size_t free = 0, total = 0;
    throw_if_failed(exchange_of(*on).free_memory(free, total));
    thunder_device_info filled{};
    filled.size = std::min(out->size, sizeof filled);
    facts.name.copy(filled.name, sizeof filled.name - 1);
    filled.major = facts.major, filled.minor = facts.minor, filled.multiprocessors = facts.multiprocessors;
    filled.total_bytes = facts.bytes, filled.l2_bytes = facts.l2_bytes;
    filled.shared_bytes_per_block = facts.shared_bytes_of_block, filled.free_bytes = free;
    std::memcpy(out, &filled, filled.size);
  }));
}

thunder_status* thunder_context_synchronize(thunder_context* context, thunder_device device) noexcept {
  return given(guarded(__func__, [&] {
    need(context, "context");
    if (Accelerator* on = find_accelerator(*core(context), device)) throw_if_failed(on->wait());
  }));
}

}  // extern "C"
