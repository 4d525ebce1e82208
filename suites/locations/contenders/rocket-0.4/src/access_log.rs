//! One line in the log for the start and for each request. Not for errors.

use std::{net::IpAddr, time::Instant};

use rocket::{
    fairing::{Fairing, Info, Kind},
    response::Body,
    Data, Request, Response, Rocket,
};

/// Rocket's own log of requests is several lines each and has no times.
pub struct AccessLog;

struct Began(Instant);

impl Fairing for AccessLog {
    fn info(&self) -> Info {
        Info {
            name: "Access log",
            kind: Kind::Launch | Kind::Request | Kind::Response,
        }
    }

    fn on_launch(&self, rocket: &Rocket) {
        let config = rocket.config();
        log::info!("listening on {}:{}", config.address, config.port);
    }

    fn on_request(&self, request: &mut Request<'_>, _: &Data) {
        request.local_cache(|| Began(Instant::now()));
    }

    fn on_response(&self, request: &Request<'_>, response: &mut Response<'_>) {
        let Began(began) = request.local_cache(|| Began(Instant::now()));
        let client = request.client_ip().as_ref().map(IpAddr::to_string);
        let size = match response.body() {
            Some(Body::Sized(_, size)) => size,
            Some(Body::Chunked(..)) | None => 0,
        };
        log::info!(
            "{} \"{} {}\" {} {} \"{}\" {:.6}",
            client.as_deref().unwrap_or("-"),
            request.method(),
            request.uri(),
            response.status().code,
            size,
            request.headers().get_one("user-agent").unwrap_or("-"),
            began.elapsed().as_secs_f64(),
        );
    }
}
