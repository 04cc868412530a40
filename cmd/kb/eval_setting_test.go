package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kb/vault"
)

func TestParseSettings(t *testing.T) {
	base := evalSetting{mode: "text", model: "small", at: "main"}
	none := map[string]string{}
	isModel := func(s string) bool { return s == "large" || strings.HasPrefix(s, "/") }
	for list, want := range map[string][2]evalSetting{
		"text,hybrid": {
			{"text", "text", "small", "main", none},
			{"hybrid", "hybrid", "small", "main", none},
		},
		"main, drafts/x": {
			{"main", "text", "small", "main", none},
			{"drafts/x", "text", "small", "drafts/x", none},
		},
		"large,/models/a+vector+v1.2": {
			{"large", "hybrid", "large", "main", none},
			{"/models/a+vector+v1.2", "vector", "/models/a", "v1.2", none},
		},
		"weight=0.3,search.vector_weight=0.1+search.mode=vector+at=HEAD~1": {
			{"weight=0.3", "hybrid", "small", "main", map[string]string{"search.vector_weight": "0.3"}},
			{"search.vector_weight=0.1+search.mode=vector+at=HEAD~1", "vector", "small", "HEAD~1", map[string]string{"search.vector_weight": "0.1"}},
		},
		"language=de,diversity=0.2+ann=hnsw+model=x=y": {
			{"language=de", "text", "small", "main", map[string]string{"language": "de"}},
			{"diversity=0.2+ann=hnsw+model=x=y", "hybrid", "x=y", "main", map[string]string{"search.diversity": "0.2", "vector.ann": "hnsw"}},
		},
	} {
		got, err := parseSettings(list, base, isModel)
		if d := cmp.Diff(want, got, cmp.AllowUnexported(evalSetting{})); d != "" || err != nil {
			t.Errorf("%s: %v %s", list, err, d)
		}
	}
	for _, list := range []string{"", "text", "text,", "text,hybrid,vector", "text,hybrid+", "text,colour=red", "text,mode=", "text,hybrid+vector", "text,weight=1+search.vector_weight=2"} {
		if got, err := parseSettings(list, base, isModel); vault.AsError(err) == nil || vault.AsError(err).Code != vault.Usage {
			t.Errorf("%q is taken for %v, %v", list, got, err)
		}
	}
}
