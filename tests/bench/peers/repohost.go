// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

var (
	reservedNames = []string{"localhost", "localhost.localdomain", "localhost4", "localhost4.localdomain4", "localhost6",
		"localhost6.localdomain6", "ip6-localhost", "ip6-loopback", "metadata", "metadata.google.internal", "metadata.goog",
		"instance-data", "instance-data.ec2.internal"}
	reservedPrefixes = []netip.Prefix{
		netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("169.254.0.0/16"), netip.MustParsePrefix("0.0.0.0/8"),
		netip.MustParsePrefix("100.100.100.200/32"), netip.MustParsePrefix("168.63.129.16/32"),
		netip.MustParsePrefix("::/127"), netip.MustParsePrefix("fe80::/10"),
		netip.MustParsePrefix("fd00:ec2::254/128"), netip.MustParsePrefix("fd20:ce::254/128"),
	}
	// Those that an IPv4 address stands in, and at which byte.
	embedding = map[netip.Prefix]int{netip.MustParsePrefix("::/96"): 12, netip.MustParsePrefix("64:ff9b::/96"): 12,
		netip.MustParsePrefix("2002::/16"): 2}
)

// numericAddress is an IPv4 address as inet_aton takes it: one to four numbers, decimal, octal or hexadecimal.
func numericAddress(host string) (netip.Addr, bool) {
	parts := strings.Split(host, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var address uint64
	for i, part := range parts {
		bits := 8
		if i == len(parts)-1 {
			bits = 8 * (4 - i)
		}
		// What only Go takes for a number.
		if strings.Contains(part, "_") || strings.HasPrefix(part, "0b") || strings.HasPrefix(part, "0o") {
			return netip.Addr{}, false
		}
		number, err := strconv.ParseUint(part, 0, bits)
		if err != nil {
			return netip.Addr{}, false
		}
		address = address<<bits | number
	}
	return netip.AddrFrom4([4]byte{byte(address >> 24), byte(address >> 16), byte(address >> 8), byte(address)}), true
}

// isReserved: a repository's host that each machine takes for itself, or that its cloud answers with credentials.
func isReserved(host string) bool {
	host = strings.TrimRight(strings.ToLower(host), ".")
	address, ok := numericAddress(host)
	if !ok {
		parsed, err := netip.ParseAddr(host)
		if err != nil {
			return slices.Contains(reservedNames, host) || strings.HasSuffix(host, ".localhost")
		}
		address = parsed.WithZone("").Unmap()
	}
	within := func(address netip.Addr) bool {
		return slices.ContainsFunc(reservedPrefixes, func(prefix netip.Prefix) bool { return prefix.Contains(address) })
	}
	for prefix, at := range embedding {
		if bytes := address.AsSlice(); prefix.Contains(address) && within(netip.AddrFrom4([4]byte(bytes[at:at+4]))) {
			return true
		}
	}
	return within(address)
}
