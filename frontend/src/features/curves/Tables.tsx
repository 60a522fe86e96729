import { useQuery } from '@tanstack/react-query'
import { curveVersionsQuery } from '~/api/curves'
import type { CurveDetail } from '~/api/types'
import { formatMicroseconds, formatShare } from '~/lib/performance'
import { formatMoment } from '~/lib/time'
import { useClock } from '~/ui/clock'
import { Panel, pageStyles } from '~/ui/Page'
import { Records, RowAction } from '~/ui/Records'
import { strings } from './strings'

/** Every family of functions that was tried, by how much of the curve it makes. */
export function Candidates({ version }: { version: CurveDetail['version'] }) {
  if (version.candidates.length === 0) return null
  return (
    <Panel title={strings.candidateFamilies}>
      <Records
        label={strings.families}
        rows={version.candidates}
        id={(one) => one.family}
        columns={[
          { title: strings.family, cell: (one) => one.words, as: 'head' },
          { title: strings.weight, cell: (one) => formatShare(one.weight), as: 'number' },
          { title: strings.typicalError, cell: (one) => formatShare(one.error), as: 'number' },
          { title: strings.logScore, cell: (one) => one.log_score.toFixed(1).replace('-', '−'), as: 'number' },
          { title: strings.bestFormula, cell: (one) => one.formula, as: 'wrap' },
        ]}
      />
    </Panel>
  )
}

/** Statements of a published curve's source, next to the values of the curve. */
export function Stated({ curve }: { curve: CurveDetail }) {
  const { stated } = curve.version
  if (stated.length === 0) return null
  return (
    <Panel title={strings.statedTitle}>
      <Records
        label={strings.statedPoints}
        rows={stated}
        id={(one) => `${one.added_us} ${one.setup} ${one.words}`}
        columns={[
          { title: strings.added, cell: (one) => formatMicroseconds(one.added_us), as: 'number' },
          { title: strings.stated, cell: (one) => `${one.relation} ${formatShare(one.performance)}`, as: 'number' },
          { title: strings.curve, cell: (one) => formatShare(one.curve), as: 'number' },
          { title: strings.statement, cell: (one) => one.words, as: 'wrap' },
          {
            title: strings.setup,
            cell: (one) => one.setup || <span className={pageStyles.quiet}>{strings.curveSetup}</span>,
          },
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
    <Panel title={strings.versions}>
      <Records
        label={strings.versions}
        rows={versions}
        id={(one) => one.number}
        isCurrent={(one) => one.number === curve.version.number}
        columns={[
          {
            title: strings.version,
            cell: (one) =>
              one.number === curve.version.number ? (
                strings.versionShown(one.number)
              ) : (
                <RowAction
                  label={strings.versionNumber(one.number)}
                  onClick={() => onNumber(one.number === curve.newest ? undefined : one.number)}
                >
                  {one.number}
                </RowAction>
              ),
            as: 'head',
          },
          { title: strings.created, cell: (one) => one.created_at && formatMoment(new Date(one.created_at), clock) },
          { title: strings.createdBy, cell: (one) => one.made_by },
          { title: strings.rows, cell: (one) => one.rows, as: 'number' },
          { title: strings.family, cell: (one) => one.family },
          {
            title: strings.source,
            cell: (one) => one.source || <span className={pageStyles.quiet}>{strings.notStated}</span>,
            as: 'wrap',
          },
        ]}
      />
    </Panel>
  )
}
