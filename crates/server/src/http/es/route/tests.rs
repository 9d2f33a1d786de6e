use super::*;

#[test]
fn an_index_named_pq_is_one_like_any_other() {
    let route = |method, path| Route::of(&method, path);
    assert_eq!(
        route(Method::PUT, "/pq"),
        Some(Route::CreateIndex("pq".to_owned()))
    );
    assert_eq!(
        route(Method::GET, "/pq/_search"),
        Some(Route::Search("pq".to_owned()))
    );
    let store = |kind: Option<&str>| {
        let (index, id) = ("pq".to_owned(), Some("7".to_owned()));
        Some(Route::Store {
            index,
            kind: kind.map(str::to_owned),
            id,
            create: false,
        })
    };
    assert_eq!(route(Method::PUT, "/pq/_doc/7"), store(None));
    assert_eq!(route(Method::PUT, "/pq/queries/7"), store(Some("queries")));
}

#[test]
fn paths_that_are_nobodys_are_told_apart_from_wrong_methods() {
    assert_eq!(Route::of(&Method::GET, "/_nodes"), None);
    assert_eq!(Route::of(&Method::GET, "/a/b/c/d"), None);
    assert_eq!(Route::of(&Method::PATCH, "/a"), Some(Route::WrongMethod));
    assert_eq!(Route::of(&Method::POST, "/"), Some(Route::WrongMethod));
    let escaped = Route::of(&Method::GET, "/my%20index");
    assert_eq!(escaped, Some(Route::ShowIndex("my index".to_owned())));
}
