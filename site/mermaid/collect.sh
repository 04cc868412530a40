#!/bin/sh
# Fetches the version of mermaid named here from npm, and writes what the site
# embeds: the library, and the licences of all that is bundled in it.
set -eu
version=11.17.0
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
echo '{"private": true}' > package.json
npm install --no-audit --no-fund --omit=dev --ignore-scripts --silent "mermaid@$version"
gzip -9 -n -c node_modules/mermaid/dist/mermaid.min.js > "$here/mermaid.min.js.gz"
node - > licenses.txt <<'JS'
const fs = require("fs"), path = require("path");
const texts = new Map(); // packages by the text of their licence
const visit = (dir) => {
  for (const name of fs.readdirSync(dir).sort()) {
    const at = path.join(dir, name);
    if (name.startsWith(".")) continue;
    if (name.startsWith("@")) { visit(at); continue; }
    const p = JSON.parse(fs.readFileSync(path.join(at, "package.json"), "utf8"));
    const file = fs.readdirSync(at).sort().find((f) => /^(licen[cs]e|copying)/i.test(f));
    const text = file ? fs.readFileSync(path.join(at, file), "utf8").replace(/\r/g, "").trim() : "";
    if (!p.name.startsWith("@types/")) texts.set(text, [...(texts.get(text) || []), `${p.name} (${p.license})`]);
    if (fs.existsSync(path.join(at, "node_modules"))) visit(path.join(at, "node_modules"));
  }
};
visit("node_modules");
const all = [...texts].map(([text, names]) => [[...new Set(names)].sort().join(", "), text]).sort();
process.stdout.write("Licences of mermaid and of what is bundled in it.\n");
for (const [names, text] of all) process.stdout.write(`\n${"-".repeat(72)}\n${names}\n\n${text || "(the package has no text of its licence)"}\n`);
JS
gzip -9 -n -c licenses.txt > "$here/licenses.txt.gz"
