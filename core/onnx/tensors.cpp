#include "onnx/tensors.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "onnx/types.h"
#include "onnx/wire.h"

namespace thunder::onnx {
namespace {

// Smaller tensors are copied: their pages are touched anyhow.
constexpr size_t kBorrowed = 4096;

std::string tensor_label(const TensorProto& t) {
  return cat("tensor '", t.name.substr(0, 200), "'");
}

// How many bytes the elements take in the file.
size_t stored_bytes(const ElementType& type, int64_t elements) {
  return static_cast<size_t>((elements * type.bits + 7) / 8);  // fits: the tensor does, and has no fewer bits
}

// The elements of a field that repeats, in the order of the file.
class Elements {
 public:
  Elements(const TensorProto& t, Tensor& to, const ElementType& type)
      : t_(t), to_(to), type_(type), left_(static_cast<size_t>(to.elements())), at_(to.data()) {}

  void read() {
    for (pbf_reader r = reader(t_.message); r.next();) switch (r.tag_and_type()) {
        case message(4):
          floats(r.get_packed_float());
          break;
        case fixed32(4):
          put_float(r.get_float());
          break;
        case message(5):
          integers(r.get_packed_int32());
          break;
        case varint(5):
          put_integer(r.get_int32());
          break;
        case message(7):
          integers(r.get_packed_int64());
          break;
        case varint(7):
          put_integer(r.get_int64());
          break;
        case message(10):
          doubles(r.get_packed_double());
          break;
        case fixed64(10):
          put_double(r.get_double());
          break;
        case message(11):
          integers(r.get_packed_uint64());
          break;
        case varint(11):
          put_integer(static_cast<int64_t>(r.get_uint64()));
          break;
        default:
          r.skip();
      }
    if (left_) fail(Code::data_lost, tensor_label(t_), " has ", left_, " elements fewer than its shape says");
  }

 private:
  template <class R>
  void floats(const R& range) {
    for (float f : range) put_float(f);
  }
  template <class R>
  void doubles(const R& range) {
    for (double f : range) put_double(f);
  }
  template <class R>
  void integers(const R& range) {
    for (auto i : range) put_integer(static_cast<int64_t>(i));
  }
  void require_dtype(bool fits) const {
    if (!fits) fail(Code::data_lost, tensor_label(t_), " is ", type_.name, " and has data of another dtype");
  }
  template <class T>
  void put(T value) {
    if (left_ == 0) fail(Code::data_lost, tensor_label(t_), " has more elements than its shape says");
    std::memcpy(at_, &value, sizeof value);
    at_ += sizeof value, left_--;
  }
  void put_float(float f) { require_dtype(type_.dtype == DType::f32), put(f); }
  void put_double(double f) { require_dtype(type_.dtype == DType::f64), put(f); }
  // The two 16-bit floats are there as their bits.
  void put_integer(int64_t i) {
    if (type_.bits < 8) return put_packed(i);
    if (type_.dtype == DType::boolean) return put(static_cast<uint8_t>(i != 0));
    switch (size_of(type_.dtype)) {
      case 1:
        return put(static_cast<uint8_t>(i));
      case 2:
        return put(static_cast<uint16_t>(i));
      case 4:
        return require_dtype(type_.dtype != DType::f32), put(static_cast<uint32_t>(i));
      default:
        return require_dtype(type_.dtype != DType::f64), put(static_cast<uint64_t>(i));
    }
  }
  void put_packed(int64_t byte) {
    for (int shift = 0; shift < 8 && left_; shift += type_.bits) put(unpack(static_cast<uint8_t>(byte), shift, type_));
  }

 public:
  static uint8_t unpack(uint8_t byte, int shift, const ElementType& type) {
    const int bits = type.bits;
    const auto value = static_cast<uint8_t>(byte >> shift & ((1 << bits) - 1));
    const bool negative = is_signed(type.dtype) && value >> (bits - 1);
    return negative ? static_cast<uint8_t>(value | ~((1 << bits) - 1)) : value;
  }

 private:
  const TensorProto& t_;
  Tensor& to_;
  const ElementType& type_;
  size_t left_;
  std::byte* at_;
};

int64_t parse_external_number(std::string_view text, const TensorProto& t) {
  int64_t value = -1;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || value < 0)
    fail(Code::data_lost, tensor_label(t), ": '", text.substr(0, 40), "' is no offset or length of external data");
  return value;
}

}  // namespace

TensorType TensorReader::type_of(const TensorProto& t) {
  TensorType type;
  type.dtype = element_type(t.type, tensor_label(t)).dtype;
  for (int64_t d : t.dims) type.shape.push_back(d);
  try {
    dense_bytes(type);
  } catch (const Error& e) {
    fail(Code::data_lost, tensor_label(t), ": ", e.message());
  }
  return type;
}

TensorReader::Bytes TensorReader::external_bytes(const TensorProto& t, size_t wanted) {
  std::string_view location;
  int64_t offset = 0, length = static_cast<int64_t>(wanted);
  for (pbf_reader r = reader(t.message); r.next();) {
    if (r.tag_and_type() != message(13)) {
      r.skip();
      continue;
    }
    std::string_view key, value;
    for (pbf_reader entry = r.get_message(); entry.next();) switch (entry.tag_and_type()) {
        case message(1):
          key = view(entry);
          break;
        case message(2):
          value = view(entry);
          break;
        default:
          entry.skip();
      }
    if (key == "location")
      location = value;
    else if (key == "offset")
      offset = parse_external_number(value, t);
    else if (key == "length")
      length = parse_external_number(value, t);
  }
  try {
    const Ref<Mapping>& file = external_.open(location);
    const auto size = static_cast<int64_t>(file->bytes().size());
    if (length != static_cast<int64_t>(wanted))
      fail(Code::data_lost, "its external data has ", length, " bytes, it needs ", wanted);
    if (offset > size || length > size - offset)
      fail(Code::data_lost, "its ", length, " bytes at ", offset, " go past the end of '", location, "', which has ",
           size);
    return {file->bytes().subspan(static_cast<size_t>(offset), wanted), file};
  } catch (const Error& e) {
    fail(e.code(), tensor_label(t), ": ", e.message());
  }
}

