// C#: the namespace Thunder.Core, on which the namespace Thunder is built.
%module(directors="1") ThunderCore

// Arrays are pinned for the call, with their length beside them.
%typemap(ctype) const void *bytes, void *bytes "void *"
%typemap(imtype) const void *bytes, void *bytes "byte[]"
%typemap(cstype) const void *bytes, void *bytes "byte[]"
%typemap(csin) const void *bytes, void *bytes "$csinput"
%typemap(in) const void *bytes, void *bytes "$1 = $input;"

%ignore thunder_swig::Call::create;
%ignore thunder_swig::Call::write;
%ignore thunder_swig::Call::data;

#define THUNDER_DIRECTORS
%include "../thunder.i"

%extend thunder_swig::Call {
  bool create_from(const char *dtype, const void *bytes, long long size) {
    return $self->create(dtype, {std::string((const char *)bytes, (size_t)size)});
  }
  bool write_from(const thunder_swig::Tensor &tensor, const void *bytes, long long size) {
    return $self->write(tensor, {std::string((const char *)bytes, (size_t)size)});
  }
  // What read() read, into an array of tensor.nbytes().
  void copy_data(void *bytes) {
    const std::string data = $self->data().data;
    data.copy((char *)bytes, data.size());
  }
}
