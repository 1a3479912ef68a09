// Functions of one element as CUDA C++, and the types of elements.
#pragma once

#include <string>

#include "loops/nest.h"

namespace thunder::loops {

// The types in which a value is computed and stored.
const char* type_of(DType d);
const char* memory_type(DType d);

// An element of memory as a value, and back; 16-bit reals and booleans differ there.
std::string loaded(DType d, const std::string& element);
std::string stored(DType d, const std::string& value);

std::string number(double value, DType d);
std::string rounded(const Expr& e, std::string text);
std::string converted(const std::string& x, DType from, DType to);
std::string binary(Fn fn, const std::string& x, const std::string& y, DType d);
std::string unary(Fn fn, const std::string& x, DType d);

}  // namespace thunder::loops
