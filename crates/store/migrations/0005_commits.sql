-- what a person reads of a commit before they say yes to it
ALTER TABLE configuration_versions ADD COLUMN commit_message TEXT;
ALTER TABLE configuration_versions ADD COLUMN commit_author TEXT;
