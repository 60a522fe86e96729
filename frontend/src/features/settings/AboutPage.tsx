import { useQuery } from '@tanstack/react-query'
import { aboutQuery } from '~/api/access'
import type { About } from '~/api/types'
import { Mark } from '~/ui/Logo'
import { LoadingPage, Page, Panel } from '~/ui/Page'
import { Failed } from '~/ui/State'
import styles from './settings.module.css'
import { strings } from './strings'

const ENGINES: Record<string, string> = { postgresql: strings.postgresql }

/** The database fields are null while the database is unavailable, which does not mean "no". */
function engineOf({ database_engine: engine, database_version: version }: About): string {
  return engine ? `${ENGINES[engine] ?? engine} ${version ?? ''}` : strings.databaseUnknown
}

function timescaleOf({ timescaledb, timescaledb_version: version }: About): string {
  if (timescaledb === null) return strings.unknown
  return timescaledb ? strings.timescaleInstalled(version ?? strings.installed) : strings.timescaleMissing
}

export function AboutPage() {
  const { data, error, refetch } = useQuery(aboutQuery)
  if (error && !data) return <Failed what={strings.about} error={error} retry={() => void refetch()} />
  if (!data) return <LoadingPage title={strings.about} what={strings.versionLower} />
  return (
    <Page title={strings.about}>
      <Panel>
        <div className={styles.about}>
          <Mark size={40} />
          <p>
            <strong>{strings.sinemora}</strong>
            {strings.aboutLead}
          </p>
        </div>
        <dl className={styles.facts}>
          <dt>{strings.version}</dt>
          <dd>{data.version}</dd>
          <dt>{strings.database}</dt>
          <dd>{engineOf(data)}</dd>
          <dt>{strings.timescaledb}</dt>
          <dd>{timescaleOf(data)}</dd>
        </dl>
      </Panel>
    </Page>
  )
}
