package gateway

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
)

// typeName is a resource's name as the description writes types: order_line
// becomes OrderLine.
func typeName(resource string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(resource, "_") {
		if part != "" {
			b.WriteString(upperFirst(part))
		}
	}
	return b.String()
}

// plural is the plural of an English name.
func plural(name string) string {
	switch {
	case strings.HasSuffix(name, "y") && !strings.HasSuffix(name, "ay") && !strings.HasSuffix(name, "ey") && !strings.HasSuffix(name, "oy"):
		return strings.TrimSuffix(name, "y") + "ies"
	case strings.HasSuffix(name, "s"), strings.HasSuffix(name, "x"), strings.HasSuffix(name, "ch"), strings.HasSuffix(name, "sh"):
		return name + "es"
	default:
		return name + "s"
	}
}

// refusalName is what a refusal is called among the components: by its status, and by its
// reasons. So neither a wider allowlist nor what the key may not see gives it another name.
func refusalName(status int, reasons []string, limited bool) string {
	sum := sha256.Sum256(fmt.Append(nil, reasons, limited))
	return fmt.Sprintf("%s%X", strings.ReplaceAll(http.StatusText(status), " ", ""), sum[:3])
}
