-- Actors count their crashes in memory, over the last minutes; nobody ever wrote this one.
ALTER TABLE runs DROP COLUMN crash_count;
