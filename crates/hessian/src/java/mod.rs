//! The types of Java that real interfaces use, in the form that Dubbo's encoder gives them. In formats
//! for people (`is_human_readable`), each is its usual text.
//!
//! [`JavaType`] names the Java class of a Rust type, as the signatures of methods need it.

mod big;
mod calendar;
mod clock;
mod collection;
mod compact;
mod small;
mod std_time;
mod text;
mod throwable;
mod zone;

pub use big::{BigDecimal, BigInteger};
pub use calendar::{LocalDate, LocalDateTime, MonthDay, Period, Year, YearMonth};
pub use clock::{Calendar, Date, Duration, Instant, LocalTime, SqlDate, SqlTime, Timestamp};
pub use collection::{Map, Optional, Set};
pub use small::{AtomicInteger, AtomicLong, Class, File, Locale, Uuid};
pub use text::ParseError;
pub use throwable::{StackTraceElement, Throwable};
pub use zone::{OffsetDateTime, OffsetTime, ZoneId, ZoneOffset, ZonedDateTime};

use crate::value::Value;

/// A Rust type that stands for one Java type.
pub trait JavaType {
    /// The Java type in the notation of the JVM: `I`, `Ljava/lang/String;`, `[B`.
    const DESCRIPTOR: &'static str;
    /// The same for a value that may be null: of a primitive type the class that holds it.
    const BOXED: &'static str = Self::DESCRIPTOR;
}

macro_rules! java_types {
    ($($rust:ty => $descriptor:literal $(/ $boxed:literal)?;)*) => {$(
        impl JavaType for $rust {
            const DESCRIPTOR: &'static str = $descriptor;
            $(const BOXED: &'static str = $boxed;)?
        }
    )*};
}

java_types! {
    bool => "Z" / "Ljava/lang/Boolean;";
    i8 => "B" / "Ljava/lang/Byte;";
    i16 => "S" / "Ljava/lang/Short;";
    i32 => "I" / "Ljava/lang/Integer;";
    i64 => "J" / "Ljava/lang/Long;";
    f32 => "F" / "Ljava/lang/Float;";
    f64 => "D" / "Ljava/lang/Double;";
    char => "C" / "Ljava/lang/Character;";
    () => "V" / "Ljava/lang/Void;";
    String => "Ljava/lang/String;";
    str => "Ljava/lang/String;";
    Value => "Ljava/lang/Object;";
    Date => "Ljava/util/Date;";
    Calendar => "Ljava/util/Calendar;";
    SqlDate => "Ljava/sql/Date;";
    SqlTime => "Ljava/sql/Time;";
    Timestamp => "Ljava/sql/Timestamp;";
    LocalDate => "Ljava/time/LocalDate;";
    LocalTime => "Ljava/time/LocalTime;";
    LocalDateTime => "Ljava/time/LocalDateTime;";
    Instant => "Ljava/time/Instant;";
    Duration => "Ljava/time/Duration;";
    Period => "Ljava/time/Period;";
    Year => "Ljava/time/Year;";
    YearMonth => "Ljava/time/YearMonth;";
    MonthDay => "Ljava/time/MonthDay;";
    ZoneId => "Ljava/time/ZoneId;";
    ZoneOffset => "Ljava/time/ZoneOffset;";
    OffsetDateTime => "Ljava/time/OffsetDateTime;";
    OffsetTime => "Ljava/time/OffsetTime;";
    ZonedDateTime => "Ljava/time/ZonedDateTime;";
    BigDecimal => "Ljava/math/BigDecimal;";
    BigInteger => "Ljava/math/BigInteger;";
    AtomicInteger => "Ljava/util/concurrent/atomic/AtomicInteger;";
    AtomicLong => "Ljava/util/concurrent/atomic/AtomicLong;";
    Uuid => "Ljava/util/UUID;";
    Locale => "Ljava/util/Locale;";
    Class => "Ljava/lang/Class;";
    File => "Ljava/io/File;";
    Throwable => "Ljava/lang/Throwable;";
    StackTraceElement => "Ljava/lang/StackTraceElement;";
}

impl<T: JavaType> JavaType for Option<T> {
    const DESCRIPTOR: &'static str = T::BOXED;
}

impl<T: JavaType + ?Sized> JavaType for Box<T> {
    const DESCRIPTOR: &'static str = T::DESCRIPTOR;
    const BOXED: &'static str = T::BOXED;
}

impl<T> JavaType for Vec<T> {
    const DESCRIPTOR: &'static str = "Ljava/util/List;";
}

impl<K, V, S> JavaType for std::collections::HashMap<K, V, S> {
    const DESCRIPTOR: &'static str = "Ljava/util/Map;";
}

impl<K, V> JavaType for std::collections::BTreeMap<K, V> {
    const DESCRIPTOR: &'static str = "Ljava/util/Map;";
}

impl<K, V> JavaType for Map<K, V> {
    const DESCRIPTOR: &'static str = "Ljava/util/Map;";
}

impl<T> JavaType for Set<T> {
    const DESCRIPTOR: &'static str = "Ljava/util/Set;";
}

impl<T> JavaType for Optional<T> {
    const DESCRIPTOR: &'static str = "Ljava/util/Optional;";
}
