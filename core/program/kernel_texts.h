// Texts that some kernels give about themselves, for users to read.
#pragma once

#include <string>
#include <string_view>

namespace thunder {

// A second base class of kernels with such texts; found by dynamic_cast.
class KernelTexts {
 public:
  // The kernel's code: "llvm" (LLVM's IR), "assembly" or "cuda" (CUDA C++); "": there is none of that form.
  virtual std::string source(std::string_view) const { return ""; }
  // The fastest of the algorithms that were timed; "" if none were.
  virtual std::string chosen_algorithm() const { return ""; }

 protected:
  ~KernelTexts() = default;
};

}  // namespace thunder
