// What a call site of the executor keeps between calls.
#pragma once

#include <memory>

#include "executors/executor.h"
#include "executors/onednn/library.h"

namespace thunder {

// Any number of threads run it at a time.
struct Site {
  virtual ~Site() = default;
  virtual Status* run(const Launch* launch) const = 0;
};

// `scratch`: bytes that each call needs, 0 before.
using MakeSite = std::unique_ptr<Site> (*)(const Library& library, const NodeView& view, size_t* scratch);

std::unique_ptr<Site> matmul_site(const Library& library, const NodeView& view, size_t* scratch);
std::unique_ptr<Site> linear_site(const Library& library, const NodeView& view, size_t* scratch);
std::unique_ptr<Site> conv2d_site(const Library& library, const NodeView& view, size_t* scratch);
std::unique_ptr<Site> conv2d_input_grad_site(const Library& library, const NodeView& view, size_t* scratch);
std::unique_ptr<Site> conv2d_weight_grad_site(const Library& library, const NodeView& view, size_t* scratch);

}  // namespace thunder
