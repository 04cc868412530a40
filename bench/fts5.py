"""SQLite FTS5 as the thing to compare with: one row a note.

fts5.py build DB DIR   index the .md files below DIR in one transaction
fts5.py serve DB       answer lines of JSON [[words], with_snippet] with the seconds and CPU seconds of the query
"""
import json
import os
import re
import sqlite3
import sys
import time

HEADING = re.compile(r"^#+\s+(.+)$", re.M)
PLAIN = "SELECT path, title, bm25(notes) FROM notes WHERE notes MATCH ? ORDER BY bm25(notes) LIMIT 10"
SNIPPET = "SELECT path, title, bm25(notes), snippet(notes, 2, '**', '**', '…', 32) FROM notes WHERE notes MATCH ? ORDER BY bm25(notes) LIMIT 10"


def build(db, root):
    con = sqlite3.connect(db)
    con.execute("CREATE VIRTUAL TABLE notes USING fts5(path UNINDEXED, title, body, tokenize='porter unicode61')")
    with con:
        con.executemany("INSERT INTO notes VALUES (?, ?, ?)", rows(root))
    con.close()


def rows(root):
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(f for f in folders if f != ".git")
        for name in sorted(files):
            path = os.path.join(folder, name)
            if not name.endswith(".md") or os.path.islink(path):
                continue
            with open(path, encoding="utf-8", errors="replace") as f:
                body = f.read()
            heading = HEADING.search(body)
            yield os.path.relpath(path, root), heading.group(1) if heading else name[:-3], body


def serve(db):
    con = sqlite3.connect(db)
    for line in sys.stdin:
        words, snippet = json.loads(line)
        match = " OR ".join('"%s"' % w for w in words)
        start, cpu = time.perf_counter(), time.process_time()
        con.execute(SNIPPET if snippet else PLAIN, (match,)).fetchall()
        print(time.perf_counter() - start, time.process_time() - cpu, flush=True)


if sys.argv[1] == "build":
    build(sys.argv[2], sys.argv[3])
else:
    serve(sys.argv[2])
