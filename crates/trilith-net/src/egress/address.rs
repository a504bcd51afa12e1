//! Which addresses are the public internet's (IANA's special-purpose registries).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Who may be asked at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// Anybody on the internet.
    Public,
    /// Somebody in this house: loopback, private and shared ranges.
    Private,
    /// Nobody: link-local (where clouds keep their metadata), multicast, reserved, and forms that hide another
    /// address.
    Never,
}

pub(super) fn reach(address: IpAddr) -> Reach {
    match address {
        IpAddr::V4(address) => reach_v4(address),
        IpAddr::V6(address) => reach_v6(address),
    }
}

/// An IPv4 network and its prefix length.
type Network = ([u8; 4], u32);

const PRIVATE: [Network; 5] = [
    ([10, 0, 0, 0], 8),
    ([100, 64, 0, 0], 10),
    ([127, 0, 0, 0], 8),
    ([172, 16, 0, 0], 12),
    ([192, 168, 0, 0], 16),
];

const NEVER: [Network; 10] = [
    ([0, 0, 0, 0], 8),
    ([169, 254, 0, 0], 16),
    ([192, 0, 0, 0], 24),
    ([192, 0, 2, 0], 24),
    ([192, 88, 99, 0], 24),
    ([198, 18, 0, 0], 15),
    ([198, 51, 100, 0], 24),
    ([203, 0, 113, 0], 24),
    ([224, 0, 0, 0], 4),
    ([240, 0, 0, 0], 4),
];

/// Addresses of cloud metadata services that lie in ranges which are otherwise private.
const METADATA_V4: [Ipv4Addr; 2] = [Ipv4Addr::new(100, 100, 100, 200), Ipv4Addr::new(168, 63, 129, 16)];
const METADATA_V6: Ipv6Addr = Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254);

fn reach_v4(address: Ipv4Addr) -> Reach {
    let within = |(network, length): &Network| {
        let shift = 32 - length;
        address.to_bits() >> shift == u32::from_be_bytes(*network) >> shift
    };
    if METADATA_V4.contains(&address) || NEVER.iter().any(within) {
        Reach::Never
    } else if PRIVATE.iter().any(within) {
        Reach::Private
    } else {
        Reach::Public
    }
}

fn reach_v6(address: Ipv6Addr) -> Reach {
    let [first, second, ..] = address.segments();
    match first {
        _ if address == METADATA_V6 => Reach::Never,
        _ if address.is_loopback() => Reach::Private,
        // Unique local.
        0xfc00..=0xfdff => Reach::Private,
        // Protocol assignments (Teredo and others), documentation, 6to4.
        0x2001 if second < 0x200 || second == 0xdb8 => Reach::Never,
        0x2002 => Reach::Never,
        0x3fff if second < 0x1000 => Reach::Never,
        // The rest of what is given out as global unicast.
        0x2000..=0x3fff => Reach::Public,
        // Mapped and translated IPv4 (::ffff:0:0/96, 64:ff9b::/96) among others.
        _ => Reach::Never,
    }
}
