-- Hours and days of the minutes that people read with SQL, of zones and of chosen paths: continuous aggregates where
-- TimescaleDB has them, views of the minutes elsewhere. It runs after each upgrade and is no migration, because its
-- policies follow the settings. What is there stays: a migration that changes a column drops these views first.
--
-- They are in a schema where nobody but the owner has a right: they have no row-level security, as the minutes have
-- none. Logins read the views of `sinemora_read`, which select the tenant as those of baseline/sql_views.sql do.
--
-- A percentile has no mean and no sum, so an hour has the largest of its minutes.
--
-- Functions for this alone are temporary, so that another version may have others.

CREATE SCHEMA IF NOT EXISTS sinemora_steps;

CREATE OR REPLACE FUNCTION pg_temp.has_aggregates() RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    -- The Apache edition has none, and minutes may be older than the extension of their database.
    IF current_setting('timescaledb.license', true) IS DISTINCT FROM 'timescale'
        OR NOT EXISTS (SELECT FROM pg_proc WHERE proname = 'add_columnstore_policy') THEN
        RETURN false;
    END IF;
    RETURN EXISTS (SELECT FROM timescaledb_information.hypertables
                   WHERE hypertable_schema = 'public' AND hypertable_name = 'zone_minutes');
END $$;

CREATE OR REPLACE FUNCTION pg_temp.make(kind text, ends text, unit text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    step text := kind || '_' || unit || 's';
    of_minutes boolean := unit = 'hour';
    aggregate boolean := pg_temp.has_aggregates();
    value text;
    largest text := '';
BEGIN
    FOREACH value IN ARRAY ARRAY['delay_p50_ns', 'delay_p90_ns', 'delay_p99_ns', 'clock_error_ns',
                                 'round_trip_p50_ns', 'round_trip_p90_ns', 'round_trip_p99_ns'] LOOP
        largest := largest || format('max(%I) AS %I, ', CASE WHEN of_minutes THEN value ELSE 'largest_' || value END,
                                     'largest_' || value);
    END LOOP;
    EXECUTE format('CREATE %s AS SELECT tenant_key, mesh_key, %s AS started_at, source_%s_key, target_%s_key,'
                   ' %s AS minutes, sum(exchanges)::bigint AS exchanges, %s'
                   ' sum(packets_sent)::bigint AS packets_sent, sum(packets_lost)::bigint AS packets_lost,'
                   ' %s::bigint AS packets_judged FROM %s GROUP BY 1, 2, 3, 4, 5 %s',
        CASE WHEN aggregate THEN format('MATERIALIZED VIEW sinemora_steps.%I WITH (timescaledb.continuous,'
                                        ' timescaledb.materialized_only = false)', step)
             ELSE format('VIEW sinemora_steps.%I', step) END,
        format(CASE WHEN aggregate THEN 'public.time_bucket(interval ''1 %s'', started_at)'
                    ELSE 'date_trunc(''%s'', started_at, ''UTC'')' END, unit),
        ends, ends,
        CASE WHEN of_minutes THEN 'count(*)' ELSE 'sum(minutes)::bigint' END,
        largest,
        CASE WHEN of_minutes THEN 'sum(packets_sent) FILTER (WHERE packets_lost IS NOT NULL)'
             ELSE 'sum(packets_judged)' END,
        CASE WHEN of_minutes THEN format('public.%s_minutes', kind) ELSE format('sinemora_steps.%s_hours', kind) END,
        CASE WHEN aggregate THEN 'WITH NO DATA' ELSE '' END);
    EXECUTE format($view$
        CREATE VIEW sinemora_read.%1$I WITH (security_barrier) AS
        SELECT i.started_at AS time,
               m.name AS mesh,
               a.name AS source_%2$s,
               b.name AS target_%2$s,
               i.minutes,
               i.exchanges,
               i.largest_delay_p50_ns,
               i.largest_delay_p90_ns,
               i.largest_delay_p99_ns,
               i.largest_clock_error_ns,
               i.largest_round_trip_p50_ns,
               i.largest_round_trip_p90_ns,
               i.largest_round_trip_p99_ns,
               i.packets_sent,
               i.packets_lost,
               CASE WHEN i.packets_judged > 0 THEN i.packets_lost::double precision / i.packets_judged END AS loss_ratio,
               m.id AS mesh_id,
               a.id AS source_%2$s_id,
               b.id AS target_%2$s_id
        FROM sinemora_steps.%1$I i
        JOIN public.meshes m ON m.key = i.mesh_key
        JOIN public.%2$ss a ON a.key = i.source_%2$s_key
        JOIN public.%2$ss b ON b.key = i.target_%2$s_key
        WHERE i.tenant_key = (
                SELECT t.key FROM public.tenants t JOIN public.sql_logins l ON l.tenant_id = t.id
                WHERE l.role = session_user::text)
            AND (m.tenant_id, a.tenant_id, b.tenant_id) = (
                SELECT l.tenant_id, l.tenant_id, l.tenant_id FROM public.sql_logins l
                WHERE l.role = session_user::text)
        $view$, step, ends);
END $$;

-- Hours stay longer than minutes, and days longer than hours. An hour is computed again after one of its minutes came
-- late or was deleted, while all its minutes are kept; later that would delete the hour. So after minutes are kept longer
-- than before, the time in which that happens grows only when minutes of all of it are there.
CREATE OR REPLACE FUNCTION pg_temp.set_policies(minute_days integer, hour_days integer, day_days integer)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    hours_kept integer := greatest(hour_days, minute_days + 3, 5);
    computed interval := make_interval(hours => 24 * minute_days - 1);
    before interval := (
        SELECT j.config ->> 'start_offset' FROM timescaledb_information.jobs j
        WHERE j.hypertable_schema = 'sinemora_steps' AND j.hypertable_name = 'zone_hours'
            AND j.proc_name = 'policy_refresh_continuous_aggregate');
    one record;
    job record;
BEGIN
    IF computed > before AND minute_days - 1 > (
            SELECT count(*) FROM timescaledb_information.chunks c
            WHERE c.hypertable_schema = 'public' AND c.hypertable_name = 'zone_minutes'
                AND c.range_start > now() - computed) THEN
        computed := before;
    END IF;
    FOR one IN SELECT v.*, k.step, k.ends FROM (VALUES
        ('hours', computed, interval '10 minutes', make_interval(days => hours_kept)),
        ('days', computed + interval '2 days', interval '1 hour',
         make_interval(days => greatest(day_days, hours_kept)))
    ) AS v(unit, computed, every, kept)
    JOIN (VALUES ('zone_hours', 'zone'), ('zone_days', 'zone'), ('path_hours', 'vm'), ('path_days', 'vm'))
        AS k(step, ends) ON k.step LIKE '%\_' || v.unit
    WHERE to_regclass('sinemora_steps.' || k.step) IS NOT NULL LOOP
        IF NOT EXISTS (SELECT FROM timescaledb_information.jobs j
                       WHERE j.hypertable_schema = 'sinemora_steps' AND j.hypertable_name = one.step) THEN
            PERFORM public.add_continuous_aggregate_policy(('sinemora_steps.' || one.step)::regclass, one.computed,
                                                           interval '1 hour', one.every);
            PERFORM public.add_retention_policy(('sinemora_steps.' || one.step)::regclass, one.kept);
            IF one.unit = 'hours' THEN
                EXECUTE format('ALTER MATERIALIZED VIEW sinemora_steps.%I SET (timescaledb.enable_columnstore,'
                               ' timescaledb.segmentby = ''tenant_key, mesh_key, source_%s_key, target_%s_key'','
                               ' timescaledb.orderby = ''started_at'')', one.step, one.ends, one.ends);
                CALL public.add_columnstore_policy(('sinemora_steps.' || one.step)::regclass,
                                                   one.computed + interval '2 days');
            END IF;
        END IF;
        FOR job IN
            SELECT j.job_id AS id, j.config || jsonb_build_object(wanted.name, wanted.value) AS config
            FROM timescaledb_information.jobs j
            JOIN (VALUES ('policy_refresh_continuous_aggregate', 'start_offset', one.computed),
                         ('policy_compression', 'compress_after', one.computed + interval '2 days'),
                         ('policy_retention', 'drop_after', one.kept)) AS wanted(proc, name, value)
                ON wanted.proc = j.proc_name
            WHERE j.hypertable_schema = 'sinemora_steps' AND j.hypertable_name = one.step
                AND (j.config ->> wanted.name)::interval <> wanted.value
        LOOP
            PERFORM public.alter_job(job.id, config => job.config);
        END LOOP;
    END LOOP;
END $$;

-- Hours older than minutes would outlive their tenant: nothing else deletes them before their time.
CREATE OR REPLACE FUNCTION sinemora_steps.forget_tenant() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    kept text;
BEGIN
    PERFORM set_config('timescaledb.max_tuples_decompressed_per_dml_transaction', '0', true);
    FOR kept IN SELECT format('%I.%I', materialization_hypertable_schema, materialization_hypertable_name)
                FROM timescaledb_information.continuous_aggregates WHERE view_schema = 'sinemora_steps' LOOP
        EXECUTE format('DELETE FROM %s WHERE tenant_key = $1', kept) USING OLD.key;
    END LOOP;
    RETURN NULL;
END $$;

DO $$
BEGIN
    IF to_regclass('sinemora_steps.zone_hours') IS NULL THEN
        PERFORM pg_temp.make('zone', 'zone', 'hour');
        PERFORM pg_temp.make('zone', 'zone', 'day');
        IF pg_temp.has_aggregates() THEN
            CREATE TRIGGER forget_steps AFTER DELETE ON public.tenants
                FOR EACH ROW EXECUTE FUNCTION sinemora_steps.forget_tenant();
        END IF;
    END IF;
    IF to_regclass('public.path_minutes') IS NOT NULL AND to_regclass('sinemora_steps.path_hours') IS NULL THEN
        PERFORM pg_temp.make('path', 'vm', 'hour');
        PERFORM pg_temp.make('path', 'vm', 'day');
    END IF;
END $$;
