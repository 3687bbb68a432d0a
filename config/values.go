package config

import (
	"fmt"
	"io"
	"math"
	"net/netip"
	"regexp"
	"strconv"
	"time"

	_ "time/tzdata" // for machines without a zone database

	"frontdesk/config/strictyaml"
)

// Secret is text that must not be shown. It prints as "[secret]" wherever it is
// formatted or encoded; a conversion to string gives the text.
type Secret string

const hidden = "[secret]"

// Format, String and MarshalText all hide the text; Format does so for any verb.
func (Secret) Format(s fmt.State, _ rune)   { _, _ = io.WriteString(s, hidden) }
func (Secret) String() string               { return hidden }
func (Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// Size is a number of bytes.
type Size int64

// The units a size is written in.
const (
	Byte Size = 1
	KiB       = 1024 * Byte
	MiB       = 1024 * KiB
	GiB       = 1024 * MiB
)

var (
	sizeForm = regexp.MustCompile(`^(0|[1-9][0-9]{0,18})(|B|KiB|MiB|GiB)$`)
	sizeUnit = map[string]Size{"": Byte, "B": Byte, "KiB": KiB, "MiB": MiB, "GiB": GiB}
)

// String formats the size for messages.
func (s Size) String() string { return strconv.FormatInt(int64(s), 10) + " bytes" }

// UnmarshalText reads 16MiB, 512KiB, 1GiB or a plain number of bytes.
func (s *Size) UnmarshalText(text []byte) error {
	m := sizeForm.FindSubmatch(text)
	if m == nil {
		return strictyaml.Expected("a size such as 16MiB, 512KiB or a number of bytes")
	}
	n, err := strconv.ParseInt(string(m[1]), 10, 64)
	unit := sizeUnit[string(m[2])]
	if err != nil || n > math.MaxInt64/int64(unit) {
		return strictyaml.Expected("a size below 8 EiB")
	}
	*s = Size(n) * unit
	return nil
}

// Network is a range of addresses.
type Network struct{ netip.Prefix }

// UnmarshalText reads 10.0.0.0/8, or an address alone.
func (n *Network) UnmarshalText(text []byte) error {
	prefix, err := netip.ParsePrefix(string(text))
	if address, wrong := netip.ParseAddr(string(text)); wrong == nil && address.Zone() == "" {
		prefix, err = netip.PrefixFrom(address.Unmap(), address.Unmap().BitLen()), nil
	}
	if err != nil {
		return strictyaml.Expected("an address such as 192.0.2.7, or a range such as 10.0.0.0/8")
	}
	if prefix != prefix.Masked() {
		return strictyaml.Expected("a range that begins where it says, such as " + prefix.Masked().String())
	}
	n.Prefix = prefix
	return nil
}

// Zone is a time zone, loaded. Its zero value is UTC.
type Zone struct{ *time.Location }

// UnmarshalText reads the name of a zone in the IANA database.
func (z *Zone) UnmarshalText(text []byte) error {
	location, err := time.LoadLocation(string(text))
	if err != nil || location == time.Local || len(text) == 0 {
		return strictyaml.Expected("a time zone such as Europe/Amsterdam or UTC")
	}
	z.Location = location
	return nil
}

func amsterdam() Zone {
	var z Zone
	if err := z.UnmarshalText([]byte("Europe/Amsterdam")); err != nil {
		panic(err) // the database is part of the program
	}
	return z
}
