//! The log: lines on standard error, through `tracing`. Only this crate and `session` log; the others return facts.

use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Registry, fmt, reload};

use crate::settings::LogFormat;

/// Changes the filter of a running log.
#[derive(Clone)]
pub(crate) struct Logs(reload::Handle<EnvFilter, Registry>);

/// Starts the log of this process. `filter` has passed [`filter_text`].
pub(crate) fn start(filter: &str, format: LogFormat) -> Logs {
    let (filter, handle) = reload::Layer::new(EnvFilter::new(filter));
    let lines = fmt::layer().with_writer(std::io::stderr).with_target(false);
    let registry = tracing_subscriber::registry().with(filter);
    // A second start keeps the first log. Only a test could start a log twice.
    let _ = match format {
        LogFormat::Text => registry.with(lines.with_ansi(false)).try_init(),
        LogFormat::Json => registry.with(lines.json().flatten_event(true)).try_init(),
    };
    Logs(handle)
}

/// Writes a panic of any thread to the log.
pub(crate) fn log_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let thread = std::thread::current();
        let place = panic
            .location()
            .map(ToString::to_string)
            .unwrap_or_default();
        let message = panic.payload_as_str().unwrap_or("unknown");
        tracing::error!(
            thread = thread.name().unwrap_or("unnamed"),
            place,
            message,
            "a fault of the server"
        );
    }));
}

impl Logs {
    /// Replaces the filter.
    pub(crate) fn set(&self, filter: &str) {
        if let Err(error) = self.0.reload(EnvFilter::new(filter)) {
            tracing::warn!(%error, "the log's filter stays as it was");
        }
    }
}

/// Checks a filter: a level, or a list of `target=level` with commas.
pub(crate) fn filter_text(text: &str) -> Result<String, String> {
    const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];
    for part in text.split(',') {
        let level = part
            .rsplit('=')
            .next()
            .unwrap_or(part)
            .trim()
            .to_ascii_lowercase();
        if !LEVELS.contains(&level.as_str()) {
            return Err(format!("{level:?} is not a level: {}", LEVELS.join(", ")));
        }
    }
    EnvFilter::try_new(text)
        .map(|_| text.to_owned())
        .map_err(|error| error.to_string())
}
