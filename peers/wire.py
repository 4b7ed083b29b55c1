"""How a peer talks with the suite that started it.

One JSON document a line: commands come in on stdin, answers (with the command's "id") and events
(with "event") leave on stdout. The end of stdin is the end of the process, so that no peer outlives
its suite.
"""

import base64
import json
import os
import sys
import threading

_OUT = threading.Lock()


def say(**document):
    """Writes one document; from any thread."""
    line = json.dumps(document)
    with _OUT:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


def obey(commands):
    """Carries out commands, found by their "do", until stdin ends; then ends the process.

    A command returns the members of its answer, or None when it answers later by itself.
    """
    for line in sys.stdin:
        command = json.loads(line)
        try:
            answer = commands[command["do"]](command)
        except Exception as error:  # whatever it is, the suite has to hear of it
            answer = {"error": f"{type(error).__name__}: {error}"}
        if answer is not None:
            say(id=command["id"], **answer)
    # Not sys.exit: handlers that are held would keep their threads, and those the process.
    os._exit(0)


def text_of(data):
    """Bytes as JSON can hold them."""
    return base64.b64encode(data).decode("ascii")


def data_of(text):
    """The bytes in such a text."""
    return base64.b64decode(text)


def metadata_out(metadata):
    """gRPC metadata as a list of key, value; values of `-bin` keys in base64."""
    return [
        [key, text_of(value) if isinstance(value, bytes) else value]
        for key, value in metadata or ()
    ]


def metadata_in(metadata):
    """The reverse of metadata_out."""
    return tuple(
        (key, data_of(value) if key.endswith("-bin") else value) for key, value in metadata
    )
