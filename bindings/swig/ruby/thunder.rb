# frozen_string_literal: true

# Thunder for Ruby: tensors from arrays, ops as methods, blocks compiled.
#
#   x = Thunder.tensor([[1.0, 2.0], [3.0, 4.0]])
#   f = Thunder.compile { |a| (a.matmul(a) + 1).relu.sum }
#   f.(x).item
require "thunder/core"

module Thunder
  # What the library refused. `code` is the number of thunder.h; an exception that a block raised comes back as itself.
  class Error < StandardError
    attr_reader :code

    def initialize(message, code = 0)
      super(message)
      @code = code
    end
  end

  # Between Ruby's values and what the core's calls carry.
  module Exchange
    RAISED = {} # exceptions on their way through the library, by ticket
    KEPT = {} # what owns a block of an op
    CLOSURES = ObjectSpace::WeakMap.new # what owns a block, by ticket; who holds the function holds it

    module_function

    def put(call, value)
      case value
      when nil then call.none
      when true, false then call.flag(value)
      when Integer then call.integer(value)
      when Float then call.real(value)
      when String, Symbol then call.text(value.to_s)
      when Core::Tensor then call.tensor(value)
      when Array then put_list(call, value)
      when Hash then put_map(call, value)
      else raise TypeError, "a #{value.class} cannot go into the library"
      end
      call
    end

    def put_list(call, list)
      call.open_list
      list.each { |value| put(call, value) }
      call.close
    end

    def put_map(call, map)
      call.open_map
      put_named(call, map)
      call.close
    end

    def put_named(call, map)
      map.each do |name, value|
        call.key(name.to_s)
        put(call, value)
      end
    end

    def take(call, kind)
      case kind
      when Core::ITEM_NONE then nil
      when Core::ITEM_BOOLEAN then call.as_integer != 0
      when Core::ITEM_INTEGER then call.as_integer
      when Core::ITEM_REAL then call.as_real
      when Core::ITEM_TEXT then call.as_text.force_encoding(Encoding::UTF_8)
      when Core::ITEM_TENSOR
        GC.start if Core.should_collect
        call.as_tensor
      when Core::ITEM_LIST then take_list(call)
      when Core::ITEM_MAP then take_map(call)
      end
    end

    def take_list(call)
      list = []
      while (kind = call.next) != Core::ITEM_CLOSE
        list << take(call, kind)
      end
      list
    end

    def take_map(call)
      map = {}
      while (kind = call.next) != Core::ITEM_CLOSE
        map[call.name] = take(call, kind)
      end
      map
    end

    def take_all(call)
      list = []
      while (kind = call.next) != Core::ITEM_END
        list << take(call, kind)
      end
      list
    end

    # What the call made: one value, or a list of several. Raises what went wrong in it.
    def result(call)
      raise RAISED.fetch(call.ticket) { Error.new(call.message, call.code) } if call.failed
      values = take_all(call)
      values.size > 1 ? values : values.first
    end

    def perform(action, *arguments, args: [], named: {})
      call = Core::Call.new
      args.each { |value| put(call, value) }
      put_named(call, named)
      made = call.public_send(action, *arguments)
      values = result(call)
      made == true ? values : made
    end

    # An object of a class around what the core made.
    def hold(kind, core) = kind.allocate.tap { |made| made.instance_variable_set(:@core, core) }

    def new_ticket
      while (dropped = Core.next_dropped) != 0
        RAISED.delete(dropped)
      end
      Core.new_ticket
    end

    Kept = Struct.new(:block)

    # The ticket of a block that is never dropped.
    def keep(block)
      ticket = new_ticket
      CLOSURES[ticket] = KEPT[ticket] = Kept.new(block)
      ticket
    end

    # The line of the user's program, for traces.
    def place
      return "" unless Core.is_tracing
      found = caller_locations.find { |location| location.path != __FILE__ }
      found ? "#{found.path}:#{found.lineno}" : ""
    end

    def run(call, ticket)
      owner = CLOSURES[ticket] or raise Error, "the function was collected: keep what was compiled"
      value = owner.block.call(*take_all(call))
      call.reset
      put(call, value)
    rescue Exception => e # whatever it is, it travels through the library and is raised again outside
      ticket = new_ticket
      RAISED[ticket] = e
      call.fail("#{e.class}: #{e.message}", ticket)
    end
  end

  # The core runs a block by this.
  def self.dispatch(ticket) = Exchange.run(Core.callback, ticket)

  # A function of tensors, compiled: call it with `.()` or `.call`.
  class Compiled
    attr_reader :block, :core

    # `base`: what the handle belongs to, when it is not a block of its own.
    def initialize(options, base: nil, name: nil, function: nil, &block)
      @block, @base = block, base
      unless function
        ticket = Exchange.new_ticket
        Exchange::CLOSURES[ticket] = self
        function = Exchange.perform(:make_function, name || "#{block.source_location&.join(':')}", ticket)
      end
      @core = Exchange.perform(:compile, function, named: options)
    end

    def call(*args) = Exchange.perform(:call, @core, args: args)

    def to_proc = method(:call).to_proc

    # The same function, returning [its results, the gradients of the first]. `wrt`: paths of arguments, such as "0,1.w".
    def value_and_grad(wrt: "", captured: nil, **options)
      function = Exchange.perform(:value_and_grad, @core, wrt, args: captured ? [captured] : [])
      Compiled.new(options, base: self, function: function)
    end

    # @members Compiled@
  end

  # @classes@

  Tensor = Core::Tensor

  DTYPES = { "bool" => "C*", "u8" => "C*", "i8" => "c*", "u16" => "S<*", "i16" => "s<*", "u32" => "L<*", "u64" => "Q<*", "i32" => "l<*", "i64" => "q<*", "f32" => "e*", "f64" => "E*" }.freeze

  class << self
    # A tensor of nested arrays, or of one number: bool, i64 or f32 by what they hold, where no dtype is given.
    def tensor(values, dtype: nil)
      call = Core::Call.new
      call.open_elements
      Exchange.put(call, values)
      call.make_tensor(dtype.to_s)
      Exchange.result(call)
    end

    def compile(function = nil, **options, &block)
      Compiled.new(options, &(block || ->(*args) { function.call(*args) }))
    end

    def value_and_grad(wrt: "", captured: nil, **options, &block)
      compile(**options, &block).value_and_grad(wrt: wrt, captured: captured, **options)
    end

    # @functions@

    def version = Core.version

    # An op of your own, for ever: the block computes it from its arguments by other ops. `vjp` gets the arguments, the results,
    # their cotangents and which gradients are wanted, and returns a gradient for each argument; without it, it is the block's.
    def add_op(schema, doc, vjp: nil, &block)
      Exchange.perform(:add_op, schema, doc, Exchange.keep(block), vjp ? Exchange.keep(vjp) : 0)
      define_op(describe("ops").find { |row| row["name"] == schema[/[\w.]+/] })
    end
  end

  # Every op, from the registry: Thunder.NAME(...) and, when a tensor comes first, tensor.NAME(...).
  OPS = {}

  def self.define_op(row)
    OPS[row["name"]] = row
    [row["name"], *(row["inplace"] ? ["#{row['name']}_"] : [])].each do |name|
      define_singleton_method(name) { |*args, **named| Exchange.perform(:op, name, Exchange.place, args: args, named: named) }
      next unless row["parameters"].first&.fetch("kind") == "tensor"
      Tensor.define_method(name) do |*args, **named|
        Exchange.perform(:op, name, Exchange.place, args: [self, *args], named: named)
      end
    end
  end
  describe("ops").each { |row| define_op(row) }

  class Core::Tensor
    OPERATORS = { "+" => "add", "-" => "sub", "*" => "mul", "/" => "div", "%" => "remainder", "**" => "pow",
                  "&" => "bitwise_and", "|" => "bitwise_or", "^" => "bitwise_xor", "<<" => "bitwise_left_shift",
                  ">>" => "bitwise_right_shift", "<" => "lt", "<=" => "le", ">" => "gt", ">=" => "ge" }.freeze
    # The left side of 2 - tensor: the op gets the number as it is.
    Number = Struct.new(:value)
    OPERATORS.each do |operator, op|
      define_method(operator) { |other| Thunder.public_send(op, self, other) }
      Number.define_method(operator) { |tensor| Thunder.public_send(op, value, tensor) }
    end

    def -@ = neg
    def ~ = bitwise_not
    def divmod(other) = [floor_divide(other), remainder(other)]
    def coerce(number) = [Number.new(number), self]

    # x[0], x[1..], x[0..1, -1]: integers and ranges of each axis in turn, whose result is a view, or a tensor of indices of one.
    def [](*keys)
      axis = -1
      keys.reduce(self) do |view, key|
        axis += 1
        case key
        when Range then view.slice(axis, *bounds(key, view, axis))
        when Integer
          axis -= 1
          view.select(axis + 1, key)
        when Core::Tensor then view.index_select(axis, key)
        else raise ArgumentError, "[]: an integer, a range or a tensor of indices was expected, not #{key.inspect}"
        end
      end
    end

    # Writes a number, or a tensor, into what [] views.
    def []=(*keys, value)
      raise ArgumentError, "[]=: a tensor of indices is given to index_copy" if keys.any?(Core::Tensor)
      value.is_a?(Core::Tensor) ? self[*keys].copy_(value) : self[*keys].fill_(value)
    end

    def shape = Array.new(rank) { |axis| size(axis) }

    # Nested arrays; of a tensor without axes, the number.
    def to_a
      return Exchange.perform(:op, "to", "", args: [self, "f32"]).to_a if %w[bf16 f16].include?(dtype)
      call = Core::Call.new
      call.read(self)
      Exchange.result(call)
      flat = call.data.unpack(DTYPES.fetch(dtype))
      flat.map! { |value| value != 0 } if dtype == "bool"
      shape.drop(1).reverse.each { |count| flat = count.zero? ? [] : flat.each_slice(count).to_a }
      rank.zero? ? flat.first : flat
    end

    def item
      raise ArgumentError, "item: #{shape} has more than one element, or none" unless shape.all?(1)
      Array(to_a).flatten.first
    end

    # New elements of the same count, in place: what was compiled over this tensor sees them.
    def assign(values)
      flat = Array(values).flatten
      flat = flat.map { |value| value ? 1 : 0 } if dtype == "bool"
      Exchange.perform(:write, self, flat.pack(DTYPES.fetch(dtype)))
      self
    end

    def to_s = Exchange.perform(:tensor_text, self) # as PyTorch prints it
    alias inspect to_s

    private

    # The first index of a range, and the one behind the last.
    def bounds(range, view, axis)
      last = range.end
      last = last == -1 ? nil : last + 1 if last && !range.exclude_end?
      raise ArgumentError, "[]: the tensor has #{rank} axes, one more was asked for" unless axis < view.rank
      [range.begin || 0, last]
    end
  end
end
