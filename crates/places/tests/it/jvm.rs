//! The JVM's counters: from files captured of real ones, from damaged ones, and from a live one.

use bakeoff_build::java;
use bakeoff_model::measure::resource::Jvm;
use bakeoff_places::meter::jvm::{counters, figures};
use bakeoff_places::meter::{Meter, gc_log};

use crate::support::{Bench, LIMIT, announce, free_port};

/// Captured from JDKs 17 and 25 while they served with the collectors of their defaults.
const CAPTURED: [(&str, &[u8]); 2] = [
    ("jdk-17", include_bytes!("fixtures/hsperfdata-17")),
    ("jdk-25", include_bytes!("fixtures/hsperfdata-25")),
];

fn plausible(jvm: &Jvm) -> bool {
    jvm.gc_count > 0
        && jvm.gc_ns > 0
        && jvm.jit_ns > 0
        && jvm.heap_used_bytes > 0
        && jvm.heap_capacity_bytes >= jvm.heap_used_bytes
        && jvm.safepoints > 0
        && jvm.safepoint_ns > 0
}

#[test]
fn captured_files_are_read() {
    for (name, bytes) in CAPTURED {
        let counters = counters(bytes).unwrap();
        assert!(counters.len() > 100, "{name}: {} counters", counters.len());
        let jvm = figures(&counters).unwrap();
        assert!(plausible(&jvm), "{name}: {jvm:?}");
    }
}

#[test]
fn damaged_files_do_no_harm() {
    let (_, whole) = CAPTURED[0];
    assert_eq!(counters(b""), None);
    assert_eq!(counters(b"\xca\xfe\xc0\xc1 something else"), None);
    for length in (0..whole.len()).step_by(97) {
        let _ = counters(&whole[..length]).and_then(|counters| figures(&counters));
    }
    // Every word of the header and of the first entries, replaced by extreme ones.
    for offset in (4..2000).step_by(4) {
        for word in [0_u32, 1, 19, 0x7fff_ffff, 0x8000_0000, u32::MAX] {
            let mut bytes = whole.to_vec();
            bytes[offset..offset + 4].copy_from_slice(&word.to_le_bytes());
            let _ = counters(&bytes).and_then(|counters| figures(&counters));
        }
    }
}

const SERVER: &str = r#"
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;

public class Server {
    public static void main(String[] args) throws Exception {
        var server = HttpServer.create(new InetSocketAddress(Integer.parseInt(args[0])), 0);
        server.createContext("/", exchange -> {
            var waste = new byte[8 << 20];
            if (waste[1] == 0) System.gc();
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
        server.start();
    }
}
"#;

#[tokio::test]
async fn a_live_jvm_is_metered() {
    let java = match java(17) {
        Ok(java) => java.display().to_string(),
        Err(missing) => return announce(&format!("{missing}: {}", missing.how)),
    };
    let bench = Bench::new();
    std::fs::write(bench.base.path().join("Server.java"), SERVER).unwrap();
    let gc_log = bench.base.path().join("gc.log");
    let gc_option = format!("-Xlog:gc:file={}::filecount=0", gc_log.display());
    let command = [java.as_str(), "-Xmx64m", &gc_option, "Server.java", "PORT"];
    let mut instance = bench.start(&bench.spec(free_port(), &command)).await;
    let startup = instance.await_ready(LIMIT).await.unwrap();
    assert!(startup.resources.jvm.is_some(), "{startup:?}");
    let sample = instance.sample().await.resources;
    let jvm = sample.jvm.unwrap();
    assert!(plausible(&jvm), "{jvm:?}");
    let log = gc_log::parse(&instance.file(&gc_log).unwrap());
    assert!(!log.collector.is_empty(), "{log:?}");
    let full = log.pauses.iter().find(|pause| pause.is_full).unwrap();
    assert!(
        full.pause_ns > 0 && full.heap_after_bytes.is_some(),
        "{log:?}"
    );
    let threads: Vec<&str> = sample.threads.keys().map(String::as_str).collect();
    assert!(
        threads.iter().any(|name| name.starts_with("C2 Compiler")),
        "{threads:?}"
    );
    let report = instance.stop(LIMIT).await;
    assert_eq!((report.graceful, report.exit.code), (true, Some(143)));
    // Not this process: other tests may have a JVM below it at the same time.
    let mut sleep = std::process::Command::new("sleep")
        .arg("60")
        .spawn()
        .unwrap();
    let asleep = Meter::of_tree(sleep.id()).sample();
    sleep.kill().unwrap();
    sleep.wait().unwrap();
    assert_eq!(asleep.jvm, None, "sleep is not a JVM");
}
