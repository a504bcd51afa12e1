use super::*;

fn meter() -> Meter {
    Meter::new(["up", "local"], ["tools", "temperature"])
}

fn call(meter: &Meter, provider: &str) -> Call {
    Call { dialect: DialectId::Chat, provider: meter.provider(provider), road: Road::Runtime }
}

#[test]
fn requests_are_told_apart_by_dialect_provider_class_and_road() {
    let meter = meter();
    for (provider, status) in [("up", 200), ("up", 201), ("up", 503), ("gone", 404), ("up", 0), ("up", 999)] {
        meter.finished(call(&meter, provider), status, Duration::from_millis(30));
    }
    let text = meter.render();
    let line = |provider: &str, status: &str| {
        format!("{{dialect=\"chat\",provider=\"{provider}\",status=\"{status}\",road=\"runtime\"}}")
    };
    for (labels, count) in [
        (line("up", "2xx"), 2),
        (line("up", "5xx"), 2),
        (line("none", "4xx"), 1),
        (line("up", "cancelled"), 1),
    ] {
        assert!(text.contains(&format!("trilith_requests_total{labels} {count}\n")), "{labels} in\n{text}");
    }
    assert!(text.contains(
        "trilith_request_duration_seconds_bucket{le=\"0.1\",dialect=\"chat\",provider=\"up\",road=\"runtime\"} 5"
    ), "{text}");
    assert!(text.ends_with("# EOF\n"));
}

#[test]
fn tokens_first_bytes_and_errors() {
    let meter = meter();
    let usage = Usage { input_total: 10, output_total: 4, cache_read: 3, ..Usage::default() };
    meter.usage(meter.provider("local"), &usage);
    meter.usage(meter.provider("local"), &usage);
    meter.first_byte(call(&meter, "up"), Duration::from_micros(1500));
    meter.error(&Error::internal("x"));
    let text = meter.render();
    for line in [
        "trilith_tokens_total{direction=\"input\",provider=\"local\"} 20",
        "trilith_tokens_total{direction=\"cache_read\",provider=\"local\"} 6",
        "trilith_time_to_first_byte_seconds_count{dialect=\"chat\",provider=\"up\",road=\"runtime\"} 1",
        "trilith_errors_total{origin=\"trilith\",kind=\"internal\"} 1",
    ] {
        assert!(text.contains(line), "{line} in\n{text}");
    }
    assert!(!text.contains("reasoning\",provider"), "no series without a value");
}

#[test]
fn a_loss_of_an_unknown_field_makes_no_series_of_its_own() {
    let meter = meter();
    let losses: Vec<Loss> = (0..1000)
        .map(|index| Loss::warn(format!("made_up_{index}"), "x"))
        .chain([Loss::warn("tools[3].strict", "x"), Loss::hint("temperature", "x")])
        .collect();
    meter.losses(DialectId::Chat, DialectId::Responses, &losses);
    let text = meter.render();
    let series: Vec<&str> = text.lines().filter(|line| line.starts_with("trilith_losses_total")).collect();
    assert_eq!(series.len(), 3, "{series:?}");
    assert!(text.contains(
        "trilith_losses_total{from=\"chat\",to=\"responses\",field=\"other\",disposition=\"warn\"} 1000"
    ));
}

#[test]
fn requests_in_flight_end_with_their_guards() {
    let meter = meter();
    let (one, two) = (meter.begin(), meter.begin());
    assert!(meter.render().contains("trilith_requests_in_flight 2\n"));
    drop((one, two));
    assert!(meter.render().contains("trilith_requests_in_flight 0\n"));
}

#[test]
fn every_call_has_a_series_of_its_own() {
    let meter = meter();
    let mut seen = std::collections::HashSet::new();
    for dialect in DialectId::ALL {
        for road in Road::ALL {
            for provider in ["up", "local", "none"] {
                seen.insert(meter.call_index(Call { dialect, provider: meter.provider(provider), road }));
            }
        }
    }
    assert_eq!((seen.len(), seen.into_iter().max()), (63, Some(62)));
}

/// What is scraped and what the page says are the same metrics with the same labels.
#[test]
fn the_catalogue_is_what_is_scraped() {
    let meter = meter();
    meter.finished(call(&meter, "up"), 200, Duration::ZERO);
    meter.first_byte(call(&meter, "up"), Duration::ZERO);
    meter.usage(meter.no_provider(), &Usage { output_total: 1, ..Usage::default() });
    meter.losses(DialectId::Chat, DialectId::Responses, &[Loss::warn("tools", "x")]);
    meter.error(&Error::internal("x"));
    let text = meter.render();
    let page = document();
    for metric in METRICS {
        let name = metric.scraped();
        let typed = name.trim_end_matches("_total");
        assert!(text.contains(&format!("# TYPE {typed} ")), "{name} in\n{text}");
        assert!(page.contains(&format!("| `{name}` |")));
        for label in metric.labels {
            let starts = [format!("{name}{{"), format!("{name}_count{{")];
            let line = text.lines().find(|line| starts.iter().any(|start| line.starts_with(start))).unwrap();
            assert!(line.contains(&format!("{label}=\"")), "{label} in {line}");
        }
    }
    assert_eq!(text.matches("# TYPE ").count(), METRICS.len());
}
