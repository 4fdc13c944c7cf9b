"""Speed and memory against a peer, in the same process and with the same number of threads.

``python -m benchmarks`` runs every module of this folder that has a function ``cases``; each gives
:class:`Case` objects. Ratios are what is compared between machines, never seconds.
"""
