#include "base/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/text.h"

namespace thunder {

bool is_gzip(std::span<const std::byte> bytes) {
  return bytes.size() >= 2 && bytes[0] == std::byte{0x1f} && bytes[1] == std::byte{0x8b};
}

struct Gunzip::Stream {
  z_stream z{};
  std::span<const std::byte> packed;  // what zlib has not been given yet
  bool ended = false;
};

Gunzip::Gunzip(std::string name, std::span<const std::byte> packed)
    : name_(std::move(name)), stream_(std::make_unique<Stream>()) {
  stream_->packed = packed;
  // The largest window, and the gzip format alone.
  if (::inflateInit2(&stream_->z, MAX_WBITS + 16) != Z_OK)
    fail(Code::out_of_memory, "out of memory: could not start unpacking '", name_, "'");
}

Gunzip::~Gunzip() { ::inflateEnd(&stream_->z); }

size_t Gunzip::unpack(std::span<std::byte> to) {
  Stream& s = *stream_;
  // zlib counts in unsigned int.
  constexpr size_t kMost = std::numeric_limits<unsigned>::max();
  size_t done = 0;
  while (done < to.size() && !s.ended) {
    if (s.z.avail_in == 0) {
      const size_t given = std::min(s.packed.size(), kMost);
      s.z.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(s.packed.data()));
      s.z.avail_in = static_cast<unsigned>(given);
      s.packed = s.packed.subspan(given);
    }
    const size_t room = std::min(to.size() - done, kMost);
    s.z.next_out = reinterpret_cast<Bytef*>(to.data() + done);
    s.z.avail_out = static_cast<unsigned>(room);
    const int outcome = ::inflate(&s.z, Z_NO_FLUSH);
    done += room - s.z.avail_out;
    s.ended = outcome == Z_STREAM_END;
    if (outcome == Z_MEM_ERROR) fail(Code::out_of_memory, "out of memory while unpacking '", name_, "'");
    if (outcome == Z_BUF_ERROR && s.packed.empty())
      fail(Code::data_lost, "'", name_, "' is truncated: its gzip data has no end");
    if (outcome != Z_OK && outcome != Z_STREAM_END && outcome != Z_BUF_ERROR)
      fail(Code::data_lost, "'", name_, "' is damaged: ", s.z.msg ? s.z.msg : "its gzip data is invalid");
  }
  return done;
}

void Gunzip::read(std::span<std::byte> to) {
  const size_t got = unpack(to);
  if (got < to.size())
    fail(Code::data_lost, "'", name_, "' unpacks to too little: expected ", to.size(), " more bytes, found ", got);
}

void Gunzip::finish() {
  // An output buffer of one byte makes zlib read on to the checksum at the end.
  std::array<std::byte, 1> extra;
  if (unpack(extra) != 0) fail(Code::data_lost, "'", name_, "' unpacks to more bytes than its header announces");
  if (stream_->z.avail_in != 0 || !stream_->packed.empty())
    fail(Code::data_lost, "'", name_, "' is damaged: bytes follow its gzip data");
}

}  // namespace thunder
