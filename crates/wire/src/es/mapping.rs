//! Mappings: the fields of an index, and their columns in a pq table.

use language::nearest::nearest_name;
use relation::schema::{Column, ColumnType};
use relation::value::Value;
use serde_json::{Map, Value as Json, json};

use super::error::EsError;

type Result<T> = std::result::Result<T, EsError>;

/// Names of fields that are compared with a wrong one at most, and bytes of such a name: an error must not cost more than its request.
const COMPARED_MAX: usize = 1_000;
const NAME_BYTES_MAX: usize = 64;

/// Text column for the words of unmapped fields, each word with a prefix that names its field.
pub(super) const UNMAPPED: &str = "unmapped_fields";

/// Member of the stored mapping that tells it from any other default.
const MARK: &str = "elasticsearch";

/// The mapping of an index.
#[derive(Clone, Debug, PartialEq)]
pub struct Mapping {
    /// Name of the field with the query of a stored document.
    pub percolator: String,
    /// `index.percolator.map_unmapped_fields_as_text`.
    pub unmapped_as_text: bool,
    /// The fields with values, by path.
    pub fields: Vec<Field>,
    /// Whether the text fields have the analyzer `english`: their words are stemmed.
    pub english: bool,
    /// `properties` as the client gave it.
    pub properties: Json,
}

/// A field with values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Name in queries: `user.name`, `title.keyword`.
    pub path: String,
    /// Path in a document, without the name of a multi-field: `title` for `title.keyword`.
    pub place: String,
    /// Type of the field.
    pub kind: FieldKind,
    /// Column of the pq table.
    pub column: String,
}

/// Type of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// `text`: words.
    Text,
    /// `keyword`: a string that is compared as a whole.
    Keyword,
    /// `integer`, `short`, `byte`: stored as a 32-bit INT.
    Integer,
    /// `long`: stored as a 64-bit BIGINT.
    Long,
    /// `float`, `double`, `half_float`, `scaled_float`: stored as a 32-bit FLOAT.
    Float,
    /// `boolean`.
    Boolean,
    /// `date`: stored as a TIMESTAMP of whole seconds.
    Date,
}

/// A name of each field.
const NAMES: [&str; 7] = [
    "text", "keyword", "integer", "long", "float", "boolean", "date",
];

impl FieldKind {
    fn named(name: &str) -> Option<FieldKind> {
        Some(match name {
            "text" | "match_only_text" | "annotated_text" => FieldKind::Text,
            "keyword" | "constant_keyword" | "wildcard" => FieldKind::Keyword,
            "integer" | "short" | "byte" => FieldKind::Integer,
            "long" => FieldKind::Long,
            "float" | "double" | "half_float" | "scaled_float" => FieldKind::Float,
            "boolean" => FieldKind::Boolean,
            "date" => FieldKind::Date,
            _ => return None,
        })
    }

    fn column_type(self) -> ColumnType {
        match self {
            FieldKind::Text => ColumnType::Text,
            FieldKind::Keyword => ColumnType::String,
            FieldKind::Integer => ColumnType::Int,
            FieldKind::Long => ColumnType::Bigint,
            FieldKind::Float => ColumnType::Float,
            FieldKind::Boolean => ColumnType::Bool,
            FieldKind::Date => ColumnType::Timestamp,
        }
    }

    /// The field that a column of that type is stored for, and its name.
    fn of_column(kind: ColumnType) -> Option<(FieldKind, &'static str)> {
        let named = |name| Some((FieldKind::named(name)?, name));
        let fields = NAMES.into_iter().filter_map(named);
        fields
            .into_iter()
            .find(|(field, _)| field.column_type() == kind)
    }
}

impl Mapping {
    /// Parses the body of `PUT /{index}`.
    ///
    /// # Errors
    /// [`EsError`]: no field of type `percolator`, an unknown type, or an unknown parameter.
    pub fn read(body: &Json) -> Result<Mapping> {
        let empty = Map::new();
        let body = match body {
            Json::Null => &empty,
            other => object(other, "")?,
        };
        for (name, value) in body {
            let is_empty = value.as_object().is_some_and(Map::is_empty);
            match name.as_str() {
                "mappings" | "settings" => {}
                "aliases" if is_empty => {}
                "aliases" => return Err(EsError::not_yet("aliases", "aliases")),
                _ => return Err(EsError::parsing(name, "unknown key for create index")),
            }
        }
        let properties = properties(body.get("mappings"))?;
        let unmapped_as_text = body.get("settings").is_some_and(unmapped_as_text);
        Mapping::of(properties, unmapped_as_text, false)
    }

