//! The methods of services, and their messages.

use std::fs;
use std::path::PathBuf;

use bakeoff_base::problem::Problem;
use bakeoff_model::request::check::ReceivedResponse;
use bakeoff_model::request::grpc;
use prost_reflect::prost::Message as _;
use prost_reflect::{
    DescriptorPool, DynamicMessage, MessageDescriptor, MethodDescriptor, SerializeOptions,
};
use serde_json::Value;

use crate::frames;
use crate::source::compiled;

/// More methods than this are not listed in a message.
const LISTED_MAX: usize = 8;

/// The descriptors of messages and services.
#[derive(Debug, Clone)]
pub struct Schema {
    pool: DescriptorPool,
}

impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        self.descriptors() == other.descriptors()
    }
}

impl Schema {
    /// Reads Protocol Buffers files: `.proto` sources, whose imports are resolved in their own
    /// folder and those above it, or descriptor sets written by `protoc --descriptor_set_out
    /// --include_imports`. Imports that only options need may be missing.
    ///
    /// # Errors
    /// A file cannot be read or compiled, or two of them contradict each other.
    pub fn from_files(files: &[PathBuf]) -> Result<Self, Problem> {
        let mut schema = Self {
            pool: DescriptorPool::new(),
        };
        for file in files {
            let fail = |why: Problem| why.context(file.display());
            let is_source = file.extension().is_some_and(|one| one == "proto");
            let descriptors = match is_source {
                true => compiled(file).map_err(fail)?,
                false => fs::read(file).map_err(|error| fail(Problem::new(error)))?,
            };
            schema.add(&descriptors).map_err(fail)?;
        }
        Ok(schema)
    }

    /// Reads a set of descriptors (`google.protobuf.FileDescriptorSet`).
    ///
    /// # Errors
    /// The bytes are not a descriptor set, or a file is missing in it.
    pub fn from_descriptors(descriptors: &[u8]) -> Result<Self, Problem> {
        let mut schema = Self {
            pool: DescriptorPool::new(),
        };
        match schema.add(descriptors) {
            Ok(()) => Ok(schema),
            Err(why) => Err(why.context("no descriptors of Protocol Buffers")),
        }
    }

    fn add(&mut self, descriptors: &[u8]) -> Result<(), Problem> {
        let added = self.pool.decode_file_descriptor_set(descriptors);
        added.map_err(Problem::new)
    }

    /// Returns the set of descriptors, which [`Schema::from_descriptors`] reads.
    #[must_use]
    pub fn descriptors(&self) -> Vec<u8> {
        self.pool.encode_to_vec()
    }

    /// Returns the paths of all methods: `/helloworld.Greeter/SayHello`.
    #[must_use]
    pub fn paths(&self) -> Vec<String> {
        let methods = self.pool.services().flat_map(|service| {
            let methods: Vec<MethodDescriptor> = service.methods().collect();
            methods
        });
        methods.map(|method| path_of(&method)).collect()
    }

    /// Returns the body of a request to the method at `path`. `json` is its message, or a list of
    /// messages if the method receives a stream. An empty text is an empty message.
    ///
    /// # Errors
    /// There is no such method, or the message does not match its type.
    pub fn encode(&self, path: &str, json: &str) -> Result<Vec<u8>, Problem> {
        let method = self.method(path)?;
        let input = method.input();
        let text = if json.trim().is_empty() { "{}" } else { json };
        let value: Value = serde_json::from_str(text)
            .map_err(|error| format!("the message to {path} is not JSON: {error}"))?;
        let messages = match (method.is_client_streaming(), value) {
            (true, Value::Array(messages)) => messages,
            (_, message) => vec![message],
        };
        let mut body = Vec::new();
        for message in messages {
            let message = DynamicMessage::deserialize(input.clone(), message)
                .map_err(|error| format!("no {} for {path}: {error}", input.full_name()))?;
            frames::write(&message.encode_to_vec(), &mut body)?;
        }
        Ok(body)
    }

    /// Returns the message in a response body of the method at `path`, or the list of its messages
    /// if the method sends a stream.
    ///
    /// # Errors
    /// There is no such method, or the body is not one of its responses.
    pub fn decode(&self, path: &str, body: &[u8]) -> Result<Value, Problem> {
        let method = self.method(path)?;
        let messages = frames::read(body)?;
        let output = method.output();
        let mut values = Vec::new();
        for message in &messages {
            values.push(json(&output, message)?);
        }
        if method.is_server_streaming() {
            return Ok(Value::Array(values));
        }
        match <[Value; 1]>::try_from(values) {
            Ok([value]) => Ok(value),
            Err(values) => Err(format!(
                "{} messages in the response of {path}, which has one",
                values.len()
            )
            .into()),
        }
    }

    /// Returns the response to a call with its message as JSON; a failed call has none.
    ///
    /// # Errors
    /// There is no such method, or the body is not one of its responses.
    pub fn decoded(
        &self,
        path: &str,
        answer: ReceivedResponse,
    ) -> Result<ReceivedResponse, Problem> {
        let body = match answer.grpc_status {
            Some(grpc::OK) => self.decode(path, &answer.body)?.to_string(),
            _ => String::new(),
        };
        Ok(ReceivedResponse {
            body: body.into_bytes(),
            ..answer
        })
    }

