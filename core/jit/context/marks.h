// Users' marks on the sizes of single tensors: dynamic, or static.
#pragma once

#include <limits>
#include <map>
#include <mutex>
#include <vector>

#include "tensor/tensor.h"

namespace thunder {

struct SizeMark {
  // varies: an error if the size cannot be symbolic; may_vary: no error then.
  enum class Kind : uint8_t { none, may_vary, varies, fixed };
  Kind kind = Kind::none;
  int64_t min = 2, max = std::numeric_limits<int64_t>::max();  // a program with a symbol is made for these alone
};

// Any thread. A marked tensor lives until somebody marks or asks after all others have released it.
class SizeMarks {
 public:
  // A negative dim counts from the back. Throws when there is no such dim, or when its size lies outside of the mark's.
  void mark(const Ref<Tensor>& tensor, int64_t dim, SizeMark mark);
  // The marks of a tensor by dim; empty: it has none.
  std::vector<SizeMark> marks_of(const Tensor& tensor);

 private:
  struct Marked {
    Ref<Tensor> tensor;
    std::vector<SizeMark> dims;
  };
  std::vector<Ref<Tensor>>
  remove_unused();  // taken out: released when nothing is locked, since that may run code of a host's

  std::mutex mutex_;
  std::map<const Tensor*, Marked> marked_;
};

}  // namespace thunder
