import sys
import time

from tests.fuzz import numbers
from tests.fuzz._outcomes import run_tries

only = sys.argv[1] if len(sys.argv) > 1 else ""
t = time.time()
tally = run_tries((c for c in numbers.cases() if only in c.name), 480)
print(dict(tally.outcomes), tally.complete, time.time() - t)
for f in tally.finds:
    print(f)
