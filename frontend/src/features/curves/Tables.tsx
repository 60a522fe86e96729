import { useQuery } from '@tanstack/react-query'
import { curveVersionsQuery } from '~/api/curves'
import type { CurveDetail } from '~/api/types'
import { formatMicroseconds, formatShare } from '~/lib/performance'
import { formatMoment } from '~/lib/time'
import { useClock } from '~/ui/clock'
import { Panel, pageStyles } from '~/ui/Page'
import { Records, RowAction } from '~/ui/Records'

/** Every family of functions that was tried, by how much of the curve it makes. */
export function Candidates({ version }: { version: CurveDetail['version'] }) {
  if (version.candidates.length === 0) return null
  return (
    <Panel title="Families that were tried">
      <Records
        label="Families"
        rows={version.candidates}
        id={(one) => one.family}
        columns={[
          { title: 'Family', cell: (one) => one.words, as: 'head' },
          { title: 'Share of the curve', cell: (one) => formatShare(one.weight), as: 'number' },
          { title: 'Typical error', cell: (one) => formatShare(one.error), as: 'number' },
          { title: 'Score', cell: (one) => one.log_score.toFixed(1).replace('-', '−'), as: 'number' },
          { title: 'Best member, x in µs', cell: (one) => one.formula, as: 'wrap' },
        ]}
      />
    </Panel>
  )
}

/** What the source of a published curve says in words, beside what the curve says. */
export function Stated({ curve }: { curve: CurveDetail }) {
  const { stated } = curve.version
  if (stated.length === 0) return null
  return (
    <Panel title="What the source states">
      <Records
        label="Stated points"
        rows={stated}
        id={(one) => `${one.added_us} ${one.setup} ${one.words}`}
        columns={[
          { title: 'Added', cell: (one) => formatMicroseconds(one.added_us), as: 'number' },
          { title: 'Stated', cell: (one) => `${one.relation} ${formatShare(one.performance)}`, as: 'number' },
          { title: 'Curve', cell: (one) => formatShare(one.curve), as: 'number' },
          { title: 'In words', cell: (one) => one.words, as: 'wrap' },
          { title: 'Setup', cell: (one) => one.setup || <span className={pageStyles.quiet}>the curve’s own</span> },
        ]}
      />
    </Panel>
  )
}

/** All versions of a curve of the tenant; none is ever changed. */
export function Versions({ curve, onNumber }: { curve: CurveDetail; onNumber: (number: number | undefined) => void }) {
  const clock = useClock()
  const { data: versions } = useQuery({ ...curveVersionsQuery(curve.id), enabled: curve.origin === 'own' })
  if (curve.origin !== 'own' || !versions) return null
  return (
    <Panel title="Versions">
      <Records
        label="Versions"
        rows={versions}
        id={(one) => one.number}
        isCurrent={(one) => one.number === curve.version.number}
        columns={[
          {
            title: 'Version',
            cell: (one) =>
              one.number === curve.version.number ? (
                `${one.number}, shown`
              ) : (
                <RowAction
                  label={`Version ${one.number}`}
                  onClick={() => onNumber(one.number === curve.newest ? undefined : one.number)}
                >
                  {one.number}
                </RowAction>
              ),
            as: 'head',
          },
          { title: 'Made', cell: (one) => one.created_at && formatMoment(new Date(one.created_at), clock) },
          { title: 'By', cell: (one) => one.made_by },
          { title: 'Rows', cell: (one) => one.rows, as: 'number' },
          { title: 'Family', cell: (one) => one.family },
          {
            title: 'Source',
            cell: (one) => one.source || <span className={pageStyles.quiet}>not stated</span>,
            as: 'wrap',
          },
        ]}
      />
    </Panel>
  )
}
