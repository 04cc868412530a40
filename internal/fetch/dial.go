package fetch

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"syscall"
	"time"
)

// ErrPrivate says that a host is not on the open internet.
var ErrPrivate = errors.New("not a public address")

// Public reports whether an address is of the open internet: not of this machine,
// its network, its cloud's metadata, or nowhere.
func Public(a netip.Addr) bool {
	a = a.Unmap()
	if !a.IsValid() || !a.IsGlobalUnicast() || a.IsPrivate() {
		return false
	}
	return !slices.ContainsFunc(notPublic, func(p netip.Prefix) bool { return p.Contains(a) })
}

// Anywhere is for who may ask every address.
func Anywhere(netip.Addr) bool { return true }

// notPublic are the ranges that IsGlobalUnicast and IsPrivate let through though
// nobody is reached there, or somebody nearby is (RFC 6890).
var notPublic = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("64:ff9b::/96"),
	netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("2001::/23"), netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("2002::/16"),
}

// Transport connects to addresses that may be asked, and to no proxy. timeout
// bounds connecting and the handshake.
func Transport(may func(netip.Addr) bool, timeout time.Duration) *http.Transport {
	dialer := &net.Dialer{Timeout: timeout, Control: func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil || !may(to.Addr().WithZone("")) {
			return ErrPrivate
		}
		return nil
	}}
	return &http.Transport{DialContext: dialer.DialContext, MaxResponseHeaderBytes: 64 << 10, TLSHandshakeTimeout: timeout, ResponseHeaderTimeout: timeout}
}
