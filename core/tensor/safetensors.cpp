#include "tensor/safetensors.h"

#include <cJSON.h>

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <new>
#include <unordered_set>

#include "base/json.h"
#include "base/text.h"
#include "base/utf8.h"
#include "tensor/file_bytes.h"
#include "tensor/transfer.h"

namespace thunder {
namespace {

// The bytes are little-endian and stored as they lie in memory.
static_assert(std::endian::native == std::endian::little);

constexpr uint64_t kMaxHeader = 100'000'000;  // the format's own limit
constexpr std::string_view kMetadata = "__metadata__";

struct TypeName {
  std::string_view name;
  DType dtype;
};
constexpr std::array kTypes = {
    TypeName{"BOOL", DType::boolean}, TypeName{"U8", DType::u8},   TypeName{"I8", DType::i8},
    TypeName{"U16", DType::u16},      TypeName{"I16", DType::i16}, TypeName{"U32", DType::u32},
    TypeName{"I32", DType::i32},      TypeName{"U64", DType::u64}, TypeName{"I64", DType::i64},
    TypeName{"BF16", DType::bf16},    TypeName{"F16", DType::f16}, TypeName{"F32", DType::f32},
    TypeName{"F64", DType::f64},
};

using Json = std::unique_ptr<cJSON, void (*)(cJSON*)>;

// One tensor of the header: where its bytes lie, counted from the end of the header.
struct Entry {
  std::string name;
  TensorType type;
  uint64_t begin = 0, end = 0;
};

class Loader {
 public:
  Loader(const InputFile& file, const Allocator& allocator) : file_(file), allocator_(allocator) {}

  SafeTensors load() {
    Json root = parse(read_header());
    SafeTensors out;
    std::vector<Entry> entries;
    std::unordered_set<std::string> names;
    for (const cJSON* item = root->child; item; item = item->next) {
      std::string name = item->string;
      if (!names.insert(name).second) fail_invalid("the name '", name, "' occurs twice");
      if (name == kMetadata)
        out.metadata = parse_metadata(item);
      else
        entries.push_back(parse_entry(std::move(name), item));
    }
    check_cover(entries);
    for (const Entry& e : entries) out.tensors.push_back({e.name, load_tensor(e)});
    return out;
  }

 private:
  template <class... T>
  [[noreturn]] void fail_invalid(const T&... what) const {
    fail(Code::data_lost, "'", file_.path(), "' is not a valid safetensors file: ", what...);
  }

  std::string read_header() {
    if (file_.size() < 8) fail_invalid("expected at least 8 bytes, found ", file_.size());
    uint64_t length = 0;
    file_.read(0, std::as_writable_bytes(std::span(&length, 1)));
    if (length > kMaxHeader) fail_invalid("its header claims ", length, " bytes; at most ", kMaxHeader, " are allowed");
    if (length > file_.size() - 8)
      fail_invalid("it is truncated: its header claims ", length, " bytes, but only ", file_.size() - 8, " follow");
    std::string text(length, '\0');
    file_.read(8, std::as_writable_bytes(std::span(text)));
    data_ = 8 + length;
    return text;
  }

  // Refuses what the format forbids but cJSON would accept or cut short.
  Json parse(std::string text) {
    if (text.empty() || text[0] != '{') fail_invalid("its header does not begin with '{'");
    if (!valid_utf8(text)) fail_invalid("its header is not UTF-8");
    text.erase(text.find_last_not_of(' ') + 1);
    if (const size_t at = json_zero(text); at != text.npos)
      fail_invalid("a zero ", text[at] ? "character" : "byte", " at offset ", at, " of its header");
    // cJSON does not tell bad text from missing memory.
    if (const size_t at = json_error(text); at != text.npos)
      fail_invalid("its header is not JSON (at offset ", at, ")");
    Json root(cJSON_ParseWithLengthOpts(text.c_str(), text.size() + 1, nullptr, 1), cJSON_Delete);
    if (!root) throw std::bad_alloc();
    return root;
  }

  Metadata parse_metadata(const cJSON* item) const {
    Metadata out;
    std::unordered_set<std::string> keys;
    if (!cJSON_IsObject(item)) fail_invalid("its metadata is not an object");
    for (const cJSON* row = item->child; row; row = row->next) {
      if (!cJSON_IsString(row)) fail_invalid("metadata '", row->string, "' is not a string");
      if (!keys.insert(row->string).second) fail_invalid("metadata '", row->string, "' occurs twice");
      out.emplace_back(row->string, row->valuestring);
    }
    return out;
  }

