// cholesky, qr, eigh and svd.
#include "executors/cuda/cusolver/matrix_node.h"
#include "ir/prim.h"

namespace thunder::cusolver {
namespace {

// cholesky(input): the lower half of rows is the upper half of columns, and so is the result. Of one matrix the library
// factors the lower half faster, even with two transposes.
template <class T>
class Cholesky : public MatrixNode<T> {
 public:
  Cholesky(Session& session, const NodeView& view)
      : MatrixNode<T>(this, session, view, [](int64_t minor) {
          return cat("the matrix is not positive-definite: its leading minor of order ", minor, " is not");
        }) {
    if (!this->is_batched() && this->in_.all_elements())
      size_ = this->query_workspace(
          [&](int* size) {
            return this->solver().potrf_size(this->handle(), kLower, this->rows(), nullptr, this->rows(), size);
          },
          "cusolverDnXpotrf_bufferSize");
    this->template reserve_scratch<Areas>(*this);
  }
  Status* run(const Launch* l) const {
    if (!this->in_.all_elements()) return nullptr;
    Pieces pieces(l->scratch);
    const Areas a(pieces, *this);
    T* const out = l->outputs[0].template as<T>();
    return this->run_with_library([&]() -> Status* {
      const T* const in = l->inputs[0].template as<T>();
      if (Status* failed = this->is_batched() ? factor_batch(a, in, out) : factor_each(a, in, out)) return failed;
      if (Status* failed = this->kernels_->check_info(a.info, this->in_.batch, this->assertion_)) return failed;
      return this->kernels_->zero_upper_triangles(out, this->in_.batch, this->in_.rows);
    });
  }

 private:
  struct Areas {
    Areas(Pieces& p, const Cholesky& c)
        : work(p.take<T>(c.size_)), columns(p.take<T>(c.is_batched() ? 0 : c.in_.all_elements())),
          info(p.take<int>(c.in_.batch)), each(p.take<T*>(c.in_.batch)) {}
    T *work, *columns;
    int* info;
    T** each;
  };
  Status* factor_each(const Areas& a, const T* in, T* out) const {
    const int n = this->rows();
    const int64_t elements = this->in_.elements(), batch = this->in_.batch;
    if (Status* failed = this->kernels_->transpose(in, elements, a.columns, elements, batch, n, n)) return failed;
    Status* failed = this->for_each_matrix("cusolverDnXpotrf", [&](int64_t i) {
      return this->solver().potrf(this->handle(), kLower, n, a.columns + i * elements, n, a.work, size_, a.info + i);
    });
    return failed ? failed : this->kernels_->transpose(a.columns, elements, out, elements, batch, n, n);
  }
  Status* factor_batch(const Areas& a, const T* in, T* out) const {
    const int n = this->rows();
    if (Status* failed = this->copy(in, out, this->in_.all_elements())) return failed;
    if (Status* failed = this->kernels_->fill_pointers(a.each, out, this->in_.batch, this->in_.elements()))
      return failed;
    return this->status(this->solver().potrf_batched(this->handle(), kUpper, n, a.each, n, a.info, this->batch()),
                        "cusolverDnXpotrfBatched");
  }
  int size_ = 0;
};

// qr(input, complete)
template <class T>
class Qr : public MatrixNode<T> {
 public:
  Qr(Session& session, const NodeView& view)
      : MatrixNode<T>(this, session, view, nullptr), q_(view.store.type(view.node.results[0])),
        r_(view.store.type(view.node.results[1])), reflectors_(std::min(this->in_.rows, this->in_.columns)),
        elements_(this->in_.rows * std::max(this->in_.columns, q_.columns)) {
    if (this->in_.all_elements()) query_workspace_sizes();
    this->template reserve_scratch<Areas>(*this);
  }
  Status* run(const Launch* l) const {
    if (!this->in_.all_elements()) return nullptr;
    Pieces pieces(l->scratch);
    const Areas a(pieces, *this);
    const Matrices& in = this->in_;
    const int m = this->rows(), n = this->columns(), columns = static_cast<int>(q_.columns),
              k = static_cast<int>(reflectors_);
    return this->run_with_library([&]() -> Status* {
      const MatrixKernels& kernels = *this->kernels_;
      Status* failed =
          kernels.transpose(l->inputs[0].data, in.elements(), a.columns, elements_, in.batch, in.rows, in.columns);
      if (failed) return failed;
      failed = this->for_each_matrix("cusolverDnXgeqrf", [&](int64_t i) {
        return this->solver().geqrf(this->handle(), m, n, a.columns + i * elements_, m, a.tau + i * k, a.work, size_,
                                    a.info);
      });
      if (failed) return failed;
      failed = kernels.copy_upper_triangles(a.columns, elements_, l->outputs[1].data, in.batch, in.rows, in.columns,
                                            r_.rows);
      if (failed) return failed;
      failed = this->for_each_matrix("cusolverDnXorgqr", [&](int64_t i) {
        return this->solver().orgqr(this->handle(), m, columns, k, a.columns + i * elements_, m, a.tau + i * k, a.work,
                                    size_, a.info);
      });
      if (failed) return failed;
      return kernels.transpose(a.columns, elements_, l->outputs[0].data, q_.elements(), in.batch, q_.columns, in.rows);
    });
  }

