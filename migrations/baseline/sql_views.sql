-- The tenant is that of `session_user`, the role that authenticated: unlike `current_user` it stays the same after SET
-- ROLE and inside functions. A view reads as its owner, and row-level security of the owner depends on a setting that
-- any session may change, so each view selects the rows of the tenant itself. With `security_barrier`, functions in a
-- caller's WHERE get only rows that the view returns.

CREATE SCHEMA sinemora_read;

CREATE VIEW sinemora_read.meshes WITH (security_barrier) AS
SELECT m.name AS mesh, m.id AS mesh_id
FROM public.meshes m
WHERE m.tenant_id = (SELECT l.tenant_id FROM public.sql_logins l WHERE l.role = session_user::text);

CREATE VIEW sinemora_read.zones WITH (security_barrier) AS
SELECT z.name AS zone, z.region, z.provider, z.id AS zone_id
FROM public.zones z
WHERE z.tenant_id = (SELECT l.tenant_id FROM public.sql_logins l WHERE l.role = session_user::text);

CREATE VIEW sinemora_read.zone_minutes WITH (security_barrier) AS
SELECT i.started_at AS time,
       m.name AS mesh,
       a.name AS source_zone,
       b.name AS target_zone,
       i.exchanges,
       i.delay_p50_ns,
       i.delay_p90_ns,
       i.delay_p99_ns,
       i.clock_error_ns,
       i.round_trip_p50_ns,
       i.round_trip_p90_ns,
       i.round_trip_p99_ns,
       i.packets_sent,
       i.packets_lost,
       CASE WHEN i.packets_sent > 0 THEN i.packets_lost::double precision / i.packets_sent END AS loss_ratio,
       m.id AS mesh_id,
       a.id AS source_zone_id,
       b.id AS target_zone_id
FROM public.zone_minutes i
JOIN public.meshes m ON m.key = i.mesh_key
JOIN public.zones a ON a.key = i.source_zone_key
JOIN public.zones b ON b.key = i.target_zone_key
WHERE i.tenant_key = (
        SELECT t.key FROM public.tenants t JOIN public.sql_logins l ON l.tenant_id = t.id
        WHERE l.role = session_user::text)
    AND (m.tenant_id, a.tenant_id, b.tenant_id) = (
        SELECT l.tenant_id, l.tenant_id, l.tenant_id FROM public.sql_logins l WHERE l.role = session_user::text);
