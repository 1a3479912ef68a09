// Where the buffers of an exported program lie, as expressions of C.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jit/programs/c_program.h"
#include "program/plan_steps.h"

namespace thunder {

class CPlaces {
 public:
  // Throws where a captured tensor is strided.
  explicit CPlaces(const CProgram& program);

  const BufferPlan& buffer(const Step& s, size_t i) const { return plan_.buffers[s.first + i]; }
  const BufferPlan& result(const Step& s, size_t i = 0) const { return plan_.buffers[s.first + s.n_inputs + i]; }

  std::span<const int64_t> sizes(const BufferPlan& b) const;
  std::span<const int64_t> strides(const BufferPlan& b) const;
  std::vector<int64_t> byte_strides(const BufferPlan& b, size_t from = 0) const;

  // The address of the buffer's first byte, and the same as a pointer to its elements.
  std::string place(const BufferPlan& b) const;
  std::string elements(const BufferPlan& b) const;
  // A statement.
  std::string copy(const BufferPlan& from, const BufferPlan& to) const;

  bool is_argument(size_t input) const { return !program_.entry.bindings[input].captured; }
  // The bytes of captured tensors and of values computed once.
  const std::string& data() const { return data_; }
  bool data_changes() const { return data_changes_; }
  // The offset of the random state in the data, if there is one.
  std::optional<int64_t> random_at() const { return random_at_; }

 private:
  void add_data(std::span<const std::byte> bytes);

  const CProgram& program_;
  const Plan& plan_;
  std::string data_;
  bool data_changes_ = false;
  std::vector<int64_t> data_at_;  // by input
  int64_t constants_at_ = 0;
  std::optional<int64_t> random_at_;
};

// "{ 1, 2 }", as an initialiser.
std::string c_list(std::span<const int64_t> numbers);
// "for (int64_t x0 = 0; x0 < 4; x0++) for ..." over these sizes, and the sum of their indices times strides.
std::string c_loops(std::span<const int64_t> sizes);
std::string c_offset(std::span<const int64_t> strides);

}  // namespace thunder
