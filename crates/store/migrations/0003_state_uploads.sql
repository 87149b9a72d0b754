-- states that were announced, and whose bytes come in a request of their own; gone when they have come, or after a day
CREATE TABLE state_uploads (
    id         TEXT PRIMARY KEY,
    workspace  TEXT NOT NULL REFERENCES workspaces (id),
    serial     INTEGER,
    lineage    TEXT,
    md5        TEXT,
    force      INTEGER NOT NULL,
    json       TEXT,
    created_at TEXT NOT NULL,
    created_by TEXT NOT NULL
) STRICT;

-- the blob with the state as `terraform show -json` gives it, if who brought the state brought that as well
ALTER TABLE state_versions ADD COLUMN json TEXT;
