<?php
// Thunder for PHP: tensors from arrays, ops as methods, closures compiled.
//
//   $x = Thunder\tensor([[1.0, 2.0], [3.0, 4.0]]);
//   $f = Thunder\compile(fn($a) => $a->matmul($a)->add(1)->relu()->sum());
//   echo $f($x)->item();
//
// PHP overloads no operators: add, sub, mul, div, neg, pow are methods. Named arguments are the ops' own:
// $x->sum(dim: 1, keepdim: true). Names are in camel case, those of ops too; arguments and options are named as the library does.
namespace Thunder;

// What the library refused; getCode() is the number of thunder.h. What a closure threw comes back as itself.
class Error extends \RuntimeException {}

// Between PHP's values and what the core's calls carry.
final class Exchange
{
    public static array $raised = [];   // exceptions on their way through the library, by ticket
    public static array $closures = []; // what owns a closure, by ticket: weak references

    public static function put(\Thunder_Core_Call $call, mixed $value): void
    {
        match (true) {
            $value === null => $call->none(),
            is_bool($value) => $call->flag($value),
            is_int($value) => $call->integer($value),
            is_float($value) => $call->real($value),
            is_string($value) => $call->text($value),
            $value instanceof Tensor => $call->tensor($value->core),
            is_array($value) && array_is_list($value) => self::putList($call, $value),
            is_array($value) => self::putMap($call, $value),
            default => throw new \TypeError('a ' . get_debug_type($value) . ' cannot go into the library'),
        };
    }

    private static function putList(\Thunder_Core_Call $call, array $list): void
    {
        $call->open_list();
        foreach ($list as $value) self::put($call, $value);
        $call->close();
    }

    private static function putMap(\Thunder_Core_Call $call, array $map): void
    {
        $call->open_map();
        foreach ($map as $name => $value) {
            $call->key((string)$name);
            self::put($call, $value);
        }
        $call->close();
    }

    private static function take(\Thunder_Core_Call $call, int $kind): mixed
    {
        return match ($kind) {
            \ITEM_BOOLEAN => $call->as_integer() != 0,
            \ITEM_INTEGER => $call->as_integer(),
            \ITEM_REAL => $call->as_real(),
            \ITEM_TEXT => $call->as_text(),
            \ITEM_TENSOR => new Tensor($call->as_tensor()),
            \ITEM_LIST => self::takeUntil($call, \ITEM_CLOSE),
            \ITEM_MAP => self::takeMap($call),
            default => null,
        };
    }

    private static function takeMap(\Thunder_Core_Call $call): array
    {
        $map = [];
        while (($kind = $call->next()) !== \ITEM_CLOSE) {
            $name = $call->name();
            $map[$name] = self::take($call, $kind);
        }
        return $map;
    }

    private static function takeUntil(\Thunder_Core_Call $call, int $end): array
    {
        $list = [];
        while (($kind = $call->next()) !== $end) $list[] = self::take($call, $kind);
        return $list;
    }

    // What the call made: one value, or a list of several. Throws what went wrong in it.
    public static function result(\Thunder_Core_Call $call): mixed
    {
        if ($call->failed()) throw self::$raised[$call->ticket()] ?? new Error($call->message(), $call->code());
        $values = self::takeUntil($call, \ITEM_END);
        return count($values) > 1 ? $values : ($values[0] ?? null);
    }

    // Performs an action with arguments of its own and items, of which those with names are named.
    public static function perform(string $action, array $own = [], array $items = []): mixed
    {
        $call = new \Thunder_Core_Call();
        foreach ($items as $name => $value) {
            if (is_string($name)) $call->key($name);
            self::put($call, $value);
        }
        $made = $call->$action(...$own);
        $values = self::result($call);
        return is_object($made) ? $made : $values;
    }

    // An object of a class around what the core made.
    public static function hold(string $class, object $core): object
    {
        $made = (new \ReflectionClass($class))->newInstanceWithoutConstructor();
        (function () use ($core) { $this->core = $core; })->call($made);
        return $made;
    }

