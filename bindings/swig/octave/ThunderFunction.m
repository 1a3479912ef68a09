% A function of tensors, compiled by Thunder: f(...) calls it.
classdef ThunderFunction < handle
  properties
    core
  end
  methods
    function self = ThunderFunction(core), self.core = core; end

    % The same function, returning its results and the gradients of the first. wrt: paths of arguments, such as "0,1.w".
    function f = value_and_grad(self, wrt)
      if nargin < 2, wrt = ""; end
      f = Thunder.compiled(Thunder.perform("value_and_grad", {self.core, wrt}, {}), struct());
    end

    % @members Compiled@

    function varargout = subsref(self, path)
      if strcmp(path(1).type, "()")
        value = Thunder.perform("call", {self.core}, path(1).subs);
      else
        value = self.(path(1).subs);
      end
      path(1) = [];
      if ! isempty(path), value = subsref(value, path); end
      varargout = {value};
    end
  end
end
