import { useQuery } from '@tanstack/react-query'
import { aboutQuery } from '~/api/access'
import type { About } from '~/api/types'
import { Mark } from '~/ui/Logo'
import { Page, Panel } from '~/ui/Page'
import { Failed, Loading } from '~/ui/State'
import styles from './settings.module.css'

const ENGINES: Record<string, string> = { postgresql: 'PostgreSQL' }

/** The engine's fields are null while the database is away: that is not a "no". */
function engineOf({ database_engine: engine, database_version: version }: About): string {
  return engine ? `${ENGINES[engine] ?? engine} ${version ?? ''}` : 'not known: the database cannot be reached'
}

function timescaleOf({ timescaledb, timescaledb_version: version }: About): string {
  if (timescaledb === null) return 'not known'
  return timescaledb ? `${version ?? 'yes'}, time series are hypertables` : 'no, time series are native partitions'
}

export function AboutPage() {
  const { data, error, refetch } = useQuery(aboutQuery)
  if (error && !data) return <Failed what="This page" error={error} retry={() => void refetch()} />
  if (!data) return <Loading what="the version" />
  return (
    <Page title="About">
      <Panel>
        <div className={styles.about}>
          <Mark size={40} />
          <p>
            <strong>Sinemora</strong>, Latin for “without delay”, shows a cloud tenant the network between its machines
            in each direction, measured with IEEE 1588 packets by clocks whose error is stated.
          </p>
        </div>
        <dl className={styles.facts}>
          <dt>Version</dt>
          <dd>{data.version}</dd>
          <dt>Database</dt>
          <dd>{engineOf(data)}</dd>
          <dt>TimescaleDB</dt>
          <dd>{timescaleOf(data)}</dd>
        </dl>
      </Panel>
    </Page>
  )
}
