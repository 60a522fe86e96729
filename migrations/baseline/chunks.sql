-- Measurements in hypertables: TimescaleDB creates and drops chunks by itself.

CREATE FUNCTION make_measurement_partitions(first_day date, last_day date) RETURNS integer
LANGUAGE sql AS $$ SELECT 0 $$;

CREATE FUNCTION drop_measurements_before(parent text, day date) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    dropped integer;
BEGIN
    IF parent NOT IN ('probe_frames', 'probe_frames_1m', 'spikes') THEN
        RAISE EXCEPTION '% is not partitioned by day', parent;
    END IF;
    SELECT count(*) INTO dropped
        FROM drop_chunks(to_regclass('public.' || parent), (day::text || ' 00:00+00')::timestamptz);
    RETURN dropped;
END $$;
