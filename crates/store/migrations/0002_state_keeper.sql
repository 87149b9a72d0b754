-- who kept the state of the workspace's last run: 'signalbox', or 'backend:' and its kind; null: nobody knows yet
ALTER TABLE workspaces ADD COLUMN state_keeper TEXT;