 private:
  struct Areas {
    Areas(Pieces& p, const Qr& q)
        : columns(p.take<T>(q.in_.batch * q.elements_)), tau(p.take<T>(q.in_.batch * q.reflectors_)),
          work(p.take<T>(q.size_)), info(p.take<int>(1)) {}
    T *columns, *tau, *work;
    int* info;
  };
  void query_workspace_sizes() {
    const int m = this->rows();
    const int of_r = this->query_workspace(
        [&](int* size) { return this->solver().geqrf_size(this->handle(), m, this->columns(), nullptr, m, size); },
        "cusolverDnXgeqrf_bufferSize");
    const int of_q = this->query_workspace(
        [&](int* size) {
          return this->solver().orgqr_size(this->handle(), m, static_cast<int>(q_.columns),
                                           static_cast<int>(reflectors_), nullptr, m, nullptr, size);
        },
        "cusolverDnXorgqr_bufferSize");
    size_ = std::max(of_r, of_q);
  }
  const Matrices q_, r_;
  const int64_t reflectors_, elements_;  // of a matrix, with what Q has more
  int size_ = 0;
};

// eigh(input, upper)
template <class T>
class Eigh : public MatrixNode<T> {
 public:
  Eigh(Session& session, const NodeView& view)
      : MatrixNode<T>(this, session, view, [](int64_t) { return std::string("the eigenvalues do not converge"); }),
        fill_(view.node.args[1].i ? kLower : kUpper) {
    if (this->in_.all_elements())
      size_ = this->query_workspace(
          [&](int* size) {
            const int n = this->rows();
            return this->solver().syevd_size(this->handle(), kVectors, fill_, n, nullptr, n, nullptr, size);
          },
          "cusolverDnXsyevd_bufferSize");
    this->template reserve_scratch<Areas>(*this);
  }
  Status* run(const Launch* l) const {
    const Matrices& in = this->in_;
    if (!in.all_elements()) return nullptr;
    Pieces pieces(l->scratch);
    const Areas a(pieces, *this);
    const int n = this->rows();
    return this->run_with_library([&]() -> Status* {
      if (Status* failed = this->copy(l->inputs[0].template as<T>(), a.vectors, in.all_elements())) return failed;
      Status* failed = this->for_each_matrix("cusolverDnXsyevd", [&](int64_t i) {
        return this->solver().syevd(this->handle(), kVectors, fill_, n, a.vectors + i * in.elements(), n,
                                    l->outputs[0].template as<T>() + i * n, a.work, size_, a.info + i);
      });
      if (failed || (failed = this->kernels_->check_info(a.info, in.batch, this->assertion_))) return failed;
      return this->kernels_->transpose(a.vectors, in.elements(), l->outputs[1].data, in.elements(), in.batch, n, n);
    });
  }

 private:
  struct Areas {
    Areas(Pieces& p, const Eigh& e)
        : vectors(p.take<T>(e.in_.all_elements())), work(p.take<T>(e.size_)), info(p.take<int>(e.in_.batch)) {}
    T *vectors, *work;
    int* info;
  };
  const int fill_;
  int size_ = 0;
};

// svd(input, full_matrices): computed from the transpose V S U^T, whose left factor is V.
template <class T>
class Svd : public MatrixNode<T> {
 public:
  Svd(Session& session, const NodeView& view)
      : MatrixNode<T>(this, session, view,
                      [](int64_t) { return std::string("the singular values do not converge"); }),
        economic_(!view.node.args[1].i), u_(view.store.type(view.node.results[0])),
        vh_(view.store.type(view.node.results[2])) {
    if (this->in_.all_elements())
      size_ = this->query_workspace(
          [&](int* size) {
            const int m = this->rows(), n = this->columns();
            return this->solver().gesvdj_size(this->handle(), kVectors, economic_, n, m, nullptr, n, nullptr, nullptr,
                                              n, nullptr, m, size, this->session_.jacobi());
          },
          "cusolverDnXgesvdj_bufferSize");
    this->template reserve_scratch<Areas>(*this);
  }
  Status* run(const Launch* l) const {
    const Matrices& in = this->in_;
    if (!in.all_elements()) return nullptr;
    Pieces pieces(l->scratch);
    const Areas a(pieces, *this);
    const int m = this->rows(), n = this->columns();
    const int64_t values = std::min(m, n);
    return this->run_with_library([&]() -> Status* {
      if (Status* failed = this->copy(l->inputs[0].template as<T>(), a.matrices, in.all_elements())) return failed;
      Status* failed = this->for_each_matrix("cusolverDnXgesvdj", [&](int64_t i) {
        return this->solver().gesvdj(this->handle(), kVectors, economic_, n, m, a.matrices + i * in.elements(), n,
                                     l->outputs[1].template as<T>() + i * values,
                                     l->outputs[2].template as<T>() + i * vh_.elements(), n, a.u + i * u_.elements(), m,
                                     a.work, size_, a.info + i, this->session_.jacobi());
      });
      if (failed || (failed = this->kernels_->check_info(a.info, in.batch, this->assertion_))) return failed;
      return this->kernels_->transpose(a.u, u_.elements(), l->outputs[0].data, u_.elements(), in.batch, u_.columns, m);
    });
  }

 private:
  struct Areas {
    Areas(Pieces& p, const Svd& s)
        : matrices(p.take<T>(s.in_.all_elements())), u(p.take<T>(s.u_.all_elements())), work(p.take<T>(s.size_)),
          info(p.take<int>(s.in_.batch)) {}
    T *matrices, *u, *work;
    int* info;
  };
  const int economic_;
  const Matrices u_, vh_;
  int size_ = 0;
};

}  // namespace

KernelPtr prepare_factors(Session& session, const NodeView& view) {
  const Prim op = view.node.op->id;
  if (op == Prim::cholesky) return make_for_dtype<Cholesky>(session, view);
  if (op == Prim::qr) return make_for_dtype<Qr>(session, view);
  if (op == Prim::eigh) return make_for_dtype<Eigh>(session, view);
  return op == Prim::svd ? make_for_dtype<Svd>(session, view) : nullptr;
}

}  // namespace thunder::cusolver
