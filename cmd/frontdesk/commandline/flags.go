package commandline

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// decodeText reads the text of a flag or an argument, which has to be one of its words where it
// has some (enum). The error is worded as others are.
func decodeText(ctx *kong.DecodeContext, target reflect.Value) error {
	var text string
	if err := ctx.Scan.PopValueInto("string", &text); err != nil {
		return err
	}
	if words := ctx.Value.EnumSlice(); ctx.Value.Enum != "" && !slices.Contains(words, text) {
		words = slices.DeleteFunc(words, func(word string) bool { return word == "" })
		last := len(words) - 1
		return fmt.Errorf("expected %s or %s but got %q", strings.Join(words[:last], ", "), words[last], text)
	}
	target.SetString(text)
	return nil
}
