//! `sockaddr`: addresses and networks.

use std::net::IpAddr;

use ipnet::IpNet;

use super::Call;
use crate::error::Error;
use crate::value::Value;
use crate::value::show::excerpt;

pub(super) const FUNCTIONS: &[&str] = &["is_contained", "is_equal", "is_ipv4", "is_ipv6"];

pub(super) fn call(call: Call<'_, '_>) -> Result<Value, Error> {
    if let Some(undefined) = call.undefined() {
        return Ok(undefined);
    }
    Ok(Value::Bool(match call.function {
        "is_ipv4" | "is_ipv6" => {
            let [address] = call.exactly()?;
            let network = parse(&call, &address)?;
            matches!(network, IpNet::V4(_)) == (call.function == "is_ipv4")
        }
        "is_equal" => {
            let [a, b] = call.exactly()?;
            parse(&call, &a)? == parse(&call, &b)?
        }
        _ => {
            let [outer, inner] = call.exactly()?;
            parse(&call, &outer)?.contains(&parse(&call, &inner)?)
        }
    }))
}

/// An address is the network of itself alone.
fn parse(call: &Call<'_, '_>, value: &Value) -> Result<IpNet, Error> {
    let text = call.text(value)?;
    let address = text.parse::<IpAddr>().map(IpNet::from);
    address.or_else(|_| text.parse::<IpNet>()).map_err(|_| {
        call.error(format!("was given `{}`, which is neither an IP address nor a network", excerpt(value)))
    })
}