    private static array $names = []; // of ops, by method

    // The op that a method in PHP's style stands for: crossEntropy is cross_entropy. One of your own keeps its name.
    public static function opName(string $method): string
    {
        return self::$names[$method] ??= strtolower(preg_replace('/(?<=[a-z0-9])[A-Z]/', '_$0', $method));
    }

    public static function ownOp(string $name): void { self::$names[$name] = $name; }

    private static array $kept = []; // what owns a closure of an op

    // The ticket of a closure that is never dropped.
    public static function keep(\Closure $closure): int
    {
        $ticket = self::newTicket();
        self::$kept[$ticket] = new class($closure) { public function __construct(public \Closure $closure) {} };
        self::$closures[$ticket] = \WeakReference::create(self::$kept[$ticket]);
        return $ticket;
    }

    public static function newTicket(): int
    {
        while ($dropped = \thunder_core_next_dropped()) unset(self::$raised[$dropped], self::$closures[$dropped]);
        return \thunder_core_new_ticket();
    }

    // The line of the user's program, for traces.
    public static function place(): string
    {
        if (!\thunder_core_is_tracing()) return '';
        foreach (debug_backtrace(DEBUG_BACKTRACE_IGNORE_ARGS) as $frame)
            if (isset($frame['file']) && $frame['file'] !== __FILE__) return "{$frame['file']}:{$frame['line']}";
        return '';
    }

    public static function run(int $ticket): void
    {
        $call = \thunder_core_callback();
        try {
            $owner = (self::$closures[$ticket] ?? null)?->get();
            if (!$owner) throw new Error('the function was collected: keep what was compiled');
            $value = ($owner->closure)(...self::takeUntil($call, \ITEM_END));
            $call->reset();
            self::put($call, $value);
        } catch (\Throwable $thrown) {
            $raised = self::newTicket();
            self::$raised[$raised] = $thrown;
            $call->fail($thrown::class . ': ' . $thrown->getMessage(), $raised);
        }
    }

    public const FORMATS = ['bool' => 'C*', 'u8' => 'C*', 'i8' => 'c*', 'u16' => 'v*', 'i16' => 's*', 'u32' => 'V*',
        'u64' => 'P*', 'i32' => 'l*', 'i64' => 'q*', 'f32' => 'g*', 'f64' => 'e*'];

    public static function pack(string $dtype, array $flat): string
    {
        $format = self::FORMATS[$dtype] ?? throw new Error("there is no dtype $dtype", 5);
        return pack($format, ...($dtype === 'bool' ? array_map('intval', $flat) : $flat));
    }

    // The values of nested arrays; their keys do not count, and a text that is a number is one.
    public static function putElements(\Thunder_Core_Call $call, mixed $values): void
    {
        if (!is_array($values)) {
            self::put($call, is_string($values) && is_numeric($values) ? (float)$values : $values);
            return;
        }
        $call->open_list();
        foreach ($values as $value) self::putElements($call, $value);
        $call->close();
    }
}

// The core runs a closure by this.
function dispatch(int $ticket): void
{
    Exchange::run($ticket);
}

// A tensor; every op that takes one first is a method: $x->relu(), $x->logSoftmax(-1), $x->add_(1) in place.
final class Tensor
{
    public function __construct(public readonly \Thunder_Core_Tensor $core) {}

    public function __call(string $op, array $args): mixed
    {
        return Exchange::perform('op', [Exchange::opName($op), Exchange::place()], [$this, ...$args]);
    }

    public function dtype(): string { return $this->core->dtype(); }
    public function rank(): int { return $this->core->rank(); }
    public function size(int $axis): int { return $this->core->size($axis); }
    public function shape(): array { return array_map($this->size(...), $this->rank() ? range(0, $this->rank() - 1) : []); }

