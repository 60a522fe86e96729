-- Frames of windows and minutes, spikes, newest windows, corrections, pins, traffic and connections of VMs, minutes
-- between zones, measurements on demand. The migration itself creates the coarser tiers of frames, which are alike.
-- TimescaleDB divides tables by time itself: there, the migration leaves out PARTITION BY.

CREATE TABLE probe_frames (
    tenant_key integer NOT NULL,
    mesh_key integer NOT NULL,
    started_at timestamptz NOT NULL,
    vm_key integer NOT NULL,
    block smallint NOT NULL,
    window_s smallint NOT NULL,
    roster_key integer NOT NULL,
    n smallint NOT NULL,
    stats bytea NOT NULL,
    sketch bytea NOT NULL,
    received_at timestamptz NOT NULL DEFAULT now(),
    timestamp_source smallint,
    CONSTRAINT pk_probe_frames PRIMARY KEY (tenant_key, mesh_key, started_at, vm_key, block),
    CONSTRAINT ck_probe_frames_n CHECK (n BETWEEN 1 AND 256),
    CONSTRAINT ck_probe_frames_window_s CHECK (window_s BETWEEN 1 AND 60)
) PARTITION BY RANGE (started_at);

CREATE TABLE probe_frames_1m (
    tenant_key integer NOT NULL,
    mesh_key integer NOT NULL,
    started_at timestamptz NOT NULL,
    vm_key integer NOT NULL,
    block smallint NOT NULL,
    window_s smallint NOT NULL,
    roster_key integer NOT NULL,
    n smallint NOT NULL,
    stats bytea NOT NULL,
    sketch bytea NOT NULL,
    frames integer NOT NULL,
    rolled_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT pk_probe_frames_1m PRIMARY KEY (tenant_key, mesh_key, started_at, vm_key, block),
    CONSTRAINT ck_probe_frames_1m_n CHECK (n BETWEEN 1 AND 256)
) PARTITION BY RANGE (started_at);

CREATE TABLE spikes (
    tenant_key integer NOT NULL,
    mesh_key integer NOT NULL,
    started_at timestamptz NOT NULL,
    source_key integer NOT NULL,
    target_key integer NOT NULL,
    window_s smallint NOT NULL,
    max_ns bigint NOT NULL,
    median_ns bigint NOT NULL,
    evidence bytea NOT NULL,
    CONSTRAINT pk_spikes PRIMARY KEY (tenant_key, mesh_key, started_at, source_key, target_key)
) PARTITION BY RANGE (started_at);

CREATE TABLE rosters (
    key integer GENERATED ALWAYS AS IDENTITY,
    tenant_key integer NOT NULL,
    digest bytea NOT NULL,
    target_keys integer[] NOT NULL,
    written_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT pk_rosters PRIMARY KEY (key),
    CONSTRAINT uq_rosters_tenant_key_digest UNIQUE (tenant_key, digest)
);

-- A mark is written with each frame and deleted within 20 s: nearly all rows of the table are dead.

CREATE TABLE rollup_marks (
    id bigint GENERATED ALWAYS AS IDENTITY,
    tenant_key integer NOT NULL,
    mesh_key integer NOT NULL,
    minute timestamptz NOT NULL,
    step_s integer NOT NULL DEFAULT 60,
    CONSTRAINT pk_rollup_marks PRIMARY KEY (id)
) WITH (
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
    autovacuum_vacuum_cost_delay = 0, vacuum_truncate = false
);
CREATE INDEX ix_rollup_marks_step_s_tenant_key_mesh_key_minute ON rollup_marks (step_s, tenant_key, mesh_key, minute);

-- The newest windows: every row and its TOAST values are replaced once a window, so each vacuum has much to free, and
-- what it does not free in time stays as bloat. It runs without pauses. It returns no pages to the disk: the table
-- needs them again within seconds, and truncation takes a lock that stops all writers of reports. Statistics are not
-- needed: the table is read by key.

CREATE UNLOGGED TABLE path_latest (
    tenant_key integer NOT NULL,
    mesh_key integer NOT NULL,
    vm_key integer NOT NULL,
    block smallint NOT NULL,
    started_at timestamptz NOT NULL,
    window_s smallint NOT NULL,
    roster_key integer NOT NULL,
    n smallint NOT NULL,
    stats bytea NOT NULL,
    CONSTRAINT pk_path_latest PRIMARY KEY (tenant_key, mesh_key, vm_key, block)
) WITH (
    fillfactor = 50,
    autovacuum_vacuum_scale_factor = 0.05, toast.autovacuum_vacuum_scale_factor = 0.05,
    autovacuum_vacuum_cost_delay = 0, toast.autovacuum_vacuum_cost_delay = 0,
    vacuum_truncate = false, toast.vacuum_truncate = false,
    autovacuum_analyze_scale_factor = 10
);

