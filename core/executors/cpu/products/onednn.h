// oneDNN, opened at run time by its versioned name, and the little of its C API that is used here.
#pragma once

#include <span>
#include <string>

#include "executors/cpu/product_kernels.h"

namespace thunder {

class Library {
 public:
  // Opens the first of `names` that exists, for the rest of the process; later calls return the same library. Null:
  // `report` says what is missing. Otherwise it says what was found. Any thread.
  static const Library* open(std::span<const char* const> names, const Machine& machine, std::string& report);
  // The files of the versions whose dnnl_sgemm and threading are what is used here.
  static std::span<const char* const> names();

  // Whether dnnl_sgemm of this version keeps the stack pointer in heap memory for a while, where a signal's frame would
  // be written (uxlfoundation/oneDNN#4845): its code for AVX2 and AVX-512 does, before 3.11.2.
  static bool moves_stack(int major, int minor, int patch);

  // c = a b, or c += a b, on this thread alone. Requires: k > 0; each of a and b has dense rows or dense columns
  // (`can_multiply`). False: the library ran out of memory.
  bool multiply(const Product& p) const;
  // The same by blocks, copying operands whose rows conflict in the caches. Used by `multiply` where faster.
  bool multiply_with_copies(const Product& p) const;
  static bool can_multiply(const Product& p);

 private:
  // While it lives, the library uses no thread but the caller's. (Its threads are OpenMP's, whose number is a setting
  // of each thread; waking a passive team costs more than many products.)
  class OneThread {
   public:
    explicit OneThread(const Library& library) : library_(library), threads_(library.max_threads_()) {
      library_.set_threads_(1);
    }
    ~OneThread() { library_.set_threads_(threads_); }
    OneThread(const OneThread&) = delete;

   private:
    const Library& library_;
    int threads_;
  };

  using Sgemm = int (*)(char a, char b, int64_t m, int64_t n, int64_t k, float alpha, const float* A, int64_t lda,
                        const float* B, int64_t ldb, float beta, float* C, int64_t ldc);
  bool resolve_symbols(void* handle, Instructions instructions, std::string& report);
  bool call_sgemm(const Product& p) const;

  Sgemm sgemm_ = nullptr;
  int (*max_threads_)() = nullptr;
  void (*set_threads_)(int) = nullptr;
  Instructions instructions_ = Instructions::none;
  bool moves_stack_ = true;
};

}  // namespace thunder
