# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""
The kernel. Use the names of gjk_collision; this module's may change.
"""
from __future__ import annotations
import collections.abc
import numpy
import numpy.typing
import typing
__all__: list[str] = ['ConcavePolicy', 'Scene', 'Shape', 'closest', 'collide', 'concave', 'distance', 'hull', 'polygon', 'scene_from_arrays', 'scene_from_shapes']
class ConcavePolicy:
    """
    Members:
    
      decompose
    
      hull
    
      reject
    """
    __members__: typing.ClassVar[dict[str, ConcavePolicy]]  # value = {'decompose': <ConcavePolicy.decompose: 0>, 'hull': <ConcavePolicy.hull: 1>, 'reject': <ConcavePolicy.reject: 2>}
    decompose: typing.ClassVar[ConcavePolicy]  # value = <ConcavePolicy.decompose: 0>
    hull: typing.ClassVar[ConcavePolicy]  # value = <ConcavePolicy.hull: 1>
    reject: typing.ClassVar[ConcavePolicy]  # value = <ConcavePolicy.reject: 2>
    @typing.overload
    def __eq__(self, other: ConcavePolicy) -> bool:
        ...
    @typing.overload
    def __eq__(self, other: typing.Any) -> bool:
        ...
    def __getstate__(self) -> int:
        ...
    def __hash__(self) -> int:
        ...
    def __index__(self) -> int:
        ...
    def __init__(self, value: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    def __int__(self) -> int:
        ...
    @typing.overload
    def __ne__(self, other: ConcavePolicy) -> bool:
        ...
    @typing.overload
    def __ne__(self, other: typing.Any) -> bool:
        ...
    def __repr__(self) -> str:
        ...
    def __setstate__(self, state: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    def __str__(self) -> str:
        ...
    @property
    def name(self) -> str:
        ...
    @property
    def value(self) -> int:
        ...
class Scene:
    """
    Many obstacles, immutable.
    """
    def __len__(self) -> int:
        ...
    def check(self, shape: Shape, poses: typing.Annotated[numpy.typing.ArrayLike, numpy.float64], margin: typing.SupportsFloat | typing.SupportsIndex, mode: typing.SupportsInt | typing.SupportsIndex, stop_at_first: bool) -> dict:
        ...
    def nearest(self, shape: Shape, pose: typing.Annotated[collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex], "FixedSize(3)"], k: typing.SupportsInt | typing.SupportsIndex, max_distance: typing.SupportsFloat | typing.SupportsIndex) -> dict:
        ...
    @property
    def parts(self) -> int:
        ...
class Shape:
    """
    Convex parts plus one radius.
    """
    def inflated(self, margin: typing.SupportsFloat | typing.SupportsIndex) -> Shape:
        ...
    def parts(self) -> list:
        ...
    @property
    def radius(self) -> float:
        ...
def closest(a: Shape, b: Shape, pose_a: typing.Annotated[collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex], "FixedSize(3)"] | None, pose_b: typing.Annotated[collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex], "FixedSize(3)"] | None) -> tuple[float, float, tuple, tuple, tuple, tuple[int, int, int], tuple[int, int, int], int, int]:
    ...
def collide(a: Shape, b: Shape, pose_a: typing.Annotated[collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex], "FixedSize(3)"] | None, pose_b: typing.Annotated[collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex], "FixedSize(3)"] | None) -> bool:
    ...
def concave(outline: typing.Annotated[numpy.typing.ArrayLike, numpy.float64], radius: typing.SupportsFloat | typing.SupportsIndex) -> Shape:
    ...
def distance(a: Shape, b: Shape, pose_a: typing.Annotated[collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex], "FixedSize(3)"] | None, pose_b: typing.Annotated[collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex], "FixedSize(3)"] | None) -> float:
    ...
def hull(points: typing.Annotated[numpy.typing.ArrayLike, numpy.float64], radius: typing.SupportsFloat | typing.SupportsIndex, name: str) -> Shape:
    ...
def polygon(xy: typing.Annotated[numpy.typing.ArrayLike, numpy.float64], radius: typing.SupportsFloat | typing.SupportsIndex) -> Shape:
    ...
def scene_from_arrays(offsets: typing.Annotated[numpy.typing.ArrayLike, numpy.uint32], xy: typing.Annotated[numpy.typing.ArrayLike, numpy.float64], kinds: typing.Annotated[numpy.typing.ArrayLike, numpy.uint8], radius: typing.Annotated[numpy.typing.ArrayLike, numpy.float64], poses: typing.Annotated[numpy.typing.ArrayLike, numpy.float64], policy: ConcavePolicy) -> Scene:
    ...
def scene_from_shapes(shapes: collections.abc.Sequence[Shape], poses: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None) -> Scene:
    ...
