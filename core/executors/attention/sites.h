// The kinds of call sites, and what they share.
#pragma once

#include <memory>

#include "executors/attention/geometry.h"
#include "executors/attention/softmax.h"
#include "executors/cpu/site.h"

namespace thunder {

// The code that the processor at hand runs, and what is known of it.
struct AttentionKernels {
  const ProductKernels* products = nullptr;
  const SoftmaxKernels* softmax = nullptr;
  const Machine* machine = nullptr;

  // The fastest that takes these operands.
  void multiply(const Product& p) const;
  // How many tasks may run at the same time: threads, but none for less work than they cost.
  int64_t slots_for(const Geometry& g) const;
};

// A block of so many keys against so many queries is worked on at a time: it stays in the second-level cache.
constexpr int64_t kKeys = 128, kQueries = 128;
// Up to so many queries a head, reading the keys once is what counts.
constexpr int64_t kFewQueries = 4;

// `scratch`: bytes that each call needs.
std::unique_ptr<Site> forward_site(const AttentionKernels& kernels, const Geometry& geometry, size_t* scratch);
std::unique_ptr<Site> few_queries_site(const AttentionKernels& kernels, const Geometry& geometry, size_t* scratch);
std::unique_ptr<Site> backward_site(const AttentionKernels& kernels, const Geometry& geometry, size_t* scratch);

}  // namespace thunder
