#!/bin/sh
# The main job of kb on real input: the manual in docs/, which is a vault. Run it with `make demo`.
set -eu
KB=${KB:-bin/kb}
cache=$(mktemp -d)
trap 'rm -rf "$cache"' EXIT
export KB_CACHE_DIR="$cache"

bold='' dim='' plain=''
if [ -t 1 ]; then bold=$(printf '\033[1m') dim=$(printf '\033[2m') plain=$(printf '\033[0m'); fi
say() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }
show() { printf '%s$ kb %s%s\n' "$dim" "$*" "$plain"; "$KB" "$@"; }

say "What is in the vault?"
show list-sections --text

say "Which notes answer a question?"
show search "how are notes ranked" --max-results 3 --text

say "The same question at an older commit"
old=$(git rev-list --max-parents=0 HEAD 2>/dev/null | tail -n 1 || true)
if [ -n "$old" ] && [ "$old" != "$(git rev-parse HEAD)" ]; then
	show search "how are notes ranked" --max-results 2 --at "$(git rev-parse --short "$old")" --text
else
	echo "(this clone has only one commit)"
fi

say "What is a note about, before reading it?"
show context guides/search.md --text | head -n 24

say "An agent asks the same through MCP"
request() { printf '%s\n' "$1"; }
{
	request '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"demo","version":"1"}}}'
	request '{"jsonrpc":"2.0","method":"notifications/initialized"}'
	request '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"kb_brief","arguments":{"query":"citations","max_tokens":200}}}'
	sleep 2 # a client that stays for the answer
} | "$KB" mcp | tail -n 1 | cut -c 1-600
echo

say "Now on your own notes"
echo "cd into a git repository of Markdown and run: $(cd "$(dirname "$KB")" && pwd)/kb search WORDS"
