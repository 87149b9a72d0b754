-- the journal of a run goes with it once it is over and expired; until then nothing of it does
DROP TRIGGER journal_is_never_deleted;

CREATE TRIGGER journal_stays_as_long_as_its_run BEFORE DELETE ON journal
WHEN EXISTS (SELECT 1 FROM runs WHERE id = OLD.run AND final = 0)
BEGIN
    SELECT RAISE(ABORT, 'the journal never changes');
END;

CREATE TRIGGER run_that_is_not_over_stays BEFORE DELETE ON runs WHEN OLD.final = 0
BEGIN
    SELECT RAISE(ABORT, 'a run that is not over is not removed');
END;

CREATE INDEX runs_of_configuration_version ON runs (configuration_version);
