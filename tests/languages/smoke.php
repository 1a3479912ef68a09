<?php
// The smoke program in PHP: smoke.php MODEL.safetensors DIGITS.csv
require 'Thunder.php';

use Thunder\{Batches, Error, Module, Ops, Optimizer};
use function Thunder\{addOp, compile, doc, loadCacheArtifacts, loadProgram, readCsv, saveCacheArtifacts, seed, tensor};

[, $model, $csv] = $argv;

class Mine extends Exception
{
    public function __construct(string $message, public int $number) { parent::__construct($message); }
}

function show(string $label, mixed ...$values): void
{
    $words = [$label];
    array_walk_recursive($values, function ($value) use (&$words) {
        $words[] = is_float($value) ? sprintf('%.4f', $value) : $value;
    });
    echo implode(' ', $words), "\n";
}

$x = tensor([[1.0, 2.0], [3.0, 4.0]]);
show('operators', $x->mul(2)->add(1)->sub($x->div(2))->toArray());
show('negated', $x->neg()->toArray());
show('text', "$x");
try {
    tensor([[1, 2], [3]]);
} catch (Error $e) {
    if ($e->getMessage() !== 'tensor: the lists are not those of one shape: a list of 1 stands where a list of 2 is expected') throw $e;
}
show('reversed', Ops::sub(2, $x)->toArray());
show('matmul', $x->matmul($x)->toArray());
show('named', $x->sum(dim: 1)->toArray());
show('ops', count(array_filter(Thunder\describe('ops'), fn($row) => $row['doc'] !== ''))); // methods are found as they are called
show('integers', tensor([PHP_INT_MAX, PHP_INT_MIN, 9007199254740993])->toArray());

$f = compile(fn($a) => $a->matmul($a)->add(1)->relu()->sum());
show('compiled', $f($x)->item(), $f($x)->item(), 'misses', $f->stats()['misses']);
show('gradient', $f->valueAndGrad()($x)[1]->toArray());

try {
    $x->matmul(tensor([[1.0, 2.0, 3.0]]));
} catch (Error $e) {
    show('error', $e->getCode(), $e->getMessage());
}
try {
    compile(fn($a) => $a->matmul(Ops::ones([3, 3])))($x);
} catch (Error $e) {
    show('traced error', $e->getCode());
}
try {
    compile(fn($a) => throw new Mine('mine', 42))($x);
} catch (Mine $e) {
    show('raised', $e->getMessage(), $e->number);
}

// PHP's command line has one thread.
$row = compile(fn($a, $n) => $a->mul($n)->sum());
show('threads', array_map(fn($n) => $row($x, $n)->item(), [1.0, 2.0, 3.0, 4.0]));

// The gradient is twice what it should be, which shows whose it is.
addOp('square_plus(tensor x, float c=1.0) -> tensor', 'x * x + c.', fn($a, $c) => $a->mul($a)->add($c),
    fn($args, $results, $cotangents) => [$cotangents[0]->mul($args[0])->mul(4)]);
$own = compile(fn($a) => $a->square_plus()->sum());
show('own op', $x->square_plus()->toArray(), 'gradient', $own->valueAndGrad()($x)[1]->toArray());

[$w, $y] = [tensor([0.0, 0.0]), tensor([5.0, 11.0])];
$miss = compile(fn($v) => $v->sub($y)->mul($v->sub($y))->mul($y)->sum());
$search = new Optimizer('LBFGS', [$w], line_search_fn: 'strong_wolfe');
show('lbfgs', $search->stepClosure($miss->valueAndGrad(), $w)->item(), $w->toArray());

seed(7);
$drawn = Ops::initOrthogonal_(Ops::zeros([3, 4]))->add(Ops::initTruncNormal_(Ops::zeros([3, 4])));
show('init', $drawn->to('f64')->mul(2.0 ** 40)->to('i64')->sum()->item());

[$artifacts, $info] = saveCacheArtifacts();
show('artifacts', $info['cpu_kernels'] - loadCacheArtifacts($artifacts)['cpu_kernels']);
try {
    loadCacheArtifacts($x);
} catch (Error $e) {
    show('damaged', $e->getCode());
}

$net = (new Module('Sequential'))->add('0', new Module('Linear', 64, 32))->add('1', new Module('ReLU'))
    ->add('2', new Module('Linear', 32, 10))->load($model);
if ((string) $net !== $net->text()) throw new \Exception('a module is printed as it says');
// Each loop is an epoch of its own.
[$batches, $count] = [new Batches([tensor([0, 1, 2, 3])], size: 2), 0];
foreach ($batches as $_) break;
foreach ($batches as [$first]) break;
if ($first->toArray() !== [0, 1]) throw new \Exception('a loop went on behind a break');
foreach ($batches as $_) foreach ($batches as $_) $count++;
if ($count !== 4) throw new \Exception("nested loops read $count batches");
$rows = readCsv($csv);
$images = $rows->slice(dim: 1, start: 0, end: 64)->div(16);
$labels = $rows->slice(dim: 1, start: 64, end: 65)->squeeze(1)->to('i64');
$predict = compile(fn($batch) => $net($batch)->argmax(-1));
$found = $predict($images);
show('digits', $found->eq($labels)->sum()->item(), 'of', $images->size(0), 'first', array_slice($found->toArray(), 0, 10));
$loaded = loadProgram($predict->exportOnnx("$model.php.onnx", opset: 20) === $predict ? "$model.php.onnx" : '');
if (!str_contains($loaded->signature(), '"dims":[1797,64]')) throw new \Exception($loaded->signature());
show('loaded', $loaded($images)->eq($labels)->sum()->item(), 'parameters', count($loaded->programModule()->parameters()));
show('relu', explode("\n", doc('relu'))[1]);
