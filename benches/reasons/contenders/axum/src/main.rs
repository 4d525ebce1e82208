//! A service that fetches an order, prices it and answers with an invoice. With `EXTRA` it does one
//! thing more for each request.

use std::{env, fs::File, hint::black_box, io::Read as _, net::Ipv4Addr, sync::Arc};

use anyhow::Context as _;
use axum::{
    Json, Router,
    extract::State,
    http::StatusCode,
    response::{IntoResponse as _, Response},
    routing::get,
};
use reqwest::Client;
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;

/// The lines that are written with `EXTRA=log`.
const LOG_LINES: usize = 10;

/// The tax that is in every price.
const TAX_PERCENT: u64 = 19;

/// The client and the settings that every request needs.
struct Shop {
    client: Client,
    order_url: String,
    rounds: usize,
    extra: String,
}

#[derive(Deserialize)]
struct Order {
    id: u64,
    customer: Customer,
    items: Vec<Item>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Customer {
    name: String,
    country: String,
    discount_percent: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Item {
    sku: String,
    name: String,
    quantity: u64,
    unit_cents: u64,
    weight_grams: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Invoice {
    order: u64,
    customer: String,
    country: String,
    lines: Vec<Line>,
    total_cents: u64,
    forecast: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    sku: String,
    name: String,
    quantity: u64,
    unit_cents: u64,
    cents: u64,
    tax_cents: u64,
    unit_grams: u64,
    grams: u64,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let setting = |name: &str| env::var(name).with_context(|| format!("{name} is not set"));
    let port: u16 = setting("PORT")?.parse().context("PORT is no port")?;
    let shop = Shop {
        client: Client::new(),
        order_url: format!("http://{}/orders/4711", setting("BACKEND")?),
        rounds: setting("ROUNDS")?.parse().context("ROUNDS is no number")?,
        extra: setting("EXTRA")?,
    };
    let router = Router::new()
        .route("/work", get(work))
        .with_state(Arc::new(shop));
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)).await?;
    axum::serve(listener, router)
        .await
        .context("the server failed")
}

async fn work(State(shop): State<Arc<Shop>>) -> Result<Response, StatusCode> {
    if shop.extra == "backend" {
        black_box(shop.order().await.map_err(|_| StatusCode::BAD_GATEWAY)?);
    }
    let order = shop.order().await.map_err(|_| StatusCode::BAD_GATEWAY)?;
    let invoice = Invoice::of(order, shop.rounds);
    match shop.extra.as_str() {
        "log" => (0..LOG_LINES).for_each(|_| println!("GET /work 200")),
        "calls" => drop(black_box(load_of_the_host())),
        "json" => drop(black_box(serde_json::to_vec(&invoice))),
        _ => {}
    }
    Ok(Json(invoice).into_response())
}

impl Shop {
    async fn order(&self) -> reqwest::Result<Order> {
        let response = self.client.get(&self.order_url).send().await?;
        response.error_for_status()?.json().await
    }
}

impl Invoice {
    fn of(order: Order, rounds: usize) -> Self {
        let Order {
            id,
            customer,
            items,
        } = order;
        let forecast = price(&items, rounds);
        let lines: Vec<Line> = items.into_iter().map(Line::of).collect();
        let cents: u64 = lines.iter().map(|line| line.cents).sum();
        Self {
            order: id,
            customer: customer.name,
            country: customer.country,
            lines,
            total_cents: cents * (100 - customer.discount_percent) / 100,
            forecast,
        }
    }
}

impl Line {
    fn of(item: Item) -> Self {
        let cents = item.quantity * item.unit_cents;
        Self {
            sku: item.sku,
            name: item.name,
            quantity: item.quantity,
            unit_cents: item.unit_cents,
            cents,
            tax_cents: cents * TAX_PERCENT / (100 + TAX_PERCENT),
            unit_grams: item.weight_grams,
            grams: item.quantity * item.weight_grams,
        }
    }
}

/// Each round needs the result of the one before, so none can be left out.
#[inline(never)]
fn price(items: &[Item], rounds: usize) -> u64 {
    let rounds = items.iter().cycle().take(rounds);
    rounds.fold(0, |price, item| {
        (price * 31 + item.quantity * item.unit_cents) % 1_000_003
    })
}

/// Opens, reads and closes a file.
fn load_of_the_host() -> std::io::Result<[u8; 64]> {
    let mut text = [0; 64];
    File::open("/proc/loadavg")?.read(&mut text)?;
    Ok(text)
}
