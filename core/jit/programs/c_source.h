// The text of an exported program: a header, and a function whose statements are the steps of a program's plan.
#pragma once

#include <string>
#include <vector>

#include "cache/cache.h"
#include "loops/cpu/nest.h"

namespace thunder {

struct CProgram {
  std::string name;  // of the function and the files
  std::string cpu;   // what the kernels are for
  const Entry& entry;
  const Tensor* random;            // the context's random state, where the program draws
  std::vector<std::string> paths;  // of the leaves of a call
};

struct CSource {
  std::string header, source;
  std::vector<const loops::CpuNest*> kernels;  // NAME_kernel_1 and so on
  std::string data;  // what NAME_data holds: tensors that the program captured, and what it computes once
  bool data_changes = false;
};

// Throws unimplemented, naming the op and the user's line, at a step that no statement is known for.
CSource c_source(const CProgram& program);

// Whether a function of this name would not compile: a word of C, or what its headers or the source itself declare.
bool is_taken_in_c(std::string_view name);

// What every exported source begins with.
extern const char* const kCRuntime;

// "int NAME(const float *in0, float *out0, void *workspace)", and the header around it. Throws where an argument of the
// program is none that a function of dense arrays can be given.
std::string c_signature(const CProgram& program);
// "void NAME_seed(int64_t seed)".
std::string c_seed_signature(const CProgram& program);
std::string c_header(const CProgram& program, bool holds_data, bool data_changes, bool draws);
// Text that ends no comment.
std::string c_comment(std::string text);

// As C names the type of an element; throws for one that it has none for.
std::string_view c_type(DType dtype);

}  // namespace thunder