    // Nested arrays; of a tensor without axes, the number.
    public function toArray(): mixed
    {
        $flat = $this->flat();
        if ($this->rank() === 0) return $flat[0];
        foreach (array_reverse(array_slice($this->shape(), 1)) as $count) $flat = $count ? array_chunk($flat, $count) : [];
        return $flat;
    }

    // All elements in one array.
    public function flat(): array
    {
        if (in_array($this->dtype(), ['bf16', 'f16'], true)) return $this->to('f32')->flat();
        $call = new \Thunder_Core_Call();
        $call->read($this->core);
        Exchange::result($call);
        $flat = array_values(unpack(Exchange::FORMATS[$this->dtype()], $call->data()));
        return $this->dtype() === 'bool' ? array_map('boolval', $flat) : $flat;
    }

    public function item(): mixed
    {
        $flat = $this->flat();
        if (count($flat) !== 1) throw new Error('item: the tensor has not one element', 3);
        return $flat[0];
    }

    // New elements of the same count, in place: what was compiled over this tensor sees them.
    public function assign(array $values): self
    {
        array_walk_recursive($values, function ($value) use (&$flat) { $flat[] = $value; });
        Exchange::perform('write', [$this->core, Exchange::pack($this->dtype(), $flat)]);
        return $this;
    }

    // As PyTorch prints it.
    public function __toString(): string { return Exchange::perform('tensor_text', [$this->core]); }

    // Two owners would release one handle.
    private function __clone() {}
}

// Every op as a function: Ops::cat([$x, $y]), Ops::ones([3, 3]).
final class Ops
{
    public static function __callStatic(string $op, array $args): mixed
    {
        return Exchange::perform('op', [Exchange::opName($op), Exchange::place()], $args);
    }
}

// A function of tensors, compiled: $f(...) calls it.
final class Compiled
{
    public readonly \Thunder_Core_Compiled $core;

    public function __construct(public readonly ?\Closure $closure, array $options, ?\Thunder_Core_Traceable $given = null,
        private readonly ?self $base = null)
    {
        if (!$given) {
            $ticket = Exchange::newTicket();
            Exchange::$closures[$ticket] = \WeakReference::create($this);
            $given = Exchange::perform('make_function', ['', $ticket]);
        }
        $this->core = Exchange::perform('compile', [$given], $options);
    }

    public function __invoke(mixed ...$args): mixed { return Exchange::perform('call', [$this->core], $args); }

    // The same function, returning [its results, the gradients of the first]. $wrt: paths of arguments, such as "0,1.w".
    public function valueAndGrad(string $wrt = '', ?array $captured = null, mixed ...$options): self
    {
        $function = Exchange::perform('value_and_grad', [$this->core, $wrt], $captured ? [$captured] : []);
        return new self(null, $options, $function, $this);
    }

    // @members Compiled@
}

// @classes@

// A tensor of nested arrays, or of one number: bool, i64 or f32 by what they hold, where no dtype is given.
function tensor(mixed $values, ?string $dtype = null): Tensor
{
    $call = new \Thunder_Core_Call();
    $call->open_elements();
    Exchange::putElements($call, $values);
    $call->make_tensor($dtype ?? '');
    return Exchange::result($call);
}

function compile(callable $closure, mixed ...$options): Compiled { return new Compiled($closure(...), $options); }

// @functions@

function version(): string { return \thunder_core_version(); }

// An op of your own, for ever: the closure computes it from its arguments by other ops. $vjp gets the arguments, the results,
// their cotangents and which gradients are wanted, and returns a gradient for each argument; without it, it is the closure's.
function addOp(string $schema, string $doc, callable $closure, ?callable $vjp = null): void
{
    $tickets = [Exchange::keep($closure(...)), $vjp ? Exchange::keep($vjp(...)) : 0];
    Exchange::perform('add_op', [$schema, $doc, ...$tickets]);
    Exchange::ownOp(strtok($schema, '('));
}
