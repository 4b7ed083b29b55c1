//! Dubbo's hash ring: [`key`] turns a call into 32 bits, [`ring`] turns these into an endpoint.
//! Pure; the strategies that use them are in `balance`.

pub mod key;
pub mod ring;
