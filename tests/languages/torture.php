<?php
// Makes and drops tensors, functions and compiled functions in random order, with the collector running in between.
require 'Thunder.php';

use function Thunder\{compile, tensor};

final class Witness
{
    public static int $made = 0, $destroyed = 0;
    public function __construct() { self::$made++; }
    public function __destruct() { self::$destroyed++; }
}

function some(): Thunder\Tensor
{
    global $slots;
    return $slots ? $slots[array_rand($slots)] : tensor([[1.0, 2.0], [3.0, 4.0]]);
}

mt_srand(1);
$slots = $compiled = [];
$acts = [
    function () { global $slots; $slots[mt_rand(0, 11)] = tensor([[mt_rand() / 7, 2.0], [3.0, 4.0]]); },
    function () { global $slots; $slots[mt_rand(0, 11)] = some()->mul(0.5)->add(some()->tanh()); },
    function () { global $slots; unset($slots[mt_rand(0, 11)]); },
    function () { global $compiled; unset($compiled[mt_rand(0, 3)]); },
    function () {
        global $compiled;
        [$captured, $witness, $own] = [some(), new Witness(), null];
        $own = compile(fn($a) => $witness && $own ? $a->mul($captured) : $a->mul($captured), executors: 'host');
        $compiled[mt_rand(0, 3)] = mt_rand(0, 1) ? $own : $own->valueAndGrad();
    },
    function () {
        global $compiled;
        try { foreach ($compiled as $f) { $f(some()); break; } } catch (Thunder\Error) {}
    },
    function () {
        try { compile(fn($a) => throw new DomainException('no'))(some()); } catch (DomainException $e) { return; }
        exit('another exception');
    },
    fn() => gc_collect_cycles(),
];
for ($i = 0; $i < 800; $i++) $acts[array_rand($acts)]();
$slots = $compiled = [];
gc_collect_cycles();
if (Witness::$destroyed !== Witness::$made) exit(Witness::$destroyed . ' of ' . Witness::$made . " closures were freed\n");
echo "tortured\n";
