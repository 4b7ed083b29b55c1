//! Hessian 2 as Apache Dubbo uses it.
