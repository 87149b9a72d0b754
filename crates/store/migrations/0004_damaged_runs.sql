-- what of the run's record could not be read, and was given up
ALTER TABLE runs ADD COLUMN damaged TEXT;
