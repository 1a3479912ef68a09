// Go: the package thunder/core, on which the package thunder is built. A string of Go holds any bytes.
%module(directors="1") core

%ignore thunder_swig::Call::create;
%ignore thunder_swig::Call::write;
%ignore thunder_swig::Call::data;

#define THUNDER_DIRECTORS
%include "../thunder.i"

%extend thunder_swig::Call {
  bool create_from(const char *dtype, const std::string &data) { return $self->create(dtype, {data}); }
  bool write_from(const thunder_swig::Tensor &tensor, const std::string &data) { return $self->write(tensor, {data}); }
  std::string raw_data() { return $self->data().data; }
}
