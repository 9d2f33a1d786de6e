use super::*;

struct Town {
    places: Places,
    bounds: Bounds,
    came: u64,
}

impl Town {
    fn of(connections_max: usize, per_address_max: Option<usize>) -> Town {
        Town {
            places: Places::default(),
            bounds: Bounds {
                connections_max,
                per_address_max,
            },
            came: 0,
        }
    }

    /// A client from here; each comes a microsecond after the one before.
    fn comes(&mut self, from: &str, may_reserve: bool) -> Result<Arc<Peer>, Full> {
        self.came += 1;
        let newcomer = Newcomer {
            id: self.came,
            host: from.to_owned(),
            remote: match from {
                "unix" => Remote::Unix(Some(1000)),
                address => Remote::of(address.parse().unwrap()),
            },
            door: "http",
            now_us: self.came,
            may_reserve,
        };
        let taken = self.places.take(newcomer, &self.bounds, |_| None)?;
        Ok(taken.peer)
    }

    fn ids(&self) -> Vec<u64> {
        self.places.all().iter().map(|peer| peer.id).collect()
    }
}

const HERE: &str = "127.0.0.1";
const THERE: &str = "10.0.0.1";

#[test]
fn a_newcomer_gets_the_place_of_the_one_that_owes_for_longest() {
    let mut town = Town::of(3, None);
    let first = town.comes(HERE, false).unwrap();
    for _ in 0..2 {
        town.comes(HERE, false).unwrap();
    }
    first.owes_nothing();
    town.comes(HERE, false).unwrap();
    assert_eq!(town.ids(), [1, 3, 4]);
    first.owes(100);
    town.comes(HERE, false).unwrap();
    assert_eq!(town.ids(), [1, 4, 5], "it owes since later than the others");
}

#[test]
fn clients_that_owe_nothing_keep_their_places() {
    let mut town = Town::of(2, None);
    for _ in 0..2 {
        town.comes(HERE, false).unwrap().owes_nothing();
    }
    assert_eq!(town.comes(HERE, false).err(), Some(Full::Places));
    town.places.leave(1);
    assert!(town.comes(HERE, false).is_ok());
}

#[test]
fn one_that_owes_is_closed_when_asked_for() {
    let mut town = Town::of(9, None);
    assert!(!town.places.evict(), "nobody is there");
    town.comes(HERE, false).unwrap().owes_nothing();
    town.comes(HERE, false).unwrap();
    assert!(town.places.evict());
    assert_eq!(town.ids(), [1]);
    assert!(!town.places.evict());
}

#[test]
fn reserved_places_are_beside_the_others_and_bounded() {
    let mut town = Town::of(1, None);
    town.comes(HERE, true).unwrap().owes_nothing();
    let mut reserved = Vec::new();
    for _ in 0..RESERVED_PLACES + 3 {
        reserved.push(town.comes(THERE, true).unwrap());
    }
    assert!(reserved.iter().all(|peer| peer.is_reserved));
    assert_eq!(town.places.count(), 1 + RESERVED_PLACES);
    for peer in &reserved[3..] {
        peer.owes_nothing();
    }
    assert_eq!(town.comes(HERE, true).err(), Some(Full::Places));
    town.places.leave(1);
    assert!(!town.comes(HERE, true).unwrap().is_reserved);
}

#[test]
fn one_address_gets_half_of_the_places_and_this_machine_any_number() {
    let mut town = Town::of(4, None);
    for _ in 0..2 {
        town.comes(THERE, false).unwrap().owes_nothing();
    }
    assert_eq!(town.comes(THERE, false).err(), Some(Full::Address));
    for from in [HERE, "unix"] {
        town.comes(from, false).unwrap().owes_nothing();
    }
    assert_eq!(town.comes(HERE, false).err(), Some(Full::Places));
}

#[test]
fn a_bound_that_is_written_holds_for_this_machine_too_but_not_for_unix_sockets() {
    let mut town = Town::of(9, Some(1));
    town.comes(HERE, false).unwrap().owes_nothing();
    assert_eq!(town.comes(HERE, false).err(), Some(Full::Address));
    for _ in 0..3 {
        town.comes("unix", false).unwrap().owes_nothing();
    }
    let waiting = town.comes(THERE, false).unwrap();
    assert!(town.comes(THERE, false).is_ok(), "in the other's place");
    assert!(town.places.get(waiting.id).is_none());
}

#[test]
fn a_lowered_bound_closes_nobody_who_is_let_in() {
    let mut town = Town::of(3, None);
    for _ in 0..3 {
        town.comes(HERE, false).unwrap();
    }
    town.bounds.connections_max = 1;
    assert_eq!(town.comes(HERE, false).err(), Some(Full::Places));
    assert_eq!(town.ids(), [1, 2, 3]);
}
