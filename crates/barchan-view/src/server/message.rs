//! What viewers say: small JSON objects with a `type`. docs/live.md has the list.

use serde::Deserialize;

/// A message of a viewer.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase", deny_unknown_fields)]
pub enum Request {
    /// The last frame is drawn: the next may come.
    Ready {},
    /// Stand still.
    Pause {},
    /// Go on.
    Resume {},
    /// Take one step, and stand still.
    Step {},
    /// Back to the start.
    Reset {},
    /// Simulated seconds a second, at most; as fast as it can without a value.
    Speed {
        /// Greater than 0.
        value: Option<f64>,
    },
    /// Change an adjustable number.
    Set {
        /// Its key.
        key: String,
        /// What it becomes.
        value: f64,
    },
    /// Show a stored frame.
    Seek {
        /// Its number, from 0.
        frame: usize,
    },
    /// Show the stored frame that is nearest to a time.
    Time {
        /// The time.
        value: f64,
    },
}

impl Request {
    /// Reads a message.
    ///
    /// # Errors
    /// If it is none, in a few words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let request: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        match request {
            Self::Speed { value: Some(value) } if !(value > 0.0 && value.is_finite()) => {
                Err("a speed must be greater than 0".into())
            }
            Self::Set { value, .. } | Self::Time { value } if !value.is_finite() => {
                Err("a value must be finite".into())
            }
            request => Ok(request),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read() {
        assert_eq!(Request::parse(r#"{"type":"ready"}"#), Ok(Request::Ready {}));
        assert_eq!(Request::parse(r#"{"type":"speed","value":null}"#), Ok(Request::Speed { value: None }));
        let set = Request::Set { key: "gravity.2".into(), value: -1.5 };
        assert_eq!(Request::parse(r#"{"type":"set","key":"gravity.2","value":-1.5}"#), Ok(set));
    }

    #[test]
    fn nonsense_is_refused() {
        for text in [
            "",
            "ready",
            "[]",
            "{}",
            "null",
            r#"{"type":"fly"}"#,
            r#"{"type":"ready","more":1}"#,
            r#"{"type":"set","key":"a"}"#,
            r#"{"type":"set","key":"a","value":"1"}"#,
            r#"{"type":"set","key":"a","value":1e999}"#,
            r#"{"type":"speed","value":-1}"#,
            r#"{"type":"speed","value":0}"#,
            r#"{"type":"seek","frame":-1}"#,
            r#"{"type":"time","value":1e999}"#,
            r#"{"type":"ready"} {"type":"ready"}"#,
        ] {
            assert!(Request::parse(text).is_err(), "{text}");
        }
    }
}
