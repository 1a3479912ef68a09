#include "tensor/idx.h"

#include <array>
#include <optional>
#include <vector>

#include "base/files.h"
#include "base/gzip.h"
#include "base/text.h"
#include "tensor/file_bytes.h"

namespace thunder {
namespace {

struct IdxType {
  uint8_t code;
  DType type;
};
constexpr std::array kIdxTypes = {
    IdxType{0x08, DType::u8},  IdxType{0x09, DType::i8},  IdxType{0x0b, DType::i16},
    IdxType{0x0c, DType::i32}, IdxType{0x0d, DType::f32}, IdxType{0x0e, DType::f64},
};

// The bytes of the file in order, unpacked on the way if need be.
class Source {
 public:
  explicit Source(const std::string& path) : file_(path) {
    std::array<std::byte, 2> start{};
    if (file_.size() < start.size()) return;
    file_.read(0, start);
    if (!is_gzip(start)) return;
    packed_.resize(file_.size());
    file_.read(0, packed_);
    gunzip_.emplace(path, packed_);
  }

  void read(std::span<std::byte> to) {
    if (gunzip_) return gunzip_->read(to);
    file_.read(at_, to);
    at_ += to.size();
  }
  // Refuses sizes that the file cannot hold, before they are allocated.
  void expect(uint64_t bytes, const std::string& type) const {
    if (gunzip_) {
      if (bytes / kGzipMaxRatio > file_.size())
        fail(Code::data_lost, "'", file_.path(), "' is damaged: ", type, " needs ", bytes,
             " bytes, more than its ", file_.size(), " packed bytes can hold");
    } else if (bytes != file_.size() - at_) {
      fail(Code::data_lost, "'", file_.path(), "' is damaged: ", type, " needs ", bytes,
           " bytes after the header, found ", file_.size() - at_);
    }
  }
  void finish() {
    if (gunzip_) gunzip_->finish();
  }

 private:
  InputFile file_;
  uint64_t at_ = 0;
  std::vector<std::byte> packed_;
  std::optional<Gunzip> gunzip_;
};

DType dtype_of_code(const std::string& path, std::byte code) {
  for (auto& row : kIdxTypes)
    if (row.code == static_cast<uint8_t>(code)) return row.type;
  fail(Code::data_lost, "'", path, "' is not a valid IDX file: its element type is ", static_cast<int>(code),
       "; known are ", join(kIdxTypes, ", ", [](auto& row) { return row.code; }));
}

}  // namespace

Ref<Tensor> load_idx(const std::string& path, const Allocator& allocator) {
  Source source(path);
  std::array<std::byte, 4> start{};
  source.read(start);
  if (start[0] != std::byte{0} || start[1] != std::byte{0})
    fail(Code::data_lost, "'", path, "' is not a valid IDX file: it does not begin with two zero bytes");
  const DType dtype = dtype_of_code(path, start[2]);
  const auto rank = static_cast<size_t>(start[3]);
  if (rank > kMaxRank)
    fail(Code::data_lost, "'", path, "' is not a valid IDX file: ", rank, " dimensions; at most ", kMaxRank,
         " are read");
  TensorType type;
  type.dtype = dtype;
  for (size_t i = 0; i < rank; i++) {
    std::array<std::byte, 4> size{};
    source.read(size);
    uint32_t value = 0;
    for (std::byte b : size) value = value << 8 | static_cast<uint32_t>(b);
    type.shape.push_back(value);
  }
  uint64_t elements = 0;
  try {
    elements = dense_bytes(type) / size_of(type.dtype);
  } catch (const Error& e) {
    fail(Code::data_lost, "'", path, "' is not a valid IDX file: ", e.message());
  }
  source.expect(elements * size_of(dtype), name(type));
  auto t = Tensor::empty(allocator, type);
  const std::span<std::byte> bytes(t->data(), t->bytes());
  source.read(bytes);
  source.finish();
  swap_bytes(bytes, size_of(dtype));
  return t;
}

}  // namespace thunder
