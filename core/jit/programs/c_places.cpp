#include "jit/programs/c_places.h"

#include "base/text.h"

namespace thunder {

std::string c_list(std::span<const int64_t> numbers) {
  return numbers.empty() ? "{ 0 }" : cat("{ ", join(numbers, ", ", [](int64_t n) { return n; }), " }");
}

std::string c_loops(std::span<const int64_t> sizes) {
  std::string out;
  for (size_t i = 0; i < sizes.size(); i++)
    append(out, cat("for (int64_t x", i, " = 0; x", i, " < ", sizes[i], "; x", i, "++) "));
  return out;
}

std::string c_offset(std::span<const int64_t> strides) {
  std::string out;
  for (size_t i = 0; i < strides.size(); i++)
    if (strides[i]) append(out, cat(" + x", i, " * ", strides[i]));
  return out;
}

CPlaces::CPlaces(const CProgram& program) : program_(program), plan_(program.entry.program->plan()) {
  for (size_t i = 0; i < program_.entry.bindings.size(); i++) {
    data_at_.push_back(static_cast<int64_t>(data_.size()));
    const Ref<Tensor>& t = program_.entry.bindings[i].captured;
    if (!t) continue;
    require(t->contiguous(), "export: a captured tensor is strided");
    data_changes_ |= plan_.inputs[i].written;
    if (t.get() == program_.random) random_at_ = data_at_.back();
    const std::vector<std::byte> unseeded(random_at_ == data_at_.back() ? dense_bytes(t->type()) : 0);
    add_data(unseeded.empty() ? std::span<const std::byte>(t->data(), dense_bytes(t->type())) : unseeded);
  }
  constants_at_ = static_cast<int64_t>(data_.size());
  add_data(program_.entry.program->constants());
}

// From a multiple of 64 bytes on.
void CPlaces::add_data(std::span<const std::byte> bytes) {
  data_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  data_.resize(static_cast<size_t>(aligned(data_.size())), '\0');
}

std::span<const int64_t> CPlaces::sizes(const BufferPlan& b) const {
  return std::span(plan_.layouts).subspan(b.layout, static_cast<size_t>(b.rank));
}

std::span<const int64_t> CPlaces::strides(const BufferPlan& b) const {
  return std::span(plan_.layouts).subspan(b.layout + static_cast<size_t>(b.rank), static_cast<size_t>(b.rank));
}

std::vector<int64_t> CPlaces::byte_strides(const BufferPlan& b, size_t from) const {
  std::vector<int64_t> out;
  for (const int64_t s : strides(b).subspan(from)) out.push_back(s * static_cast<int64_t>(size_of(b.dtype)));
  return out;
}

std::string CPlaces::place(const BufferPlan& b) const {
  const auto at = [&](const std::string& base, int64_t offset) {
    return offset ? cat("(", base, " + ", offset, ")") : base;
  };
  switch (b.place) {
    case Place::arena:
      return at("workspace_", b.offset);
    case Place::constant:
      return at(cat(program_.name, "_data"), constants_at_ + b.offset);
    case Place::output:
      return at(cat("(unsigned char *)out", b.index), b.offset);
    case Place::input:
      break;
  }
  return is_argument(b.index) ? at(cat("(unsigned char *)in", b.index), b.offset)
                              : at(cat(program_.name, "_data"), data_at_[b.index] + b.offset);
}

std::string CPlaces::elements(const BufferPlan& b) const {
  return cat("(", c_type(b.dtype), " *)", place(b));
}

std::string CPlaces::copy(const BufferPlan& from, const BufferPlan& to) const {
  return cat("    {\n        static const int64_t sizes[] = ", c_list(sizes(from)),
             ", to[] = ", c_list(byte_strides(to)), ", from[] = ", c_list(byte_strides(from)), ";\n        copy(",
             from.rank, ", sizes, ", place(to), ", to, ", place(from), ", from, ", size_of(from.dtype), ");\n    }\n");
}

}  // namespace thunder