CREATE UNLOGGED TABLE path_latest_meshes (
    tenant_key integer NOT NULL,
    mesh_key integer NOT NULL,
    CONSTRAINT pk_path_latest_meshes PRIMARY KEY (tenant_key, mesh_key)
);

-- Rewritten like the newest windows.

CREATE UNLOGGED TABLE clocks_latest (
    tenant_key integer NOT NULL,
    mesh_key integer NOT NULL,
    vm_key integer NOT NULL,
    started_at timestamptz NOT NULL,
    window_s smallint NOT NULL,
    clocks bytea NOT NULL,
    CONSTRAINT pk_clocks_latest PRIMARY KEY (tenant_key, mesh_key, vm_key)
) WITH (
    fillfactor = 50,
    autovacuum_vacuum_scale_factor = 0.05, toast.autovacuum_vacuum_scale_factor = 0.05,
    autovacuum_vacuum_cost_delay = 0, toast.autovacuum_vacuum_cost_delay = 0,
    vacuum_truncate = false, toast.vacuum_truncate = false,
    autovacuum_analyze_scale_factor = 10
);

CREATE TABLE corrections (
    tenant_key integer NOT NULL,
    mesh_key integer NOT NULL,
    started_at timestamptz NOT NULL,
    ended_at timestamptz NOT NULL,
    shifts bytea NOT NULL,
    loops integer NOT NULL,
    loop_median_ns bigint,
    loop_max_ns bigint,
    CONSTRAINT pk_corrections PRIMARY KEY (tenant_key, mesh_key, started_at)
);

