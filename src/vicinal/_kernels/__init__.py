"""Loops that numba compiles, on plain arrays: no classes, no checks, no randomness.

    _lanes     64 floats at a time               _order     sort, select, merge, insert
    _kbest     what can be among the k best      _targeted  h* and ĥ on lists of candidates
    _relevant  h* and ĥ over all points          _settled   rows that need no inference
    _candidates, _unions   candidate lists       _select, _hamming   exact search
    _lmnn, _relief, _smoothing, _vote            one learner or rule each
    _bending, _clebsch_gordan, _hemisphere, _rays, _tiles   for the sphere

Each is tested against a readable twin or another oracle (``tests/oracles``). Compiled
code is kept from run to run, and made anew when any file here changes.
"""

from vicinal._kernels._cache import install

install()
