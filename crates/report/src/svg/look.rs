//! Colours, dashes and marks. A series differs from the others by colour and by dashes or mark, so that no reader needs the colour.
//!
//! The colours are those of Okabe and Ito, which people tell apart who do not see red or green. Dark schemes have the light ones.

use crate::escape::put;

/// Style of all pictures, for files and for pages. Class names: `sN` the colour of a series, `dN` its dashes, `l` a line, `f` an
/// area, `g` the grid, `a` an axis, `q` quiet text, `t` the title, `b` the background, `k` small text, `x` text over a strong field, `o` text over a line.
pub(crate) const LOOK: &str = "\
svg{font:12px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}\
text{fill:#24292f}.q{fill:#59636e}.t{font-size:15px;font-weight:600}.k{font-size:10px}.b{fill:#fff}.x{fill:#fff}\
.o{paint-order:stroke;stroke:#fff;stroke-width:3px}\
.g{stroke:#d8dee4;fill:none}.h{stroke:#eef1f4;fill:none}.a{stroke:#8c959f;fill:none}\
.l{stroke:currentColor;fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}\
.f{fill:currentColor}.e{fill:currentColor;fill-opacity:.14}.v{stroke:currentColor;fill:none;stroke-width:1.5;stroke-dasharray:5 4}\
.p{fill:#fff;fill-opacity:0}\
.d1{stroke-dasharray:8 4}.d2{stroke-dasharray:1.5 4}.d3{stroke-dasharray:9 4 1.5 4}\
.s0{color:#0072b2}.s1{color:#d55e00}.s2{color:#009e73}.s3{color:#b8578f}.s4{color:#b87a00}.s5{color:#2f9bd6}\
@media screen and (prefers-color-scheme:dark){\
text{fill:#e6edf3}.q{fill:#9da7b3}.b{fill:#14171b}.x{fill:#0b0d10}.o{stroke:#14171b}\
.g{stroke:#30363d}.h{stroke:#20252b}.a{stroke:#6e7781}\
.s0{color:#56b4e9}.s1{color:#ff8b3d}.s2{color:#2ec99b}.s3{color:#e39ac3}.s4{color:#f0c043}.s5{color:#9bb7ff}}";

const COLOURS: usize = 6;
const DASHES: usize = 4;
const MARKS: usize = 4;

/// Classes of the line of a series.
pub(super) fn line_class(series: usize) -> String {
    match series % DASHES {
        0 => format!("l s{}", series % COLOURS),
        dashes => format!("l s{} d{dashes}", series % COLOURS),
    }
}

/// Class of the colour of a series.
pub(super) fn colour_class(series: usize) -> String {
    format!("s{}", series % COLOURS)
}

/// The mark of a series: a circle, square, triangle or diamond, with a tip if there is one.
pub(super) fn mark(out: &mut String, series: usize, (x, y): (f64, f64), tip: Option<&str>) {
    let class = format!("f s{}", series % COLOURS);
    let tip = tip.map_or(String::new(), |tip| format!("<title>{tip}</title>"));
    let (tag, shape) = match series % MARKS {
        0 => ("circle", format!("cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\"")),
        1 => (
            "path",
            format!("d=\"M{:.1} {:.1}h6.4v6.4h-6.4z\"", x - 3.2, y - 3.2),
        ),
        2 => (
            "path",
            format!("d=\"M{x:.1} {:.1}l4.2 7.4h-8.4z\"", y - 4.4),
        ),
        _ => (
            "path",
            format!("d=\"M{x:.1} {:.1}l4.4 4.4l-4.4 4.4l-4.4 -4.4z\"", y - 4.4),
        ),
    };
    if tip.is_empty() {
        put(out, format_args!("<{tag} class=\"{class}\" {shape}/>\n"));
    } else {
        put(
            out,
            format_args!("<{tag} class=\"{class}\" {shape}>{tip}</{tag}>\n"),
        );
    }
}
