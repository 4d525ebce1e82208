//! One line in the log for the start and for each request. Not for errors.

use std::{net::IpAddr, time::Instant};

use rocket::{
    Data, Orbit, Request, Response, Rocket,
    fairing::{Fairing, Info, Kind},
};

/// Rocket's own log of requests is several lines each and has no times.
pub struct AccessLog;

struct Began(Instant);

#[rocket::async_trait]
impl Fairing for AccessLog {
    fn info(&self) -> Info {
        Info {
            name: "Access log",
            kind: Kind::Liftoff | Kind::Request | Kind::Response,
        }
    }

    async fn on_liftoff(&self, rocket: &Rocket<Orbit>) {
        let config = rocket.config();
        log::info!("listening on {}:{}", config.address, config.port);
    }

    async fn on_request(&self, request: &mut Request<'_>, _: &mut Data<'_>) {
        request.local_cache(|| Began(Instant::now()));
    }

    async fn on_response<'r>(&self, request: &'r Request<'_>, response: &mut Response<'r>) {
        let Began(began) = request.local_cache(|| Began(Instant::now()));
        let client = request.client_ip().as_ref().map(IpAddr::to_string);
        log::info!(
            "{} \"{} {}\" {} {} \"{}\" {:.6}",
            client.as_deref().unwrap_or("-"),
            request.method(),
            request.uri(),
            response.status().code,
            response.body().preset_size().unwrap_or(0),
            request.headers().get_one("user-agent").unwrap_or("-"),
            began.elapsed().as_secs_f64(),
        );
    }
}
