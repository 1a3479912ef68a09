// The wire format of protobuf, by protozero: all files that read or write it include this one, so that what protozero
// asserts is an error in each of them.
#pragma once

#include "base/text.h"

#define protozero_assert(x) \
  ((x) ? static_cast<void>(0) : ::thunder::fail(::thunder::Code::data_lost, "a field has another wire type"))

#include <protozero/pbf_reader.hpp>

namespace thunder::onnx {

using protozero::pbf_reader;
using protozero::pbf_wire_type;

// The cases of a switch over tag_and_type().
constexpr uint32_t varint(uint32_t tag) {
  return protozero::tag_and_type(tag, pbf_wire_type::varint);
}
constexpr uint32_t message(uint32_t tag) {
  return protozero::tag_and_type(tag, pbf_wire_type::length_delimited);
}
constexpr uint32_t fixed32(uint32_t tag) {
  return protozero::tag_and_type(tag, pbf_wire_type::fixed32);
}
constexpr uint32_t fixed64(uint32_t tag) {
  return protozero::tag_and_type(tag, pbf_wire_type::fixed64);
}

inline std::string_view view(pbf_reader& r) {
  const auto bytes = r.get_view();
  return {bytes.data(), bytes.size()};
}
inline pbf_reader reader(std::string_view bytes) {
  return pbf_reader(bytes.data(), bytes.size());
}

}  // namespace thunder::onnx
