# SPDX-License-Identifier: Apache-2.0
# Calls getppid() below 50 functions: tests/hostile/targets/scribble.c.
sub deep_leaf {
    my $parent = getppid();
    return $parent;
}

sub deep_step {
    my ($depth) = @_;
    my $result = $depth > 0 ? deep_step($depth - 1) : deep_leaf();
    return $result;
}

deep_step(50);
