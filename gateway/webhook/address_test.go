package webhook_test

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/gateway/webhook"
	"frontdesk/mapping"
)

func fixed(r float64) webhook.Schedule {
	return webhook.NewSchedule(func() float64 { return r })
}

func TestScheduleDelays(t *testing.T) {
	failed := webhook.Outcome{Tried: true, Status: 500, Err: webhook.ErrStatus}
	want := []time.Duration{
		0, 5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour,
		5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
	}
	require.Equal(t, len(want), webhook.Tries())
	for tries, d := range want {
		last := failed
		if tries == 0 {
			last = webhook.Outcome{}
		}
		for r, factor := range map[float64]float64{0: 0.8, 0.5: 1, 0.999999: 1.2} {
			delay, end, why := fixed(r).Next(tries, last)
			require.False(t, end)
			require.Equal(t, webhook.WhyScheduled, why)
			require.InEpsilon(t, 1+factor*float64(d), 1+float64(delay), 1e-5)
		}
	}
	_, end, why := fixed(0.5).Next(len(want), failed)
	require.True(t, end)
	require.Equal(t, webhook.WhyExhausted, why)
}

func TestScheduleHeedsTheOutcome(t *testing.T) {
	for name, c := range map[string]struct {
		tries int
		last  webhook.Outcome
		delay time.Duration
		end   bool
		why   string
	}{
		"200":                    {1, webhook.Outcome{Tried: true, Status: 200}, 0, true, webhook.WhyDelivered},
		"204 on the last try":    {10, webhook.Outcome{Tried: true, Status: 204}, 0, true, webhook.WhyDelivered},
		"410":                    {1, webhook.Outcome{Tried: true, Status: 410, RetryAfter: time.Hour}, 0, true, webhook.WhyGone},
		"302":                    {1, webhook.Outcome{Tried: true, Status: 302}, 5 * time.Second, false, webhook.WhyScheduled},
		"longer Retry-After":     {1, webhook.Outcome{Tried: true, Status: 503, RetryAfter: time.Hour}, time.Hour, false, webhook.WhyRetryAfter},
		"shorter Retry-After":    {3, webhook.Outcome{Tried: true, Status: 503, RetryAfter: time.Minute}, 30 * time.Minute, false, webhook.WhyScheduled},
		"endless Retry-After":    {1, webhook.Outcome{Tried: true, Status: 503, RetryAfter: 1000 * time.Hour}, 24 * time.Hour, false, webhook.WhyRetryAfter},
		"Retry-After at the end": {10, webhook.Outcome{Tried: true, Status: 503, RetryAfter: time.Hour}, 0, true, webhook.WhyExhausted},
		"open circuit":           {2, webhook.Outcome{Err: webhook.ErrOpen, RetryAfter: 30 * time.Second}, 33 * time.Second, false, webhook.WhyNotTried},
		"cancelled":              {9, webhook.Outcome{Err: webhook.ErrCancelled}, 0, false, webhook.WhyNotTried},
	} {
		delay, end, why := fixed(0.5).Next(c.tries, c.last)
		require.Equal(t, c.delay, delay, name)
		require.Equal(t, c.end, end, name)
		require.Equal(t, c.why, why, name)
	}
}

func TestParseCallbackAccepts(t *testing.T) {
	rules := webhook.Rules{AllowHosts: []string{"Intranet", "hook.internal.", "10.0.0.1", "::1", "localhost"}, Ports: []uint16{8443}}
	for raw, want := range map[string]string{
		"https://example.com":                        "https://example.com",
		"HTTPS://Example.COM:443/Hook?b=2&a=1":       "https://example.com/Hook?b=2&a=1",
		"https://example.com.:8443/":                 "https://example.com:8443/",
		"https://example.com:/":                      "https://example.com/",
		"https://example.com:0443/":                  "https://example.com/",
		"https://my_hook.example.com/a%2Fb":          "https://my_hook.example.com/a%2Fb",
		"https://bücher.example/één?naam=één twee":   "https://xn--bcher-kva.example/%C3%A9%C3%A9n?naam=%C3%A9%C3%A9n%20twee",
		"https://example.com/?ID=1&idx=2&x=id":       "https://example.com/?ID=1&idx=2&x=id",
		"https://93.184.216.34/":                     "https://93.184.216.34/",
		"https://93.184.216.34./":                    "https://93.184.216.34/",
		"https://[2606:2800:220:1:248:1893::1]:8443": "https://[2606:2800:220:1:248:1893:0:1]:8443",
		"https://INTRANET/":                          "https://intranet/",
		"https://hook.internal/":                     "https://hook.internal/",
		"https://10.0.0.1:8443/":                     "https://10.0.0.1:8443/",
		"https://[0:0::1]/":                          "https://[::1]/",
		"https://localhost/":                         "https://localhost/",
		"https://notlocal/":                          "",
		"https://localhost.example.com/":             "https://localhost.example.com/",
		"https://0x7f.example/":                      "https://0x7f.example/",
	} {
		u, err := webhook.ParseCallback(raw, rules)
		if want == "" {
			require.Error(t, err, raw)
			continue
		}
		require.NoError(t, err, raw)
		require.Equal(t, want, u.String(), raw)
	}
}

