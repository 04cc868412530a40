package vault

import (
	"os"
	"path/filepath"
	"strings"

	"kb/vector"
)

// noModel is the model that a configuration names to search by words alone.
const noModel = "none"

// modelsDir is where models are installed, each in a directory of its name.
func (c *Config) modelsDir() string { return filepath.Join(c.CacheDir, "models") }

// ModelsDir returns where models are installed, and the model that the
// configuration names. It needs no vault: without a configuration models are
// below the cache directory.
func ModelsDir(l Locate) (dir, model string, err error) {
	c, err := LoadConfig(l)
	if err == nil {
		return c.modelsDir(), c.Model, nil
	}
	if file, ferr := l.find(); ferr != nil || file != "" {
		return "", "", err
	}
	c = &Config{Model: vector.DefaultModel}
	c.CacheDir, err = CacheDir(l.CacheDir)
	return c.modelsDir(), c.Model, err
}

// modelDir returns the directory of a model: one that is a directory itself, as
// isModelPath has it, or the one of that name among the installed. found reports
// whether it is there.
func (c *Config) modelDir(name string) (dir string, found bool) {
	switch {
	case isModelPath(name):
		dir = filepath.Clean(filepath.FromSlash(name))
	case name == "" || name == noModel:
		return "", false
	default:
		dir = filepath.Join(c.modelsDir(), name)
	}
	info, err := os.Stat(dir)
	return dir, err == nil && info.IsDir()
}

// isModelPath reports whether a configured model is a directory rather than the
// name of an installed one: a name has no slashes and no variables.
func isModelPath(model string) bool {
	return strings.ContainsAny(model, `/\$`) || strings.HasPrefix(model, "~") || strings.HasPrefix(model, ".")
}

// resolveModel makes the path of a model's directory absolute.
func (c *Config) resolveModel(base string) (err error) {
	setDefault(&c.Model, vector.DefaultModel)
	if isModelPath(c.Model) {
		c.Model, err = absolute(base, c.Model)
	}
	return err
}

// UseModel makes c use another model: the name of an installed one, or a
// directory, which is relative to the current one.
func (c *Config) UseModel(model string) error {
	c.Model = model
	return c.resolveModel(".")
}
