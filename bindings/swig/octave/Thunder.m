% Thunder for Octave: tensors from arrays, operators, ops by name, function handles compiled.
%
%   x = Thunder.tensor([1 2; 3 4]);
%   f = Thunder.compile(@(a) sum(relu(a * a + 1)));
%   item(f(x))
%
% An op is x.NAME(...) or Thunder.op("NAME", ...); a struct as its last argument gives arguments by name:
% x.sum(struct("dim", 1)). Axes count from 0, as in every language of the library.
classdef Thunder
  methods (Static)
    % ---- tensors ----

    % Of an array, whose first axis is the tensor's first: integers and logical keep their type, the rest is f32.
    function made = tensor(values, dtype, shape)
      dtypes = struct("int64", "i64", "int32", "i32", "uint8", "u8", "int8", "i8", ...
                      "uint16", "u16", "int16", "i16", "uint32", "u32", "uint64", "u64", "logical", "bool", "double", "f32", "single", "f32");
      if nargin < 2 || isempty(dtype), dtype = dtypes.(class(values)); end
      if nargin < 3, shape = size(values); end
      types = struct("i64", "int64", "i32", "int32", "u8", "uint8", "i8", "int8", "u16", "uint16", ...
                     "i16", "int16", "u32", "uint32", "u64", "uint64", "bool", "uint8", "f32", "single", "f64", "double");
      if ! isfield(types, dtype), error("thunder:code5", "there is no dtype %s", dtype); end
      flat = cast(permute(values, ndims(values):-1:1)(:).', types.(dtype)); % rows first
      made = Thunder.perform("create", {dtype, typecast(flat, "uint8")}, num2cell(int64(shape)));
    end

    function made = op(name, varargin)
      named = struct();
      if nargin > 1 && isstruct(varargin{end})
        named = varargin{end};
        varargin(end) = [];
      end
      made = Thunder.perform("op", {name, ""}, varargin, named);
    end

    % ---- functions ----

    % A function of tensors, compiled: a handle that is called as it was. Options are a struct.
    function f = compile(closure, options)
      if nargin < 2, options = struct(); end
      f = Thunder.compiled(Thunder.perform("make_function", {"", Thunder.ticket(closure)}, {}), options);
    end
    function f = compiled(made, options), f = ThunderFunction(Thunder.perform("compile", {made}, {}, options)); end

    % An op of your own, for ever: the handle computes it from its arguments by other ops. vjp gets cells of the arguments, the
    % results, their cotangents and which gradients are wanted, and returns a cell of gradients; without it, the handle's.
    function add_op(schema, doc, closure, vjp)
      gradient = 0;
      if nargin > 3, gradient = Thunder.ticket(vjp); end
      Thunder.perform("add_op", {schema, doc, Thunder.ticket(closure), gradient}, {});
    end

    % @functions@

    % ---- modules ----

    % A layer or a tree of layers; children are a struct, whose names lose their first letter: struct("x0", ...).
    function made = module(kind, given, children)
      if nargin < 2, given = {}; end
      made = ThunderModule(kind, given{:});
      if nargin < 3, return; end
      for [child, name] = children, made.add(name(2:end), child); end
    end
    function made = forward(module, varargin), made = module.call(varargin{:}); end
    function load(module, path), module.load(path); end
    function save(module, path), module.save(path); end
    function made = parameters(module), made = module.parameters(); end

    % ---- training ----

    % An update rule and its state; options are a struct.
    function opt = optimizer(kind, parameters, options)
      if nargin < 3, options = struct(); end
      opt = ThunderOptimizer(kind, parameters, options);
    end

    % Writes the learning rate of an optimiser at each step: "CosineAnnealingLR", "StepLR" ... Options are a struct.
    function made = schedule(kind, opt, options)
      if nargin < 3, options = struct(); end
      made = ThunderSchedule(kind, opt, options);
    end

    % Rows of a cell of tensors with equal first sizes; options are a struct of size, shuffle, drop_last, seed and device.
    function made = batches(tensors, options), made = ThunderBatches(tensors, options); end

    % A struct of options over their defaults.
    function given = options(what, given, options)
      for [value, name] = options
        if ! isfield(given, name)
          error("thunder:code3", "%s: there is no option %s; there are %s", what, name, strjoin(fieldnames(given).', ", "));
        end
        given.(name) = value;
      end
    end

    % ---- between Octave's values and what the core's calls carry ----

    function made = perform(action, own, args, named)
      Thunder.table("start");
      call = Thunder.core().Call();
      for i = 1:numel(args), Thunder.put(call, args{i}); end
      if nargin > 3, Thunder.put_named(call, named); end
      made = call.(action)(own{:});
      if call.failed()
        raised = Thunder.table("get", call.ticket());
        if ! isempty(raised), rethrow(raised); end
        error(sprintf("thunder:code%d", call.code()), "%s", call.message());
      end
      if ! (islogical(made) || isnumeric(made)), return; end
      values = Thunder.take_until(call, "END");
      if numel(values) == 1, made = values{1}; else, made = values; end
    end

    function put(call, value)
      if isa(value, "ThunderTensor"), call.tensor(value.core);
      elseif isstruct(value)
        call.open_map();
        Thunder.put_named(call, value);
        call.close();
      elseif isa(value, "containers.Map")
        call.open_map();
        for name = keys(value)
          call.key(name{1});
          Thunder.put(call, value(name{1}));
        end
        call.close();
      elseif ischar(value), call.text(value);
      elseif iscell(value)
        call.open_list();
        for i = 1:numel(value), Thunder.put(call, value{i}); end
        call.close();
      elseif isempty(value), call.none();
      elseif ! isscalar(value), Thunder.put(call, num2cell(value));
      elseif islogical(value), call.flag(value);
      elseif isinteger(value), call.integer(value);
      else, call.real(double(value));
      end
    end

    function put_named(call, named)
      for [value, name] = named
        call.key(name);
        Thunder.put(call, value);
      end
    end

    % The core's module. Its loader makes a variable of its own name in the function that calls it.
    function module = core()
      persistent loaded;
      if isempty(loaded)
        thunder_core;
        loaded = thunder_core;
      end
      module = loaded;
    end

    % The name of the next item's kind, of enum Kind.
    function kind = following(call)
      kinds = {"END", "NONE", "BOOLEAN", "INTEGER", "REAL", "TEXT", "TENSOR", "LIST", "MAP", "CLOSE"};
      kind = kinds{call.next() + 1};
    end

    function value = take(call, kind)
      switch kind
        case "BOOLEAN", value = call.as_integer() != 0;
        case "INTEGER", value = call.as_integer();
        case "REAL", value = call.as_real();
        case "TEXT", value = call.as_text();
        case "TENSOR", value = ThunderTensor(call.as_tensor());
        case "LIST", value = Thunder.take_until(call, "CLOSE");
        case "MAP", value = Thunder.take_map(call);
        otherwise, value = [];
      end
    end

    % A struct; where a name is none of a field ("0.weight"), a containers.Map.
    function map = take_map(call)
      names = values = {};
      while ! strcmp(kind = Thunder.following(call), "CLOSE")
        names{end + 1} = call.name();
        values{end + 1} = Thunder.take(call, kind);
      end
      if all(cellfun(@isvarname, names)), map = cell2struct(values, names, 2);
      else, map = containers.Map(names, values, "UniformValues", false);
      end
    end

    function values = take_until(call, last)
      values = {};
      while ! strcmp(kind = Thunder.following(call), last), values{end + 1} = Thunder.take(call, kind); end
    end

    % ---- what the library may run, and exceptions on their way through it, by ticket ----

    function value = table(what, ticket, value)
      persistent entries dispatcher;
      switch what
        case "start"
          if isempty(dispatcher)
            entries = containers.Map("KeyType", "double", "ValueType", "any");
            dispatcher = subclass(Thunder.core().Dispatcher(), "run", @(self, ticket) Thunder.run(ticket));
            Thunder.core().set_dispatcher(dispatcher);
            mlock();
          end
        case "get"
          if isKey(entries, double(ticket)), value = entries(double(ticket)); else, value = []; end
        case "set"
          while (dropped = double(Thunder.core().next_dropped())) != 0
            if isKey(entries, dropped), remove(entries, dropped); end
          end
          entries(double(ticket)) = value;
      end
    end

    function made = ticket(value)
      Thunder.table("start");
      made = Thunder.core().new_ticket();
      Thunder.table("set", made, value);
    end

    function run(ticket)
      call = Thunder.core().callback();
      try
        closure = Thunder.table("get", ticket);
        given = Thunder.take_until(call, "END");
        value = closure(given{:});
        call.reset();
        Thunder.put(call, value);
      catch thrown
        call.fail(thrown.message, Thunder.ticket(thrown));
      end
    end
  end
end
