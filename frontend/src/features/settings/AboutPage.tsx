import { useQuery } from '@tanstack/react-query'
import { aboutQuery } from '~/api/queries'
import { Mark } from '~/ui/Logo'
import { Page, Panel } from '~/ui/Page'
import { Failed, Loading } from '~/ui/State'
import styles from './settings.module.css'

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
          <dd>{data.database}</dd>
          <dt>TimescaleDB</dt>
          <dd>{data.timescaledb ? 'yes, time series are hypertables' : 'no, time series are native partitions'}</dd>
        </dl>
      </Panel>
    </Page>
  )
}
