-- Times are UTC texts of one width, with nanoseconds: they sort, people can read them, and nothing is lost.
-- `seq` gives every table an order of arrival; ids are random and give none.

CREATE TABLE workspaces (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    id          TEXT NOT NULL UNIQUE,
    name        TEXT NOT NULL UNIQUE,
    origin      TEXT NOT NULL CHECK (origin IN ('config-file', 'api')),
    -- null: the config file has them
    settings    TEXT,
    locked_by   TEXT,
    lock_reason TEXT,
    locked_at   TEXT,
    created_at  TEXT NOT NULL,
    updated_at  TEXT NOT NULL,
    removed_at  TEXT,
    -- the run that the workspace shows: the one that holds it, or else the newest final one, or else the first that waits;
    -- follows from its runs, and is here for lists
    current_run TEXT,
    CHECK ((origin = 'api') = (settings IS NOT NULL)),
    CHECK ((locked_by IS NULL) = (locked_at IS NULL) AND (locked_by IS NULL) = (lock_reason IS NULL))
) STRICT;

CREATE INDEX workspaces_that_are_there ON workspaces (name) WHERE removed_at IS NULL;

-- what each team may do in a workspace; in one of the config file, what that said last
CREATE TABLE workspace_access (
    team      TEXT NOT NULL,
    workspace TEXT NOT NULL REFERENCES workspaces (id),
    level     TEXT NOT NULL,
    PRIMARY KEY (team, workspace)
) STRICT, WITHOUT ROWID;

CREATE INDEX access_of_workspace ON workspace_access (workspace);

CREATE TABLE configuration_versions (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    id          TEXT NOT NULL UNIQUE,
    workspace   TEXT NOT NULL REFERENCES workspaces (id),
    source      TEXT NOT NULL,
    status      TEXT NOT NULL CHECK (status IN ('pending', 'uploaded', 'errored')),
    digest      TEXT,
    size        INTEGER,
    error       TEXT,
    commit_sha  TEXT,
    commit_ref  TEXT,
    commit_url  TEXT,
    speculative INTEGER NOT NULL,
    created_at  TEXT NOT NULL,
    finished_at TEXT,
    CHECK ((status = 'uploaded') = (digest IS NOT NULL) AND (digest IS NULL) = (size IS NULL)),
    CHECK ((status = 'errored') = (error IS NOT NULL))
) STRICT;

CREATE INDEX configuration_versions_of_workspace ON configuration_versions (workspace, seq);

CREATE TABLE runs (
    seq                   INTEGER PRIMARY KEY AUTOINCREMENT,
    id                    TEXT NOT NULL UNIQUE,
    workspace             TEXT NOT NULL REFERENCES workspaces (id),
    version               INTEGER NOT NULL,
    state                 TEXT NOT NULL,
    -- these four follow from the state and the facts; they are here for the indexes and guards below
    final                 INTEGER NOT NULL,
    holds                 INTEGER NOT NULL,
    plan_only             INTEGER NOT NULL,
    operation             TEXT NOT NULL,
    facts                 TEXT NOT NULL,
    message               TEXT NOT NULL,
    options               TEXT NOT NULL,
    source                TEXT NOT NULL,
    created_by            TEXT NOT NULL,
    confirmed_by          TEXT,
    created_at            TEXT NOT NULL,
    updated_at            TEXT NOT NULL,
    state_changed_at      TEXT NOT NULL,
    status_timestamps     TEXT NOT NULL,
    cancel                TEXT,
    plan                  TEXT,
    configuration_version TEXT REFERENCES configuration_versions (id),
    error                 TEXT,
    policy_outcome        TEXT,
    policy_report         TEXT,
    policy_counts         TEXT,
    -- blobs by stage
    logs                  TEXT NOT NULL
) STRICT;

CREATE INDEX runs_of_workspace ON runs (workspace, seq);
CREATE INDEX runs_of_workspace_by_end ON runs (workspace, plan_only, final, seq);
CREATE INDEX runs_of_workspace_by_time_of_end ON runs (workspace, state_changed_at) WHERE final = 1;
CREATE INDEX runs_by_state ON runs (state);
-- what the lists of an organization's runs count, so that they need not read the runs
CREATE INDEX runs_counted ON runs (operation, created_at, workspace);
-- queues stay short however long the history gets
CREATE INDEX runs_not_final ON runs (seq) WHERE final = 0;
CREATE INDEX runs_of_workspace_not_final ON runs (workspace, seq) WHERE final = 0;

-- one run at a time holds a workspace, whatever the code above believes
CREATE UNIQUE INDEX one_run_holds_a_workspace ON runs (workspace) WHERE holds = 1;

CREATE TRIGGER final_run_never_changes
BEFORE UPDATE ON runs WHEN OLD.final = 1
BEGIN
    SELECT RAISE(ABORT, 'a final run never changes');
END;

CREATE TABLE journal (
    seq        INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT NOT NULL UNIQUE,
    run        TEXT NOT NULL REFERENCES runs (id),
    at         TEXT NOT NULL,
    -- null: the daemon by itself
    by_user    TEXT,
    from_state TEXT,
    to_state   TEXT NOT NULL,
    rule       TEXT,
    why        TEXT
) STRICT;

CREATE INDEX journal_of_run ON journal (run, seq);

CREATE TRIGGER journal_is_only_written BEFORE UPDATE ON journal
BEGIN
    SELECT RAISE(ABORT, 'the journal never changes');
END;

CREATE TRIGGER journal_is_never_deleted BEFORE DELETE ON journal
BEGIN
    SELECT RAISE(ABORT, 'the journal never changes');
END;

CREATE TABLE state_versions (
    seq               INTEGER PRIMARY KEY AUTOINCREMENT,
    id                TEXT NOT NULL UNIQUE,
    workspace         TEXT NOT NULL REFERENCES workspaces (id),
    run               TEXT REFERENCES runs (id),
    serial            INTEGER NOT NULL,
    lineage           TEXT NOT NULL,
    terraform_version TEXT NOT NULL,
    digest            TEXT NOT NULL,
    size              INTEGER NOT NULL,
    created_at        TEXT NOT NULL,
    created_by        TEXT NOT NULL
) STRICT;

CREATE INDEX state_versions_of_workspace ON state_versions (workspace, seq);
CREATE INDEX state_versions_of_run ON state_versions (run, seq);