CREATE TABLE pins (
    mesh_id uuid NOT NULL,
    started_at timestamptz NOT NULL,
    ended_at timestamptz NOT NULL,
    reason varchar NOT NULL,
    made_by varchar NOT NULL,
    id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    tenant_id uuid NOT NULL,
    CONSTRAINT pk_pins PRIMARY KEY (id),
    CONSTRAINT ck_pins_range CHECK (started_at < ended_at),
    CONSTRAINT fk_pins_tenant_id_mesh_id_meshes FOREIGN KEY (tenant_id, mesh_id)
        REFERENCES meshes (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_pins_tenant_id_tenants FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE,
    CONSTRAINT uq_pins_tenant_id_id UNIQUE (tenant_id, id)
);
CREATE INDEX ix_pins_tenant_id_started_at_id ON pins (tenant_id, started_at, id);
CREATE INDEX ix_pins_mesh_id_started_at ON pins (mesh_id, started_at);

CREATE TABLE vm_traffic (
    tenant_key integer NOT NULL,
    vm_key integer NOT NULL,
    started_at timestamptz NOT NULL,
    window_s smallint NOT NULL,
    elapsed_ms integer NOT NULL,
    bytes_sent bigint NOT NULL,
    packets_sent bigint NOT NULL,
    bytes_received bigint NOT NULL,
    packets_received bigint NOT NULL,
    interface varchar NOT NULL,
    CONSTRAINT pk_vm_traffic PRIMARY KEY (tenant_key, vm_key, started_at),
    CONSTRAINT ck_vm_traffic_window_s CHECK (window_s BETWEEN 1 AND 60),
    CONSTRAINT ck_vm_traffic_elapsed_ms CHECK (elapsed_ms > 0)
) PARTITION BY RANGE (started_at);

CREATE TABLE vm_connections (
    tenant_key integer NOT NULL,
    vm_key integer NOT NULL,
    started_at timestamptz NOT NULL,
    peer_key integer NOT NULL,
    connections integer NOT NULL,
    segments_sent bigint NOT NULL,
    segments_retransmitted bigint NOT NULL,
    timeouts integer NOT NULL,
    timeouts_in_band integer NOT NULL,
    stalled_ms bigint NOT NULL,
    rto_us integer NOT NULL,
    CONSTRAINT pk_vm_connections PRIMARY KEY (tenant_key, vm_key, started_at, peer_key),
    CONSTRAINT ck_vm_connections_timeouts_in_band CHECK (timeouts_in_band <= timeouts)
) PARTITION BY RANGE (started_at);

-- No row-level security: TimescaleDB refuses it on a table with columnstore. `grants` gives the role of requests
-- nothing here; logins read the views of sql_views.sql.

CREATE TABLE zone_minutes (
    tenant_key integer NOT NULL,
    mesh_key integer NOT NULL,
    started_at timestamptz NOT NULL,
    source_zone_key integer NOT NULL,
    target_zone_key integer NOT NULL,
    exchanges bigint NOT NULL,
    delay_p50_ns bigint,
    delay_p90_ns bigint,
    delay_p99_ns bigint,
    clock_error_ns bigint,
    round_trip_p50_ns bigint,
    round_trip_p90_ns bigint,
    round_trip_p99_ns bigint,
    packets_sent bigint,
    packets_lost bigint,
    CONSTRAINT pk_zone_minutes PRIMARY KEY (tenant_key, mesh_key, started_at, source_zone_key, target_zone_key)
) PARTITION BY RANGE (started_at);

CREATE TABLE on_demand_measurements (
    key integer GENERATED ALWAYS AS IDENTITY,
    mesh_id uuid NOT NULL,
    source_vm_id uuid NOT NULL,
    target_vm_id uuid NOT NULL,
    client_vm_id uuid NOT NULL,
    rate_hz integer NOT NULL,
    source_ports integer NOT NULL,
    loss_deadline_ms integer NOT NULL,
    starts_at timestamptz NOT NULL,
    ends_at timestamptz NOT NULL,
    stopped_at timestamptz,
    requested_by varchar NOT NULL,
    id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    tenant_id uuid NOT NULL,
    ecn boolean NOT NULL DEFAULT false,
    reordering boolean NOT NULL DEFAULT false,
    CONSTRAINT pk_on_demand_measurements PRIMARY KEY (id),
    CONSTRAINT uq_on_demand_measurements_key UNIQUE (key),
    CONSTRAINT uq_on_demand_measurements_tenant_id_id UNIQUE (tenant_id, id),
    CONSTRAINT uq_on_demand_measurements_tenant_id_key UNIQUE (tenant_id, key),
    CONSTRAINT ck_on_demand_measurements_ends_differ CHECK (source_vm_id <> target_vm_id),
    CONSTRAINT ck_on_demand_measurements_client CHECK (client_vm_id IN (source_vm_id, target_vm_id)),
    CONSTRAINT ck_on_demand_measurements_rate_hz CHECK (rate_hz IN (1, 2, 4, 8, 16, 32, 64, 128)),
    CONSTRAINT ck_on_demand_measurements_source_ports
        CHECK (source_ports IN (1, 2, 4, 8, 16, 32, 64) AND source_ports <= rate_hz),
    CONSTRAINT ck_on_demand_measurements_span
        CHECK (ends_at > starts_at AND ends_at <= starts_at + interval '60 s'),
    CONSTRAINT fk_on_demand_measurements_tenant_id_tenants
        FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE,
    CONSTRAINT fk_on_demand_measurements_tenant_id_mesh_id_meshes
        FOREIGN KEY (tenant_id, mesh_id) REFERENCES meshes (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_on_demand_measurements_tenant_id_source_vm_id_vms
        FOREIGN KEY (tenant_id, source_vm_id) REFERENCES vms (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_on_demand_measurements_tenant_id_target_vm_id_vms
        FOREIGN KEY (tenant_id, target_vm_id) REFERENCES vms (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX ix_on_demand_measurements_tenant_id_mesh_id_starts_at_id
    ON on_demand_measurements (tenant_id, mesh_id, starts_at, id);
CREATE INDEX ix_on_demand_measurements_tenant_id_source_vm_id ON on_demand_measurements (tenant_id, source_vm_id);
CREATE INDEX ix_on_demand_measurements_tenant_id_target_vm_id ON on_demand_measurements (tenant_id, target_vm_id);
CREATE INDEX ix_on_demand_measurements_active ON on_demand_measurements (ends_at) WHERE stopped_at IS NULL;

CREATE TABLE on_demand_windows (
    measurement_id uuid NOT NULL,
    started_at timestamptz NOT NULL,
    ports integer[] NOT NULL,
    exchanges jsonb NOT NULL,
    tenant_id uuid NOT NULL,
    CONSTRAINT pk_on_demand_windows PRIMARY KEY (measurement_id, started_at),
    CONSTRAINT fk_on_demand_windows_tenant_id_tenants
        FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE,
    CONSTRAINT fk_on_demand_windows_tenant_id_measurement_id_on_demand_3b95
        FOREIGN KEY (tenant_id, measurement_id) REFERENCES on_demand_measurements (tenant_id, id) ON DELETE CASCADE
);

-- Frames are compressed already: store them out of line and do not compress them again.

ALTER TABLE probe_frames ALTER COLUMN stats SET STORAGE EXTERNAL;
ALTER TABLE probe_frames ALTER COLUMN sketch SET STORAGE EXTERNAL;
ALTER TABLE probe_frames_1m ALTER COLUMN stats SET STORAGE EXTERNAL;
ALTER TABLE probe_frames_1m ALTER COLUMN sketch SET STORAGE EXTERNAL;
ALTER TABLE path_latest ALTER COLUMN stats SET STORAGE EXTERNAL;
