// ONNX models written field by field, for tests of what reads them.
#pragma once

#include <cstring>
#include "onnx/export/wire.h"
#include <string>
#include <vector>

namespace thunder::onnx::test {

constexpr int32_t kFloat = 1, kInt32 = 6, kInt64 = 7, kBool = 9;

// A dim of a declared shape: a size, or a name.
struct DeclaredDim {
  DeclaredDim(int size) : size(size) {}
  DeclaredDim(const char* name) : name(name) {}
  int64_t size = -1;
  std::string name;
};

template <class F>
std::string message_of(F&& f) {
  std::string out;
  protozero::pbf_writer w(out);
  f(w);
  return out;
}

template <class T>
std::string tensor_text(const std::string& name, int32_t type, const std::vector<int64_t>& dims,
                        const std::vector<T>& values) {
  return message_of([&](protozero::pbf_writer& w) {
    w.add_packed_int64(1, dims.begin(), dims.end());
    w.add_int32(2, type);
    if (!name.empty()) w.add_string(8, name);
    w.add_bytes(9, reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  });
}
inline std::string floats(const std::string& name, const std::vector<int64_t>& dims, const std::vector<float>& values) {
  return tensor_text(name, kFloat, dims, values);
}
inline std::string ints(const std::string& name, const std::vector<int64_t>& dims, const std::vector<int64_t>& values) {
  return tensor_text(name, kInt64, dims, values);
}
// One whose bytes lie in another file.
inline std::string external(const std::string& name, const std::vector<int64_t>& dims,
                            const std::vector<std::pair<std::string, std::string>>& entries) {
  return message_of([&](protozero::pbf_writer& w) {
    w.add_packed_int64(1, dims.begin(), dims.end());
    w.add_int32(2, kFloat);
    w.add_string(8, name);
    w.add_int32(14, 1);
    for (auto& [key, value] : entries)
      w.add_message(13, message_of([&](protozero::pbf_writer& e) { e.add_string(1, key), e.add_string(2, value); }));
  });
}

inline std::string attribute(const std::string& name, int64_t value) {
  return message_of(
      [&](protozero::pbf_writer& w) { w.add_string(1, name), w.add_int64(3, value), w.add_int32(20, 2); });
}
inline std::string attribute(const std::string& name, const std::vector<int64_t>& values) {
  return message_of([&](protozero::pbf_writer& w) {
    w.add_string(1, name);
    for (int64_t v : values) w.add_int64(8, v);
    w.add_int32(20, 7);
  });
}
inline std::string attribute(const std::string& name, float value) {
  return message_of(
      [&](protozero::pbf_writer& w) { w.add_string(1, name), w.add_float(2, value), w.add_int32(20, 1); });
}
inline std::string attribute(const std::string& name, const std::vector<float>& values) {
  return message_of([&](protozero::pbf_writer& w) {
    w.add_string(1, name);
    for (float v : values) w.add_float(7, v);
    w.add_int32(20, 6);
  });
}
inline std::string attribute(const std::string& name, const std::vector<std::string>& values) {
  return message_of([&](protozero::pbf_writer& w) {
    w.add_string(1, name);
    for (auto& v : values) w.add_string(9, v);
    w.add_int32(20, 8);
  });
}
inline std::string text_attribute(const std::string& name, const std::string& value) {
  return message_of(
      [&](protozero::pbf_writer& w) { w.add_string(1, name), w.add_string(4, value), w.add_int32(20, 3); });
}
inline std::string tensor_attribute(const std::string& name, const std::string& tensor) {
  return message_of(
      [&](protozero::pbf_writer& w) { w.add_string(1, name), w.add_message(5, tensor), w.add_int32(20, 4); });
}
inline std::string graph_attribute(const std::string& name, const std::string& graph) {
  return message_of(
      [&](protozero::pbf_writer& w) { w.add_string(1, name), w.add_message(6, graph), w.add_int32(20, 5); });
}

inline std::string node(const std::string& op, const std::vector<std::string>& inputs,
                        const std::vector<std::string>& outputs, const std::vector<std::string>& attributes = {},
                        const std::string& name = "", const std::string& domain = "") {
  return message_of([&](protozero::pbf_writer& w) {
    for (auto& i : inputs) w.add_string(1, i);
    for (auto& o : outputs) w.add_string(2, o);
    if (!name.empty()) w.add_string(3, name);
    w.add_string(4, op);
    for (auto& a : attributes) w.add_message(5, a);
    if (!domain.empty()) w.add_string(7, domain);
  });
}

inline std::string value_info(const std::string& name, int32_t type, const std::vector<DeclaredDim>& dims) {
  const std::string shape = message_of([&](protozero::pbf_writer& w) {
    for (auto& d : dims)
      w.add_message(1, message_of([&](protozero::pbf_writer& one) {
                      if (d.size >= 0)
                        one.add_int64(1, d.size);
                      else
                        one.add_string(2, d.name);
                    }));
  });
  const std::string tensor =
      message_of([&](protozero::pbf_writer& w) { w.add_int32(1, type), w.add_message(2, shape); });
  const std::string whole = message_of([&](protozero::pbf_writer& w) { w.add_message(1, tensor); });
  return message_of([&](protozero::pbf_writer& w) { w.add_string(1, name), w.add_message(2, whole); });
}

struct GraphText {
  std::vector<std::string> nodes, initializers, inputs, outputs;

  std::string text() const {
    return message_of([&](protozero::pbf_writer& w) {
      for (auto& n : nodes) w.add_message(1, n);
      w.add_string(2, "g");
      for (auto& t : initializers) w.add_message(5, t);
      for (auto& i : inputs) w.add_message(11, i);
      for (auto& o : outputs) w.add_message(12, o);
    });
  }
};

inline std::string model(const GraphText& graph, int64_t opset = 18, const std::vector<std::string>& functions = {}) {
  return message_of([&](protozero::pbf_writer& w) {
    w.add_int64(1, 10);
    w.add_string(2, "tests");
    w.add_message(7, graph.text());
    w.add_message(8, message_of([&](protozero::pbf_writer& o) { o.add_string(1, ""), o.add_int64(2, opset); }));
    for (const char* domain : {"local", "com.microsoft"})
      w.add_message(8, message_of([&](protozero::pbf_writer& o) { o.add_string(1, domain), o.add_int64(2, 1); }));
    for (auto& f : functions) w.add_message(25, f);
  });
}

inline std::string function(const std::string& name, const std::vector<std::string>& inputs,
                            const std::vector<std::string>& outputs, const std::vector<std::string>& nodes,
                            int64_t opset = 18) {
  return message_of([&](protozero::pbf_writer& w) {
    w.add_string(1, name);
    for (auto& i : inputs) w.add_string(4, i);
    for (auto& o : outputs) w.add_string(5, o);
    for (auto& n : nodes) w.add_message(7, n);
    w.add_message(9, message_of([&](protozero::pbf_writer& o) { o.add_string(1, ""), o.add_int64(2, opset); }));
    w.add_message(9, message_of([&](protozero::pbf_writer& o) { o.add_string(1, "local"), o.add_int64(2, 1); }));
    w.add_string(10, "local");
  });
}

}  // namespace thunder::onnx::test
