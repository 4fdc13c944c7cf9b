"""The ``vicinal`` command, also as ``python -m vicinal``.

Nothing is imported here before signals are heard: whoever ends the command while it is still being
loaded gets a word and an exit code, not silence or the imports' traceback.
"""

import os
import signal


def main() -> None:
    """Hear signals, then load and run the command line."""
    names = [name for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    numbers = [signal.Signals[name] for name in names]
    # What the caller has shut out, as nohup does, stays unheard.
    heard = [n for n in numbers if signal.getsignal(n) is not signal.SIG_IGN]
    before = {number: signal.signal(number, _leave) for number in heard}
    from vicinal.cli import main as run

    if signal.SIGINT in before:  # from here on an interruption is handled where it happens
        signal.signal(signal.SIGINT, before[signal.SIGINT])
    run()


def _leave(number: int, frame: object) -> None:
    # An exception could end in a library that is only trying whether an import works.
    os.write(2, f"stopped ({signal.Signals(number).name}).\n".encode())
    os._exit(128 + number)


if __name__ == "__main__":
    main()
