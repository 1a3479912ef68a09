# Thunder for Perl: tensors from arrays, ops as methods, closures compiled.
#
#   my $x = Thunder::tensor([[1.0, 2.0], [3.0, 4.0]]);
#   my $f = Thunder::compile(sub { my ($a) = @_; ($a->matmul($a) + 1)->relu->sum });
#   print $f->($x)->item;
#
# A reference to a hash as the last argument of an op gives arguments by name: $x->sum({ dim => 1 }).
package Thunder;
use strict;
use warnings;
use B ();
use Scalar::Util qw(blessed looks_like_number weaken reftype);
use Thunder::Core;

our (%OPS, %RAISED, %CLOSURES); # exceptions on their way through the library, and what owns a closure, by ticket
my %FORMATS = (bool => 'C*', u8 => 'C*', i8 => 'c*', u16 => 'S<*', i16 => 's<*', u32 => 'L<*',
    u64 => 'Q<*', i32 => 'l<*', i64 => 'q<*', f32 => 'f<*', f64 => 'd<*');

# ---- between Perl's values and what the core's calls carry ----

sub _put {
    my ($call, $value) = @_;
    my $type = reftype($value) // '';
    if (!defined $value) { $call->none }
    elsif (blessed($value) && $value->isa('Thunder::Core::Tensor')) { $call->tensor($value) }
    elsif ($type eq 'ARRAY') {
        $call->open_list;
        _put($call, $_) for @$value;
        $call->close;
    }
    elsif ($type eq 'HASH') {
        $call->open_map;
        _put_named($call, $value);
        $call->close;
    }
    elsif ($type) { die Thunder::Error->new("a reference to $type cannot go into the library") }
    else { _put_scalar($call, $value) }
}

sub _put_named {
    my ($call, $map) = @_;
    for my $name (sort keys %$map) {
        $call->key($name);
        _put($call, $map->{$name});
    }
}

# What was made as a number is one; a text that looks like a number is a text.
sub _put_scalar {
    my ($call, $value) = @_;
    my $flags = B::svref_2object(\$value)->FLAGS;
    if ($flags & B::SVf_POK) { $call->text($value) }
    elsif ($flags & B::SVf_IOK) { $call->integer($value) }
    else { $call->real($value) }
}

sub _take {
    my ($call, $kind) = @_;
    return $call->as_integer if $kind == $Thunder::Core::ITEM_INTEGER || $kind == $Thunder::Core::ITEM_BOOLEAN;
    return $call->as_real if $kind == $Thunder::Core::ITEM_REAL;
    return $call->as_text if $kind == $Thunder::Core::ITEM_TEXT;
    return $call->as_tensor if $kind == $Thunder::Core::ITEM_TENSOR;
    return [_take_until($call, $Thunder::Core::ITEM_CLOSE)] if $kind == $Thunder::Core::ITEM_LIST;
    return undef unless $kind == $Thunder::Core::ITEM_MAP;
    my %map;
    while ((my $next = $call->next) != $Thunder::Core::ITEM_CLOSE) {
        my $name = $call->name;
        $map{$name} = _take($call, $next);
    }
    return \%map;
}

sub _take_until {
    my ($call, $end) = @_;
    my @list;
    while ((my $kind = $call->next) != $end) { push @list, _take($call, $kind) }
    return @list;
}

# What the call made: one value, or a list of several. Dies of what went wrong in it.
sub _result {
    my ($call) = @_;
    if ($call->failed) {
        die $RAISED{$call->ticket} if exists $RAISED{$call->ticket};
        die Thunder::Error->new($call->message, $call->code);
    }
    my @values = _take_until($call, $Thunder::Core::ITEM_END);
    return wantarray ? @values : @values > 1 ? \@values : $values[0];
}

