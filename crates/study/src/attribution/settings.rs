//! What a caller says of a report, by name: flags of the command line and options of CALL ATTRIBUTION.

use super::amount::Amount;
use super::channels::Naming;
use super::events::Window;
use super::input::Factors;
use super::model::{MODELS, Model, Rule};
use super::tally::DAY_MS;
use crate::time_option::parse_time;

/// Models of a report that names none.
pub const DEFAULT_MODELS: &str = "first,last,linear,position-based";

/// Name of a touch by its parts, where no other pattern is said.
pub const DEFAULT_NAME: &str = "source-med-subcat";

/// Shares of the first touch, those between and the last one, where no others are said.
pub const DEFAULT_SHARES: &str = "40,20,40";

/// Days of a window, where no others are said.
pub const DEFAULT_WINDOW: &str = "45";

/// Days of a window: 100 years.
const DAYS_MAX: i64 = 36_525;

/// Names in an option that takes several.
pub const NAMES_MAX: usize = 1_000;

/// An option. [`SETTINGS`] is the register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// Names of models, with commas between, or all.
    Model,
    /// Shares of position-based.
    PositionShares,
    /// The pattern of names.
    ChannelName,
    /// Direct channels.
    Direct,
    /// Days before an order.
    Window,
    /// Days in which a weight halves.
    HalfLife,
    /// Orders from a time on.
    From,
    /// Orders before a time.
    To,
    /// Whether a path ends at the order before.
    SingleOrder,
    /// Channels that count as the first touch only.
    RequiresFirstTouch,
    /// The currency of orders.
    Currency,
}

/// A row of the register.
#[derive(Clone, Copy, Debug)]
pub struct SettingRow {
    /// The variant that this row is for.
    pub setting: Setting,
    /// Its name in SQL. With `-` for `_` it is a flag of `seine attribution report`.
    pub name: &'static str,
    /// What its value is.
    pub form: Form,
}

/// What the value of an option is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A text, or a number.
    Text,
    /// One text or several.
    Names,
    /// 0 or 1.
    Switch,
}

/// All options. To add one: a variant, a row here, an arm in [`Settings::set`], a flag, and a row in docs/attribution.md.
pub const SETTINGS: [SettingRow; 11] = [
    row(Setting::Model, "model", Form::Text),
    row(Setting::PositionShares, "position_shares", Form::Text),
    row(Setting::ChannelName, "channel_name", Form::Text),
    row(Setting::Direct, "direct", Form::Names),
    row(Setting::Window, "window", Form::Text),
    row(Setting::HalfLife, "half_life", Form::Text),
    row(Setting::From, "from", Form::Text),
    row(Setting::To, "to", Form::Text),
    row(Setting::SingleOrder, "single_order", Form::Switch),
    row(
        Setting::RequiresFirstTouch,
        "requires_first_touch",
        Form::Names,
    ),
    row(Setting::Currency, "currency", Form::Text),
];

const fn row(setting: Setting, name: &'static str, form: Form) -> SettingRow {
    SettingRow {
        setting,
        name,
        form,
    }
}

impl Setting {
    /// The row of an option by its name in SQL.
    pub fn find(name: &str) -> Option<&'static SettingRow> {
        SETTINGS.iter().find(|row| row.name == name)
    }
}

/// What the options say. The default is what a report does without any.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The models, each once, in the order asked for.
    pub models: Vec<Model>,
    /// Shares of first, middle and last touches in hundredths of a percent.
    pub position: [u16; 3],
    /// The pattern of names.
    pub channel_name: String,
    /// Names of direct channels; empty: those that look so.
    pub direct: Vec<String>,
    /// How orders get their touches.
    pub window: Window,
    /// Milliseconds in which a weight halves; `None`: a quarter of the window.
    half_life_ms: Option<i64>,
    /// The currency of orders; `None`: all have the same one.
    pub currency: Option<String>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            models: vec![
                Model::First,
                Model::Last,
                Model::Linear,
                Model::PositionBased,
            ],
            position: [4_000, 2_000, 4_000],
            channel_name: DEFAULT_NAME.to_owned(),
            direct: Vec::new(),
            window: Window {
                window_ms: 45 * DAY_MS,
                is_single_order: false,
                requires_first: Vec::new(),
                from_ms: None,
                to_ms: None,
                factors: Factors::default(),
            },
            half_life_ms: None,
            currency: None,
        }
    }
}

impl Settings {
    /// Sets an option to the texts of its value: of a [`Form::Names`] any number, of a [`Form::Switch`] `0` or `1`, else one.
    ///
    /// # Errors
    /// What is wrong with the value, without the option's name.
    pub fn set(&mut self, setting: Setting, values: &[String]) -> Result<(), String> {
        let text = match values {
            [text] => text.as_str(),
            [] | [_, ..] => "",
        };
        match setting {
            Setting::Model => self.models = parse_models(text)?,
            Setting::PositionShares => self.position = parse_position(text)?,
            Setting::ChannelName => self.channel_name = text.to_owned(),
            Setting::Direct => self.direct = names(values)?,
            Setting::Window => self.window.window_ms = parse_days(text)?,
            Setting::HalfLife => self.half_life_ms = Some(parse_days(text)?),
            Setting::From => self.window.from_ms = Some(parse_time(text)?),
            Setting::To => self.window.to_ms = Some(parse_time(text)?),
            Setting::SingleOrder => {
                self.window.is_single_order = match text {
                    "0" => false,
                    "1" => true,
                    _ => return Err("it is 0 or 1".to_owned()),
                }
            }
            Setting::RequiresFirstTouch => self.window.requires_first = names(values)?,
            Setting::Currency => self.currency = Some(text.to_owned()),
        }
        Ok(())
    }