    /// `is_kept`: an index has the mapping, and an earlier build took its parameters.
    fn of(properties: Json, unmapped_as_text: bool, is_kept: bool) -> Result<Mapping> {
        let mut reading = MappingReader {
            is_kept,
            ..MappingReader::default()
        };
        reading.all(object(&properties, "properties")?, "")?;
        let percolator = match reading.percolators.as_slice() {
            [one] => one.clone(),
            [] => {
                let what = "an index without a field of type [percolator]";
                return Err(EsError::not_yet("mappings", what));
            }
            _ => {
                return Err(EsError::not_yet(
                    "mappings",
                    "several fields of type [percolator]",
                ));
            }
        };
        let mapping = Mapping {
            percolator,
            unmapped_as_text,
            english: reading.analyzer == Some(true),
            fields: reading.fields,
            properties,
        };
        mapping.check_columns()?;
        Ok(mapping)
    }

    /// Checks that no two fields share a column.
    fn check_columns(&self) -> Result<()> {
        let mut names: Vec<String> = self
            .columns()
            .into_iter()
            .map(|column| column.name)
            .collect();
        names.sort();
        for pair in names.windows(2) {
            if let [first, second] = pair
                && first == second
            {
                let what = format!("two fields become the column '{first}'");
                return Err(EsError::mapper("mappings", what));
            }
        }
        Ok(())
    }

    /// The columns of the pq table. The column of the percolator field never gets a value. Its default stores the mapping, which
    /// the other columns cannot express.
    #[must_use]
    pub fn columns(&self) -> Vec<Column> {
        let column = |name: &str, kind| Column {
            name: name.to_owned(),
            kind,
            nullable: true,
            default: None,
            keyed: false,
        };
        let fields = self.fields.iter();
        let mut columns: Vec<Column> = fields
            .map(|field| column(&field.column, field.kind.column_type()))
            .collect();
        if self.unmapped_as_text {
            columns.push(column(UNMAPPED, ColumnType::Text));
        }
        let kept = json!({MARK: {"percolator": self.percolator, "properties": self.properties,
            "map_unmapped_fields_as_text": self.unmapped_as_text}});
        columns.push(Column {
            default: Some(Value::Str(kept.to_string())),
            ..column(&column_name(&self.percolator), ColumnType::String)
        });
        columns
    }

    /// The mapping of a pq table. For a table that SQL created, its columns are the fields, and `query` is the percolator field.
    #[must_use]
    pub fn of_columns(columns: &[Column]) -> Mapping {
        columns
            .iter()
            .find_map(kept)
            .unwrap_or_else(|| made_by_sql(columns))
    }

    /// The field with this name in queries.
    #[must_use]
    pub fn field(&self, path: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.path == path)
    }

    /// `, did you mean title?` of a name that no field has; empty if none is like it, or the name is long.
    pub(super) fn meant(&self, path: &str) -> String {
        let names = self.fields.iter().map(|field| field.path.as_str());
        let near = match path.len() <= NAME_BYTES_MAX {
            true => nearest_name(path, names.take(COMPARED_MAX)),
            false => None,
        };
        near.map_or_else(String::new, |near| format!(", did you mean {near}?"))
    }

    /// The body of `GET /{index}/_mapping`, below `mappings`.
    #[must_use]
    pub fn shown(&self) -> Json {
        json!({"properties": self.properties})
    }
}

fn kept(column: &Column) -> Option<Mapping> {
    let Some(Value::Str(text)) = &column.default else {
        return None;
    };
    let kept: Json = serde_json::from_str(text).ok()?;
    let kept = kept.get(MARK)?;
    let unmapped = kept
        .get("map_unmapped_fields_as_text")
        .and_then(Json::as_bool);
    Mapping::of(
        kept.get("properties")?.clone(),
        unmapped.unwrap_or(false),
        true,
    )
    .ok()
}

fn made_by_sql(columns: &[Column]) -> Mapping {
    let mut properties = Map::new();
    let mut fields = Vec::new();
    for column in columns {
        if let Some((kind, name)) = FieldKind::of_column(column.kind) {
            properties.insert(column.name.clone(), json!({"type": name}));
            fields.push(Field {
                path: column.name.clone(),
                place: column.name.clone(),
                kind,
                column: column.name.clone(),
            });
        }
    }
    let percolator = "query".to_owned();
    properties.insert(percolator.clone(), json!({"type": "percolator"}));
    Mapping {
        percolator,
        unmapped_as_text: false,
        english: false,
        fields,
        properties: Json::Object(properties),
    }
}