  Entry parse_entry(std::string name, const cJSON* item) const {
    const cJSON *dtype = nullptr, *shape = nullptr, *offsets = nullptr;
    if (!cJSON_IsObject(item)) fail_invalid("tensor '", name, "' is not described by an object");
    for (const cJSON* field = item->child; field; field = field->next) {
      const std::string_view key = field->string;
      const cJSON** place = key == "dtype"          ? &dtype
                            : key == "shape"        ? &shape
                            : key == "data_offsets" ? &offsets
                                                    : nullptr;
      if (!place) fail_invalid("tensor '", name, "' has an unknown field '", key, "'");
      if (*place) fail_invalid("tensor '", name, "' has '", key, "' twice");
      *place = field;
    }
    if (!cJSON_IsString(dtype) || !cJSON_IsArray(shape) || !cJSON_IsArray(offsets))
      fail_invalid("tensor '", name, "' lacks a dtype string, a shape list or a data_offsets list");
    Entry e;
    e.type.dtype = parse_dtype(name, dtype->valuestring);
    for (const cJSON* d = shape->child; d; d = d->next) {
      if (e.type.rank() == kMaxRank) fail_invalid("tensor '", name, "' has more than ", kMaxRank, " dimensions");
      e.type.shape.push_back(read_size(name, d));
    }
    if (cJSON_GetArraySize(offsets) != 2) fail_invalid("tensor '", name, "' has other than two data_offsets");
    e.begin = static_cast<uint64_t>(read_size(name, offsets->child));
    e.end = static_cast<uint64_t>(read_size(name, offsets->child->next));
    e.name = std::move(name);
    return e;
  }

  DType parse_dtype(const std::string& tensor, std::string_view text) const {
    for (auto& row : kTypes)
      if (row.name == text) return row.dtype;
    fail(Code::unimplemented, "'", file_.path(), "': tensor '", tensor, "' has dtype ", text,
         "; these can be read: ", join(kTypes, ", ", [](auto& row) { return row.name; }));
  }

  // The format bounds sizes to 48 bits, so a double carries them exactly.
  int64_t read_size(const std::string& tensor, const cJSON* number) const {
    if (!cJSON_IsNumber(number)) fail_invalid("tensor '", tensor, "' has a size or an offset that is not a number");
    const double v = number->valuedouble;
    if (!(v >= 0 && v < 281474976710656.0) || v != static_cast<double>(static_cast<int64_t>(v)))
      fail_invalid("tensor '", tensor, "' has a size or an offset of ", v, "; expected an integer from 0 to 2^48 - 1");
    return static_cast<int64_t>(v);
  }

  // Every byte after the header belongs to exactly one tensor.
  void check_cover(const std::vector<Entry>& entries) const {
    std::vector<const Entry*> order;
    for (const Entry& e : entries) {
      size_t bytes = 0;
      try {
        bytes = dense_bytes(e.type);
      } catch (const Error& error) {
        fail_invalid("tensor '", e.name, "': ", error.message());
      }
      if (e.end < e.begin || e.end - e.begin != bytes)
        fail_invalid("tensor '", e.name, "' of type ", thunder::name(e.type), " needs ", bytes,
                     " bytes, but its data_offsets are [", e.begin, ", ", e.end, "]");
      order.push_back(&e);
    }
    std::sort(order.begin(), order.end(), [](const Entry* a, const Entry* b) {
      return a->begin != b->begin ? a->begin < b->begin : a->end < b->end;
    });
    uint64_t at = 0;
    for (const Entry* e : order) {
      if (e->begin != at)
        fail_invalid("tensor '", e->name, "' begins at byte ", e->begin, ", but the one before it ends at ", at);
      at = e->end;
    }
    const uint64_t found = file_.size() - data_;
    if (at > found)
      fail_invalid("it is truncated: its tensors need ", at, " bytes, but only ", found, " follow the header");
    if (at < found) fail_invalid(found - at, " bytes at its end belong to no tensor");
  }