# _perform(action, its own arguments, positional items, named items)
sub _perform {
    my ($action, $own, $args, $named) = @_;
    my $call = Thunder::Core::Call->new;
    _put($call, $_) for @{ $args // [] };
    _put_named($call, $named) if $named;
    my $made = $call->$action(@{ $own // [] });
    return $made if ref $made && !$call->failed;
    return _result($call);
}

sub _new_ticket {
    while (my $dropped = Thunder::Core::next_dropped()) { delete $RAISED{$dropped}; delete $CLOSURES{$dropped} }
    return Thunder::Core::new_ticket();
}

# The line of the user's program, for traces.
sub _place {
    return '' unless Thunder::Core::is_tracing();
    for (my $depth = 0; my (undef, $file, $line) = caller($depth); $depth++) {
        return "$file:$line" if $file ne __FILE__;
    }
    return '';
}

# The core runs a closure by this.
sub dispatch {
    my ($ticket) = @_;
    my $call = Thunder::Core::callback();
    my $done = eval {
        my $owner = $CLOSURES{$ticket} or die Thunder::Error->new('the function was collected: keep what was compiled');
        my $value = $owner->{closure}->(_take_until($call, $Thunder::Core::ITEM_END));
        $call->reset;
        _put($call, $value);
        1;
    };
    return if $done;
    my $error = $@;
    my $raised = _new_ticket();
    $RAISED{$raised} = $error;
    $call->fail("$error", $raised);
}

# ---- what users call ----

# A tensor of nested arrays, or of one number: i64 when all are whole, else f32, where no dtype is given.
sub tensor {
    my ($values, %options) = @_;
    my $call = Thunder::Core::Call->new;
    $call->open_elements;
    _put_elements($call, $values);
    $call->make_tensor($options{dtype} // '');
    return scalar _result($call);
}

# A text that looks like a number is one here: what is read from files is text.
sub _put_elements {
    my ($call, $values) = @_;
    if (ref $values eq 'ARRAY') {
        $call->open_list;
        _put_elements($call, $_) for @$values;
        return $call->close;
    }
    return _put($call, $values) if ref $values || !defined $values;
    my $flags = B::svref_2object(\$values)->FLAGS;
    if ($flags & B::SVf_IOK) { $call->integer($values) }
    elsif ($flags & B::SVf_NOK || looks_like_number($values)) { $call->real($values) }
    else { $call->text($values) }
}

sub compile { my ($closure, %options) = @_; Thunder::Compiled->new($closure, \%options) }
sub value_and_grad { my ($closure, %options) = @_; compile($closure)->value_and_grad(%options) }
sub module { Thunder::Module->new(@_) }

# @functions@

sub version { Thunder::Core::version() }

sub _op {
    my ($name, @args) = @_;
    my $named = ref $args[-1] eq 'HASH' ? pop @args : undef;
    return _perform('op', [$name, _place()], \@args, $named);
}

# An op of your own, for ever: the closure computes it from its arguments by other ops. vjp gets the arguments, the results,
# their cotangents and which gradients are wanted, and returns a gradient for each; without it, it is that of the closure.
sub add_op {
    my ($schema, $doc, $closure, %options) = @_;
    my @tickets = map { $_ ? _keep($_) : 0 } $closure, $options{vjp};
    _perform('add_op', [$schema, $doc, @tickets]);
    my ($name) = $schema =~ /^([\w.]+)/;
    _define_op($_) for grep { $_->{name} eq $name } @{ describe('ops') };
}

# The ticket of a closure that is never dropped.
sub _keep {
    my ($closure) = @_;
    my $ticket = _new_ticket();
    $CLOSURES{$ticket} = { closure => $closure };
    return $ticket;
}

# Every op, from the registry: Thunder::NAME(...) and, when a tensor comes first, $tensor->NAME(...).
sub _define_op {
    my ($row) = @_;
    $OPS{ $row->{name} } = $row;
    for my $name ($row->{name}, $row->{inplace} ? "$row->{name}_" : ()) {
        no strict 'refs';
        *{"Thunder::$name"} = my $op = sub { _op($name, @_) };
        my $first = $row->{parameters}[0];
        *{"Thunder::Core::Tensor::$name"} = $op if $first && $first->{kind} eq 'tensor';
    }
}
_define_op($_) for @{ describe('ops') };

package Thunder::Error;
# What the library refused. `code` is the number of thunder.h; what a closure died of comes back as itself.
use overload '""' => sub { $_[0]{message} }, fallback => 1;

sub new { my ($class, $message, $code) = @_; bless { message => $message, code => $code // 0 }, $class }
sub message { $_[0]{message} }
sub code { $_[0]{code} }

package Thunder::Compiled;
# A function of tensors, compiled: $f->(...) calls it.
use overload '&{}' => sub { my $self = shift; sub { $self->call(@_) } }, fallback => 1;

sub new {
    my ($class, $closure, $options) = @_;
    my $self = bless { closure => $closure }, $class;
    my $ticket = Thunder::_new_ticket();
    Scalar::Util::weaken($Thunder::CLOSURES{$ticket} = $self);
    my $function = Thunder::_perform('make_function', ['', $ticket]);
    $self->{core} = Thunder::_perform('compile', [$function], [], $options);
    return $self;
}

sub call { my ($self, @args) = @_; Thunder::_perform('call', [$self->{core}], \@args) }

# The same function, returning its results and the gradients of the first. wrt: paths of arguments, such as '0,1.w'.
sub value_and_grad {
    my ($self, %options) = @_;
    my ($wrt, $captured) = (delete $options{wrt} // '', delete $options{captured});
    my $function = Thunder::_perform('value_and_grad', [$self->{core}, $wrt], $captured ? [$captured] : []);
    my $core = Thunder::_perform('compile', [$function], [], \%options);
    return bless { base => $self, core => $core }, ref $self;
}

# @members Compiled@

# @classes@

package Thunder::Core::Tensor;
# Each operator is the op of its name; the third argument says that the operands came the other way round.
sub _operator {
    my ($op) = @_;
    return sub { Thunder->can($op)->($_[2] ? @_[1, 0] : @_[0, 1]) };
}
use overload
    '+' => _operator('add'), '-' => _operator('sub'), '*' => _operator('mul'), '/' => _operator('div'),
    '%' => _operator('remainder'), '**' => _operator('pow'), '&' => _operator('bitwise_and'), '|' => _operator('bitwise_or'),
    '^' => _operator('bitwise_xor'), '<<' => _operator('bitwise_left_shift'), '>>' => _operator('bitwise_right_shift'),
    '~' => sub { $_[0]->bitwise_not },
    'abs' => sub { Thunder::abs($_[0]) },
    'neg' => sub { $_[0]->neg },
    '""' => sub { $_[0]->as_string },
    'bool' => sub { 1 },
    '==' => sub { ref $_[1] && Scalar::Util::refaddr($_[0]) == Scalar::Util::refaddr($_[1]) };

# A thread gets no copy: two owners would release one handle.
sub CLONE_SKIP { 1 }

sub shape { my ($self) = @_; map { $self->size($_) } 0 .. $self->rank - 1 }

# Nested arrays; of a tensor without axes, the number.
sub to_array {
    my ($self) = @_;
    return $self->to('f32')->to_array if $self->dtype =~ /^b?f16$/;
    my $call = Thunder::Core::Call->new;
    $call->read($self);
    Thunder::_result($call);
    my @flat = unpack $FORMATS{ $self->dtype }, $call->data;
    my @shape = $self->shape or return $flat[0];
    for my $count (reverse @shape[1 .. $#shape]) {
        my @rows;
        push @rows, [splice @flat, 0, $count] while $count && @flat;
        @flat = @rows;
    }
    return \@flat;
}

sub item {
    my ($self) = @_;
    my $value = $self->reshape([-1])->to_array;
    die Thunder::Error->new('item: the tensor has not one element', 3) if @$value != 1;
    return $value->[0];
}

# New elements of the same count, in place: what was compiled over this tensor sees them.
sub assign {
    my ($self, $values) = @_;
    Thunder::_perform('write', [$self, pack($FORMATS{ $self->dtype }, _flat($values))]);
    return $self;
}

sub _flat { map { ref $_ eq 'ARRAY' ? _flat(@$_) : $_ } @_ }

# As PyTorch prints it. The core's proxies look up their owners by the text of the object behind the proxy, which is no hash.
sub as_string {
    my ($self) = @_;
    return overload::StrVal($self) if Scalar::Util::reftype($self) ne 'HASH';
    return scalar Thunder::_perform('tensor_text', [$self]);
}

1;