/// `properties` of `mappings`, with or without a document type between the two.
fn properties(mappings: Option<&Json>) -> Result<Json> {
    let Some(mappings) = mappings else {
        return Ok(json!({}));
    };
    let mut mappings = object(mappings, "mappings")?;
    if let (None, Some((_, inner))) = (mappings.get("properties"), only(mappings))
        && let Some(typed) = inner
            .as_object()
            .filter(|typed| typed.contains_key("properties"))
    {
        mappings = typed;
    }
    const KNOWN: &[&str] = &[
        "_all",
        "_meta",
        "_routing",
        "_source",
        "date_detection",
        "dynamic",
        "dynamic_date_formats",
        "dynamic_templates",
        "numeric_detection",
        "properties",
    ];
    if let Some(name) = mappings.keys().find(|name| !KNOWN.contains(&name.as_str())) {
        let what = format!("unknown parameter [{name}] in the root mapping");
        return Err(EsError::mapper("mappings", what));
    }
    let refused = ["strict", "runtime"].map(Json::from);
    if let Some(dynamic) = mappings.get("dynamic").filter(|it| refused.contains(it)) {
        let what = format!(
            "dynamic {dynamic}: a field that no mapping names is kept and cannot be searched"
        );
        return Err(EsError::not_yet("mappings", what));
    }
    Ok(mappings
        .get("properties")
        .cloned()
        .unwrap_or_else(|| json!({})))
}

fn only(map: &Map<String, Json>) -> Option<(&String, &Json)> {
    map.iter().next().filter(|_| map.len() == 1)
}

/// The value of `index.percolator.map_unmapped_fields_as_text`, nested or with dots.
fn unmapped_as_text(settings: &Json) -> bool {
    let name = "map_unmapped_fields_as_text";
    let index = settings.get("index").unwrap_or(settings);
    let places = [
        index.get("percolator").and_then(|inner| inner.get(name)),
        settings.get("percolator").and_then(|inner| inner.get(name)),
        index.get(format!("percolator.{name}")),
        settings.get(format!("index.percolator.{name}")),
    ];
    places.into_iter().flatten().any(is_true)
}

#[derive(Default)]
struct MappingReader {
    is_kept: bool,
    fields: Vec<Field>,
    percolators: Vec<String>,
    /// Whether the text fields so far have the analyzer `english`; `None`: no text field yet.
    analyzer: Option<bool>,
}

impl MappingReader {
    fn all(&mut self, properties: &Map<String, Json>, above: &str) -> Result<()> {
        for (name, body) in properties {
            let path = format!("{above}{name}");
            if above.split('.').count() > crate::limits::JSON_QUERY_DEPTH_MAX {
                return Err(EsError::mapper(&path, "objects are nested too deep"));
            }
            self.one(&path, object(body, &path)?)?;
        }
        Ok(())
    }

    fn one(&mut self, path: &str, body: &Map<String, Json>) -> Result<()> {
        let kind = body.get("type").map(|kind| kind.as_str().unwrap_or("?"));
        match kind {
            None | Some("object") => {
                let below = body.get("properties");
                let below = below.map_or(Ok(None), |below| object(below, path).map(Some))?;
                return below.map_or(Ok(()), |below| self.all(below, &format!("{path}.")));
            }
            Some("percolator") => {
                self.percolators.push(path.to_owned());
                return Ok(());
            }
            Some(_) => {}
        }
        self.leaf(path, path, body)?;
        let below = body.get("fields").and_then(Json::as_object);
        for (name, body) in below.into_iter().flatten() {
            let multi = format!("{path}.{name}");
            self.leaf(&multi, path, object(body, &multi)?)?;
        }
        Ok(())
    }

    fn leaf(&mut self, path: &str, place: &str, body: &Map<String, Json>) -> Result<()> {
        let name = body.get("type").and_then(Json::as_str).unwrap_or("?");
        let Some(kind) = FieldKind::named(name) else {
            let what = format!("no handler for type [{name}] declared on field [{path}]");
            return Err(EsError::mapper("", what));
        };
        if !self.is_kept {
            check_parameters(path, name, body)?;
        }
        if kind == FieldKind::Text {
            self.text(path, body)?;
        }
        self.fields.push(Field {
            path: path.to_owned(),
            place: place.to_owned(),
            kind,
            column: column_name(path),
        });
        Ok(())
    }

