import { useComputedColorScheme, VisuallyHidden } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { pathQuery, seriesQuery } from '~/api/measurements'
import type { Mesh } from '~/api/types'
import type { Statistic } from '~/lib/dimensions'
import type { TimeSearch } from '~/lib/spans'
import { useClock } from '~/ui/clock'
import { Failed, Loading, Notice } from '~/ui/State'
import { PathCharts } from './PathCharts'
import styles from './paths.module.css'
import { STATE_TEXT } from './states'
import { strings } from './strings'

interface Props {
  mesh: Pick<Mesh, 'id' | 'name'>
  source: string
  target: string
  statistic: Statistic
  time: TimeSearch
}

/** The history of a path without its controls, for a frame in another page. */
export function EmbeddedPath({ mesh, source, target, statistic, time }: Props) {
  const clock = useClock()
  const theme = useComputedColorScheme('light', { getInitialValueInEffect: false })
  const path = useQuery(pathQuery(mesh.id, source, target))
  const series = useQuery(seriesQuery(mesh.id, source, target, time, statistic))
  const error = path.error ?? series.error
  if (error && !(path.data && series.data)) {
    return (
      <Failed what={strings.thePath} error={error} retry={() => void Promise.all([path.refetch(), series.refetch()])} />
    )
  }
  if (!path.data) return <Loading what={strings.pathLower} />
  const { state } = path.data
  return (
    <div className={styles.page}>
      <header className={styles.head}>
        <div>
          <p className={styles.trail}>{mesh.name}</p>
          <div className={styles.title}>
            <h1>
              {path.data.source.name} <span aria-hidden="true">→</span>
              <VisuallyHidden> {strings.toLower} </VisuallyHidden> {path.data.target.name}
            </h1>
          </div>
        </div>
      </header>
      {STATE_TEXT[state] && <Notice tone={state === 'lost' ? 'bad' : 'warn'}>{STATE_TEXT[state]}</Notice>}
      <PathCharts
        series={series.data}
        statistic={statistic}
        earlier={undefined}
        time={time}
        clock={clock}
        theme={theme}
        waiting={series.isPlaceholderData}
        marks={undefined}
      />
    </div>
  )
}
