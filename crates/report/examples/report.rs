//! Prints the example report: `cargo run -p seine-report --example report -- text | csv | json | html | PICTURE`.

use std::io::{self, Write};

use report::{Document, Terminal};

fn main() -> io::Result<()> {
    let document = Document::example();
    let terminal = Terminal {
        width: 100,
        rows_max: usize::MAX,
        colour: false,
        ascii: false,
    };
    let form = std::env::args().nth(1).unwrap_or_else(|| "text".to_owned());
    let printed = match form.as_str() {
        "text" => document.text(&terminal),
        "csv" => document.csv(),
        "json" => document.json(),
        "html" => document.html(),
        name => {
            let mut pictures = document.pictures();
            let picture = pictures.find(|picture| picture.name == name);
            picture.map_or(String::new(), report::Picture::svg)
        }
    };
    io::stdout().write_all(printed.as_bytes())
}