  Ref<Tensor> load_tensor(const Entry& e) const {
    auto t = Tensor::empty(allocator_, e.type);
    std::span<std::byte> bytes(t->data(), t->bytes());
    file_.read(data_ + e.begin, bytes);
    if (e.type.dtype == DType::boolean)
      if (auto at = find_bad_bool(bytes))
        fail_invalid("byte ", *at, " of the bool tensor '", e.name, "' is neither 0 nor 1");
    return t;
  }

  const InputFile& file_;
  const Allocator& allocator_;
  uint64_t data_ = 0;
};

void check_savable(const std::string& path, std::span<const NamedTensor> tensors, const Metadata& metadata) {
  std::unordered_set<std::string_view> names, keys;
  for (const auto& [name, tensor] : tensors) {
    auto wrong = [&](Code code, const auto&... why) {
      fail(code, "cannot save '", path, "': tensor '", name, "' ", why...);
    };
    if (!tensor->concrete()) wrong(Code::proxy_has_no_data, "has no data");
    if (tensor->type().rank() > kMaxRank)
      wrong(Code::invalid_argument, "has ", tensor->type().rank(), " dims; files hold tensors of at most ", kMaxRank);
    if (name == kMetadata || !valid_utf8(name) || name.find('\0') != name.npos)
      wrong(Code::invalid_argument, "has a name that the format does not allow");
    if (!names.insert(name).second) wrong(Code::invalid_argument, "occurs twice");
  }
  for (const auto& [key, value] : metadata) {
    require(valid_utf8(key) && valid_utf8(value) && cat(key, value).find('\0') == std::string::npos, "cannot save '",
            path, "': metadata '", key, "' is not UTF-8 text without zeros");
    require(keys.insert(key).second, "cannot save '", path, "': metadata '", key, "' occurs twice");
  }
}

std::string make_header(std::span<const NamedTensor* const> tensors, const Metadata& metadata) {
  std::string out = "{";
  if (!metadata.empty())
    out += cat(json_quote(kMetadata), ":{",
               join(metadata, ",", [](auto& row) { return cat(json_quote(row.first), ":", json_quote(row.second)); }),
               tensors.empty() ? "}" : "},");
  uint64_t at = 0;
  for (const NamedTensor* item : tensors) {
    const Tensor& t = *item->tensor;
    const auto* row = std::find_if(kTypes.begin(), kTypes.end(), [&](auto& r) { return r.dtype == t.type().dtype; });
    out += cat(item == tensors.front() ? "" : ",", json_quote(item->name), ":{\"dtype\":\"", row->name,
               "\",\"shape\":[", join(t.type().shape, ",", [](Dim d) { return name(d); }), "],\"data_offsets\":[", at,
               ",", at + t.bytes(), "]}");
    at += t.bytes();
  }
  out += "}";
  out.resize((out.size() + 7) / 8 * 8, ' ');
  return out;
}

}  // namespace

SafeTensors load_safetensors(const InputFile& file, const Allocator& allocator) {
  return Loader(file, allocator).load();
}
SafeTensors load_safetensors(const std::string& path, const Allocator& allocator) {
  return load_safetensors(InputFile(path), allocator);
}

void save_safetensors(const std::string& path, std::span<const NamedTensor> tensors, const Metadata& metadata) {
  check_savable(path, tensors, metadata);
  std::vector<const NamedTensor*> order;
  for (const NamedTensor& t : tensors) order.push_back(&t);
  std::sort(order.begin(), order.end(), [](const NamedTensor* a, const NamedTensor* b) {
    const size_t x = size_of(a->tensor->type().dtype), y = size_of(b->tensor->type().dtype);
    return x != y ? x > y : a->name < b->name;
  });
  const std::string header = make_header(order, metadata);
  if (header.size() > kMaxHeader)
    fail(Code::invalid_argument, "cannot save '", path, "': names and metadata take ", header.size(),
         " bytes; the format allows ", kMaxHeader);
  const uint64_t length = header.size();
  OutputFile file(path);
  file.write(std::as_bytes(std::span(&length, 1)));
  file.write(header);
  for (const NamedTensor* item : order) {
    const Ref<Tensor> host = on_host(item->tensor, default_allocator());
    const Ref<Tensor> t = host->contiguous() ? host : dense_copy(default_allocator(), *host);
    file.write(std::span<const std::byte>(t->data(), t->bytes()));
  }
  file.commit();
}

}  // namespace thunder
