package secrets

import (
	"regexp"
	"sync"
)

// rule says what one kind of secret looks like.
type rule struct {
	what     string
	keywords []string // in lower case; text without any of them is not searched
	pattern  string   // its first group, if it has one, is the secret
	entropy  float64  // least, in bits a byte
	digits   bool     // a secret has some

	find func() *regexp.Regexp
}

// Patterns are compiled when a text may need them: that takes some milliseconds
// for all.
func init() {
	for i := range rules {
		rules[i].find = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(rules[i].pattern) })
	}
}

// end is what may follow a secret.
const end = "(?:[\\x60'\"\\s;,.)]|\\\\[nr]|$)"

var rules = []rule{
	{what: "an Anthropic key", keywords: []string{"sk-ant-"}, pattern: `\bsk-ant-(?:api|admin|oat)\d\d-[\w-]{60,120}`, entropy: 3},
	{what: "an OpenAI key", keywords: []string{"sk-"}, pattern: `\bsk-(?:(?:proj|svcacct|admin)-[\w-]{20,100}T3BlbkFJ[\w-]{20,100}|[a-zA-Z0-9]{20}T3BlbkFJ[a-zA-Z0-9]{20})`, entropy: 3},
	{what: "an AWS access key", keywords: []string{"a3t", "akia", "asia", "abia", "acca"}, pattern: `\b((?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16})\b`, entropy: 3},
	{what: "a Google API key", keywords: []string{"aiza"}, pattern: `\b(AIza[\w-]{35})` + end, entropy: 3.5},
	{what: "an Azure client secret", keywords: []string{"q~"}, pattern: `(?:^|[\\'"\x60\s>=:(,)])([a-zA-Z0-9_~.]{3}\dQ~[a-zA-Z0-9_~.-]{31,34})(?:$|[\\'"\x60\s<),])`, entropy: 3},
	{what: "a GitHub token", keywords: []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"}, pattern: `\b(?:gh[pousr]_[0-9a-zA-Z]{36}|github_pat_\w{82})`, entropy: 3},
	{what: "a GitLab token", keywords: []string{"glpat-", "glrt-"}, pattern: `\bgl(?:pat|rt)-[\w-]{20}`, entropy: 3},
	{what: "a Slack token", keywords: []string{"xoxb", "xoxp-", "xoxe-", "xoxo", "xoxs", "xapp"},
		pattern: `\b(?:xoxb-[0-9]{10,13}-[0-9]{10,13}[a-zA-Z0-9-]*|xox[pe](?:-[0-9]{10,13}){3}-[a-zA-Z0-9-]{28,34}|xox[os]-\d+-\d+-\d+-[a-fA-F\d]+|xapp-\d-[A-Z0-9]+-\d+-[a-z0-9]+)`, entropy: 2},
	{what: "a Slack webhook", keywords: []string{"hooks.slack.com"}, pattern: `hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9+/]{43,56}`},
	{what: "a Stripe key", keywords: []string{"sk_", "rk_"}, pattern: `\b((?:sk|rk)_(?:test|live|prod)_[a-zA-Z0-9]{10,99})` + end, entropy: 2},
	{what: "a SendGrid key", keywords: []string{"sg."}, pattern: `\b(SG\.(?i)[a-z0-9=_\-\.]{66})` + end, entropy: 2},
	{what: "a Twilio key", keywords: []string{"sk"}, pattern: `\bSK[0-9a-fA-F]{32}\b`, entropy: 3},
	{what: "a Mailgun key", keywords: []string{"mailgun"}, pattern: `\bkey-[a-f0-9]{32}\b`},
	{what: "an npm token", keywords: []string{"npm_"}, pattern: `\b(npm_[a-zA-Z0-9]{36})` + end, entropy: 2},
	{what: "a PyPI token", keywords: []string{"pypi-ageichlwas5vcmc"}, pattern: `pypi-AgEIcHlwaS5vcmc[\w-]{50,1000}`, entropy: 3},
	{what: "a RubyGems key", keywords: []string{"rubygems_"}, pattern: `\b(rubygems_[a-f0-9]{48})` + end, entropy: 2},
	{what: "a Hugging Face token", keywords: []string{"hf_"}, pattern: `\b(hf_(?i:[a-z]{34}))` + end, entropy: 2},
	{what: "a DigitalOcean token", keywords: []string{"doo_v1_", "dop_v1_", "dor_v1_"}, pattern: `\b(do[opr]_v1_[a-f0-9]{64})` + end, entropy: 3},
	{what: "a Databricks token", keywords: []string{"dapi"}, pattern: `\b(dapi[a-f0-9]{32}(?:-\d)?)` + end, entropy: 3},
	{what: "a Grafana key", keywords: []string{"eyjrijoi", "glsa_"}, pattern: `(?i)\b(eyJrIjoi[A-Za-z0-9]{70,400}={0,3}|glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8})` + end, entropy: 3},
	{what: "a Terraform token", keywords: []string{"atlasv1"}, pattern: `(?i)[a-z0-9]{14}\.(?-i:atlasv1)\.[a-z0-9\-_=]{60,70}`, entropy: 3.5},
	{what: "a Vault token", keywords: []string{"hvs."}, pattern: `\b(hvs\.[\w-]{90,120})` + end, entropy: 3.5},
	{what: "an Atlassian token", keywords: []string{"atatt3"}, pattern: `\b(ATATT3[A-Za-z0-9_\-=]{186})` + end, entropy: 3.5},
	{what: "a Notion token", keywords: []string{"ntn_"}, pattern: `\b(ntn_[0-9]{11}[A-Za-z0-9]{35})` + end, entropy: 4},
	{what: "a Linear key", keywords: []string{"lin_api_"}, pattern: `lin_api_(?i)[a-z0-9]{40}`, entropy: 2},
	{what: "a Postman key", keywords: []string{"pmak-"}, pattern: `\b(PMAK-(?i)[a-f0-9]{24}\-[a-f0-9]{34})` + end, entropy: 3},
	{what: "a Shopify token", keywords: []string{"shpat_", "shpca_", "shppa_", "shpss_"}, pattern: `shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}`, entropy: 2},
	{what: "a Telegram bot token", keywords: []string{"telegr"}, pattern: `\b([0-9]{5,16}:A[a-zA-Z0-9_\-]{34})` + end},
	{what: "a 1Password token", keywords: []string{"ops_"}, pattern: `ops_eyJ[a-zA-Z0-9+/]{250,}={0,3}`, entropy: 4},
	{what: "a Fly.io token", keywords: []string{"fo1_", "fm1", "fm2_"}, pattern: `\b((?:fo1_[\w-]{43}|fm1[ar]_[a-zA-Z0-9+\/]{100,}={0,3}|fm2_[a-zA-Z0-9+\/]{100,}={0,3}))` + end, entropy: 4},
	{what: "an age key", keywords: []string{"age-secret-key-1"}, pattern: `AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}`},
	{what: "a private key", keywords: []string{"-----begin"}, pattern: `(?i)-----BEGIN[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----[\s\S-]{64,}?KEY(?: BLOCK)?-----`},
	{what: "a JSON web token", keywords: []string{"ey"}, pattern: `\b(ey[a-zA-Z0-9]{17,}\.ey[a-zA-Z0-9/\\_-]{17,}\.[a-zA-Z0-9/\\_-]{10,}={0,2})` + end, entropy: 3},

	// Of our own: a password in a URL, and what is called a secret and looks random.
	{what: "a password in a URL", keywords: []string{"://"}, pattern: `\b[a-z][a-z0-9+.-]*://[^\s/:@'"\x60]{1,64}:([^\s/:@'"\x60]{6,128})@[\w.-]+`, entropy: 2.5, digits: true},
	{what: "a password, key or token", keywords: []string{"key", "passw", "secret", "token", "credential"},
		pattern: `(?i)\b[\w.-]{0,50}(?:api[_-]?key|access[_-]?key|secret|token|passw(?:or)?d|credentials?)["'\x60]?[ \t]{0,3}(?:=|:|=>|:=)[ \t]{0,3}["'\x60]?([a-z0-9+/_=.-]{16,150})` + end, entropy: 3.7, digits: true},
}
