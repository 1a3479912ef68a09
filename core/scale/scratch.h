// Memory for what collectives on the CPU have under way.
#pragma once

#include <cstddef>
#include <memory>

namespace thunder::scale {

// At least so many bytes, of any content. What is let go of is kept for the next one, up to a bound: fresh memory costs
// a fault a page, in sum as much as moving the bytes. Any thread.
std::shared_ptr<std::byte[]> scratch(size_t bytes);

}  // namespace thunder::scale
