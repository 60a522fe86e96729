import { Anchor } from '@mantine/core'
import { useQueries } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { curveCostQuery } from '~/api/curves'
import type { Curve } from '~/api/types'
import { CurveChart } from '~/charts/curve/CurveChart'
import { valueAt } from '~/charts/curve/geometry'
import { formatMicroseconds, formatShare, formatTick } from '~/lib/performance'
import { formatWhole } from '~/lib/units'
import { LineKey } from '~/ui/LineKey'
import { lineStyle } from '~/ui/lineStyle'
import { TextLink } from '~/ui/links'
import { pageStyles } from '~/ui/Page'
import { PictureMenu } from '~/ui/PictureMenu'
import { Records } from '~/ui/Records'
import { AddedLatency } from './AddedLatency'
import styles from './curves.module.css'
import { lineOf } from './drawing'
import { strings } from './strings'

interface Props {
  curves: Curve[]
  added: number | undefined
  onAdded: (us: number) => void
  onClear: () => void
}

/** Several curves on one scale, and their values at the same added latency. */
export function Comparison({ curves, added, onAdded, onClear }: Props) {
  const most = Math.max(...curves.map((curve) => curve.version.domain_us))
  const rest = Math.min(added ?? Math.round(most / 5), most)
  const [at, setAt] = useState(rest)
  const [settled, setSettled] = useState(rest)
  if (settled !== rest) {
    setSettled(rest)
    setAt(rest)
  }
  const lines = useMemo(
    () =>
      curves.map((curve, n) => ({ ...lineOf(curve.id, curve.outline, lineStyle(n)), label: curve.name, band: null })),
    [curves],
  )
  // Read the drawn line while the slider moves; at rest the API returns exact values.
  const exact = useQueries({ queries: curves.map(({ id }) => curveCostQuery(id, { added: rest })) })
  const kept = (curve: Curve, n: number) => {
    const drawn = valueAt({ x: curve.outline.added_us, y: curve.outline.performance }, at)
    const cost = exact[n]?.data
    return drawn !== null && cost?.curve_id === curve.id && cost.added_us === at ? cost.alone.performance : drawn
  }
  return (
    <section className={styles.panel} aria-label={strings.comparison}>
      <div className={styles.panelHead}>
        <h2>{strings.comparison}</h2>
        <PictureMenu title={strings.comparison} />
        <Anchor component="button" type="button" size="sm" onClick={onClear}>
          {strings.clear}
        </Anchor>
      </div>
      <CurveChart
        label={strings.comparisonChart(curves.map(({ name }) => name).join(', '))}
        height={300}
        lines={lines}
        marks={[{ key: 'added', x: at, label: `+${formatMicroseconds(at)}`, colour: 'var(--ink-2)' }]}
        x={[0, most]}
        y={[0, 1]}
        xLabel={strings.addedRoundTrip}
        formatX={formatTick}
        formatY={formatWhole}
      />
      <AddedLatency label={strings.readAt} value={rest} most={most} onMove={setAt} onRest={onAdded} />
      <Records
        label={strings.performanceAtLatency}
        rows={curves}
        id={(curve) => curve.id}
        columns={[
          {
            title: strings.curve,
            cell: (curve, n) => (
              <>
                <LineKey n={n} />
                <TextLink to="/curves/$curveId" params={{ curveId: curve.id }}>
                  {curve.name}
                </TextLink>
              </>
            ),
            as: 'head',
          },
          {
            title: strings.performance,
            cell: (curve, n) => {
              const share = kept(curve, n)
              return share === null ? (
                <span className={pageStyles.quiet}>{strings.notMeasured}</span>
              ) : (
                formatShare(share)
              )
            },
            as: 'number',
          },
          { title: strings.measuredUpTo, cell: (curve) => formatMicroseconds(curve.version.domain_us), as: 'number' },
          {
            title: strings.flatUntil,
            cell: (curve) => formatMicroseconds(curve.version.threshold?.at_us),
            as: 'number',
          },
        ]}
      />
    </section>
  )
}
