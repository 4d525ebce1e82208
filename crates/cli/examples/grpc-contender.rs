//! A contender for the tests of the command line that speaks gRPC, by an implementation that is not
//! ours: it greets the name that it is sent. `EXTRA` is the work that it does for each call, in
//! rounds. SIGTERM ends it, also as the first process of a container.

#![expect(clippy::print_stdout, reason = "it logs like a service")]

use std::convert::Infallible;
use std::error::Error;
use std::future::{Ready, ready};
use std::hint::black_box;
use std::net::Ipv4Addr;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::signal::unix::{SignalKind, signal};
use tonic::body::Body;
use tonic::codegen::http;
use tonic::server::{Grpc, NamedService, UnaryService};
use tonic::{Request, Response, Status};
use tonic_prost::ProstCodec;

#[derive(Clone, PartialEq, prost::Message)]
struct HelloRequest {
    #[prost(string, tag = "1")]
    name: String,
}

#[derive(Clone, PartialEq, prost::Message)]
struct HelloReply {
    #[prost(string, tag = "1")]
    message: String,
}

/// Responds to one call.
struct SayHello {
    rounds: u32,
}

impl UnaryService<HelloRequest> for SayHello {
    type Response = HelloReply;
    type Future = Ready<Result<Response<HelloReply>, Status>>;

    fn call(&mut self, request: Request<HelloRequest>) -> Self::Future {
        let name = request.into_inner().name;
        for round in 0..self.rounds {
            black_box(round);
        }
        println!("{name}");
        ready(match name.as_str() {
            "" => Err(Status::invalid_argument("no name")),
            name => Ok(Response::new(HelloReply {
                message: format!("Hello {name}"),
            })),
        })
    }
}

#[derive(Clone)]
struct Greeter {
    rounds: u32,
}

impl NamedService for Greeter {
    const NAME: &'static str = "helloworld.Greeter";
}

impl tonic::codegen::Service<http::Request<Body>> for Greeter {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let rounds = self.rounds;
        Box::pin(async move {
            match request.uri().path() {
                "/helloworld.Greeter/SayHello" => {
                    let mut grpc = Grpc::new(ProstCodec::<HelloReply, HelloRequest>::default());
                    Ok(grpc.unary(SayHello { rounds }, request).await)
                }
                path => Ok(Status::unimplemented(path).into_http()),
            }
        })
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let port: u16 = std::env::var("PORT")?.parse()?;
    let rounds = match std::env::var("EXTRA") {
        Ok(rounds) => rounds.parse()?,
        Err(_) => 0,
    };
    let mut terminated = signal(SignalKind::terminate())?;
    let serving = tonic::transport::Server::builder()
        .add_service(Greeter { rounds })
        .serve((Ipv4Addr::UNSPECIFIED, port).into());
    tokio::select! {
        served = serving => Ok(served?),
        _ = terminated.recv() => Ok(()),
    }
}