TensorReader::Bytes TensorReader::raw_bytes(const TensorProto& t, size_t wanted) {
  if (t.external) return external_bytes(t, wanted);
  if (t.raw.size() != wanted)
    fail(Code::data_lost, tensor_label(t), " has ", t.raw.size(), " bytes of data, its shape and dtype need ", wanted);
  const auto at = static_cast<size_t>(t.raw.data() - reinterpret_cast<const char*>(file_->bytes().data()));
  return {file_->bytes().subspan(at, wanted), file_};
}

void TensorReader::copy_deferred() {
  for (const Copy& c : later_) std::memcpy(c.to->data(), c.from.bytes.data(), c.from.bytes.size());
  later_.clear();
}

// The contents of a tensor's message are first read here.
Ref<Tensor> TensorReader::tensor(const TensorProto& t, bool later) try {
  const TensorType type = type_of(t);
  const ElementType& element = element_type(t.type, tensor_label(t));
  const int64_t count = elements(type.shape).value();
  if (!t.has_raw && !t.external) {
    // Each element takes at least some bits of the message, so that a wrong shape does not allocate memory.
    if (count > static_cast<int64_t>(t.message.size()) * std::max(1, 8 / element.bits))
      fail(Code::data_lost, tensor_label(t), " has fewer elements than its shape says");
    Ref<Tensor> made = Tensor::empty(allocator_, type);
    Elements(t, *made, element).read();
    return made;
  }
  const Bytes raw = raw_bytes(t, stored_bytes(element, count));
  const bool aligned = reinterpret_cast<uintptr_t>(raw.bytes.data()) % size_of(type.dtype) == 0;
  if (aligned && element.bits >= 8 && type.dtype != DType::boolean && raw.bytes.size() >= kBorrowed) {
    Mapping* owner = raw.owner.get();
    owner->retain();
    auto storage = Storage::borrow(
        raw.bytes.data(), raw.bytes.size(), [](void* kept) { static_cast<Mapping*>(kept)->release(); }, owner);
    return Tensor::view(std::move(storage), type, dense_strides(type.shape), 0);
  }
  Ref<Tensor> made = Tensor::empty(allocator_, type);
  auto* to = reinterpret_cast<uint8_t*>(made->data());
  const auto* from = reinterpret_cast<const uint8_t*>(raw.bytes.data());
  if (element.bits < 8) {
    const int in_byte = 8 / element.bits;
    for (int64_t i = 0; i < count; i++)
      to[i] = Elements::unpack(from[i / in_byte], static_cast<int>(i % in_byte) * element.bits, element);
  } else if (type.dtype == DType::boolean) {
    std::transform(from, from + count, to, [](uint8_t b) { return static_cast<uint8_t>(b != 0); });
  } else if (later && raw.bytes.size() >= kBorrowed) {
    later_.push_back({made, raw});
  } else if (!raw.bytes.empty()) {
    std::memcpy(to, from, raw.bytes.size());
  }
  return made;
} catch (const protozero::exception& e) {
  fail(Code::data_lost, tensor_label(t), " is damaged: ", e.what());
}

Ref<Tensor> TensorReader::dense(const SparseProto& s) {
  TensorType type;
  type.dtype = type_of(s.values).dtype;
  for (int64_t d : s.dims) type.shape.push_back(d);
  const Ref<Tensor> values = tensor(s.values), places = tensor(s.indices);
  const int64_t count = values->elements(), rank = static_cast<int64_t>(s.dims.size());
  const bool flat = places->type().rank() == 1;
  const auto bad = [&](const auto&... why) { fail(Code::data_lost, "sparse ", tensor_label(s.values), ": ", why...); };
  if (places->type().dtype != DType::i64 || places->elements() != count * (flat ? 1 : rank))
    bad("its indices are ", name(places->type()), ", for ", count, " values of rank ", rank);
  if (dense_bytes(type) > (size_t{1} << 30)) bad("it would be ", name(type), " as a dense tensor");
  Ref<Tensor> made = Tensor::empty(allocator_, type);
  const size_t item = size_of(type.dtype);
  std::memset(made->data(), 0, made->bytes());
  const auto* index = reinterpret_cast<const int64_t*>(places->data());
  for (int64_t i = 0; i < count; i++) {
    int64_t at = flat ? index[i] : 0;
    for (int64_t d = 0; !flat && d < rank; d++) {
      const int64_t here = index[i * rank + d];
      if (here < 0 || here >= s.dims[static_cast<size_t>(d)]) bad("an index of ", here, " in dim ", d);
      at = at * s.dims[static_cast<size_t>(d)] + here;
    }
    if (at < 0 || at >= made->elements()) bad("an index of ", at);
    std::memcpy(made->data() + static_cast<size_t>(at) * item, values->data() + static_cast<size_t>(i) * item, item);
  }
  return made;
}

}  // namespace thunder::onnx
