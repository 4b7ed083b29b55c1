"""A gRPC client for the suite: one channel, and commands that call over it.

The only argument is JSON: {"target": text, "options": {channel argument: value}, "tls": {"authority":
PEM, "certificate": PEM, "key": PEM}}. All but the target may be left out. Prints {"ready": true}.
"""

import json
import sys
import threading

import grpc
from google.protobuf import descriptor_pool, message_factory
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import (
    ProtoReflectionDescriptorDatabase,
)

import wire


def connect(settings):
    options = list(settings.get("options", {}).items())
    # The machine's proxy, where there is one, is no way to 127.0.0.1.
    options.append(("grpc.enable_http_proxy", 0))
    tls = settings.get("tls")
    if tls is None:
        return grpc.insecure_channel(settings["target"], options)

    def pem(name):
        return tls[name].encode() if name in tls else None

    credentials = grpc.ssl_channel_credentials(pem("authority"), pem("key"), pem("certificate"))
    return grpc.secure_channel(settings["target"], credentials, options)


class Caller:
    """Calls of bytes; each answers when it has ended."""

    def __init__(self, channel):
        self.channel = channel
        self.running = {}

    def call(self, command):
        method = self.channel.unary_unary(command["method"])
        call = method.future(
            wire.data_of(command["body"]),
            timeout=command.get("timeout"),
            metadata=wire.metadata_in(command.get("metadata", ())),
            compression=grpc.Compression.Gzip if command.get("gzip") else None,
        )
        self.running[command["id"]] = call
        call.add_done_callback(lambda call: self.done(command["id"], call))

    def done(self, number, call):
        self.running.pop(number, None)
        body = call.result() if call.code() is grpc.StatusCode.OK else b""
        wire.say(
            id=number,
            code=call.code().value[0],
            details=call.details(),
            body=wire.text_of(body),
            initial=wire.metadata_out(call.initial_metadata()),
            trailing=wire.metadata_out(call.trailing_metadata()),
        )

    def cancel(self, command):
        return {"cancelled": self.running[command["call"]].cancel()}


class Health:
    """The standard health service, through its own stubs."""

    def __init__(self, channel):
        self.stub = health_pb2_grpc.HealthStub(channel)

    def check(self, command):
        try:
            answer = self.stub.Check(health_pb2.HealthCheckRequest(service=command["service"]))
        except grpc.RpcError as error:
            return {"code": error.code().value[0]}
        return {"code": 0, "status": name_of(answer)}

    def watch(self, command):
        answers = self.stub.Watch(health_pb2.HealthCheckRequest(service=command["service"]))

        def tell():
            try:
                for answer in answers:
                    wire.say(event="health", status=name_of(answer))
                wire.say(event="health", code=0)
            except grpc.RpcError as error:
                wire.say(event="health", code=error.code().value[0])

        threading.Thread(target=tell, daemon=True).start()
        return {}


def name_of(answer):
    return health_pb2.HealthCheckResponse.ServingStatus.Name(answer.status)


class Reflection:
    """The server's own description of itself, and a typed call that knows nothing else."""

    def __init__(self, channel):
        self.channel = channel

    def services(self, _command):
        database = ProtoReflectionDescriptorDatabase(self.channel)
        return {"services": sorted(database.get_services())}

    def file(self, command):
        pool = self.pool()
        try:
            file = pool.FindFileByName(command["name"])
        except KeyError:
            return {"found": False}
        return {
            "found": True,
            "messages": sorted(file.message_types_by_name),
            "services": sorted(file.services_by_name),
            "imports": [imported.name for imported in file.dependencies],
        }

    def greet(self, command):
        service = self.pool().FindServiceByName(command["service"])
        method = service.FindMethodByName(command["method"])
        request = message_factory.GetMessageClass(method.input_type)(**command["fields"])
        call = self.channel.unary_unary(
            f"/{service.full_name}/{method.name}",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=message_factory.GetMessageClass(method.output_type).FromString,
        )
        answer = call(request)
        return {"fields": {field.name: value for field, value in answer.ListFields()}}

    def pool(self):
        return descriptor_pool.DescriptorPool(ProtoReflectionDescriptorDatabase(self.channel))


def tell_states(channel):
    """Says every state that the channel gets into, from now on; does not make it connect."""
    channel.subscribe(lambda state: wire.say(event="state", state=state.name))
    return {}


def main():
    channel = connect(json.loads(sys.argv[1]))
    caller, health, reflection = Caller(channel), Health(channel), Reflection(channel)
    wire.say(ready=True)
    wire.obey(
        {
            "call": caller.call,
            "cancel": caller.cancel,
            "check": health.check,
            "watch": health.watch,
            "services": reflection.services,
            "file": reflection.file,
            "greet": reflection.greet,
            "states": lambda _command: tell_states(channel),
        }
    )


main()
