#include "ir/device.h"

#include <charconv>

#include "base/text.h"

namespace thunder {

Device find_device(std::string_view text) {
  if (text == "cpu") return Device::cpu;
  if (text == "cuda") return cuda(0);
  if (!text.starts_with("cuda:")) return Device::none;
  int32_t at = -1;
  const auto [end, error] = std::from_chars(text.data() + 5, text.data() + text.size(), at);
  return error == std::errc() && end == text.data() + text.size() && at >= 0 && at <= 0xffff ? cuda(at) : Device::none;
}

std::string name(Device d) {
  if (d == Device::cpu) return "cpu";
  if (kind(d) == kCudaKind) return cat("cuda:", index(d));
  return cat("device:", kind(d), ":", index(d));
}

}  // namespace thunder
