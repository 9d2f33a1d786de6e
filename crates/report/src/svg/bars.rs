//! Horizontal bars. Bars of a group stand below each other, in the order of the legend.

use super::legend::{self, Sample};
use super::look::colour_class;
use super::{Anchor, Drawn, WIDTH, fitted, label, text, text_width};
use crate::document::{Axis, Bars, Group, Scale};
use crate::escape::{markup, put, visible};
use crate::number::{Grouping, number_shown, short};
use crate::ruler::{Ruler, Start};

/// Height of a bar of a single series, and of one of several.
const BAR: f64 = 18.0;
const BAR_OF_SEVERAL: f64 = 15.0;

/// Room between groups.
const GAP: f64 = 10.0;

/// Room at the right, for the value behind the longest bar.
const RIGHT: f64 = 90.0;

/// Widest names of groups.
const NAMES_MAX: f64 = 260.0;

/// Where the bars are.
struct Layout {
    left: f64,
    bottom: f64,
    /// Height of a bar, and of a group with the room below it.
    thick: f64,
    group: f64,
    ruler: Ruler,
}

impl Layout {
    fn x(&self, value: f64) -> f64 {
        self.left + self.ruler.part(value) * (WIDTH - RIGHT - self.left)
    }
}

pub(super) fn draw(bars: &Bars) -> Drawn {
    let mut elements = String::new();
    let names: Vec<&str> = match bars.series.len() {
        0 | 1 => Vec::new(),
        _ => bars.series.iter().map(String::as_str).collect(),
    };
    let top = legend::draw(&mut elements, &names, Sample::Bar) + 6.0;
    let layout = layout(bars, top);
    for tick in layout.ruler.ticks() {
        let class = if tick == 0.0 { "a" } else { "g" };
        let (x, bottom) = (layout.x(tick), layout.bottom);
        put(
            &mut elements,
            format_args!("<path class=\"{class}\" d=\"M{x:.1} {top:.1}V{bottom:.1}\"/>\n"),
        );
        let name = markup(&short(tick, bars.unit));
        text(
            &mut elements,
            (x, bottom + 16.0),
            "q",
            Anchor::Middle,
            &name,
        );
    }
    for (number, group) in bars.groups.iter().enumerate() {
        let top = top + layout.group * number as f64 + GAP / 2.0;
        let place = (layout.left - 8.0, top + (layout.group - GAP) / 2.0 + 4.0);
        text(
            &mut elements,
            place,
            "",
            Anchor::End,
            &label(&group.name, NAMES_MAX),
        );
        for series in 0..bars.series.len() {
            let y = top + layout.thick * series as f64;
            bar(&mut elements, &layout, bars, (group, series), y);
        }
    }
    Drawn {
        elements,
        height: layout.bottom + 26.0,
    }
}

fn layout(bars: &Bars, top: f64) -> Layout {
    let width = |group: &Group| text_width(&fitted(&group.name, NAMES_MAX));
    let widest = bars.groups.iter().map(width).fold(0.0, f64::max);
    let values = bars
        .groups
        .iter()
        .flat_map(|group| group.values.iter().flatten().copied());
    let axis = Axis::new("", bars.unit, Scale::Linear);
    let thick = match bars.series.len() {
        0 | 1 => BAR,
        _ => BAR_OF_SEVERAL,
    };
    let group = thick * bars.series.len().max(1) as f64 + GAP;
    Layout {
        left: widest + 14.0,
        bottom: top + group * bars.groups.len() as f64,
        thick,
        group,
        ruler: Ruler::new(&axis, Start::Zero, values),
    }
}

/// A bar with its value behind it, or a dash for no value.
fn bar(out: &mut String, layout: &Layout, bars: &Bars, (group, series): (&Group, usize), y: f64) {
    let left = layout.left;
    let text_y = y + layout.thick / 2.0 + 3.5;
    let value = group.values.get(series).copied().flatten();
    let Some(value) = value.filter(|value| value.is_finite()) else {
        text(out, (left + 6.0, text_y), "q", Anchor::Start, "–");
        return;
    };
    let shown = markup(&number_shown(value, bars.unit, Grouping::ThinSpace));
    let name = match bars.series.len() {
        0 | 1 => markup(&group.name),
        _ => markup(&format!(
            "{}, {}",
            visible(&group.name),
            visible(&bars.series[series])
        )),
    };
    put(
        out,
        format_args!(
            "<rect class=\"f {}\" x=\"{left:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\">\
             <title>{name}: {shown}</title></rect>\n",
            colour_class(series),
            layout.x(value) - left,
            layout.thick - 1.0,
        ),
    );
    text(
        out,
        (layout.x(value) + 6.0, text_y),
        "q",
        Anchor::Start,
        &shown,
    );
}
