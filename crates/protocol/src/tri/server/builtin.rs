//! Descriptors of the built-in services, as their `.proto` files declare them, so that reflection
//! can describe them without a compiler at build time.

use prost::Message;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{
    DescriptorProto, EnumDescriptorProto, EnumValueDescriptorProto, FieldDescriptorProto,
    FileDescriptorProto, FileDescriptorSet, MessageOptions, MethodDescriptorProto,
    OneofDescriptorProto, ServiceDescriptorProto,
};

/// The encoded set of all of them.
pub(crate) fn descriptors() -> Vec<u8> {
    let file = vec![health(), reflection("v1"), reflection("v1alpha")];
    FileDescriptorSet { file }.encode_to_vec()
}

/// `grpc/health/v1/health.proto`.
fn health() -> FileDescriptorProto {
    let status = "HealthCheckResponse.ServingStatus";
    let request = message("HealthCheckRequest", vec![text("service", 1)]);
    let mut response =
        message("HealthCheckResponse", vec![of("status", 1, Type::Enum, "grpc.health.v1", status)]);
    response.enum_type.push(EnumDescriptorProto {
        name: Some("ServingStatus".to_owned()),
        value: (0..)
            .zip(["UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"])
            .map(value)
            .collect(),
        ..Default::default()
    });
    let entry = "HealthListResponse.StatusesEntry";
    let response_type = "HealthCheckResponse";
    let package = "grpc.health.v1";
    let mut list = message(
        "HealthListResponse",
        vec![repeated(of("statuses", 1, Type::Message, package, entry))],
    );
    list.nested_type.push(DescriptorProto {
        options: Some(MessageOptions { map_entry: Some(true), ..Default::default() }),
        ..message(
            "StatusesEntry",
            vec![text("key", 1), of("value", 2, Type::Message, package, response_type)],
        )
    });
    let call = |name: &str, input: &str, output: &str, streams: bool| MethodDescriptorProto {
        server_streaming: streams.then_some(true),
        ..method(name, package, input, output)
    };
    FileDescriptorProto {
        message_type: vec![request, response, message("HealthListRequest", vec![]), list],
        service: vec![ServiceDescriptorProto {
            name: Some("Health".to_owned()),
            method: vec![
                call("Check", "HealthCheckRequest", "HealthCheckResponse", false),
                call("List", "HealthListRequest", "HealthListResponse", false),
                call("Watch", "HealthCheckRequest", "HealthCheckResponse", true),
            ],
            ..Default::default()
        }],
        ..file("grpc/health/v1/health.proto", package)
    }
}

/// `grpc/reflection/{v1,v1alpha}/reflection.proto`; the two differ in their package only.
fn reflection(version: &str) -> FileDescriptorProto {
    let package = format!("grpc.reflection.{version}");
    let package = package.as_str();
    let service = ServiceDescriptorProto {
        name: Some("ServerReflection".to_owned()),
        method: vec![MethodDescriptorProto {
            client_streaming: Some(true),
            server_streaming: Some(true),
            ..method(
                "ServerReflectionInfo",
                package,
                "ServerReflectionRequest",
                "ServerReflectionResponse",
            )
        }],
        ..Default::default()
    };
    FileDescriptorProto {
        message_type: reflection_messages(package),
        service: vec![service],
        ..file(&format!("grpc/reflection/{version}/reflection.proto"), package)
    }
}

fn reflection_messages(package: &str) -> Vec<DescriptorProto> {
    let sub = |name: &str, number, kind: &str| of(name, number, Type::Message, package, kind);
    let request = vec![
        text("host", 1),
        choice(text("file_by_filename", 3)),
        choice(text("file_containing_symbol", 4)),
        choice(sub("file_containing_extension", 5, "ExtensionRequest")),
        choice(text("all_extension_numbers_of_type", 6)),
        choice(text("list_services", 7)),
    ];
    let response = vec![
        text("valid_host", 1),
        sub("original_request", 2, "ServerReflectionRequest"),
        choice(sub("file_descriptor_response", 4, "FileDescriptorResponse")),
        choice(sub("all_extension_numbers_response", 5, "ExtensionNumberResponse")),
        choice(sub("list_services_response", 6, "ListServiceResponse")),
        choice(sub("error_response", 7, "ErrorResponse")),
    ];
    let number = |name: &str, number| field(name, number, Type::Int32);
    vec![
        one_of(message("ServerReflectionRequest", request), "message_request"),
        message(
            "ExtensionRequest",
            vec![text("containing_type", 1), number("extension_number", 2)],
        ),
        one_of(message("ServerReflectionResponse", response), "message_response"),
        message(
            "FileDescriptorResponse",
            vec![repeated(field("file_descriptor_proto", 1, Type::Bytes))],
        ),
        message(
            "ExtensionNumberResponse",
            vec![text("base_type_name", 1), repeated(number("extension_number", 2))],
        ),
        message("ListServiceResponse", vec![repeated(sub("service", 1, "ServiceResponse"))]),
        message("ServiceResponse", vec![text("name", 1)]),
        message("ErrorResponse", vec![number("error_code", 1), text("error_message", 2)]),
    ]
}

fn file(name: &str, package: &str) -> FileDescriptorProto {
    FileDescriptorProto {
        name: Some(name.to_owned()),
        package: Some(package.to_owned()),
        syntax: Some("proto3".to_owned()),
        ..Default::default()
    }
}

fn message(name: &str, field: Vec<FieldDescriptorProto>) -> DescriptorProto {
    DescriptorProto { name: Some(name.to_owned()), field, ..Default::default() }
}

fn one_of(mut message: DescriptorProto, name: &str) -> DescriptorProto {
    message.oneof_decl =
        vec![OneofDescriptorProto { name: Some(name.to_owned()), ..Default::default() }];
    message
}

fn field(name: &str, number: i32, kind: Type) -> FieldDescriptorProto {
    FieldDescriptorProto {
        name: Some(name.to_owned()),
        number: Some(number),
        label: Some(Label::Optional.into()),
        r#type: Some(kind.into()),
        ..Default::default()
    }
}

fn text(name: &str, number: i32) -> FieldDescriptorProto {
    field(name, number, Type::String)
}

fn of(name: &str, number: i32, kind: Type, package: &str, of: &str) -> FieldDescriptorProto {
    FieldDescriptorProto {
        type_name: Some(format!(".{package}.{of}")),
        ..field(name, number, kind)
    }
}

fn repeated(field: FieldDescriptorProto) -> FieldDescriptorProto {
    FieldDescriptorProto { label: Some(Label::Repeated.into()), ..field }
}

fn choice(field: FieldDescriptorProto) -> FieldDescriptorProto {
    FieldDescriptorProto { oneof_index: Some(0), ..field }
}

fn value((number, name): (i32, &str)) -> EnumValueDescriptorProto {
    EnumValueDescriptorProto {
        name: Some(name.to_owned()),
        number: Some(number),
        ..Default::default()
    }
}

fn method(name: &str, package: &str, input: &str, output: &str) -> MethodDescriptorProto {
    MethodDescriptorProto {
        name: Some(name.to_owned()),
        input_type: Some(format!(".{package}.{input}")),
        output_type: Some(format!(".{package}.{output}")),
        ..Default::default()
    }
}
