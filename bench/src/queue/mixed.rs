//! Puts single rows into a queue while another connection loads documents into a search table as fast as the server takes them.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use super::{Contender, meter::Meter, payload::Payload};
use crate::{
    Server,
    error::{Error, Result},
    insert::Rows,
    percolate::count,
    runs::Run,
    workload::Post,
};

/// Count of rows in an INSERT of the load; `seine load` sends about as many.
const LOAD_ROWS: u32 = 250;
/// Time between two puts. They sample the load and add none.
const PUT_EVERY: Duration = Duration::from_millis(2);

const DROP: &str = "DROP TABLE IF EXISTS bench_load";
const CREATE: &str = "CREATE TABLE bench_load (body text, sub string, ts timestamp, score int)";

/// State that the loading and the putting thread share.
#[derive(Default)]
struct Load {
    over: AtomicBool,
    rows: AtomicU64,
}

/// Puts while another thread loads.
pub(super) async fn run(
    contender: &Contender,
    posts: &Arc<Vec<Post>>,
    time: Duration,
) -> Result<Run> {
    let payload = Payload::default();
    let mut admin = contender.link(0).await?;
    admin.reset(payload).await?;
    let mut watcher = contender.server.connect()?;
    watcher.query(DROP)?;
    watcher.query(CREATE)?;
    let mut meter = Meter::begin(contender);
    let load = Arc::new(Load::default());
    let loading = {
        let (server, posts, load) = (contender.server.clone(), Arc::clone(posts), load.clone());
        tokio::task::spawn_blocking(move || load.run(&server, &posts))
    };
    let mut run = Run::default();
    let begun = Instant::now();
    while begun.elapsed() < time && !loading.is_finished() {
        tokio::time::sleep(PUT_EVERY).await;
        let asked = Instant::now();
        admin.put(run.elements.cast_signed(), payload).await?;
        run.latencies.add(asked.elapsed());
        run.elements += 1;
    }
    load.over.store(true, Relaxed);
    loading
        .await
        .map_err(|error| Error::Peer(error.to_string()))??;
    run.elapsed = begun.elapsed();
    let loaded = load.rows.load(Relaxed);
    let seconds = run.elapsed.as_secs_f64();
    run.facts.push(("rows loaded/s", loaded as f64 / seconds));
    meter.spent().tell_load(&mut run);
    let stored = count(&mut watcher, "SELECT COUNT(*) FROM bench_load")?;
    Error::unless_equal("documents stored of those acknowledged", loaded, stored)?;
    let put = admin.count().await?;
    Error::unless_equal("messages stored of those acknowledged", run.elements, put)?;
    watcher.query(DROP)?;
    admin.clear().await?;
    Ok(run)
}

impl Load {
    /// Loads until told to end; counts the acknowledged rows.
    fn run(&self, server: &Server, posts: &[Post]) -> Result<()> {
        let mut client = server.connect()?;
        let rows = Rows::new(posts);
        let mut statement = String::new();
        let mut next_id = 1;
        while !self.over.load(Relaxed) {
            rows.statement("bench_load", next_id, LOAD_ROWS, &mut statement);
            client.query(&statement)?;
            next_id += u64::from(LOAD_ROWS);
            self.rows.fetch_add(u64::from(LOAD_ROWS), Relaxed);
        }
        Ok(())
    }
}