// refused are addresses and the validation that each fails. FuzzCallbackURL
// starts from them.
func refused() map[string][]string {
	return map[string][]string{
		"https": {
			"http://example.com/", "ftp://example.com", "example.com", "//example.com/", "https:example.com", "https:/example.com",
			"https://", "https:///hook", "https://:443/", "https://?x", " https://example.com", "https://exa mple.com/", "https://example.com\n/",
			"https://user@example.com/", "https://user:secret@example.com/", "https://@example.com/",
			"https://example.com/#part", "https://example.com/#",
			"https://example.com/?id=1", "https://example.com/?a=1&id", "https://example.com/?a=1;id=2", "https://example.com/?%69d=1", "https://example.com/?i%64",
			"https://example.com:8443/", "https://example.com:80/", "https://example.com:0/", "https://example.com:65979/", "https://example.com:x/",
			"https://example.com\\@127.0.0.1/", "http://localhost/",
		},
		"public address": {
			"https://127.0.0.1/", "https://127.1/", "https://127.0.0.1./", "https://127.0.0.1../", "https://2130706433/", "https://0x7f000001/", "https://0x7f.1/",
			"https://0177.0.0.1/", "https://127.0.0.01/", "https://0x7f.0.0.0x1/", "https://0X7F.0.0.1/", "https://256.0.0.1/", "https://8.8.8.0x/", "https://134744072/", "https://1.2.3/",
			"https://0.0.0.0/", "https://10.1.2.3/", "https://100.64.0.1/", "https://169.254.169.254/", "https://168.63.129.16/", "https://172.16.0.1/", "https://192.168.1.1/", "https://198.18.0.1/",
			"https://192.0.2.1/", "https://203.0.113.5/", "https://224.0.0.1/", "https://240.0.0.1/", "https://255.255.255.255/",
			"https://[::]/", "https://[::1]/", "https://[::ffff:127.0.0.1]/", "https://[::ffff:8.8.8.8]/", "https://[::127.0.0.1]/", "https://[::ffff:7f00:1]/",
			"https://[64:ff9b::7f00:1]/", "https://[64:ff9b::8.8.8.8]/", "https://[64:ff9b:1::1]/", "https://[2002:7f00:1::]/", "https://[2001:0:7f00:1::]/", "https://[2001:db8::1]/",
			"https://[fe80::1]/", "https://[fe80::1%25eth0]/", "https://[2606:2800:220:1::1%25eth0]/", "https://[fc00::1]/", "https://[fd12:3456::1]/", "https://[ff02::1]/", "https://[fec0::1]/",
			"https://１２７.0.0.1/", "https://127。0。0。1/", "https://①27.0.0.1/",
			"https://localhost/", "https://LOCALHOST/", "https://localhost./", "https://localhost../", "https://app.localhost/", "https://ｌｏｃａｌhost/", "https://local\u00adhost/",
			"https://intranet/", "https://intranet./", "https://com/", "https://bücher/",
			"https://printer.local/", "https://printer.LOCAL./", "https://a.b.internal/", "https://metadata.google.internal./", "https://bücher.internal/", "https://printer.ｌocal/", "https://printer。local/",
			"https://a..example.com/", "https://.example.com/", "https://./", "https://exa$mple.com/", "https://" + strings.Repeat("a", 64) + ".example.com/", "https://" + strings.Repeat("a.", 130) + "com/",
		},
	}
}

