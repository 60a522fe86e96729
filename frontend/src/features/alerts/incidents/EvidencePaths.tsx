import type { SignedEvidence } from '~/api/incidents'
import { formatBound, formatCount, formatDelay, formatRatio } from '~/lib/units'
import { Panel, pageStyles } from '~/ui/Page'
import { type Column, Records } from '~/ui/Records'
import { strings } from '../strings'

type Report = SignedEvidence['report']
type Path = Report['paths'][number]
type Statistics = Path['during']

/** The affected paths before and during an incident. */
export function EvidencePaths({ report: { paths, vms, affected_paths: affected } }: { report: Report }) {
  const nameOf = (id: string) => vms.find((vm) => vm.id === id)?.name ?? id
  const of = (title: (quantity: string) => string, pick: (path: Path) => Statistics): Column<Path>[] => [
    { title: title(strings.exchanges), cell: (path) => formatCount(pick(path)?.count), as: 'number' },
    { title: title('p50'), cell: (path) => formatDelay(pick(path)?.p50_ns), as: 'number' },
    { title: title('p99'), cell: (path) => formatDelay(pick(path)?.p99_ns), as: 'number' },
    { title: title(strings.lossLower), cell: (path) => lossWords(pick(path)), as: 'number' },
    { title: title(strings.roundTripP50), cell: (path) => formatDelay(pick(path)?.round_trip.p50_ns), as: 'number' },
  ]
  return (
    <Panel title={strings.affectedPaths}>
      {paths.length === 0 ? (
        <p className={pageStyles.lead}>{strings.noAffectedPaths}</p>
      ) : (
        <>
          {paths.length < affected && (
            <p className={pageStyles.lead}>{strings.firstPaths(formatCount(paths.length), formatCount(affected))}</p>
          )}
          <Records
            label={strings.affectedPaths}
            rows={paths}
            id={({ source, target }) => `${source} ${target}`}
            columns={[
              {
                title: strings.path,
                cell: ({ source, target }) => strings.pathName(nameOf(source), nameOf(target)),
                as: 'head',
              },
              { title: strings.usualP50, cell: ({ usual }) => formatDelay(usual?.p50_ns), as: 'number' },
              ...of(strings.beforeQuantity, (path) => path.before),
              ...of(strings.duringQuantity, (path) => path.during),
              {
                title: strings.clockError,
                cell: ({ during }) => formatBound(during?.clock_error_ns),
                as: 'number',
              },
              { title: strings.asymmetrySource, cell: ({ during }) => during?.asymmetry_source },
            ]}
          />
        </>
      )}
    </Panel>
  )
}

const lossWords = (statistics: Statistics) =>
  formatRatio(statistics?.loss_ppm == null ? null : statistics.loss_ppm / 1_000_000)
