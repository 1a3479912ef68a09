#include "base/artifacts.h"

#include <cstring>

#include "base/digest.h"
#include "base/text.h"

namespace thunder {
namespace {

// The text: this line, the version, a digest of all that follows, the three facts, the number of entries and, three
// texts each, these. Numbers are eight bytes, the lowest first; a text is its length and its bytes.
constexpr std::string_view kMagic = "thunder artifacts\n";
constexpr size_t kNumber = sizeof(uint64_t);

void put_number(std::string& out, uint64_t number) {
  for (size_t i = 0; i < kNumber; i++) out += static_cast<char>(number >> (8 * i));
}
void put(std::string& out, std::string_view text) {
  put_number(out, text.size());
  out += text;
}

class Reader {
 public:
  Reader(std::string_view text, std::string_view what) : rest_(text), what_(what) {}

  [[noreturn]] void bad(std::string_view why) const {
    fail(Code::data_lost, what_, " holds no compiled kernels that can be read: ", why);
  }
  std::string_view bytes(uint64_t count) {
    if (count > rest_.size()) bad("it ends too soon");
    const std::string_view out = rest_.substr(0, static_cast<size_t>(count));
    rest_.remove_prefix(static_cast<size_t>(count));
    return out;
  }
  uint64_t number() {
    uint64_t out = 0;
    const std::string_view all = bytes(kNumber);
    for (size_t i = kNumber; i-- > 0;) out = out << 8 | static_cast<unsigned char>(all[i]);
    return out;
  }
  std::string text() { return std::string(bytes(number())); }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_, what_;
};

std::string_view view(const Digest& digest) { return {reinterpret_cast<const char*>(digest.data()), digest.size()}; }

}  // namespace

std::string pack(const Artifacts& artifacts) {
  std::string body;
  put(body, artifacts.library), put(body, artifacts.machine), put(body, artifacts.generator);
  put_number(body, artifacts.entries.size());
  for (const Artifact& a : artifacts.entries) put(body, a.kind), put(body, a.key), put(body, a.blob);
  std::string out(kMagic);
  put_number(out, kArtifactsVersion);
  out += view(digest({body}));
  return out + body;
}

Artifacts unpack(std::string_view text, std::string_view what) {
  Reader in(text, what);
  if (text.substr(0, kMagic.size()) != kMagic) in.bad("it does not begin as they do");
  in.bytes(kMagic.size());
  const uint64_t version = in.number();
  if (version != kArtifactsVersion)
    fail(Code::unimplemented, what, " holds compiled kernels of version ", version, "; this library reads version ",
         kArtifactsVersion);
  const std::string_view told = in.bytes(sizeof(Digest));
  if (told != view(digest({in.rest()}))) in.bad("its bytes are not those that were written");
  Artifacts out;
  out.library = in.text(), out.machine = in.text(), out.generator = in.text();
  // An entry needs memory in proportion to its bytes in the file, so a wrong count of entries cannot exhaust memory.
  for (uint64_t left = in.number(); left > 0; left--) {
    Artifact a;
    a.kind = in.text(), a.key = in.text(), a.blob = in.text();
    out.entries.push_back(std::move(a));
  }
  if (!in.rest().empty()) in.bad("bytes follow its end");
  return out;
}

}  // namespace thunder
