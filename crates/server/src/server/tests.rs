use tokio::net::UnixStream;

use super::*;
use crate::settings::Sources;

/// A server with all settings at their defaults.
pub(crate) fn server() -> Arc<Server> {
    let settings = Settings::load(&Sources {
        flags: &|_| None,
        environment: &|_| None,
        config: None,
    });
    Arc::new(Server::new(settings.unwrap(), Faults::default()))
}

#[test]
fn connections_beyond_those_that_are_watched_are_admitted_without_a_second_descriptor() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()
        .unwrap();
    let _entered = runtime.enter();
    let server = server();
    let admit = || {
        let (stream, _) = UnixStream::pair().unwrap();
        let admitted = server.admit_watching("mysql", &stream.into(), 2);
        admitted.map_err(|failure| failure.message).unwrap()
    };
    let mut open: Vec<Admitted> = (0..4).map(|_| admit()).collect();
    let watched = |open: &[Admitted]| -> Vec<bool> {
        open.iter().map(|one| one.peer.client.is_some()).collect()
    };
    assert_eq!(watched(&open), [true, true, false, false]);
    assert_eq!(server.places.count(), 4, "all are served");
    open.drain(..3);
    open.push(admit());
    assert_eq!(
        watched(&open),
        [false, true],
        "the next one is watched again"
    );
}
