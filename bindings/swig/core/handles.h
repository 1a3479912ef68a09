// What a language holds: each is one reference to an object of the library, given up by the destructor, which a
// collector may call on any thread and in any order.
#pragma once
#include <string>
#include <utility>

#ifndef SWIG
#include <thunder.h>
#endif

namespace thunder_swig {

// The bytes of a tensor, as the language's own string of bytes.
struct Bytes {
  std::string data;
};

class Tensor {
 public:
  std::string dtype() const;  // "f32"; "" of one that failed
  int rank() const;
  long long size(int axis) const;
  long long nbytes() const;
  bool is_concrete() const;  // false inside a traced function
  ~Tensor();
#ifndef SWIG
  explicit Tensor(thunder_tensor* retained) : handle(thunder_tensor_retain(retained)) {}
  Tensor(const Tensor& other) : Tensor(other.handle) {}
  Tensor& operator=(Tensor other) { return std::swap(handle, other.handle), *this; }
  Tensor* held();  // by an object of the language: counts for should_collect()
  thunder_tensor* handle;

 private:
  long long counted_ = 0;
#endif
};

// To a collector a tensor is a small object. True when those that the language holds have grown by 256 MiB since they were
// fewest, or since it last was true: then is the time to collect.
bool should_collect();

class Function {
 public:
  ~Function();
#ifndef SWIG
  explicit Function(thunder_function* owned) : handle(owned) {}
  Function(const Function&) = delete;
  thunder_function* handle;
#endif
};

class Compiled {
 public:
  ~Compiled();
#ifndef SWIG
  explicit Compiled(thunder_compiled* owned);
  Compiled(const Compiled&) = delete;
  thunder_compiled* handle;
  thunder_function* function = nullptr;  // what a call inside another traced function records
#endif
};

}  // namespace thunder_swig
