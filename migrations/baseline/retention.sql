-- Delete the rows wholly before `day`. A partition or chunk without a pinned row is dropped. Of a partition with some,
-- the pinned rows are copied out and back, so its space is free at once; of a chunk the other rows are deleted. The
-- function reads the partitions and their bounds from the catalogue, so it covers every tier.
--
-- A row that began before a pinned range reaches into it by its step. Pins are of meshes, so they keep nothing in a
-- table without meshes, such as traffic. Pins are read once and passed to each statement as values: measurements may be
-- on other servers than the inventory. A cluster of Citus stores the kept rows by COPY, which row-level security
-- refuses, except for ON CONFLICT; and it reads no subquery without columns. Call it in a session that sees every
-- tenant.

CREATE FUNCTION forget_measurements_before(parent text, day date) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET timezone = 'UTC' AS $$
DECLARE
    whole regclass := to_regclass('public.' || parent);
    step interval := CASE WHEN parent LIKE '%\_1d' THEN interval '1 day'
                          WHEN parent LIKE '%\_1h' THEN interval '1 hour'
                          WHEN parent LIKE '%\_15m' THEN interval '15 minutes' ELSE interval '1 minute' END;
    chunked boolean := EXISTS (SELECT FROM pg_extension WHERE extname = 'timescaledb');
    kept text := 'EXISTS (SELECT 1 FROM unnest($4, $5, $6) AS p(mesh_key, started_at, ended_at)'
                 ' WHERE p.mesh_key = f.mesh_key AND f.started_at > p.started_at - $3 AND f.started_at < p.ended_at)';
    span text := 'f.started_at >= $1 AND f.started_at < $2';
    pinned_meshes integer[];
    pin_starts timestamptz[];
    pin_ends timestamptz[];
    part record;
    pinned boolean;
    gone integer := 0;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = whole AND attname = 'mesh_key') THEN
        kept := 'false';
    END IF;
    IF whole IS NULL OR (SELECT count(*) FROM pg_attribute WHERE attrelid = whole
                         AND attname IN ('tenant_key', 'started_at')) <> 2 THEN
        RAISE EXCEPTION '% holds no measurements by time', parent;
    END IF;
    SELECT coalesce(array_agg(m.key), '{}'), coalesce(array_agg(p.started_at), '{}'),
           coalesce(array_agg(p.ended_at), '{}') INTO pinned_meshes, pin_starts, pin_ends
        FROM pins p JOIN meshes m ON m.id = p.mesh_id WHERE p.started_at < day;
    IF chunked THEN
        chunked := EXISTS (SELECT FROM timescaledb_information.hypertables WHERE hypertable_name = parent);
    END IF;
    IF chunked THEN
        FOR part IN SELECT range_start AS first, range_end AS last FROM timescaledb_information.chunks
                    WHERE hypertable_schema = 'public' AND hypertable_name = parent AND range_end <= day LOOP
            EXECUTE format('SELECT EXISTS (SELECT 1 FROM %I f WHERE %s AND %s)', parent, span, kept)
                INTO pinned USING part.first, part.last, step, pinned_meshes, pin_starts, pin_ends;
            IF pinned THEN
                EXECUTE format('DELETE FROM %I f WHERE %s AND NOT %s', parent, span, kept)
                    USING part.first, part.last, step, pinned_meshes, pin_starts, pin_ends;
            ELSE
                PERFORM drop_chunks(whole, older_than => part.last, newer_than => part.first);
                gone := gone + 1;
            END IF;
        END LOOP;
        RETURN gone;
    END IF;
    FOR part IN SELECT name, bounds[1]::timestamptz AS first, bounds[2]::timestamptz AS last FROM (
                    SELECT c.relname AS name, regexp_match(pg_get_expr(c.relpartbound, c.oid),
                           'FROM \(''(.*)''\) TO \(''(.*)''\)') AS bounds
                    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = whole) AS parts
                WHERE bounds[2]::timestamptz <= day ORDER BY name LOOP
        EXECUTE format('SELECT EXISTS (SELECT 1 FROM %I f WHERE %s AND %s)', parent, span, kept)
            INTO pinned USING part.first, part.last, step, pinned_meshes, pin_starts, pin_ends;
        IF NOT pinned THEN
            EXECUTE format('DROP TABLE %I', part.name);
            gone := gone + 1;
            CONTINUE;
        END IF;
        EXECUTE format('SELECT EXISTS (SELECT 1 FROM %I f WHERE %s AND NOT %s)', parent, span, kept)
            INTO pinned USING part.first, part.last, step, pinned_meshes, pin_starts, pin_ends;
        IF pinned THEN
            EXECUTE format('CREATE TEMP TABLE kept_rows ON COMMIT DROP AS SELECT f.* FROM %I f WHERE %s AND %s',
                           parent, span, kept) USING part.first, part.last, step, pinned_meshes, pin_starts, pin_ends;
            EXECUTE format('TRUNCATE %I', part.name);
            EXECUTE format('INSERT INTO %I SELECT * FROM kept_rows ON CONFLICT DO NOTHING', parent);
            DROP TABLE kept_rows;
        END IF;
    END LOOP;
    RETURN gone;
END $$;

-- Frames of short tiers are only inserted and, after days, dropped. Their TOAST values, nearly all of their bytes, need
-- no vacuum after inserts: they are never read by index alone and never old enough to be frozen. The rows themselves do
-- need it, so that they can be counted by index alone.
--
-- A partitioned table takes no such setting, and a partition inherits none, so this runs after partitions are created.
-- Its lock blocks neither readers nor writers. Chunks inherit the setting of their hypertable.

CREATE FUNCTION tune_measurement_partitions() RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    part regclass;
    tuned integer := 0;
BEGIN
    FOR part IN SELECT c.oid::regclass FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
                JOIN pg_class p ON p.oid = i.inhparent JOIN pg_class t ON t.oid = c.reltoastrelid
                WHERE p.relname = ANY(ARRAY['probe_frames', 'probe_frames_1m', 'probe_frames_15m', 'zone_frames_1m', 'spikes']) AND p.relkind = 'p'
                AND p.relnamespace = 'public'::regnamespace AND t.reloptions IS NULL ORDER BY 1 LOOP
        EXECUTE format('ALTER TABLE %s SET (toast.autovacuum_vacuum_insert_threshold = -1)', part);
        tuned := tuned + 1;
    END LOOP;
    RETURN tuned;
END $$;

-- `grants` lets the system role call them.

REVOKE EXECUTE ON FUNCTION make_measurement_partitions(date, date) FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION drop_measurements_before(text, date) FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION forget_measurements_before(text, date) FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION tune_measurement_partitions() FROM PUBLIC;
