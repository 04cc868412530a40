package vault

import (
	"path"
	"strings"
)

// annotations writes the form that GitHub's runners show beside a diff.
func (r *HealthResult) annotations(t *Text) {
	escape := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	for i := range r.Collections {
		h := &r.Collections[i]
		for _, k := range h.kinds() {
			for _, x := range *k.list {
				t.Printf("::warning file=%s,line=%d,title=%s::%s\n", property.Replace(path.Join(h.Dir, x.Path)), x.Line, property.Replace(k.name), escape.Replace(x.Message+" - "+x.Mend))
			}
		}
	}
}