func TestParseCallbackRefuses(t *testing.T) {
	catalogue := mapping.NewCatalogue()
	for validation, raws := range refused() {
		for _, raw := range raws {
			_, err := webhook.ParseCallback(raw, webhook.Rules{})
			v, ok := mapping.AsViolations(err)
			require.True(t, ok, "%q: %v", raw, err)
			require.Len(t, v, 1)
			row := catalogue.Lookup(v[0].Reason, "POST /backup/owner", mapping.OpCreate)
			require.Equal(t, 403, row.Status)
			shown := mapping.Fail(mapping.ValidationFailed, raw).Args[0]
			require.Equal(t, "Field: webhook_url has an invalid value: "+shown+" for validation: "+validation, row.Word(v[0].Args))
		}
	}
}

func TestParseCallbackMissingAndLong(t *testing.T) {
	_, err := webhook.ParseCallback("", webhook.Rules{})
	require.True(t, mapping.Is(err, mapping.FieldRequired), "%v", err)
	const start = "https://example.com/"
	must.Have(webhook.ParseCallback(start+strings.Repeat("x", 2048-len(start)), webhook.Rules{}))(t)
	_, err = webhook.ParseCallback(start+strings.Repeat("x", 2049-len(start)), webhook.Rules{})
	require.True(t, mapping.Is(err, mapping.VarcharTooLong), "%v", err)
	_, err = webhook.ParseCallback(start+strings.Repeat("é", 1000), webhook.Rules{})
	require.True(t, mapping.Is(err, mapping.VarcharTooLong), "encoded it is too long: %v", err)
}

// Neither kind of exemption reaches another host.
func TestAllowHostsCoverOnlyThemselves(t *testing.T) {
	rules := webhook.Rules{AllowHosts: []string{"hook.internal", "10.0.0.1", "::1"}}
	for _, raw := range []string{
		"https://other.internal/", "https://a.hook.internal/", "https://10.0.0.2/", "https://[::ffff:10.0.0.1]/", "https://[::1%25lo]/", "https://167772161/",
	} {
		_, err := webhook.ParseCallback(raw, rules)
		require.True(t, mapping.Is(err, mapping.ValidationFailed), raw)
	}
	require.Error(t, must.Fail(webhook.ParseCallback("https://hook.internal:8443/", rules)), "an exempt host is not exempt from https on an allowed port")
}

func FuzzCallbackURL(f *testing.F) {
	for _, raws := range refused() {
		for _, raw := range raws {
			f.Add(raw)
		}
	}
	f.Add("https://example.com:8443/a%2Fb?x=1&y=é")
	f.Add("https://[2606:2800:220:1:248:1893:25c8:1946]/")
	rules := webhook.Rules{Ports: []uint16{8443}}
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := webhook.ParseCallback(raw, rules)
		if err != nil {
			_, ok := mapping.AsViolations(err)
			require.True(t, ok, "%v", err)
			return
		}
		require.Equal(t, "https", u.Scheme)
		require.Contains(t, []string{"", "8443"}, u.Port())
		require.Nil(t, u.User)
		require.Empty(t, u.Fragment)
		require.False(t, u.Query().Has("id"))
		require.NotEmpty(t, u.Hostname())
		requirePublic(t, u.Hostname())
		again, err := webhook.ParseCallback(u.String(), rules)
		require.NoError(t, err, "what was accepted once is accepted as it is stored")
		require.Equal(t, u.String(), again.String())
		reread := must.Have(url.Parse(u.String()))(t)
		require.Equal(t, u.Host, reread.Host)
	})
}

// requirePublic judges by the standard library alone.
func requirePublic(t *testing.T, name string) {
	addr, err := netip.ParseAddr(name)
	if err != nil {
		require.Contains(t, name, ".")
		require.NotContains(t, name, ":")
		last := name[strings.LastIndexByte(name, '.')+1:]
		require.False(t, slices.Contains([]string{"", "local", "internal", "localhost"}, last), name)
		require.NotEmpty(t, strings.Trim(last, "0123456789"), name)
		return
	}
	require.True(t, addr.IsGlobalUnicast() && !addr.IsPrivate() && !addr.Is4In6() && addr.Zone() == "", name)
}
