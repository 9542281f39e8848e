-- 300,000 words, of which 60 are looked up by an index.
PRAGMA automatic_index = off;
CREATE TABLE words (word TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000)
INSERT INTO words SELECT printf('word%08x', i * 2654435761 % 4294967296) FROM n;
CREATE INDEX by_word ON words (word);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
SELECT count(*) FROM n JOIN words ON word = printf('word%08x', i * 40503 * 2654435761 % 4294967296);