    /// Refuses options that contradict each other. `flag` writes the name of an option.
    ///
    /// # Errors
    /// A message that names them.
    pub fn check(&self, flag: impl Fn(&str) -> String) -> Result<(), String> {
        match (self.window.from_ms, self.window.to_ms) {
            (Some(from), Some(to)) if from >= to => Err(format!(
                "{} is not after {}: no order is between them",
                flag("to"),
                flag("from")
            )),
            (Some(_) | None, Some(_) | None) => Ok(()),
        }
    }

    /// Sentences about channels that an option names and no touch has: perhaps a mistake. `flag` writes the name of an option.
    pub fn unmet(&self, channels: &[String], flag: impl Fn(&str) -> String) -> Vec<String> {
        let options = [
            ("direct", &self.direct),
            ("requires_first_touch", &self.window.requires_first),
        ];
        let mut sentences = Vec::new();
        for (option, names) in options {
            for name in names.iter().filter(|name| !channels.contains(name)) {
                sentences.push(format!(
                    "{} {name}: no touch has this channel",
                    flag(option)
                ));
            }
        }
        sentences
    }

    /// Milliseconds in which the weight of a touch halves.
    pub fn half_life_ms(&self) -> i64 {
        let quarter = || (self.window.window_ms / 4).max(1);
        self.half_life_ms.unwrap_or_else(quarter)
    }

    /// The names of touches, without maps.
    pub fn naming(&self) -> Naming {
        Naming::new(&self.channel_name)
    }

    /// What the models are told, over these channels.
    pub fn rule(&self, channels: &[String]) -> Rule {
        Rule {
            position: self.position,
            half_life_ms: self.half_life_ms(),
            is_direct: channels
                .iter()
                .map(|channel| self.is_direct(channel))
                .collect(),
        }
    }

    /// Whether a channel is direct.
    fn is_direct(&self, channel: &str) -> bool {
        let lower = channel.to_lowercase();
        match self.direct.as_slice() {
            [] => lower.starts_with("direct") || lower.starts_with("(direct)"),
            names => names.iter().any(|name| name == channel),
        }
    }
}

/// The names of channels that an option lists.
fn names(values: &[String]) -> Result<Vec<String>, String> {
    match values.len() {
        1..=NAMES_MAX => Ok(values.to_vec()),
        _ => Err(format!("it lists 1 to {NAMES_MAX} names")),
    }
}

/// Days, with or without a fraction, in milliseconds.
fn parse_days(text: &str) -> Result<i64, String> {
    let days = Amount::parse(text.as_bytes()).map(|days| days.amount.0);
    match days {
        Ok(days) if days > 0 && days <= DAYS_MAX * 1_000_000 => Ok(days * (DAY_MS / 1_000) / 1_000),
        Ok(_) | Err(_) => Err(format!(
            "{text} is not a number of days above 0, at most {DAYS_MAX}"
        )),
    }
}

fn parse_models(text: &str) -> Result<Vec<Model>, String> {
    let mut models = Vec::new();
    for name in text.split(',').map(str::trim) {
        let named = match (name, Model::parse(name)) {
            ("all", _) => MODELS.iter().map(|row| row.model).collect(),
            (_, Some(model)) => vec![model],
            (_, None) => {
                let names = MODELS.map(|row| row.name).join(", ");
                return Err(format!("{name} is no model: there are {names}, and all"));
            }
        };
        for model in named {
            if !models.contains(&model) {
                models.push(model);
            }
        }
    }
    Ok(models)
}

/// `40,20,40` as hundredths of a percent.
fn parse_position(text: &str) -> Result<[u16; 3], String> {
    let refused = || {
        format!(
            "{text} is not three percentages that are 100 together, such as 40,20,40, with at most two digits behind the point"
        )
    };
    let mut shares = Vec::new();
    for part in text.split(',').take(4) {
        let share = Amount::parse(part.trim().as_bytes()).map_err(|_| refused())?;
        let hundredths = u16::try_from(share.amount.0 / 10_000).map_err(|_| refused())?;
        if share.places > 2 {
            return Err(refused());
        }
        shares.push(hundredths);
    }
    let sum: u32 = shares.iter().map(|share| u32::from(*share)).sum();
    let shares = <[u16; 3]>::try_from(shares).map_err(|_| refused())?;
    if sum != 10_000 {
        return Err(refused());
    }
    Ok(shares)
}

#[cfg(test)]
mod tests;
