// The kinds of call sites.
#pragma once

#include <memory>

#include "executors/cpu/site.h"
#include "executors/executor.h"
#include "executors/onednn/library.h"

namespace thunder {

// `scratch`: bytes that each call needs, 0 before.
using MakeSite = std::unique_ptr<Site> (*)(const Library& library, const NodeView& view, size_t* scratch);

std::unique_ptr<Site> matmul_site(const Library& library, const NodeView& view, size_t* scratch);
std::unique_ptr<Site> linear_site(const Library& library, const NodeView& view, size_t* scratch);

}  // namespace thunder