    /// Adds a text field. All text fields of an index must have the same analyzer.
    fn text(&mut self, path: &str, body: &Map<String, Json>) -> Result<()> {
        let is_english = |name: &str| Some(body.get(name)?.as_str() == Some("english"));
        let english = is_english("analyzer").unwrap_or(false);
        let mut all = ["search_analyzer", "search_quote_analyzer"].into_iter();
        let is_same = all.all(|name| is_english(name).is_none_or(|other| other == english));
        if *self.analyzer.get_or_insert(english) != english || !is_same {
            let what = "analyzer [english] beside another in one index";
            return Err(EsError::not_yet(path, what));
        }
        Ok(())
    }
}

/// Whether a parameter that says yes or no says yes.
fn is_true(value: &Json) -> bool {
    value == &json!(true) || value == &json!("true")
}

/// Accepts parameters that have no effect here, and refuses those that should have one.
fn check_parameters(path: &str, kind: &str, body: &Map<String, Json>) -> Result<()> {
    const NOTHING: &[&str] = &[
        "boost",
        "coerce",
        "doc_values",
        "eager_global_ordinals",
        "enabled",
        "fielddata",
        "fields",
        "format",
        "ignore_above",
        "ignore_malformed",
        "index",
        "index_options",
        "index_phrases",
        "index_prefixes",
        "locale",
        "meta",
        "norms",
        "position_increment_gap",
        "scaling_factor",
        "similarity",
        "store",
        "term_vector",
        "type",
    ];
    for (name, value) in body {
        let is_known = matches!(
            value.as_str(),
            Some("standard" | "default" | "simple" | "english")
        );
        match name.as_str() {
            "coerce" if value != &json!(true) => {
                let what = "[coerce] false: a number that is no whole one is cut";
                return Err(EsError::not_yet(path, what));
            }
            "format" if kind == "date" && !is_read(value) => {
                let what = format!("format {value}: ISO 8601 and epoch_millis are read");
                return Err(EsError::not_yet(path, what));
            }
            "enabled" | "index" if !is_true(value) => {
                let what = format!("[{name}] {value}: each field can be searched");
                return Err(EsError::not_yet(path, what));
            }
            known if NOTHING.contains(&known) => {}
            "analyzer" | "search_analyzer" | "search_quote_analyzer" if is_known => {}
            "analyzer" | "search_analyzer" | "search_quote_analyzer" | "normalizer" => {
                let what = format!("{name} [{value}]; there are [standard] and [english]");
                return Err(EsError::not_yet(path, what));
            }
            "copy_to" | "null_value" => return Err(EsError::not_yet(path, format!("[{name}]"))),
            _ => {
                let what =
                    format!("unknown parameter [{name}] on mapper [{path}] of type [{kind}]");
                return Err(EsError::mapper("", what));
            }
        }
    }
    Ok(())
}

/// Whether dates of such a format are read as Elasticsearch reads them.
fn is_read(format: &Json) -> bool {
    const READ: &[&str] = &[
        "date",
        "date_hour_minute_second",
        "date_optional_time",
        "date_time",
        "date_time_no_millis",
        "epoch_millis",
        "strict_date",
        "strict_date_hour_minute_second",
        "strict_date_optional_time",
        "strict_date_optional_time_nanos",
        "strict_date_time",
        "strict_date_time_no_millis",
        "yyyy-MM-dd",
        "yyyy-MM-dd HH:mm:ss",
        "yyyy-MM-dd'T'HH:mm:ss",
        "yyyy-MM-dd'T'HH:mm:ssZ",
        "yyyy-MM-dd'T'HH:mm:ss.SSSZ",
    ];
    let format = format.as_str().unwrap_or_default();
    format.split("||").all(|one| READ.contains(&one))
}

/// A field's column: in lower case, with two underscores for a dot, and one for any other sign that no column name may have.
pub(super) fn column_name(path: &str) -> String {
    let mut column = String::with_capacity(path.len() + 4);
    for character in path.to_lowercase().chars() {
        match character {
            '.' => column.push_str("__"),
            _ if character.is_ascii_alphanumeric() || character == '_' => column.push(character),
            _ => column.push('_'),
        }
    }
    // Every table already has a column `id`.
    if column == "id" || column.is_empty() {
        column.push('_');
    }
    column
}

pub(super) fn object<'j>(json: &'j Json, path: &str) -> Result<&'j Map<String, Json>> {
    json.as_object()
        .ok_or_else(|| EsError::parsing(path, "expected an object"))
}
