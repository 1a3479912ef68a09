#include "tensor/npy.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "base/files.h"
#include "base/checked.h"
#include "tensor/file_bytes.h"
#include "tensor/transfer.h"

namespace thunder {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr uint64_t kMaxHeader = 1 << 20;

struct TypeCode {
  std::string_view name;  // without the byte order
  DType type;
};
constexpr std::array kCodes = {
    TypeCode{"b1", DType::boolean}, TypeCode{"u1", DType::u8},  TypeCode{"i1", DType::i8},  TypeCode{"u2", DType::u16},
    TypeCode{"i2", DType::i16},     TypeCode{"u4", DType::u32}, TypeCode{"i4", DType::i32}, TypeCode{"u8", DType::u64},
    TypeCode{"i8", DType::i64},     TypeCode{"f2", DType::f16}, TypeCode{"f4", DType::f32}, TypeCode{"f8", DType::f64},
};

struct Header {
  DType type = DType::u8;
  bool big_endian = false, column_major = false;
  std::vector<int64_t> shape;
  uint64_t data = 0;  // where the elements begin
};

// The header is a Python dictionary; this reads the three keys that the format has, in any order.
class HeaderParser {
 public:
  HeaderParser(const std::string& path, std::string_view text) : path_(path), text_(text) {}

  Header parse() {
    Header h;
    bool descr = false, order = false, shape = false;
    expect('{');
    while (!accept('}')) {
      const auto key = parse_quoted();
      expect(':');
      bool& seen = key == "descr"           ? descr
                   : key == "fortran_order" ? order
                   : key == "shape"         ? shape
                                            : fail_unknown_key(key);
      if (seen) bad(cat("the key '", key, "' occurs twice"));
      seen = true;
      if (key == "descr") parse_type(h);
      if (key == "fortran_order") h.column_major = parse_boolean();
      if (key == "shape") h.shape = parse_tuple();
      if (accept('}')) break;
      expect(',');
    }
    if (!descr || !order || !shape) bad("a key of descr, fortran_order and shape is missing");
    skip();
    if (at_ != text_.size()) bad("text after the dictionary");
    return h;
  }

 private:
  [[noreturn]] void bad(std::string_view what) const {
    fail(Code::data_lost, "'", path_, "' is not a valid npy file: ", what, " at offset ", at_, " of its header");
  }
  bool& fail_unknown_key(std::string_view key) const { bad(cat("the unknown key '", key, "'")); }

  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) at_++;
  }
  bool accept(char c) {
    skip();
    if (at_ == text_.size() || text_[at_] != c) return false;
    at_++;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) bad(cat("expected '", c, "'"));
  }
  std::string_view parse_quoted() {
    skip();
    const char quote = at_ < text_.size() ? text_[at_] : 0;
    const size_t end = quote == '\'' || quote == '"' ? text_.find(quote, at_ + 1) : text_.npos;
    if (end == text_.npos) bad("expected a quoted string");
    auto inside = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return inside;
  }
  bool parse_boolean() {
    skip();
    for (std::string_view word : {"True", "False"})
      if (text_.substr(at_, word.size()) == word) {
        at_ += word.size();
        return word == "True";
      }
    bad("expected True or False");
  }
  std::vector<int64_t> parse_tuple() {
    std::vector<int64_t> out;
    expect('(');
    while (!accept(')')) {
      skip();
      int64_t size = 0;
      auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), size);
      if (error != std::errc() || size < 0) bad("expected a size");
      at_ = static_cast<size_t>(end - text_.data());
      accept('L');  // Python 2 wrote long integers so
      out.push_back(size);
      if (out.size() > kMaxRank) bad(cat("more than ", kMaxRank, " dimensions"));
      if (accept(')')) break;
      expect(',');
    }
    return out;
  }
  void parse_type(Header& h) {
    skip();
    if (at_ < text_.size() && text_[at_] == '[') refuse("a structured type");
    const auto text = parse_quoted();
    const bool ordered = !text.empty() && std::string_view("<>|=").find(text[0]) != std::string_view::npos;
    h.big_endian = ordered && text[0] == '>';
    for (auto& row : kCodes)
      if (text.substr(ordered) == row.name) {
        h.type = row.type;
        return;
      }
    refuse(cat("dtype '", text, "'"));
  }
  [[noreturn]] void refuse(std::string_view what) const {
    fail(Code::unimplemented, "'", path_, "' holds ", what, "; these can be read: ",
         join(kCodes, ", ", [](auto& row) { return row.name; }));
  }

  const std::string& path_;
  std::string_view text_;
  size_t at_ = 0;
};

