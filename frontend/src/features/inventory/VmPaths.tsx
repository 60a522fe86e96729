import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { pathCostsQuery } from '~/api/applications'
import { serverNow } from '~/api/connection'
import { vmPathsQuery } from '~/api/inventory'
import type { VmDirection, VmMesh } from '~/api/types'
import { Trend } from '~/charts/sparkline/Trend'
import { formatCount, formatDelay, formatRatio, formatSignedDelay, NO_VALUE } from '~/lib/units'
import { useClock } from '~/ui/clock'
import { TextLink } from '~/ui/links'
import { Panel, pageStyles } from '~/ui/Page'
import { PathCost } from '~/ui/PathCost'
import { QueryResult } from '~/ui/QueryResult'
import { Records } from '~/ui/Records'
import { Term } from '~/ui/Term'
import { useNow } from '~/ui/useNow'
import { strings } from './strings'

const NOW_MS = 10_000

const selectionOf = ({ source, target }: VmDirection['worst'][number]) => `path:${source.id}:${target.id}`

/** The paths from and to a VM, mesh by mesh: the usual, the worst peers, and since when they are unusual. */
export function VmPaths({ vmId }: { vmId: string }) {
  const query = useQuery(vmPathsQuery(vmId))
  return (
    <QueryResult query={query} what={strings.pathsLower}>
      {({ meshes }) =>
        meshes.length === 0 ? (
          <Panel title={strings.paths}>
            <p className={pageStyles.quiet}>{strings.inNoMesh}</p>
          </Panel>
        ) : (
          meshes.map((of) => <InMesh key={of.mesh.id} vmId={vmId} of={of} />)
        )
      }
    </QueryResult>
  )
}

function InMesh({ vmId, of: { mesh, clock_error_ns, outbound, inbound } }: { vmId: string; of: VmMesh }) {
  return (
    <Panel title={strings.pathsIn(mesh.name)}>
      <p className={pageStyles.lead}>
        <Term of="clock error">{strings.clockError}</Term>{' '}
        {clock_error_ns === null ? strings.clockUnknown : strings.clockNow(formatDelay(clock_error_ns))}
      </p>
      <Direction meshId={mesh.id} vmId={vmId} of={outbound} name={strings.outbound} />
      <Direction meshId={mesh.id} vmId={vmId} of={inbound} name={strings.inbound} />
    </Panel>
  )
}

interface DirectionProps {
  meshId: string
  vmId: string
  of: VmDirection
  name: string
}

function Direction({ meshId, vmId, of, name }: DirectionProps) {
  const clock = useClock()
  const now = useNow(NOW_MS, serverNow)
  const unusual = useMemo(() => of.worst.filter(({ since }) => since).map(selectionOf), [of])
  const { data: costs } = useQuery(pathCostsQuery(meshId, unusual))
  return (
    <section className={pageStyles.stack}>
      <h3>{name}</h3>
      <p className={pageStyles.lead}>
        {of.paths === 0
          ? strings.noPathPlanned
          : strings.directionSummary(
              formatCount(of.measured),
              formatCount(of.paths),
              formatDelay(of.median_ns),
              formatCount(of.unusual),
              formatCount(of.lossy + of.lost),
            )}
      </p>
      {of.worst.length > 0 && (
        <Records
          label={strings.worstOf(name)}
          rows={of.worst}
          id={({ source, target }) => `${source.id} ${target.id}`}
          columns={[
            {
              title: strings.peer,
              cell: ({ source, target }) => (
                <TextLink
                  to="/meshes/$meshId/paths/$source/$target"
                  params={{ meshId, source: source.id, target: target.id }}
                >
                  {source.id === vmId ? target.name : source.name}
                </TextLink>
              ),
              as: 'head',
            },
            { title: strings.p50Now, term: 'p50', cell: ({ value_ns }) => formatDelay(value_ns), as: 'number' },
            {
              title: strings.usual,
              term: 'usual value',
              cell: ({ baseline_ns }) => formatDelay(baseline_ns),
              as: 'number',
            },
            {
              title: strings.change,
              term: 'change from usual',
              cell: ({ deviation_ns, is_unusual }) =>
                is_unusual === null ? NO_VALUE : is_unusual ? formatSignedDelay(deviation_ns) : strings.asUsual,
              as: 'number',
            },
            { title: strings.loss, term: 'loss', cell: ({ loss }) => formatRatio(loss), as: 'number' },
            {
              title: strings.lastHour,
              cell: ({ since, baseline_ns, value_ns }) =>
                since ? (
                  <Trend usualNs={baseline_ns} nowNs={value_ns} since={since} clock={clock} now={now} />
                ) : (
                  NO_VALUE
                ),
              as: 'number',
            },
            { title: strings.costs, cell: (path) => <PathCost cost={costs?.get(selectionOf(path))} none={NO_VALUE} /> },
          ]}
        />
      )}
    </section>
  )
}
