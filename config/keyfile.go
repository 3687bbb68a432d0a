package config

import (
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"frontdesk/config/strictyaml"
)

// KeyFile is an included file with one api_key and nothing else, which the program can rewrite
// as a whole. The key holds the text of the file: ${NAME} is not expanded.
type KeyFile struct {
	head string // comments at the beginning of the file
	Key  Key
}

// ReadKeyFile reads a KeyFile. It fails if the file has anything else. It keeps only the comments at
// the beginning.
func ReadKeyFile(src []byte, zone *time.Location) (*KeyFile, error) {
	var file includedFile
	_, problems := strictyaml.Decode("", src, &file, strictyaml.Options{})
	if len(problems) > 0 || len(file.APIKeys) != 1 {
		return nil, errors.New("it is more, or less, than one api_key with all of it written out")
	}
	key := file.APIKeys[0]
	key.Expires.resolve(zone)
	for i := range key.Hashes {
		key.Hashes[i].Expires.resolve(zone)
	}
	return &KeyFile{string(headOf.Find(src)), key}, nil
}

// headOf matches lines that are empty or comments, from the beginning.
var headOf = regexp.MustCompile(`\A([ \t]*(#.*)?\r?\n)*`)

// String returns the text of the file, including the key's secrets.
func (f *KeyFile) String() string {
	return f.head + "api_keys:\n  " + strings.ReplaceAll(strings.TrimSuffix(f.Key.item(), "\n"), "\n", "\n  ") + "\n"
}

// item formats the key as an item of api_keys. It leaves out empty fields, except allow, which
// readers look for.
func (k *Key) item() string {
	var out strings.Builder
	v, mark := reflect.ValueOf(*k), "- "
	for i := range v.NumField() {
		name, field := v.Type().Field(i).Tag.Get("yaml"), v.Field(i)
		if name == "" || field.IsZero() && name != "allow" {
			continue
		}
		fmt.Fprintf(&out, "%s%s:", mark, name)
		mark = "  "
		if field.Kind() != reflect.Slice || field.Len() == 0 {
			fmt.Fprintf(&out, " %s\n", flow(field))
			continue
		}
		out.WriteString("\n")
		for j := range field.Len() {
			fmt.Fprintf(&out, "    - %s\n", flow(field.Index(j)))
		}
	}
	return out.String()
}

// flow formats a value on one line; "" if it need not be written.
func flow(v reflect.Value) string {
	switch x := v.Interface().(type) {
	case Secret:
		return strconv.Quote(string(x))
	case Digest:
		return strconv.Quote(hex.EncodeToString(x[:]))
	case KeyHash:
		if x.Expires.IsZero() {
			return flow(v.FieldByName("Hash"))
		}
	case Expiry:
		return x.String()
	case Rule:
		return x.YAML()
	case fmt.Stringer: // Network
		return strconv.Quote(x.String())
	case string:
		if plain.MatchString(x) && x != "null" {
			return x
		}
		return strconv.Quote(x)
	case float64:
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	switch v.Kind() {
	case reflect.Pointer:
		return flow(v.Elem())
	case reflect.Struct:
		return members(v, flow)
	case reflect.Slice:
		items := make([]string, v.Len())
		for i := range items {
			items[i] = flow(v.Index(i))
		}
		return "[" + strings.Join(items, ", ") + "]"
	default:
		return fmt.Sprint(v.Interface())
	}
}

// plain matches text that needs no quotes.
var plain = regexp.MustCompile(`^[a-z][a-z0-9_-]*$`)