    fn method(&self, path: &str) -> Result<MethodDescriptor, Problem> {
        let mut services = self.pool.services();
        let found = services.find_map(|service| {
            let mut methods = service.methods();
            methods.find(|method| path_of(method) == path)
        });
        found.ok_or_else(|| {
            let known = self.paths();
            let listed: Vec<&str> = known.iter().take(LISTED_MAX).map(String::as_str).collect();
            let more = match known.len() - listed.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let known = match listed.is_empty() {
                true => "there is no service in the files".to_owned(),
                false => format!("there are {}{more}", listed.join(", ")),
            };
            format!("no method at the path {path}: {known}").into()
        })
    }
}

/// Returns the path of a method in requests.
fn path_of(method: &MethodDescriptor) -> String {
    format!("/{}/{}", method.parent_service().full_name(), method.name())
}

/// Converts a message to JSON, including the fields that have their default values.
fn json(output: &MessageDescriptor, message: &[u8]) -> Result<Value, Problem> {
    let name = output.full_name();
    let message = DynamicMessage::decode(output.clone(), message)
        .map_err(|error| format!("the response is not a {name}: {error}"))?;
    let options = SerializeOptions::new().skip_default_fields(false);
    let value = message.serialize_with_options(serde_json::value::Serializer, &options);
    let mut value = value.map_err(|error| format!("a {name} that is not JSON: {error}"))?;
    // Maps have no order, and equal messages must be equal texts.
    value.sort_all_objects();
    Ok(value)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::Schema;

    const FILE: &str = r#"
syntax = "proto3";
package shop.v1;
import "shop/price.proto";
service Shop {
  rpc Find(Query) returns (Item);
  rpc Watch(Query) returns (stream Item);
  rpc Add(stream Item) returns (Query);
}
message Query { string name = 1; uint32 limit = 2; }
message Item { int64 id = 1; shop.Price price = 2; repeated string tags = 3; }
"#;

    const IMPORTED: &str = r#"
syntax = "proto3";
package shop;
message Price { double amount = 1; string currency_code = 2; }
"#;

    fn schema() -> Schema {
        let folder = tempfile::tempdir().unwrap();
        let proto = folder.path().join("proto/shop");
        fs::create_dir_all(&proto).unwrap();
        fs::write(proto.join("price.proto"), IMPORTED).unwrap();
        fs::write(proto.join("shop.proto"), FILE).unwrap();
        let read = Schema::from_files(&[proto.join("shop.proto")]).unwrap();
        Schema::from_descriptors(&read.descriptors()).unwrap()
    }

    #[test]
    fn messages_are_json_on_both_sides() {
        let schema = schema();
        assert_eq!(
            schema.paths(),
            [
                "/shop.v1.Shop/Find",
                "/shop.v1.Shop/Watch",
                "/shop.v1.Shop/Add"
            ]
        );
        let body = schema.encode("/shop.v1.Shop/Find", r#"{"name": "tea", "limit": 3}"#);
        // Field 1 is a text of three bytes, field 2 the number 3.
        assert_eq!(body.unwrap(), b"\0\0\0\0\x07\x0a\x03tea\x10\x03");
        let items = r#"[{"id": "7", "price": {"amount": 1.5, "currencyCode": "CZK"}}, {}]"#;
        let body = schema.encode("/shop.v1.Shop/Add", items).unwrap();
        // The type sent there is the one received here.
        let item = json!({"id": "7", "price": {"amount": 1.5, "currencyCode": "CZK"}, "tags": []});
        let empty = json!({"id": "0", "price": null, "tags": []});
        let found = schema.decode("/shop.v1.Shop/Watch", &body).unwrap();
        assert_eq!(found[0], item);
        assert_eq!(found[1]["id"], empty["id"]);
        assert_eq!(found.as_array().unwrap().len(), 2);
        let one = schema.decode("/shop.v1.Shop/Find", &body).unwrap_err();
        assert!(one.message().contains("2 messages"), "{one}");
    }

    #[test]
    fn an_empty_text_is_an_empty_message() {
        let body = schema().encode("/shop.v1.Shop/Find", "").unwrap();
        assert_eq!(body, [0; 5]);
    }

    #[test]
    fn mistakes_are_named() {
        let check = |path: &str, json: &str, words: &str| {
            let problem = schema().encode(path, json).unwrap_err();
            assert!(problem.message().contains(words), "{problem}");
        };
        check("/shop.v1.Shop/Buy", "{}", "there are /shop.v1.Shop/Find");
        check("/shop.v1.Shop/Find", "{", "is not JSON");
        check("/shop.v1.Shop/Find", r#"{"nmae": "tea"}"#, "nmae");
        check(
            "/shop.v1.Shop/Find",
            r#"{"limit": "many"}"#,
            "shop.v1.Query",
        );
        let schema = Schema::from_descriptors(b"\xff\xff").unwrap_err();
        assert!(schema.to_string().contains("no descriptors"), "{schema}");
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.proto");
        fs::write(
            &file,
            "syntax = \"proto3\";\nmessage A { Missing one = 1; }",
        )
        .unwrap();
        let error = Schema::from_files(std::slice::from_ref(&file))
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("a.proto") && error.contains("Missing"),
            "{error}"
        );
        let error = Schema::from_files(&[folder.path().join("b.proto")]).unwrap_err();
        assert!(error.to_string().contains("b.proto"), "{error}");
    }
}
