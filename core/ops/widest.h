// Loops that are built for several widths of vectors, of which the processor's widest one runs. Products are not
// contracted into multiply-adds, so that all give the same bits.
#pragma once

namespace thunder {

// F has a call operator that is always inlined.
template <class F, class... A>
void run_plain(A... arguments) {
  F()(arguments...);
}
#if defined(__x86_64__)
template <class F, class... A>
[[gnu::target("avx2")]] void run_avx2(A... arguments) {
  F()(arguments...);
}
template <class F, class... A>
[[gnu::target("avx512f,avx512dq,prefer-vector-width=512")]] void run_avx512(A... arguments) {
  F()(arguments...);
}
#endif

template <class F, class... A>
void run_widest(A... arguments) {
  static void (*const widest)(A...) = [] {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) return run_avx512<F, A...>;
    if (__builtin_cpu_supports("avx2")) return run_avx2<F, A...>;
#endif
    return run_plain<F, A...>;
  }();
  widest(arguments...);
}

}  // namespace thunder
