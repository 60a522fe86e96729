import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { serverNow } from '~/api/connection'
import { meshHistoryQuery } from '~/api/overview'
import { DaysStrip } from '~/charts/days/DaysStrip'
import { slotsOf } from '~/lib/days'
import { isMoving, NOW, rangeOf, type TimeSearch } from '~/lib/spans'
import { useClock } from '~/ui/clock'
import { errorText } from '~/ui/State'
import { useNow } from '~/ui/useNow'
import styles from './overview.module.css'
import { strings } from './strings'

const NOW_MS = 60_000
const COLOURS = { critical: 'var(--bad)', warning: 'var(--warn)', info: 'var(--accent)' }

interface Props {
  mesh: { id: string; name: string }
  /** The time that the page shows. */
  shown?: TimeSearch
}

/** The last 30 days of a mesh; the heatmap shows a chosen range: packets lost, or changes of zone pairs. */
export function DaysOfMesh({ mesh, shown = NOW }: Props) {
  const { data, error } = useQuery(meshHistoryQuery(mesh.id))
  const clock = useClock()
  const now = useNow(NOW_MS, serverNow)
  const navigate = useNavigate()
  const slots = useMemo(() => data && slotsOf(data, clock, now), [data, clock, now])
  if (!slots || !data) return <div className={styles.days}>{error && errorText(error)}</div>
  const { from, to } = rangeOf(shown, '5m', now)

  function choose(start: number, end: number) {
    const isLoss = slots?.some(({ from, tone }) => tone === 'loss' && from >= start && from < end)
    const [from, until] = [start, Math.min(end, now)].map((at) => new Date(at).toISOString()) as [string, string]
    const view = isLoss ? { metric: 'loss' as const } : { by: 'zone' as const, metric: 'deviation' as const }
    void navigate({
      to: '/meshes/$meshId',
      params: { meshId: mesh.id },
      search: { ...NOW, ...view, from, until },
    })
  }

  return (
    <div className={styles.days}>
      <DaysStrip
        label={strings.days(mesh.name)}
        hint={strings.daysHint}
        slots={slots}
        marks={data.incidents.map(({ onset_at, ended_at, severity }) => ({
          from: Date.parse(onset_at),
          to: ended_at ? Date.parse(ended_at) : now,
          colour: COLOURS[severity],
        }))}
        chosen={isMoving(shown) ? null : [Date.parse(from), Date.parse(to)]}
        onChoose={choose}
      />
    </div>
  )
}
