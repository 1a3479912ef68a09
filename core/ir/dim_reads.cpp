#include "ir/dim_reads.h"

#include <utility>

namespace thunder {
namespace {

thread_local DimReads* reads = nullptr;

}  // namespace

DimReads::DimReads() : outer_(std::exchange(reads, this)) {}
DimReads::~DimReads() { reads = outer_; }
DimReads* DimReads::current() { return reads; }

DimReads::Pause::Pause() : paused_(std::exchange(reads, nullptr)) {}
DimReads::Pause::~Pause() { reads = paused_; }

}  // namespace thunder
