<?php
// Trains an MLP on handwritten digits: digits.php DIGITS.csv
use Thunder\{Batches, Module, Optimizer, Schedule, Tensor};

require 'Thunder.php';

const EPOCHS = 5;

function rows(Tensor $tensor, int $first, int $last): Tensor { return $tensor->slice(dim: 0, start: $first, end: $last); }

function network(): Module
{
    return (new Module('Sequential'))
        ->add('0', new Module('Linear', 64, 128))->add('1', new Module('ReLU'))->add('2', new Module('Linear', 128, 10));
}

$table = Thunder\readCsv($argv[1]);
$images = $table->slice(dim: 1, start: 0, end: 64)->div(16);
$labels = $table->slice(dim: 1, start: 64, end: 65)->squeeze(1)->to('i64');

Thunder\seed(42);
$net = network();
$params = $net->parameters();
$opt = new Optimizer('AdamW', $params, lr: 4e-3);
$batches = new Batches([rows($images, 0, 1500), rows($labels, 0, 1500)], size: 32, shuffle: true, drop_last: true, seed: 2);
$schedule = new Schedule('CosineAnnealingLR', $opt, T_max: EPOCHS * count($batches));

$step = Thunder\compile(function ($x, $y) use ($net, $params, $opt) { // forward, loss, gradients and update: one program
    $loss = $net($x)->crossEntropy($y);
    [$gradients, $norm] = Thunder\clipGradNorm(Thunder\gradOf($loss, $params), 1.0);
    $opt->step($gradients);
    return $loss;
});

for ($epoch = 1; $epoch <= EPOCHS; $epoch++) {
    foreach ($batches as [$x, $y]) {
        $loss = $step($x, $y);
        $schedule->step();
    }
    printf("epoch %d: loss %.4f, lr %.6f\n", $epoch, $loss->item(), $schedule->getLastLr()[0]);
}

$file = tempnam(sys_get_temp_dir(), 'digits');
$net->save("$file.net");
$opt->save("$file.opt");
$again = network()->load("$file.net");
$resumed = (new Optimizer('AdamW', $again->parameters(), lr: 1.0))->load("$file.opt");
array_map('unlink', [$file, "$file.net", "$file.opt"]);
$resumed->lr = 1e-4; // compiles nothing
printf("resumed at step %d, lr %.4f\n", $resumed->step, $resumed->lr);

$position = $batches->state(); // and the order of the data
[, $first] = $batches->getIterator()->current();
$batches->setState($position);
[, $againFirst] = $batches->getIterator()->current();
printf("the same batch again: %d of 32 labels\n", $first->eq($againFirst)->sum()->item());
printf("clipped to %.1f\n", Thunder\clipGradValue([$images], 0.5)[0]->amax()->item());

$predict = Thunder\compile(fn($x) => $again($x)->argmax(-1));
$count = $images->size(0);
$right = $predict(rows($images, 1500, $count))->eq(rows($labels, 1500, $count))->sum()->item();
printf("%d of %d right, %d programs\n", $right, $count - 1500, $step->stats()['misses']);
