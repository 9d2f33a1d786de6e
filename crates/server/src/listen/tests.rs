use tokio::io::AsyncWriteExt;
use tokio::net::UnixStream;

use super::{Address, Listener, Stream};

#[track_caller]
fn refused(text: &str) {
    let error = Address::parse(text).unwrap_err();
    assert!(error.contains(text), "{error}");
}

#[test]
fn addresses_are_host_and_port_or_a_socket_path() {
    assert_eq!(
        Address::parse("127.0.0.1:0"),
        Ok(Address::Tcp("127.0.0.1:0".to_owned()))
    );
    assert_eq!(
        Address::parse("[::1]:9306"),
        Ok(Address::Tcp("[::1]:9306".to_owned()))
    );
    assert_eq!(
        Address::parse("unix:/run/s.sock"),
        Ok(Address::Unix("/run/s.sock".into()))
    );
    for text in [
        "9306",
        "localhost",
        "localhost:",
        ":9306",
        "localhost:99999",
        "unix:relative",
    ] {
        refused(text);
    }
}

#[test]
fn only_loopback_and_unix_sockets_are_local() {
    let is_local = |text| Address::parse(text).unwrap().is_local().unwrap();
    assert!(is_local("127.0.0.1:0"));
    assert!(is_local("127.9.9.9:0"));
    assert!(is_local("[::1]:0"));
    assert!(is_local("unix:/tmp/s.sock"));
    assert!(!is_local("0.0.0.0:0"));
    assert!(!is_local("10.0.0.1:0"));
}

#[test]
fn an_abandoned_socket_file_is_replaced_and_a_live_one_is_not() {
    let path = std::env::temp_dir().join(format!("seine-listen-{}.sock", std::process::id()));
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let bind = || runtime.block_on(Listener::bind(&Address::Unix(path.clone())));
    let listener = bind().unwrap();
    assert_eq!(bind().err().unwrap().kind(), std::io::ErrorKind::AddrInUse);
    drop(listener);
    assert!(!path.exists(), "the file goes with its listener");
}

#[tokio::test]
async fn a_client_is_gone_when_it_has_closed_its_end_and_not_while_it_sends_ahead() {
    let (mut client, server) = UnixStream::pair().unwrap();
    let is_gone = Stream::from(server).watched().unwrap();
    assert!(!is_gone(), "it is silent");
    client.write_all(b"the next statement").await.unwrap();
    assert!(!is_gone(), "it sent ahead");
    drop(client);
    assert!(!is_gone(), "what it sent is still to be read");
}

#[tokio::test]
async fn a_silent_client_that_closed_its_end_is_gone() {
    let (client, server) = UnixStream::pair().unwrap();
    let is_gone = Stream::from(server).watched().unwrap();
    drop(client);
    assert!(is_gone());
}
