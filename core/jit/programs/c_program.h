// A program that is exported as C, and the names of its parts there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cache/entry.h"

namespace thunder {

struct CProgram {
  std::string name;  // of the function and the files
  std::string cpu;   // what the kernels are for
  const Entry& entry;
  const Tensor* random;            // the context's random state, where the program draws
  std::vector<std::string> paths;  // of the leaves of a call
};

// Whether a function of this name would not compile: a word of C, or what its headers or the source itself declare.
bool is_taken_in_c(std::string_view name);

// "int NAME(const float *in0, float *out0, void *workspace)", and the header around it. Throws where an argument of the
// program is none that a function of dense arrays can be given.
std::string c_signature(const CProgram& program);
// "void NAME_seed(int64_t seed)".
std::string c_seed_signature(const CProgram& program);
std::string c_header(const CProgram& program, bool holds_data, bool data_changes, bool draws);
// The text, changed so that it cannot end a C comment.
std::string c_comment(std::string text);

// The C type of an element; throws if there is none.
std::string_view c_type(DType dtype);

}  // namespace thunder
