# The smoke program in Perl: smoke.pl MODEL.safetensors DIGITS.csv
use strict;
use warnings;
use B ();
use Thunder;

my ($model, $csv) = @ARGV;

package Mine {
    sub new { my ($class, $message, $number) = @_; bless { message => $message, number => $number }, $class }
}

sub flat { map { ref $_ eq 'ARRAY' ? flat(@$_) : $_ } @_ }
sub show {
    my ($label, @values) = @_;
    print join(' ', $label, map { B::svref_2object(\$_)->FLAGS & B::SVf_NOK ? sprintf('%.4f', $_) : $_ } flat(@values)), "\n";
}

my $x = Thunder::tensor([[1.0, 2.0], [3.0, 4.0]], dtype => 'f32');
show 'operators', ($x * 2 + 1 - $x / 2)->to_array;
show 'negated', (-$x)->to_array;
show 'text', "$x";
eval { Thunder::tensor([[1, 2], [3]]) };
die $@ unless $@ eq "tensor: the lists are not those of one shape: a list of 1 stands where a list of 2 is expected";
show 'reversed', (2 - $x)->to_array;
my $i = Thunder::tensor([12, 10, -7]);
for ([$i % -4, '0 -2 -3'], [7 % $i, '7 7 0'], [$i & 6, '4 2 0'], [6 & $i, '4 2 0'], [$i | 1, '13 11 -7'], [$i ^ 5, '9 15 -4'], [~$i, '-13 -11 6'],
    [$i << 1, '24 20 -14'], [$i >> 1, '6 5 -4'], [2 * $i, '24 20 -14'], [abs $i, '12 10 7'], [2 ** Thunder::tensor([3, 1]), '8 2']) {
    my $got = join ' ', @{ $_->[0]->to_array };
    die "an operator gave $got, not $_->[1]" if $got ne $_->[1];
}
show 'matmul', $x->matmul($x)->to_array;
show 'named', $x->sum({ dim => 1 })->to_array;
show 'ops', scalar grep { Thunder->can($_) && $Thunder::OPS{$_}{doc} } keys %Thunder::OPS;
show 'integers', Thunder::tensor([9223372036854775807, -9223372036854775807 - 1, 9007199254740993])->to_array;

my $f = Thunder::compile(sub { my ($a) = @_; ($a->matmul($a) + 1)->relu->sum });
show 'compiled', $f->($x)->item, $f->($x)->item, 'misses', $f->stats->{misses};
show 'gradient', ($f->value_and_grad->($x))[-1]->to_array;

eval { $x->matmul(Thunder::tensor([[1.0, 2.0, 3.0]], dtype => 'f32')) };
show 'error', $@->code, $@->message;
eval { Thunder::compile(sub { $_[0]->matmul(Thunder::ones([3, 3])) })->($x) };
show 'traced error', $@->code;
eval { Thunder::compile(sub { die Mine->new('mine', 42) })->($x) };
show 'raised', $@->{message}, $@->{number};

# Perl's threads are copies of the interpreter, to which no tensor goes; so one after the other.
my $row = Thunder::compile(sub { my ($a, $n) = @_; ($a * $n)->sum });
show 'threads', map { $row->($x, $_)->item } 1.0, 2.0, 3.0, 4.0;

# The gradient is twice what it should be, which shows whose it is.
Thunder::add_op('square_plus(tensor x, float c=1.0) -> tensor', 'x * x + c.', sub { $_[0] * $_[0] + $_[1] },
    vjp => sub { my ($args, $results, $cotangents) = @_; [$cotangents->[0] * $args->[0] * 4] });
my $own = Thunder::compile(sub { $_[0]->square_plus->sum });
show 'own op', $x->square_plus->to_array, 'gradient', ($own->value_and_grad->($x))[-1]->to_array;

my ($w, $y) = map { Thunder::tensor($_, dtype => 'f32') } [0.0, 0.0], [5.0, 11.0];
my $miss = Thunder::compile(sub { (($_[0] - $y) * ($_[0] - $y) * $y)->sum });
my $search = Thunder::Optimizer->new('LBFGS', [$w], line_search_fn => 'strong_wolfe');
show 'lbfgs', $search->step_closure($miss->value_and_grad, $w)->item, $w->to_array;

Thunder::seed(7);
my $drawn = Thunder::init_orthogonal_(Thunder::zeros([3, 4])) + Thunder::init_trunc_normal_(Thunder::zeros([3, 4]));
show 'init', ($drawn->to('f64') * 2.0 ** 40)->to('i64')->sum->item;

my ($artifacts, $info) = Thunder::save_cache_artifacts();
show 'artifacts', $info->{cpu_kernels} - Thunder::load_cache_artifacts($artifacts)->{cpu_kernels};
eval { Thunder::load_cache_artifacts($x) };
show 'damaged', $@->code;

my $net = Thunder::module('Sequential')->add(0, Thunder::module('Linear', 64, 32))->add(1, Thunder::module('ReLU'))
    ->add(2, Thunder::module('Linear', 32, 10))->load($model);
my $rows = Thunder::read_csv($csv);
my $images = $rows->slice({ dim => 1, start => 0, end => 64 }) / 16;
my $labels = $rows->slice({ dim => 1, start => 64, end => 65 })->squeeze(1)->to('i64');
my $predict = Thunder::compile(sub { $net->($_[0])->argmax(-1) });
my $found = $predict->($images);
show 'digits', $found->eq($labels)->sum->item, 'of', $images->size(0), 'first', @{ $found->to_array }[0 .. 9];
$predict->export_onnx("$model.pl.onnx", opset => 20);
my $loaded = Thunder::load_program("$model.pl.onnx");
die $loaded->signature unless $loaded->signature =~ /"dims":\[1797,64\]/;
show 'loaded', $loaded->($images)->eq($labels)->sum->item, 'parameters', scalar keys %{ $loaded->program_module->parameters };
show 'relu', (split /\n/, Thunder::doc('relu'))[1];
