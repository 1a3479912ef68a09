// Functions of one element as CUDA C++, and the types of elements.
#pragma once

#include <string>

#include "loops/nest.h"

namespace thunder::loops {

// The types in which a value is computed and stored.
const char* register_type_name(DType d);
const char* memory_type_name(DType d);

// An element of memory as a value, and back; 16-bit reals and booleans differ there.
std::string from_memory_text(DType d, const std::string& element);
std::string to_memory_text(DType d, const std::string& value);

std::string constant_text(double value, DType d);
std::string rounded_text(const Expr& e, std::string text);
std::string converted_text(const std::string& x, DType from, DType to);
std::string binary_text(Fn fn, const std::string& x, const std::string& y, DType d);
std::string unary_text(Fn fn, const std::string& x, DType d);

}  // namespace thunder::loops