Header read_header(const InputFile& file) {
  auto bad = [&](const auto&... what) {
    fail(Code::data_lost, "'", file.path(), "' is not a valid npy file: ", what...);
  };
  std::array<char, 12> start{};
  const uint64_t size = file.size();
  if (size < 10) bad("expected at least 10 bytes, found ", size);
  file.read(0, std::as_writable_bytes(std::span(start).first(std::min<uint64_t>(size, 12))));
  if (std::string_view(start.data(), kMagic.size()) != kMagic) bad("it does not begin with the letters NUMPY");
  auto byte = [&](size_t i) { return static_cast<uint64_t>(static_cast<unsigned char>(start[i])); };
  if (byte(6) < 1 || byte(6) > 3 || byte(7) != 0)
    bad("its version is ", byte(6), ".", byte(7), ", not 1.0, 2.0 or 3.0");
  // Version 1 has two bytes for the length, later ones four.
  const uint64_t fixed = byte(6) == 1 ? 10 : 12;
  if (size < fixed) bad("expected at least ", fixed, " bytes, found ", size);
  const uint64_t length = byte(8) | byte(9) << 8 | (fixed == 12 ? byte(10) << 16 | byte(11) << 24 : 0);
  if (length > kMaxHeader) bad("its header claims ", length, " bytes; at most ", kMaxHeader, " are read");
  if (length > size - fixed) bad("it is truncated: its header claims ", length, " bytes, found ", size - fixed);
  std::string text(length, '\0');
  file.read(fixed, std::as_writable_bytes(std::span(text)));
  Header h = HeaderParser(file.path(), text).parse();
  h.data = fixed + length;
  return h;
}

// The bytes of the elements in the file, checked before anything of that size is allocated.
void check_size(const InputFile& file, const Header& h, const TensorType& type) {
  uint64_t elements = 0;
  try {
    elements = dense_bytes(type) / size_of(type.dtype);
  } catch (const Error& e) {
    fail(Code::data_lost, "'", file.path(), "' is not a valid npy file: ", e.message());
  }
  const uint64_t needed = elements * size_of(h.type), found = file.size() - h.data;
  if (needed != found)
    fail(Code::data_lost, "'", file.path(), "' is damaged: an array of ", name(type.shape), " items of ",
         size_of(h.type), " bytes needs ", needed, " bytes after the header, found ", found);
}

// Strides of a column-major array.
Sizes column_strides(const Sizes& sizes) {
  Sizes out;
  int64_t step = 1;
  for (int64_t n : sizes) {
    out.push_back(step);
    step = checked_mul(step, std::max<int64_t>(1, n));
  }
  return out;
}

bool is_column_major(const Tensor& t) {
  Sizes sizes(t.sizes(), t.sizes() + t.type().rank()), strides = t.strides();
  std::reverse(sizes.begin(), sizes.end());
  std::reverse(strides.begin(), strides.end());
  return is_dense(sizes, strides);
}

std::string make_header(const Tensor& t, bool columns) {
  const DType dtype = t.type().dtype;
  const auto* row = std::find_if(kCodes.begin(), kCodes.end(), [&](auto& r) { return r.type == dtype; });
  std::string shape = join(t.type().shape, ", ", [](Dim d) { return name(d); });
  std::string text = cat("{'descr': '", size_of(dtype) == 1 ? "|" : "<", row->name, "', 'fortran_order': ",
                         columns ? "True" : "False", ", 'shape': (", shape, t.type().rank() == 1 ? ",), }" : "), }");
  // The elements begin at a multiple of 64 bytes, as NumPy writes them.
  text.resize((10 + text.size() + 1 + 63) / 64 * 64 - 11, ' ');
  text += '\n';
  const auto length = static_cast<unsigned>(text.size());
  return cat(kMagic, '\x01', '\0', static_cast<char>(length & 0xff), static_cast<char>(length >> 8), text);
}

}  // namespace

Ref<Tensor> load_npy(const std::string& path, const Allocator& allocator) {
  InputFile file(path);
  const Header h = read_header(file);
  TensorType type;
  type.dtype = h.type;
  type.shape.assign(h.shape.begin(), h.shape.end());
  check_size(file, h, type);
  auto t = Tensor::empty(allocator, type);
  file.read(h.data, {t->data(), t->bytes()});
  if (h.big_endian) swap_bytes({t->data(), t->bytes()}, size_of(type.dtype));
  if (type.dtype == DType::boolean)
    if (auto at = find_bad_bool({t->data(), t->bytes()}))
      fail(Code::data_lost, "'", path, "' is damaged: byte ", *at, " of a bool array is neither 0 nor 1");
  if (!h.column_major || type.rank() < 2) return t;
  Sizes sizes(t->sizes(), t->sizes() + type.rank());
  return dense_copy(allocator, *Tensor::view(t->storage(), type, column_strides(sizes), 0));
}

void save_npy(const std::string& path, const Tensor& given) {
  if (!given.concrete()) fail(Code::proxy_has_no_data, "cannot save '", path, "': the tensor has no data");
  require(given.type().rank() <= kMaxRank, "cannot save '", path, "': the tensor has ", given.type().rank(),
          " dims; files hold tensors of at most ", kMaxRank);
  const Ref<Tensor> host = on_host(Ref<Tensor>(const_cast<Tensor*>(&given)), default_allocator());
  const Tensor& tensor = *host;
  if (tensor.type().dtype == DType::bf16)
    fail(Code::unimplemented, "cannot save '", path, "': npy files cannot hold bf16; convert it to f32 first");
  const bool columns = !tensor.contiguous() && is_column_major(tensor);
  OutputFile file(path);
  file.write(make_header(tensor, columns));
  if (tensor.contiguous() || columns) {
    file.write(std::span<const std::byte>(tensor.data(), tensor.bytes()));
  } else {
    auto copy = dense_copy(default_allocator(), tensor);
    file.write(std::span<const std::byte>(copy->data(), copy->bytes()));
  }
  file.commit();
}

}  // namespace thunder
