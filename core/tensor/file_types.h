// The element types of array files: what each becomes here, and the conversion. Widening keeps every value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "ir/dtype.h"

namespace thunder {

enum class FileType : uint8_t { boolean, u8, i8, u16, i16, u32, i32, i64, bf16, f16, f32, f64 };

size_t size_of(FileType);
// Our smallest type that holds every value of it: i8 becomes i32, f16 becomes f32.
DType dtype_of(FileType);

// Converts `n` elements. Requires: n * size_of(type) bytes in `from`, n elements of dtype_of(type) in `to`, which
// may be the same memory when neither the type nor the byte order changes.
void decode(FileType type, bool big_endian, const std::byte* from, int64_t n, std::byte* to);

// The first byte that is neither 0 nor 1. Kernels read a bool as such; any other value is undefined behaviour.
std::optional<size_t> find_bad_bool(std::span<const std::byte> bools);

}  // namespace thunder
