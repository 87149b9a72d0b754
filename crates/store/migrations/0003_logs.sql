-- Blobs by stage. Of a stage that ended before this release, the log is where it was written: beside its execution.
ALTER TABLE runs ADD COLUMN logs TEXT NOT NULL DEFAULT '{}';
