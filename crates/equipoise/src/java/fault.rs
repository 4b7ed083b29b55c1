//! How a method of an interface fails: by an exception that it declares, by another one, or because
//! there is no answer.

use std::fmt;

use equipoise_client::CallError;
use equipoise_core::outcome::Exception;
use equipoise_hessian::java::Throwable;
use equipoise_protocol::{Status, code};

use crate::java::CodecError;

/// An exception, or several, that a method declares. Derived by `JavaObject` with `throwable`.
pub trait Thrown: fmt::Debug + Send + Sized + 'static {
    /// Reads it; `None` when the class is another one.
    fn from_exception(exception: &Exception) -> Option<Result<Self, CodecError>>;

    /// Writes it.
    ///
    /// # Errors
    /// A field that has no wire form.
    fn to_exception(&self) -> Result<Exception, CodecError>;
}

/// No exception is declared.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Undeclared {}

impl Thrown for Undeclared {
    fn from_exception(_: &Exception) -> Option<Result<Self, CodecError>> {
        None
    }

    fn to_exception(&self) -> Result<Exception, CodecError> {
        match *self {}
    }
}

/// Why a method has no result. A provider's method returns the same type as a call of it.
#[derive(Debug)]
pub enum Fault<E = Undeclared> {
    /// The method threw an exception that it declares.
    Thrown(E),
    /// It threw another one.
    Exception(Box<Throwable>),
    /// The call got no answer, or one that cannot be read. In a provider: a call that it made.
    Call(Box<CallError>),
    /// A provider refuses the call; its caller sees [`Fault::Call`].
    Refused(Box<Status>),
}

impl<E: fmt::Debug> fmt::Display for Fault<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Thrown(thrown) => write!(f, "{thrown:?}"),
            Fault::Exception(exception) => write!(f, "{exception}"),
            Fault::Call(error) => write!(f, "{error}"),
            Fault::Refused(status) => write!(f, "{status}"),
        }
    }
}

impl<E: fmt::Debug> std::error::Error for Fault<E> {}

impl<E> From<CallError> for Fault<E> {
    fn from(error: CallError) -> Self {
        Fault::Call(Box::new(error))
    }
}

impl<E> From<Throwable> for Fault<E> {
    fn from(exception: Throwable) -> Self {
        Fault::Exception(Box::new(exception))
    }
}

impl<E> From<Status> for Fault<E> {
    fn from(status: Status) -> Self {
        Fault::Refused(Box::new(status))
    }
}

impl<E: Thrown> Fault<E> {
    /// What a failed call is to its caller.
    pub(crate) fn of(mut error: CallError) -> Self {
        let Some(exception) = error.failure.exception.take() else { return error.into() };
        let read = match E::from_exception(&exception) {
            Some(read) => read.map(Fault::Thrown),
            None => equipoise_hessian::from_slice::<Throwable>(&exception.body)
                .map(|other| Fault::Exception(Box::new(other))),
        };
        read.unwrap_or_else(|unreadable| {
            // What cannot be read is still worth its class and message, which the failure has.
            tracing::debug!(class = exception.class, %unreadable, "an exception cannot be read");
            error.failure.exception = Some(exception);
            error.into()
        })
    }

    /// What a provider answers.
    pub(crate) fn status(self) -> Status {
        let exception = match self {
            Fault::Refused(status) => return *status,
            Fault::Call(error) => {
                return Status::new(code::UNKNOWN, format!("a call it made failed: {error}"));
            }
            Fault::Thrown(thrown) => thrown.to_exception(),
            Fault::Exception(other) => equipoise_hessian::to_vec(&*other)
                .map(|body| Exception { class: other.class.clone(), body: body.into() }),
        };
        match exception {
            Ok(exception) => {
                // What callers see that do not read the object.
                let text = equipoise_hessian::from_slice::<Throwable>(&exception.body)
                    .map_or_else(|_| exception.class.clone(), |thrown| thrown.to_string());
                let mut status = Status::new(code::UNKNOWN, text);
                status.exception = Some(Box::new(exception));
                status
            }
            Err(error) => {
                Status::new(code::INTERNAL, format!("an exception cannot be written: {error}"))
            }
        }
    }
}
