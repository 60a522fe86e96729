-- Measurements in native partitions. Functions of one name are there with TimescaleDB too (chunks.sql), so no other
-- code needs to know the engine. They run as the owner of the tables, because the application's role may neither create
-- nor drop a table.
--
-- A partition is created apart and then attached, which does not block writers of other partitions. It has row-level
-- security and no policy of its own, so it can be read only through its parent. Small tables, or those kept for years,
-- are partitioned by month: no query has to plan for a thousand partitions.
--
-- Long lines are as in databases that grew to this version, whose migrations replaced parts of the functions.

CREATE FUNCTION make_measurement_partitions(first_day date, last_day date) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    parent text;
    unit text;
    day date;
    name text;
    made integer := 0;
BEGIN
    IF last_day - first_day > 400 THEN
        RAISE EXCEPTION 'from % to % are more than 400 days', first_day, last_day;
    END IF;
    PERFORM pg_advisory_xact_lock(84200002);
    FOREACH parent IN ARRAY ARRAY['probe_frames', 'vm_traffic', 'zone_minutes', 'vm_connections', 'probe_frames_1m', 'spikes', 'probe_frames_15m', 'zone_frames_1m', 'probe_frames_1h', 'probe_frames_1d', 'zone_frames_15m', 'zone_frames_1h', 'zone_frames_1d']::text[] LOOP
        unit := CASE WHEN parent = ANY(ARRAY['probe_frames_1h', 'probe_frames_1d', 'zone_frames_15m', 'zone_frames_1h', 'zone_frames_1d']::text[]) THEN 'month' ELSE 'day' END;
        FOR day IN SELECT generate_series(date_trunc(unit, first_day), last_day, ('1 ' || unit)::interval)::date LOOP
            name := parent || '_' || to_char(day, CASE unit WHEN 'month' THEN 'YYYYMM' ELSE 'YYYYMMDD' END);
            CONTINUE WHEN to_regclass('public.' || name) IS NOT NULL;
            EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL)', name, parent);
            EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', name);
            EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', parent, name,
                           day::text || ' 00:00+00', (day + ('1 ' || unit)::interval)::date::text || ' 00:00+00');
            made := made + 1;
        END LOOP;
    END LOOP;
    RETURN made;
END $$;

CREATE FUNCTION drop_measurements_before(parent text, day date) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    name text;
    dropped integer := 0;
BEGIN
    IF parent NOT IN ('probe_frames', 'probe_frames_1m', 'spikes') THEN
        RAISE EXCEPTION '% is not partitioned by day', parent;
    END IF;
    FOR name IN SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
                WHERE i.inhparent = to_regclass('public.' || parent)
                AND c.relname < parent || '_' || to_char(day, 'YYYYMMDD') ORDER BY 1 LOOP
        EXECUTE format('DROP TABLE %I', name);
        dropped := dropped + 1;
    END LOOP;
    RETURN dropped;
END $$;
