-- What the config file says of a workspace's teams, for the time when it says nothing any more.
ALTER TABLE workspaces ADD COLUMN access TEXT NOT NULL DEFAULT '{}';

CREATE INDEX runs_of_workspace_by_time_of_end ON runs (workspace, state_changed_at) WHERE final = 1;
