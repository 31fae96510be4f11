"""Sets of up to 64 things as the bits of one integer: one machine instruction for each question."""

from collections.abc import Callable
from typing import Any

import numba
from llvmlite import ir
from numba.extending import intrinsic, overload


def lowest_bit(bits: Any) -> int:
    """Return the index of the lowest member of a set that is not empty."""
    return (int(bits) & -int(bits)).bit_length() - 1


def count_bits(bits: Any) -> int:
    """Return the number of members of a set."""
    return (int(bits) & 2**64 - 1).bit_count()


@intrinsic
def _count_trailing_zeros(typing_context: Any, bits: Any) -> tuple[Any, Callable[..., Any]]:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return numba.int64(bits), generate


@intrinsic
def _count_ones(typing_context: Any, bits: Any) -> tuple[Any, Callable[..., Any]]:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return numba.int64(bits), generate


@overload(lowest_bit)
def _compile_lowest_bit(bits: Any) -> Callable[..., Any]:
    def implement(bits: Any) -> Any:
        return _count_trailing_zeros(bits)

    return implement


@overload(count_bits)
def _compile_count_bits(bits: Any) -> Callable[..., Any]:
    def implement(bits: Any) -> Any:
        return _count_ones(bits)

    return implement
