//! A contender that does what the tests ask of it, well or badly, and the shim that starts it.
//!
//! It is an example because a test cannot re-execute itself as another program, and a library
//! publishes no binaries.

use std::error::Error;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use std::{env, hint, process, thread};

use bakeoff_model::suite::Limits;
use bakeoff_places::local::{ProcessOptions, ProcessRuntime, shim_main};
use bakeoff_places::{ContainerOptions, Runtime, StartSpec};

type Outcome = Result<(), Box<dyn Error>>;

fn main() -> Outcome {
    let mut args = env::args_os().skip(1);
    let task = args
        .next()
        .unwrap_or_default()
        .into_string()
        .unwrap_or_default();
    if task == "shim" {
        let Err(error) = shim_main(args);
        return Err(error.into());
    }
    let args: Vec<String> = args.filter_map(|arg| arg.into_string().ok()).collect();
    let word = |index: usize| {
        args.get(index)
            .map(String::as_str)
            .ok_or("an argument is missing")
    };
    match task.as_str() {
        "serve" => serve(word(0)?, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
        "garbage" => serve(word(0)?, "220 smtp\r\n"),
        "burn" => {
            for _ in 0..word(1)?.parse()? {
                thread::Builder::new()
                    .name("burner-7".to_owned())
                    .spawn(burn)?;
            }
            serve(
                word(0)?,
                "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
            )
        }
        "eat" => eat(word(0)?.parse()?),
        "limits" => limits(word(0)?),
        "session" => session(
            word(0)?.into(),
            word(1)?.parse()?,
            word(2).unwrap_or_default(),
        ),
        _ => Err(format!("unknown task {task:?}").into()),
    }
}

fn say(text: &str) -> Outcome {
    let mut out = std::io::stdout();
    writeln!(out, "{text}")?;
    Ok(out.flush()?)
}

fn serve(address: &str, answer: &'static str) -> Outcome {
    let listener = TcpListener::bind(address)?;
    say(&format!("listening on {address}"))?;
    for stream in listener.incoming() {
        let stream = stream?;
        // A client that leaves early is its own business.
        thread::spawn(move || give(stream, answer));
    }
    Ok(())
}

fn give(mut stream: TcpStream, answer: &str) -> std::io::Result<()> {
    let mut request = [0; 4096];
    let count = stream.read(&mut request)?;
    if count > 0 {
        stream.write_all(answer.as_bytes())?;
    }
    Ok(())
}

fn burn() {
    loop {
        hint::spin_loop();
    }
}

/// Takes memory, a MiB at a time, and touches it.
fn eat(mebibytes: usize) -> Outcome {
    let mut eaten: Vec<Vec<u8>> = Vec::new();
    for count in 0..mebibytes {
        eaten.push(vec![u8::try_from(count % 255)? + 1; 1 << 20]);
        hint::black_box(&eaten);
    }
    say(&format!("ate {mebibytes} MiB"))?;
    thread::sleep(Duration::from_secs(60));
    Ok(())
}

/// Says what it was started with, then serves.
fn limits(address: &str) -> Outcome {
    let nofile = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let cores = thread::available_parallelism()?;
    let names: Vec<String> = env::vars().map(|(name, _)| name).collect();
    say(&format!(
        "nofile {:?} cores {cores} env {}",
        nofile.current,
        names.join(",")
    ))?;
    serve(address, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
}

/// A session that starts a contender which has a child, and is then killed by the test. `kind` is
/// `unlimited`, without groups, or `networks`, with a separate network for the contender.
fn session(base: PathBuf, port: u16, kind: &str) -> Outcome {
    let shim = env::current_exe()?;
    let options = ProcessOptions {
        shim: shim.clone(),
        shim_args: vec!["shim".into()],
        run_base: base.clone(),
    };
    let runtime = match kind {
        "unlimited" => ProcessRuntime::unlimited(options, "by the test")?,
        "networks" => ProcessRuntime::side_by_side(options)?,
        _ => ProcessRuntime::new(options)?,
    };
    let serve = format!("sleep 1000 & exec {} serve 0.0.0.0:{port}", shim.display());
    let spec = StartSpec {
        label: "left".to_owned(),
        arguments: Vec::new(),
        command: vec!["sh".to_owned(), "-c".to_owned(), serve],
        env: [("MARK".to_owned(), "left".to_owned())].into(),
        workdir: base.clone(),
        limits: Limits::default(),
        cores: Vec::new(),
        port,
        ready_path: "/".to_owned(),
        start_timeout: Duration::from_secs(15),
        image: None,
        service: None,
        container: ContainerOptions::default(),
        wire: bakeoff_places::Wire::default(),
        log_path: base.join("left.log"),
    };
    let executor = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    executor.block_on(async {
        let mut instance = runtime.start(&spec).await?;
        instance.await_ready(Duration::from_secs(15)).await?;
        say(&format!("ready {}", process::id()))?;
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(60) {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        Ok(())
    })
}
