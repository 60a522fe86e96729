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
        id={(candidate) => candidate.family}
        columns={[
          { title: strings.family, term: 'family', cell: (candidate) => candidate.words, as: 'head' },
          {
            title: strings.weight,
            term: 'model weight',
            cell: (candidate) => formatShare(candidate.weight),
            as: 'number',
          },
          { title: strings.typicalError, cell: (candidate) => formatShare(candidate.error), as: 'number' },
          {
            title: strings.logScore,
            term: 'log score',
            cell: (candidate) => candidate.log_score.toFixed(1).replace('-', '−'),
            as: 'number',
          },
          { title: strings.bestFormula, cell: (candidate) => candidate.formula, as: 'wrap' },
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
        id={(point) => `${point.added_us} ${point.setup} ${point.words}`}
        columns={[
          { title: strings.added, cell: (point) => formatMicroseconds(point.added_us), as: 'number' },
          {
            title: strings.stated,
            cell: (point) => `${point.relation} ${formatShare(point.performance)}`,
            as: 'number',
          },
          { title: strings.curve, cell: (point) => formatShare(point.curve), as: 'number' },
          { title: strings.statement, cell: (point) => point.words, as: 'wrap' },
          {
            title: strings.setup,
            cell: (point) => point.setup || <span className={pageStyles.quiet}>{strings.curveSetup}</span>,
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
        id={(version) => version.number}
        isCurrent={(version) => version.number === curve.version.number}
        columns={[
          {
            title: strings.version,
            cell: (version) =>
              version.number === curve.version.number ? (
                strings.versionShown(version.number)
              ) : (
                <RowAction
                  label={strings.versionNumber(version.number)}
                  onClick={() => onNumber(version.number === curve.newest ? undefined : version.number)}
                >
                  {version.number}
                </RowAction>
              ),
            as: 'head',
          },
          {
            title: strings.created,
            cell: (version) => version.created_at && formatMoment(new Date(version.created_at), clock),
          },
          { title: strings.createdBy, cell: (version) => version.made_by },
          { title: strings.rows, cell: (version) => version.rows, as: 'number' },
          { title: strings.family, cell: (version) => version.family },
          {
            title: strings.source,
            cell: (version) => version.source || <span className={pageStyles.quiet}>{strings.notStated}</span>,
            as: 'wrap',
          },
        ]}
      />
    </Panel>
  )
}
