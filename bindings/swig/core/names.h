// Dtypes and devices by the names that every language uses.
#pragma once
#include <thunder.h>

#include <string>

namespace thunder_swig {

std::string dtype_name(thunder_dtype dtype);          // "" of none
thunder_dtype dtype_named(const std::string& name);   // 0 if there is none
thunder_device device_named(const std::string& name); // "cpu", "cuda", "cuda:1"; 0 if there is none

}  // namespace thunder_swig
