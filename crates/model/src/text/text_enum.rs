//! Enums whose variants are words or phrases, the same in files and in front of people.

/// Makes an enum whose variants are texts, in files and for people alike.
macro_rules! text_enum {
    (
        $(#[$about:meta])*
        $kind:literal $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal,)+ }
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        pub enum $name {
            $($(#[$doc])* #[serde(rename = $text)] $variant,)+
        }

        impl $name {
            /// All values, in the order in which they are listed to people.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The name as files and people write it.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::text::names::UnknownName;

            fn from_str(text: &str) -> Result<Self, $crate::text::names::UnknownName> {
                let found = Self::ALL.iter().find(|one| one.name() == text);
                found.copied().ok_or_else(|| $crate::text::names::UnknownName {
                    kind: $kind,
                    name: text.to_owned(),
                    known: Self::ALL.iter().map(ToString::to_string).collect(),
                })
            }
        }
    };
}

pub(crate) use text_enum;
