package config

// Expander returns what files of the configuration are expanded with, for
// [frontdesk/config/strictyaml.Expand]: each ${NAME} becomes the variable that
// env has under that name, and $${ stands for ${ itself.
func Expander(env func(name string) (value string, ok bool)) func(text string) (string, error) {
	return expander(env)
}
