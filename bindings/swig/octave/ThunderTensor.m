% A tensor of Thunder: operators, array(x), item(x), and every op as x.NAME(...).
classdef ThunderTensor < handle
  properties
    core
  end
  methods
    function self = ThunderTensor(core), self.core = core; end

    function c = plus(a, b), c = Thunder.op("add", a, b); end
    function c = minus(a, b), c = Thunder.op("sub", a, b); end
    function c = times(a, b), c = Thunder.op("mul", a, b); end
    function c = rdivide(a, b), c = Thunder.op("div", a, b); end
    function c = power(a, b), c = Thunder.op("pow", a, b); end
    function c = mod(a, b), c = Thunder.op("remainder", a, b); end
    function c = uminus(a), c = Thunder.op("neg", a); end
    % As of matrices: with a plain number, element by element.
    function c = mtimes(a, b)
      if isa(a, "ThunderTensor") && isa(b, "ThunderTensor"), c = Thunder.op("matmul", a, b);
      else, c = Thunder.op("mul", a, b);
      end
    end
    function c = mrdivide(a, b), c = Thunder.op("div", a, b); end

    function shape = extents(self)
      shape = zeros(1, self.core.rank());
      for axis = 1:numel(shape), shape(axis) = self.core.size(axis - 1); end
    end

    % All elements in row-major order, in their own type.
    function flat = elements(self)
      dtype = self.core.dtype();
      if any(strcmp(dtype, {"bf16", "f16"}))
        flat = elements(Thunder.op("to", self, "f32"));
        return;
      end
      call = Thunder.core().Call();
      call.read(self.core);
      if call.failed(), error(sprintf("thunder:code%d", call.code()), "%s", call.message()); end
      types = struct("f32", "single", "f64", "double", "i64", "int64", "i32", "int32", "u8", "uint8", ...
                     "i8", "int8", "u16", "uint16", "i16", "int16", "u32", "uint32", "u64", "uint64", "bool", "uint8");
      flat = typecast(call.data(), types.(dtype));
      if strcmp(dtype, "bool"), flat = logical(flat); end
    end

    function values = array(self)
      shape = extents(self);
      values = elements(self);
      if numel(shape) > 1, values = permute(reshape(values, fliplr(shape)), numel(shape):-1:1); end
    end

    function value = item(self)
      value = elements(self);
      if numel(value) != 1, error("thunder:code3", "item: the tensor has not one element"); end
    end

    function varargout = subsref(self, path)
      name = path(1).subs;
      if strcmp(path(1).type, ".") && ! strcmp(name, "core")
        given = {};
        used = 1;
        if numel(path) > 1 && strcmp(path(2).type, "()")
          given = path(2).subs;
          used = 2;
        end
        if any(strcmp(name, {"extents", "elements", "array", "item", "text"})), value = feval(name, self);
        else, value = Thunder.op(name, self, given{:});
        end
        path(1:used) = [];
      else
        value = self.core;
        path(1) = [];
      end
      if ! isempty(path), value = subsref(value, path); end
      varargout = {value};
    end

    % As PyTorch prints it.
    function made = text(self), made = Thunder.perform("tensor_text", {self.core}, {}); end
    function disp(self), disp(text(self)); end
  end
end
