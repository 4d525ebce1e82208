//! Texts as libraries write them, and errors in others.

use super::{Kind, read};

/// The series of a text, a line each.
fn series(text: &str) -> String {
    let samples = match read(text) {
        Ok(samples) => samples,
        Err(why) => return format!("bad: {why}"),
    };
    let each = samples.iter().map(|(name, sample)| {
        let kind = match sample.kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
        };
        format!("{kind} {name} {}", sample.value)
    });
    each.collect::<Vec<_>>().join("\n")
}

#[test]
fn text_of_prometheus_is_read() {
    let text = r#"
# HELP http_requests_total Requests, "all" of them\nof each method.
# TYPE http_requests_total counter
http_requests_total{method="post",code="200"} 1027 1395066363000
http_requests_total{ code = "400" , method = "post" , } 3 -1395066363000
  # a comment
# TYPE http_requests_created gauge
http_requests_created{method="post",code="200"} 1.7e9
#TYPE temperature gauge
temperature	-1.5e-2
# TYPE nothing gauge
nothing NaN
most +Inf
least -Inf
# TYPE rpc_seconds summary
rpc_seconds{quantile="0.5"} 4773
rpc_seconds_sum 1.7560473e+07
rpc_seconds_count 2693
# TYPE rpc_seconds_max gauge
rpc_seconds_max 9
# TYPE lag_seconds histogram
lag_seconds_bucket{le="0.05"} 24054
lag_seconds_bucket{le="+Inf"} 144320
lag_seconds_sum 53423
lag_seconds_count 144320
untyped_total 7
untyped_bucket{le="1"} 7
untyped 8
"#;
    let expect = [
        r#"counter http_requests_total{code="200",method="post"} 1027"#,
        r#"counter http_requests_total{code="400",method="post"} 3"#,
        r#"counter lag_seconds_count 144320"#,
        r#"counter lag_seconds_sum 53423"#,
        r#"counter rpc_seconds_count 2693"#,
        r#"gauge rpc_seconds_max 9"#,
        r#"counter rpc_seconds_sum 17560473"#,
        r#"gauge temperature -0.015"#,
        r#"gauge untyped 8"#,
        r#"counter untyped_total 7"#,
    ];
    assert_eq!(series(text).lines().collect::<Vec<_>>(), expect);
}

#[test]
fn text_of_openmetrics_is_read() {
    let text = r##"# TYPE acme_http_router_request_seconds summary
# UNIT acme_http_router_request_seconds seconds
acme_http_router_request_seconds_sum{path="/api",method="GET"} 9036.32
acme_http_router_request_seconds_count{path="/api",method="GET"} 807283.0
acme_http_router_request_seconds_created{path="/api",method="GET"} 1605281325.0
# TYPE foo counter
foo_total 17.0 1520879607.789 # {trace_id="a # b"} 0.67
foo_created 1520430000.123
# TYPE bar histogram
bar_bucket{le="0.1"} 8.0 # {} 0.054
bar_count 17 # {trace_id="oHg5SJYRHA0"} 9.8 1520879607.789
# TYPE build info
build_info{version="1.2"} 1
# TYPE door stateset
door{door="open"} 1
# TYPE sizes gaugehistogram
sizes_bucket{le="1"} 1
sizes_gcount 4
sizes_gsum 9
# EOF
this is behind the end
"##;
    let expect = [
        r#"counter acme_http_router_request_seconds_count{method="GET",path="/api"} 807283"#,
        r#"counter acme_http_router_request_seconds_sum{method="GET",path="/api"} 9036.32"#,
        r#"counter bar_count 17"#,
        r#"gauge door{door="open"} 1"#,
        r#"counter foo_total 17"#,
        r#"gauge sizes_gcount 4"#,
        r#"gauge sizes_gsum 9"#,
    ];
    assert_eq!(series(text).lines().collect::<Vec<_>>(), expect);
}

#[test]
fn values_of_labels_may_hold_anything() {
    let text = "a{path=\"C:\\\\DIR\\\\\",error=\"cannot \\\"find\\\":\\n\\d } # , é\"} 1\r\n";
    let expect = r#"gauge a{error="cannot \"find\":\n\\d } # , é",path="C:\\DIR\\"} 1"#;
    assert_eq!(series(text), expect);
    // Once more, it is the same series.
    assert_eq!(series(&series(text).replace("gauge ", "")), series(text));
}

#[test]
fn what_is_no_metric_is_named() {
    let cases = [
        ("", ""),
        ("a 1\n<html>", "bad: line 2: no name of a metric"),
        ("a", "bad: line 1: `a` has no value"),
        ("a-b 1", "bad: line 1: `a` has no value"),
        ("a one", "bad: line 1: `a` has no number for a value"),
        ("a{} ", "bad: line 1: `a` has no number for a value"),
        (
            "a 1 2 3",
            "bad: line 1: more than a value and a timestamp follow `a`",
        ),
        (
            "a 1 now",
            "bad: line 1: more than a value and a timestamp follow `a`",
        ),
        (
            "a{b} 1",
            "bad: line 1: the label `b` has no value in quotes",
        ),
        (
            "a{b=\"c} 1",
            "bad: line 1: the label `b` has no value in quotes",
        ),
        (
            "a{b=\"c\\",
            "bad: line 1: the label `b` has no value in quotes",
        ),
        (
            "a{b=\"c\" d=\"e\"} 1",
            "bad: line 1: no `,` or `}` after the label `b`",
        ),
        ("a{1=\"c\"} 1", "bad: line 1: no name of a label"),
        ("{\"status\": \"UP\"}", "bad: line 1: no name of a metric"),
    ];
    for (text, expect) in cases {
        assert_eq!(series(text), expect, "{text:?}");
    }
}
