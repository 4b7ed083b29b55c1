"""A gRPC server for the suite: one service of bytes whose methods behave as their names say.

The only argument is JSON: {"options": {channel argument: value}, "compression": "gzip", "port": n,
"tls": {"certificate": PEM, "key": PEM, "clients": PEM of the authority that clients must have}}.
All members may be left out. Prints {"port": n} once it serves.
"""

import collections
import json
import sys
import threading
from concurrent import futures

import grpc

import wire

SERVICE = "peers.Temper"

# Calls that run at once; more than any check holds.
WORKERS = 96


class Temper:
    """The service and what it has seen."""

    def __init__(self):
        self.lock = threading.Lock()
        self.counts = collections.Counter()
        self.connections = set()
        self.holding = []
        self.port = 0

    def handler(self):
        """All methods, with bytes in and bytes out: no serializer is given."""
        methods = {
            "Echo": lambda request, context: request,
            "Who": lambda request, context: str(self.port).encode(),
            "Metadata": metadata,
            "Fail": fail,
            "Raise": raise_error,
            "Remaining": remaining,
            "Large": lambda request, context: bytes(int(request)),
            "Compressed": compressed,
            "Hold": self.hold,
        }
        return grpc.method_handlers_generic_handler(
            SERVICE, {name: self.counted(name, method) for name, method in methods.items()}
        )

    def counted(self, name, method):
        def handle(request, context):
            with self.lock:
                self.counts[name] += 1
                self.connections.add(context.peer())
            return method(request, context)

        return grpc.unary_unary_rpc_method_handler(handle)

    def hold(self, request, context):
        """Says that it has started, and waits for "release" or for the end of the call."""
        wake = threading.Event()
        with self.lock:
            self.holding.append(wake)
        if not context.add_callback(wake.set):
            wake.set()
        wire.say(event="started", body=wire.text_of(request))
        wake.wait()
        if not context.is_active():
            wire.say(event="dropped", body=wire.text_of(request))
        return request

    def release(self, _command):
        with self.lock:
            holding, self.holding = self.holding, []
        for wake in holding:
            wake.set()
        return {"released": len(holding)}

    def seen(self, _command):
        with self.lock:
            return {"counts": dict(self.counts), "connections": len(self.connections)}


def metadata(request, context):
    """Sends back each `x-` key twice, before and after the answer, and answers with all of them."""
    mine = [(key, value) for key, value in context.invocation_metadata() if key.startswith("x-")]
    context.send_initial_metadata([("initial-" + key, value) for key, value in mine])
    context.set_trailing_metadata([("trailing-" + key, value) for key, value in mine])
    return json.dumps(dict(wire.metadata_out(mine))).encode()


def fail(request, context):
    """Ends with the status that the metadata asks for; the request is its text."""
    asked = dict(context.invocation_metadata())
    code = next(code for code in grpc.StatusCode if code.value[0] == int(asked["code"]))
    context.set_trailing_metadata([("why", "asked"), ("proof-bin", b"\x00\xff")])
    context.abort(code, request.decode())


def raise_error(request, _context):
    raise ValueError(request.decode())


def remaining(_request, context):
    return json.dumps(context.time_remaining()).encode()


def compressed(request, context):
    context.set_compression(grpc.Compression.Gzip)
    return request


def listen(server, settings):
    address = f"127.0.0.1:{settings.get('port', 0)}"
    tls = settings.get("tls")
    if tls is None:
        return server.add_insecure_port(address)
    clients = tls.get("clients")
    credentials = grpc.ssl_server_credentials(
        [(tls["key"].encode(), tls["certificate"].encode())],
        root_certificates=clients and clients.encode(),
        require_client_auth=clients is not None,
    )
    return server.add_secure_port(address, credentials)


def main():
    settings = json.loads(sys.argv[1])
    temper = Temper()
    compression = grpc.Compression.Gzip if settings.get("compression") == "gzip" else None
    server = grpc.server(
        futures.ThreadPoolExecutor(WORKERS),
        handlers=[temper.handler()],
        options=list(settings.get("options", {}).items()),
        compression=compression,
    )
    temper.port = listen(server, settings)
    server.start()

    def stop(command):
        stopped = server.stop(command["grace"])

        def tell():
            stopped.wait()
            wire.say(id=command["id"], stopped=True)

        threading.Thread(target=tell, daemon=True).start()

    wire.say(port=temper.port)
    wire.obey({"seen": temper.seen, "release": temper.release, "stop": stop})


main()
